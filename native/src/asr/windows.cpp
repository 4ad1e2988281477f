#include "asr/windows.h"

#include <algorithm>

namespace eliza::asr {
namespace {

// Loudness is compared over frames of a tenth of the search range at most: 30 s windows give 20 ms at 16 kHz.
constexpr size_t frames_of_search = 300;

double energy(const float * samples, size_t count) {
    double sum = 0.0;
    for (size_t i = 0; i < count; ++i) {
        sum += static_cast<double>(samples[i]) * samples[i];
    }
    return sum;
}

// The middle of the quietest frame in [from, to), both beyond 0.
size_t quietest(const float * samples, size_t from, size_t to) {
    const size_t frame = std::max<size_t>(1, (to - from) / frames_of_search);
    size_t       best  = to;
    double       least = 0.0;
    for (size_t end = to; end >= from + frame; end -= frame) {
        const double loud = energy(samples + end - frame, frame);
        if (best == to || loud < least) {
            best  = end - frame / 2;
            least = loud;
        }
    }
    return best;
}

}  // namespace

std::vector<std::pair<size_t, size_t>> cut_windows(const float * samples, size_t count, size_t most) {
    std::vector<std::pair<size_t, size_t>> windows;
    size_t                                 begin = 0;
    while (count - begin > most) {
        const size_t end = quietest(samples, begin + most - most / 5, begin + most);
        windows.emplace_back(begin, end);
        begin = end;
    }
    if (count > begin) {
        windows.emplace_back(begin, count);
    }
    return windows;
}

}  // namespace eliza::asr
