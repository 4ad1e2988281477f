// From samples to the log-mel spectrogram that Whisper was trained on.
// 400-sample Hann windows every 160 samples, centred, the edges mirrored; Slaney's mel scale and area norm; log10,
// at most 8 decades below the window's loudest value, then (x + 4) / 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace eliza::whisper {

constexpr int64_t fft_samples    = 400;
constexpr int64_t hop_samples    = 160;
constexpr int64_t fft_bins       = fft_samples / 2 + 1;
constexpr size_t  window_samples = 480000;  // 30 s at 16 kHz

// Row-major [2 * fft_bins, fft_samples]: windowed cosines, then windowed sines.
std::vector<float> fourier_rows();
// Row-major [bands, fft_bins].
std::vector<float> mel_rows(int64_t bands);

// How many of the 3000 frames hear any of `count` samples; the others are silence.
int64_t heard_frames(size_t count);
// The samples under those frames: frame t begins at t * hop_samples. `count` is 1 to window_samples; what is missing
// to 30 s is silence, as the official front end pads it.
std::vector<float> padded_samples(const float * samples, size_t count);
// `power` is [frames, bands], frames <= all_frames; the result is [all_frames, bands].
std::vector<float> log_mel(const std::vector<float> & power, int64_t bands, int64_t all_frames);

}  // namespace eliza::whisper
