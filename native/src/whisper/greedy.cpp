#include "whisper/greedy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eliza::whisper {
namespace {

constexpr size_t longest_period  = 32;
constexpr size_t least_repeats   = 4;
constexpr size_t fewest_looped   = 24;
constexpr double said_per_second = 6.0;
constexpr double smallest_number = 1e-300;

double log_of_sum(const float * logits, size_t count, float most) {
    double sum = 0.0;
    for (size_t i = 0; i < count; ++i) {
        sum += std::isnan(logits[i]) ? 0.0 : std::exp(static_cast<double>(logits[i]) - static_cast<double>(most));
    }
    return static_cast<double>(most) + std::log(std::max(sum, smallest_number));
}

// How many tokens at the end equal the one `period` places before.
size_t repeated(const std::vector<int> & tokens, size_t period) {
    size_t same = 0;
    while (same + period < tokens.size() &&
           tokens[tokens.size() - 1 - same] == tokens[tokens.size() - 1 - same - period]) {
        ++same;
    }
    return same;
}

}  // namespace

Choice likeliest(const float * logits, size_t count) {
    int   best = 0;
    float most = -std::numeric_limits<float>::infinity();
    for (size_t i = 0; i < count; ++i) {
        if (logits[i] > most) {
            most = logits[i];
            best = static_cast<int>(i);
        }
    }
    if (!std::isfinite(most)) {
        return {best, most};
    }
    return {best, static_cast<float>(static_cast<double>(most) - log_of_sum(logits, count, most))};
}

float probability_of(const float * logits, size_t count, int token) {
    const float most = logits[likeliest(logits, count).token];
    if (!std::isfinite(most)) {
        return 0.0f;
    }
    return static_cast<float>(std::exp(static_cast<double>(logits[token]) - log_of_sum(logits, count, most)));
}

size_t least_looped(double seconds) {
    return std::max(fewest_looped, static_cast<size_t>(seconds * said_per_second));
}

size_t looped_tail(const std::vector<int> & tokens, size_t least) {
    for (size_t period = 1; period <= longest_period; ++period) {
        const size_t same = repeated(tokens, period);
        if (same >= (least_repeats - 1) * period && same + period >= least) {
            return same;
        }
    }
    return 0;
}

}  // namespace eliza::whisper
