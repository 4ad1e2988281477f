// Where to part a long recording, so that no word is cut.
#pragma once

#include <cstddef>
#include <vector>

namespace eliza::whisper {

struct Span {
    size_t begin, end;
};

// Parts of at most 30 s, none empty, that together are all of it. Each but the last ends at the middle of the quietest
// 0.2 s of its last 8 s.
std::vector<Span> part_recording(const float * samples, size_t count);

// Whether nothing in it is as loud as 1e-3 of full scale for 20 ms (-60 dB): no voice is that quiet.
bool is_silence(const float * samples, size_t count);

}  // namespace eliza::whisper
