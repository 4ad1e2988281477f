#include "whisper/silence.h"

#include <algorithm>

namespace eliza::whisper {
namespace {

constexpr size_t block_samples = 320;  // 20 ms
constexpr double quiet         = 1e-3;

double energy(const float * samples, size_t count) {
    double sum = 0.0;
    for (size_t i = 0; i < count; ++i) {
        sum += static_cast<double>(samples[i]) * static_cast<double>(samples[i]);
    }
    return sum;
}

}  // namespace

bool is_silence(const float * samples, size_t count) {
    for (size_t begin = 0; begin < count; begin += block_samples) {
        const size_t size = std::min(block_samples, count - begin);
        if (energy(samples + begin, size) > quiet * quiet * static_cast<double>(size)) {
            return false;
        }
    }
    return true;
}

}  // namespace eliza::whisper
