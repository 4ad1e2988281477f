#include "whisper/windows.h"

#include "whisper/mel.h"

#include <algorithm>

namespace eliza::whisper {
namespace {

constexpr size_t block_samples   = 320;  // 20 ms
constexpr size_t pause_blocks    = 10;   // 0.2 s
constexpr size_t searched_blocks = 400;  // 8 s
constexpr double quiet           = 1e-3;

double energy(const float * samples, size_t count) {
    double sum = 0.0;
    for (size_t i = 0; i < count; ++i) {
        sum += static_cast<double>(samples[i]) * static_cast<double>(samples[i]);
    }
    return sum;
}

// The middle of the quietest pause among the last blocks of a full window.
size_t quietest_place(const float * window) {
    const size_t        first = window_samples / block_samples - searched_blocks;
    std::vector<double> blocks(searched_blocks);
    for (size_t i = 0; i < searched_blocks; ++i) {
        blocks[i] = energy(window + (first + i) * block_samples, block_samples);
    }
    size_t best  = 0;
    double least = -1.0;
    for (size_t i = 0; i + pause_blocks <= searched_blocks; ++i) {
        double sum = 0.0;
        for (size_t j = i; j < i + pause_blocks; ++j) {
            sum += blocks[j];
        }
        if (least < 0.0 || sum <= least) {
            least = sum;
            best  = i;
        }
    }
    return (first + best + pause_blocks / 2) * block_samples;
}

}  // namespace

std::vector<Span> part_recording(const float * samples, size_t count) {
    std::vector<Span> parts;
    size_t            begin = 0;
    while (count - begin > window_samples) {
        const size_t end = begin + quietest_place(samples + begin);
        parts.push_back({begin, end});
        begin = end;
    }
    if (begin < count) {
        parts.push_back({begin, count});
    }
    return parts;
}

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
