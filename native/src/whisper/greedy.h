// Choosing tokens, and knowing when the choice has gone astray. Pure arithmetic.
#pragma once

#include <cstddef>
#include <vector>

namespace eliza::whisper {

struct Choice {
    int   token;
    float log_probability;
};

// The likeliest of `count` logits. The first `count` values are read; not-numbers are never chosen.
Choice likeliest(const float * logits, size_t count);
// e^logits[token] over the sum of all.
float probability_of(const float * logits, size_t count, int token);

// More tokens of a loop than anybody says in `seconds` of sound: 6 a second, 24 at least.
size_t least_looped(double seconds);
// How many tokens at the end only repeat what stands before them: 0, unless the same 1 to 32 tokens came at least four
// times in a row and fill `least` places; then all but the first of them.
size_t looped_tail(const std::vector<int> & tokens, size_t least);

}  // namespace eliza::whisper
