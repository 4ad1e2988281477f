#include "asr/wanted_language.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace eliza::asr {

std::optional<std::string> wanted_language() {
    const char *       named = std::getenv("ELIZA_ASR_FORCE_LANGUAGE");
    std::string        asked = named == nullptr ? "english" : named;
    const char * const space = " \t\r\n";
    asked.erase(0, std::min(asked.find_first_not_of(space), asked.size()));
    asked.erase(asked.find_last_not_of(space) + 1);
    std::transform(asked.begin(), asked.end(), asked.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const char * off : {"", "0", "false", "none", "auto"}) {
        if (asked == off) {
            return std::nullopt;
        }
    }
    return asked;
}

}  // namespace eliza::asr
