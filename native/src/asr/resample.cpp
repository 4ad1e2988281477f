#include "asr/resample.h"

#include "abi/guard.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace eliza::asr {
namespace {

constexpr int    slowest_hz = 4000;
constexpr int    fastest_hz = 384000;
constexpr int    crossings  = 32;     // of the sinc, on each side
constexpr double kaiser     = 8.0;    // about 80 dB of stop band
constexpr double passband   = 0.945;  // of the narrower Nyquist band, the rest is the slope
constexpr double pi         = 3.14159265358979323846;

// Modified Bessel function of order 0, by its power series.
double bessel_i0(double x) {
    double sum  = 1.0;
    double term = 1.0;
    for (int k = 1; term > sum * 1e-16; ++k) {
        term *= (x / (2.0 * k)) * (x / (2.0 * k));
        sum += term;
    }
    return sum;
}

// One row of weights for each of the `phases` positions that an output sample can have between two inputs.
struct Filter {
    int                phases;
    int                reach;  // input samples on each side
    std::vector<float> rows;   // phases x 2 * reach
};

Filter make_filter(int phases, double cutoff) {
    Filter filter;
    filter.phases = phases;
    filter.reach  = static_cast<int>(std::ceil(crossings / cutoff));
    filter.rows.resize(static_cast<size_t>(phases) * 2 * filter.reach);
    const double peak = bessel_i0(kaiser);
    for (int phase = 0; phase < phases; ++phase) {
        for (int tap = 0; tap < 2 * filter.reach; ++tap) {
            const double away = tap - filter.reach + 1 - static_cast<double>(phase) / phases;  // in input samples
            const double edge = away / filter.reach;
            const double x    = pi * cutoff * away;
            const double sinc = std::abs(x) < 1e-12 ? 1.0 : std::sin(x) / x;
            const double bell = std::abs(edge) >= 1.0 ? 0.0 : bessel_i0(kaiser * std::sqrt(1.0 - edge * edge)) / peak;
            filter.rows[static_cast<size_t>(phase) * 2 * filter.reach + tap] = static_cast<float>(cutoff * sinc * bell);
        }
    }
    return filter;
}

float weigh(const Filter & filter, const float * samples, size_t count, size_t whole, int phase) {
    const float * row = filter.rows.data() + static_cast<size_t>(phase) * 2 * filter.reach;
    float         sum = 0.0f;
    for (int tap = 0; tap < 2 * filter.reach; ++tap) {
        const auto at = static_cast<std::ptrdiff_t>(whole) + tap - filter.reach + 1;
        if (at >= 0 && at < static_cast<std::ptrdiff_t>(count)) {
            sum += row[tap] * samples[at];
        }
    }
    return sum;
}

}  // namespace

std::vector<float> resample(const float * samples, size_t count, int from_hz, int to_hz) {
    for (const int rate : {from_hz, to_hz}) {
        if (rate < slowest_hz || rate > fastest_hz) {
            throw Failure(ELIZA_ERR_INVALID_ARG, "a rate of " + std::to_string(rate) + " Hz is outside 4000 to 384000");
        }
    }
    if (from_hz == to_hz || count == 0) {
        return std::vector<float>(samples, samples + count);
    }
    const int    shared = std::gcd(from_hz, to_hz);
    const auto   up     = static_cast<size_t>(to_hz / shared);
    const auto   down   = static_cast<size_t>(from_hz / shared);
    const Filter filter =
        make_filter(static_cast<int>(up), passband * std::min(1.0, static_cast<double>(to_hz) / from_hz));
    std::vector<float> out((count * up + down - 1) / down);
    for (size_t i = 0; i < out.size(); ++i) {
        const size_t at = i * down;
        out[i]          = weigh(filter, samples, count, at / up, static_cast<int>(at % up));
    }
    return out;
}

}  // namespace eliza::asr
