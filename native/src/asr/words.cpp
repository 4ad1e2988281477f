#include "asr/words.h"

#include <algorithm>
#include <cstdint>
#include <sstream>

namespace eliza::asr {
namespace {

int64_t characters(const std::string & utf8) {
    return std::count_if(utf8.begin(), utf8.end(),
                         [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace

std::vector<TimedWord> time_words(const std::string & text, int duration_ms) {
    std::vector<TimedWord> words;
    std::istringstream     stream(text);
    int64_t                total = 0;
    for (std::string word; stream >> word;) {
        total += characters(word);
        words.push_back({word, 0, 0});
    }
    int64_t said = 0;
    for (TimedWord & word : words) {
        word.start_ms = static_cast<int>(duration_ms * said / total);
        said += characters(word.text);
        word.end_ms = static_cast<int>(duration_ms * said / total);
    }
    return words;
}

}  // namespace eliza::asr
