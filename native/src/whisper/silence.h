// What holds no voice.
#pragma once

#include <cstddef>

namespace eliza::whisper {

// Whether nothing in it is as loud as 1e-3 of full scale for 20 ms (-60 dB): no voice is that quiet.
bool is_silence(const float * samples, size_t count);

}  // namespace eliza::whisper
