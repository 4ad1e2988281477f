#include "asr/windows.h"

#include <algorithm>

namespace eliza::asr {
namespace {

constexpr size_t blocks_of_window = 1500;  // 20 ms of 30 s
constexpr size_t pause_blocks     = 10;

double energy(const float * samples, size_t count) {
    double sum = 0.0;
    for (size_t i = 0; i < count; ++i) {
        sum += static_cast<double>(samples[i]) * samples[i];
    }
    return sum;
}

// The middle of the quietest pause in the last quarter of a window of `most` samples; its end where that is too short
// to hold a pause.
size_t quietest_place(const float * window, size_t most) {
    const size_t block    = std::max<size_t>(1, most / blocks_of_window);
    const size_t searched = most / 4 / block;
    const size_t first    = most - searched * block;
    if (searched < pause_blocks) {
        return most;
    }
    std::vector<double> blocks(searched);
    for (size_t i = 0; i < searched; ++i) {
        blocks[i] = energy(window + first + i * block, block);
    }
    size_t best  = 0;
    double least = 0.0;
    for (size_t i = 0; i + pause_blocks <= searched; ++i) {
        double sum = 0.0;
        for (size_t j = i; j < i + pause_blocks; ++j) {
            sum += blocks[j];
        }
        if (i == 0 || sum <= least) {
            least = sum;
            best  = i;
        }
    }
    return first + (best + pause_blocks / 2) * block;
}

}  // namespace

std::vector<std::pair<size_t, size_t>> cut_windows(const float * samples, size_t count, size_t most) {
    std::vector<std::pair<size_t, size_t>> windows;
    size_t                                 begin = 0;
    while (count - begin > most) {
        const size_t end = begin + quietest_place(samples + begin, most);
        windows.emplace_back(begin, end);
        begin = end;
    }
    if (count > begin) {
        windows.emplace_back(begin, count);
    }
    return windows;
}

}  // namespace eliza::asr
