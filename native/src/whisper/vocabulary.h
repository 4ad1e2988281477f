// The recogniser's tokens: their bytes, the special ones, the languages.
#pragma once

#include "whisper/gguf_reader.h"

#include <string>
#include <vector>

namespace eliza::whisper {

struct Language {
    std::string code;  // "en"
    std::string name;  // "english"
    int         token;
};

struct Vocabulary {
    std::vector<std::string> tokens;             // bytes by id
    int                      end           = 0;  // from here on tokens are special and spell nothing
    int                      start         = 0;
    int                      transcribe    = 0;
    int                      no_speech     = 0;
    int                      no_timestamps = 0;
    std::vector<Language>    languages;
    std::vector<int>         suppressed;        // never said
    std::vector<int>         suppressed_first;  // not said first

    // UTF-8 of the tokens, specials left out; bytes that are no character become U+FFFD.
    std::string spell(const std::vector<int> & ids) const;
};

// Throws Failure(BUNDLE_INVALID).
Vocabulary read_vocabulary(const GgufReader & reader);

// No language: the recogniser finds out which is spoken.
constexpr int any_language = -1;
// The token of the language that ELIZA_ASR_FORCE_LANGUAGE names by code or English name; English when it is not set,
// any_language for "", "0", "false", "none" and "auto". Throws Failure(INVALID_ARG) for one this model does not know.
int forced_language(const Vocabulary & vocabulary);

}  // namespace eliza::whisper
