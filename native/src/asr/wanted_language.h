// Which language is to be heard, for every kind of ear.
#pragma once

#include <optional>
#include <string>

namespace eliza::asr {

// ELIZA_ASR_FORCE_LANGUAGE without spaces around it and in lower case; "english" where it is not set, nothing where it
// says that the model finds out ("", 0, false, none, auto; facts, section 8).
std::optional<std::string> wanted_language();

}  // namespace eliza::asr
