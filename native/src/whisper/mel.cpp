#include "whisper/mel.h"

#include "whisper/model.h"

#include <algorithm>
#include <cmath>

namespace eliza::whisper {
namespace {

constexpr double pi           = 3.14159265358979323846;
constexpr double top_hz       = 8000.0;
constexpr double linear_hz    = 1000.0;  // Slaney's scale is linear below, logarithmic above
constexpr double mel_per_hz   = 3.0 / 200.0;
constexpr double log_step     = 0.06875177742094912;  // ln(6.4) / 27
constexpr float  least_power  = 1e-10f;
constexpr float  most_power   = 1e30f;  // samples far beyond full scale stay numbers
constexpr float  decades_kept = 8.0f;
constexpr size_t margin       = fft_samples / 2;

double to_mel(double hz) {
    return hz < linear_hz ? hz * mel_per_hz : linear_hz * mel_per_hz + std::log(hz / linear_hz) / log_step;
}

double to_hz(double mel) {
    const double edge = linear_hz * mel_per_hz;
    return mel < edge ? mel / mel_per_hz : linear_hz * std::exp(log_step * (mel - edge));
}

// The sample at a place before the beginning, inside, or beyond the end of the 30 s.
float mirrored(const float * samples, size_t count, int64_t place) {
    const auto whole = static_cast<int64_t>(window_samples);
    place            = place < 0 ? -place : place;
    place            = place >= whole ? 2 * whole - 2 - place : place;
    return place < static_cast<int64_t>(count) ? samples[place] : 0.0f;
}

}  // namespace

std::vector<float> fourier_rows() {
    std::vector<float> rows(static_cast<size_t>(2 * fft_bins * fft_samples));
    for (int64_t bin = 0; bin < fft_bins; ++bin) {
        for (int64_t n = 0; n < fft_samples; ++n) {
            const double hann  = 0.5 - 0.5 * std::cos(2.0 * pi * static_cast<double>(n) / fft_samples);
            const double angle = 2.0 * pi * static_cast<double>(bin * n % fft_samples) / fft_samples;
            rows[static_cast<size_t>(bin * fft_samples + n)]              = static_cast<float>(hann * std::cos(angle));
            rows[static_cast<size_t>((fft_bins + bin) * fft_samples + n)] = static_cast<float>(hann * std::sin(angle));
        }
    }
    return rows;
}

std::vector<float> mel_rows(int64_t bands) {
    std::vector<double> edges(static_cast<size_t>(bands) + 2);
    for (size_t i = 0; i < edges.size(); ++i) {
        edges[i] = to_hz(to_mel(top_hz) * static_cast<double>(i) / static_cast<double>(bands + 1));
    }
    std::vector<float> rows(static_cast<size_t>(bands * fft_bins));
    for (size_t band = 0; band < static_cast<size_t>(bands); ++band) {
        const double low = edges[band], mid = edges[band + 1], high = edges[band + 2];
        for (int64_t bin = 0; bin < fft_bins; ++bin) {
            const double hz     = top_hz * static_cast<double>(bin) / (fft_bins - 1);
            const double height = std::max(0.0, std::min((hz - low) / (mid - low), (high - hz) / (high - mid)));
            rows[band * fft_bins + static_cast<size_t>(bin)] = static_cast<float>(height * 2.0 / (high - low));
        }
    }
    return rows;
}

int64_t heard_frames(size_t count) {
    const auto frames = static_cast<int64_t>((count + margin + hop_samples - 1) / hop_samples);
    return std::min(frames, audio_frames);
}

std::vector<float> padded_samples(const float * samples, size_t count) {
    const int64_t      frames = heard_frames(count);
    std::vector<float> padded(static_cast<size_t>((frames - 1) * hop_samples + fft_samples));
    for (size_t i = 0; i < padded.size(); ++i) {
        padded[i] = mirrored(samples, count, static_cast<int64_t>(i) - static_cast<int64_t>(margin));
    }
    return padded;
}

std::vector<float> log_mel(const std::vector<float> & power, int64_t bands, int64_t all_frames) {
    std::vector<float> mel(static_cast<size_t>(bands * all_frames), std::log10(least_power));
    std::transform(power.begin(), power.end(), mel.begin(),
                   [](float value) { return std::log10(std::min(most_power, std::max(least_power, value))); });
    const float floor = *std::max_element(mel.begin(), mel.end()) - decades_kept;
    for (float & value : mel) {
        value = (std::max(value, floor) + 4.0f) / 4.0f;
    }
    return mel;
}

}  // namespace eliza::whisper
