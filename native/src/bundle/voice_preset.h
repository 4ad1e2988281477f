// A voice preset: speaker data made once by the publisher, and sound for a few common phrases (facts 6.12).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace eliza::bundle {

struct ReadyPhrase {
    int                rate_hz = 0;
    std::vector<float> samples;  // mono
};

struct VoicePreset {
    int                                version = 0;
    std::vector<float>                 embedding;
    std::map<std::string, ReadyPhrase> phrases;     // by phrase_key of their text
    std::vector<int32_t>               ref_tokens;  // 8 rows, row major
    std::string                        ref_text;
    std::string                        instruct;
    std::string                        voice;  // of the metadata: the style table that goes with it; may be empty
};

// Versions 1 and 2. Throws Failure(BUNDLE_INVALID) that begins with the fault's name: bad-magic, bad-version,
// truncated-header, truncated-section, bad-section-bounds, bad-phrase-record, bad-embedding-length, bad-ref-tokens,
// bad-metadata, bad-utf8.
VoicePreset parse_voice_preset(std::string_view bytes);

// Throws as above, and when the file cannot be read or is larger than 64 MiB.
VoicePreset read_voice_preset(const std::filesystem::path & file);

// Two ways of writing one phrase are equal in this form: words in ASCII lower case with single spaces, no punctuation.
std::string phrase_key(std::string_view text);

}  // namespace eliza::bundle
