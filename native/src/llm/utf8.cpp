#include "llm/utf8.h"

namespace eliza::llm {
namespace {

constexpr const char * replacement = "\xEF\xBF\xBD";

// Length that a lead byte announces, 0 when it cannot lead (RFC 3629).
size_t announced_length(unsigned char lead) {
    if (lead < 0x80) {
        return 1;
    }
    if (lead >= 0xC2 && lead <= 0xDF) {
        return 2;
    }
    if (lead >= 0xE0 && lead <= 0xEF) {
        return 3;
    }
    return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

// Overlong forms, surrogates and values above U+10FFFF show in the second byte.
bool second_byte_fits(unsigned char lead, unsigned char second) {
    const unsigned char low  = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    return second >= low && second <= high;
}

enum class Reading { whole, incomplete, faulty };

Reading read_character(std::string_view rest, size_t & length) {
    const auto at = [&](size_t i) { return static_cast<unsigned char>(rest[i]); };
    length        = announced_length(at(0));
    if (length == 0) {
        return Reading::faulty;
    }
    for (size_t i = 1; i < length; ++i) {
        if (i == rest.size()) {
            return Reading::incomplete;
        }
        const bool fits = i == 1 ? second_byte_fits(at(0), at(1)) : (at(i) & 0xC0) == 0x80;
        if (!fits) {
            return Reading::faulty;
        }
    }
    return Reading::whole;
}

}  // namespace

std::string Utf8Assembler::push(std::string_view bytes) {
    waiting_.append(bytes);
    std::string text;
    size_t      begin = 0;
    while (begin < waiting_.size()) {
        size_t        length  = 0;
        const Reading reading = read_character(std::string_view(waiting_).substr(begin), length);
        if (reading == Reading::incomplete) {
            break;
        }
        if (reading == Reading::whole) {
            text.append(waiting_, begin, length);
            begin += length;
        } else {
            text += replacement;
            ++begin;
        }
    }
    waiting_.erase(0, begin);
    return text;
}

std::string Utf8Assembler::flush() {
    std::string text;
    for (size_t i = 0; i < waiting_.size(); ++i) {
        text += replacement;
    }
    waiting_.clear();
    return text;
}

}  // namespace eliza::llm
