// When each word was said, as far as the length of its letters tells.
#pragma once

#include <string>
#include <vector>

namespace eliza::asr {

struct TimedWord {
    std::string text;
    int         start_ms = 0;
    int         end_ms   = 0;
};

// Splits at white space and shares `duration_ms` among the words by their number of characters (facts 1.3: this is
// proportional, not acoustic). Words touch: each starts where the one before ends.
std::vector<TimedWord> time_words(const std::string & text, int duration_ms);

}  // namespace eliza::asr
