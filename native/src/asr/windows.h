// Cuts a long recording into pieces that a recognition model can take.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace eliza::asr {

// Half-open ranges [begin, end) that cover all samples in order, none empty, each at most `most` long (> 0). Each but
// the last ends in the middle of the quietest pause of its last quarter, where it is least likely to split a word: for
// windows of 30 s the pause is 0.2 s long. Of equally quiet ones the latest is taken.
std::vector<std::pair<size_t, size_t>> cut_windows(const float * samples, size_t count, size_t most);

}  // namespace eliza::asr
