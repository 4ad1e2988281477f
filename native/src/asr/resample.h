// From the microphone's rate to the model's.
#pragma once

#include <cstddef>
#include <vector>

namespace eliza::asr {

// A band-limited change of rate for a whole recording: windowed sinc (Kaiser, 32 crossings a side, about 80 dB),
// rates in Hz between 4000 and 384000. The result has ceil(count * to / from) samples; sample 0 stays at time 0.
// Throws Failure(INVALID_ARG) for other rates.
std::vector<float> resample(const float * samples, size_t count, int from_hz, int to_hz);

}  // namespace eliza::asr
