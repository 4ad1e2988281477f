// Cuts a long recording into pieces that a recognition model can take.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace eliza::asr {

// Half-open ranges [begin, end) that cover all samples in order, each at most `most` long (> 0). A cut falls on the
// quietest point of the window's last fifth, where it is least likely to split a word; silence chooses the latest.
std::vector<std::pair<size_t, size_t>> cut_windows(const float * samples, size_t count, size_t most);

}  // namespace eliza::asr
