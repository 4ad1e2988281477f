#include "whisper/vocabulary.h"

#include "abi/guard.h"
#include "asr/wanted_language.h"
#include "llm/utf8.h"
#include "whisper/model.h"

#include <algorithm>
#include <array>

namespace eliza::whisper {
namespace {

constexpr size_t most_tokens    = 1u << 20;
constexpr size_t most_languages = 1024;

bool is_printed(int byte) {
    return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
}

// GPT-2 writes bytes that print as themselves and the others as the characters from U+0100 on, in order.
std::array<int, 512> bytes_of_characters() {
    std::array<int, 512> bytes{};
    bytes.fill(-1);
    size_t next = 256;
    for (int byte = 0; byte < 256; ++byte) {
        bytes[is_printed(byte) ? static_cast<size_t>(byte) : next++] = byte;
    }
    return bytes;
}

// The character of one or two bytes of UTF-8 at `at`, which moves behind it; all that a spelling may hold. 0: another.
size_t next_character(const std::string & spelled, size_t & at) {
    const size_t lead = static_cast<unsigned char>(spelled[at++]);
    if (lead < 0x80) {
        return lead;
    }
    const size_t next = at < spelled.size() ? static_cast<unsigned char>(spelled[at++]) : 0;
    return (lead & 0xE0) == 0xC0 && (next & 0xC0) == 0x80 ? (lead & 0x1F) << 6 | (next & 0x3F) : 0;
}

std::string bytes_of(const std::string & spelled, const std::array<int, 512> & bytes) {
    std::string out;
    for (size_t at = 0; at < spelled.size();) {
        const size_t character = next_character(spelled, at);
        if (character >= bytes.size() || bytes[character] < 0) {
            refuse_model("a token is spelled with a character that stands for no byte");
        }
        out.push_back(static_cast<char>(bytes[character]));
    }
    return out;
}

std::vector<Language> read_languages(const GgufReader & reader, int last_token) {
    const auto codes  = reader.texts("whisper.language.codes", most_languages);
    const auto names  = reader.texts("whisper.language.names", most_languages);
    const auto tokens = reader.numbers("whisper.language.tokens", most_languages, 0, last_token);
    if (codes.size() != names.size() || codes.size() != tokens.size()) {
        refuse_model("its languages lack a code, a name or a token");
    }
    std::vector<Language> languages;
    for (size_t i = 0; i < codes.size(); ++i) {
        languages.push_back({codes[i], names[i], tokens[i]});
    }
    return languages;
}

}  // namespace

std::string Vocabulary::spell(const std::vector<int> & ids) const {
    llm::Utf8Assembler characters;
    std::string        text;
    for (const int id : ids) {
        if (id < end) {
            text += characters.push(tokens[static_cast<size_t>(id)]);
        }
    }
    return text + characters.flush();
}

Vocabulary read_vocabulary(const GgufReader & reader) {
    Vocabulary words;
    words.tokens   = reader.texts("tokenizer.ggml.tokens", most_tokens);
    const int last = static_cast<int>(words.tokens.size()) - 1;
    words.end      = reader.number("whisper.token.end", 1, last);
    words.start    = reader.number("whisper.token.start", words.end, last);

    words.transcribe       = reader.number("whisper.token.transcribe", words.end, last);
    words.no_speech        = reader.number("whisper.token.no_speech", words.end, last);
    words.no_timestamps    = reader.number("whisper.token.no_timestamps", words.end, last);
    words.languages        = read_languages(reader, last);
    words.suppressed       = reader.numbers("whisper.suppressed", words.tokens.size(), 0, last);
    words.suppressed_first = reader.numbers("whisper.suppressed_first", words.tokens.size(), 0, last);
    const auto bytes       = bytes_of_characters();
    for (int id = 0; id < words.end; ++id) {
        std::string & token = words.tokens[static_cast<size_t>(id)];
        token               = bytes_of(token, bytes);
    }
    return words;
}

int forced_language(const Vocabulary & vocabulary) {
    const auto asked = asr::wanted_language();
    if (!asked) {
        return any_language;
    }
    for (const Language & language : vocabulary.languages) {
        if (*asked == language.code || *asked == language.name) {
            return language.token;
        }
    }
    throw Failure(ELIZA_ERR_INVALID_ARG,
                  "ELIZA_ASR_FORCE_LANGUAGE is '" + *asked + "', which is no language of this recognition model");
}

}  // namespace eliza::whisper
