// The harmonic excitation and the short-time Fourier transforms around the generator.
#include "kokoro/model.h"
#include "kokoro/ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace eliza::kokoro {
namespace {

constexpr double  tau              = 6.283185307179586476925;
constexpr double  half_turn        = tau / 2;
constexpr float   sine_amplitude   = 0.1f;
constexpr float   voiced_noise     = 0.003f;
constexpr float   voiced_threshold = 10.0f;  // Hz; below it a frame is unvoiced
constexpr int64_t steps_per_look   = 64;

struct SourceNode {
    SourceShape    shape;
    const Cancel * cancel;
};

struct Range {
    int64_t from, to;
};

Range share(int64_t total, int ith, int nth) {
    return {total * ith / nth, total * (ith + 1) / nth};
}

uint64_t mix(uint64_t x) {  // SplitMix64's finaliser: a counter becomes noise, so any thread can start anywhere
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// A standard normal number (Box and Muller) for one counter value.
float normal(uint64_t seed, uint64_t counter) {
    const uint64_t bits  = mix(mix(seed) ^ counter);
    const double   first = (static_cast<double>(bits >> 40) + 1.0) / 16777217.0;
    const double   angle = static_cast<double>(bits & 0xffffff) / 16777216.0 * tau;
    return static_cast<float>(std::sqrt(-2.0 * std::log(first)) * std::cos(angle));
}

// Turns of every partial at the middle of every frame, in double: a long sentence keeps its phase.
std::vector<double> turns_at_frames(const ggml_tensor * f0) {
    const auto *        hz     = static_cast<const float *>(f0->data);
    const int64_t       frames = f0->ne[1];
    std::vector<double> turns(static_cast<size_t>(frames * harmonics));
    for (int h = 0; h < harmonics; ++h) {
        double sum = 0;
        for (int64_t f = 0; f < frames; ++f) {
            const double step = static_cast<double>(hz[f] * static_cast<float>(h + 1)) / sample_rate_hz;
            sum += step - std::floor(step);
            turns[static_cast<size_t>(f * harmonics + h)] = sum;
        }
    }
    return turns;
}

// sin() of partial h at sample t: the phase runs linearly between the middles of neighbouring frames.
float partial_at(const std::vector<double> & turns, int64_t frames, int64_t per_frame, int64_t t, int h) {
    const double  at    = std::max(0.0, (static_cast<double>(t) + 0.5) / static_cast<double>(per_frame) - 0.5);
    const int64_t left  = std::min(frames - 1, static_cast<int64_t>(at));
    const int64_t right = std::min(frames - 1, left + 1);
    const double  share = at - static_cast<double>(left);
    const double  from  = turns[static_cast<size_t>(left * harmonics + h)];
    const double  to    = turns[static_cast<size_t>(right * harmonics + h)];
    const double  turn  = (from + (to - from) * share) * static_cast<double>(per_frame);
    return static_cast<float>(std::sin((turn - std::floor(turn)) * tau));
}

void run_excite(ggml_tensor * dst, int ith, int nth, void * data) {
    const auto &              node   = *static_cast<const SourceNode *>(data);
    const ggml_tensor *       f0     = dst->src[0];
    const auto *              hz     = static_cast<const float *>(f0->data);
    const auto *              w      = static_cast<const float *>(dst->src[1]->data);
    const float               bias   = *static_cast<const float *>(dst->src[2]->data);
    auto *                    out    = static_cast<float *>(dst->data);
    const std::vector<double> turns  = turns_at_frames(f0);
    const int64_t             per    = node.shape.samples_per_frame;
    const Range               time   = share(dst->ne[0], ith, nth);
    const float               spread = std::sqrt(std::inner_product(w, w + harmonics, w, 0.0f));
    for (int64_t t = time.from; t < time.to; ++t) {
        if (t % 4096 == 0 && node.cancel->load(std::memory_order_relaxed)) {
            return;
        }
        const bool  voiced = hz[t / per] > voiced_threshold;
        const float loud   = node.shape.noise * (voiced ? voiced_noise : sine_amplitude / 3);
        float       sum    = bias;
        for (int h = 0; voiced && h < harmonics; ++h) {
            sum += w[h] * sine_amplitude * partial_at(turns, f0->ne[1], per, t, h);
        }
        // a weighted sum of independent normal numbers is one normal number: one draw stands for nine
        sum += loud > 0 ? loud * spread * normal(node.shape.seed, static_cast<uint64_t>(t)) : 0.0f;
        out[t] = std::tanh(sum);
    }
}

struct Fourier {
    std::vector<float> window, cosine, sine;  // cosine, sine: [bins][fft]
};

Fourier tables(int64_t fft) {
    Fourier out;
    for (int64_t n = 0; n < fft; ++n) {
        out.window.push_back(
            static_cast<float>(0.5 - 0.5 * std::cos(tau * static_cast<double>(n) / static_cast<double>(fft))));
    }
    for (int64_t k = 0; k <= fft / 2; ++k) {
        for (int64_t n = 0; n < fft; ++n) {
            const double angle = tau * static_cast<double>(k * n % fft) / static_cast<double>(fft);
            out.cosine.push_back(static_cast<float>(std::cos(angle)));
            // exact zeros for the constant and the alternating bin: their phase is 0 or pi, never noise
            const bool real = k == 0 || 2 * k == fft;
            out.sine.push_back(real ? 0.0f : static_cast<float>(std::sin(angle)));
        }
    }
    return out;
}

int64_t reflected(int64_t at, int64_t length) {
    if (at < 0) {
        at = -at;
    }
    return at < length ? at : 2 * (length - 1) - at;
}

// A `mirrored` frame has a real spectrum: the sign of its imaginary part would be rounding error, and with it the
// sign of a phase of pi.
void analyse_step(const Fourier & f, const float * frame, int64_t fft, bool mirrored, float * out) {
    const int64_t bins = fft / 2 + 1;
    for (int64_t k = 0; k < bins; ++k) {
        float real = 0, imaginary = 0;
        for (int64_t n = 0; n < fft; ++n) {
            real += frame[n] * f.cosine[static_cast<size_t>(k * fft + n)];
            imaginary -= frame[n] * f.sine[static_cast<size_t>(k * fft + n)];
        }
        const bool exact = mirrored || k == 0 || 2 * k == fft;
        out[k]           = std::sqrt(real * real + imaginary * imaginary);
        out[bins + k]    = exact ? (real < 0 ? static_cast<float>(half_turn) : 0.0f) : std::atan2(imaginary, real);
    }
}

void run_analyse(ggml_tensor * dst, int ith, int nth, void * data) {
    const auto &       node  = *static_cast<const SourceNode *>(data);
    const auto *       wave  = static_cast<const float *>(dst->src[0]->data);
    const int64_t      total = dst->src[0]->ne[0];
    const int64_t      fft   = node.shape.fft;
    const Fourier      f     = tables(fft);
    const Range        time  = share(dst->ne[1], ith, nth);
    std::vector<float> frame(static_cast<size_t>(fft));
    for (int64_t i = time.from; i < time.to; ++i) {
        if (i % steps_per_look == 0 && node.cancel->load(std::memory_order_relaxed)) {
            return;
        }
        float *       out  = static_cast<float *>(dst->data) + i * dst->ne[0];
        const int64_t step = i - node.shape.padding;
        std::fill(out, out + dst->ne[0], 0.0f);
        if (step < 0 || step >= dst->ne[1] - 2 * node.shape.padding) {
            continue;
        }
        for (int64_t n = 0; n < fft; ++n) {
            const int64_t at              = reflected(step * node.shape.hop + n - fft / 2, total);
            frame[static_cast<size_t>(n)] = wave[at] * f.window[static_cast<size_t>(n)];
        }
        analyse_step(f, frame.data(), fft, step == 0, out);
    }
}

// One windowed frame of the inverse transform of (log magnitude, phase through sin()).
void inverse_step(const Fourier & f, const float * in, int64_t fft, float * frame) {
    const int64_t bins = fft / 2 + 1;
    std::fill(frame, frame + fft, 0.0f);
    for (int64_t k = 0; k < bins; ++k) {
        const bool  edge      = k == 0 || 2 * k == fft;
        const float weight    = (edge ? 1.0f : 2.0f) / static_cast<float>(fft) * std::exp(in[k]);
        const float phase     = std::sin(in[bins + k]);
        const float real      = weight * std::cos(phase);
        const float imaginary = weight * std::sin(phase);
        for (int64_t n = 0; n < fft; ++n) {
            frame[n] += real * f.cosine[static_cast<size_t>(k * fft + n)] -
                        imaginary * f.sine[static_cast<size_t>(k * fft + n)];
        }
    }
    for (int64_t n = 0; n < fft; ++n) {
        frame[n] *= f.window[static_cast<size_t>(n)];
    }
}

// Overlap-add for the samples [from, to) only, so that threads never share a sample.
void run_resynthesise(ggml_tensor * dst, int ith, int nth, void * data) {
    const auto &        node  = *static_cast<const SourceNode *>(data);
    const ggml_tensor * x     = dst->src[0];
    const int64_t       fft   = node.shape.fft;
    const int64_t       hop   = node.shape.hop;
    const Fourier       f     = tables(fft);
    const Range         time  = share(dst->ne[0], ith, nth);
    auto *              out   = static_cast<float *>(dst->data);
    const int64_t       first = std::max<int64_t>(0, (time.from + fft / 2 - fft) / hop);
    std::vector<float>  frame(static_cast<size_t>(fft)), weight(static_cast<size_t>(time.to - time.from), 0.0f);
    std::fill(out + time.from, out + time.to, 0.0f);
    for (int64_t s = first; s < x->ne[1] && s * hop - fft / 2 < time.to; ++s) {
        if (s % steps_per_look == 0 && node.cancel->load(std::memory_order_relaxed)) {
            return;
        }
        inverse_step(
            f, reinterpret_cast<const float *>(static_cast<const char *>(x->data) + static_cast<size_t>(s) * x->nb[1]),
            fft, frame.data());
        for (int64_t n = 0; n < fft; ++n) {
            const int64_t at = s * hop + n - fft / 2;
            if (at >= time.from && at < time.to) {
                const float w = f.window[static_cast<size_t>(n)];
                out[at] += frame[static_cast<size_t>(n)];
                weight[static_cast<size_t>(at - time.from)] += w * w;
            }
        }
    }
    for (int64_t t = time.from; t < time.to; ++t) {
        const float w = weight[static_cast<size_t>(t - time.from)];
        out[t]        = w > 1e-11f ? out[t] / w : 0.0f;
    }
}

ggml_tensor * node_of(const Site & site, int64_t ne0, int64_t ne1, std::vector<ggml_tensor *> args,
                      ggml_custom_op_t run, const SourceShape & shape) {
    return make_node(site, {ne0, ne1}, args, run, site.arena->add(SourceNode{shape, site.cancel}));
}

}  // namespace

ggml_tensor * excite(const Site & site, ggml_tensor * f0, ggml_tensor * weight, ggml_tensor * bias,
                     const SourceShape & shape) {
    return node_of(site, f0->ne[1] * shape.samples_per_frame, 1, {f0, weight, bias}, run_excite, shape);
}

ggml_tensor * analyse(const Site & site, ggml_tensor * wave, const SourceShape & shape) {
    const int64_t steps = wave->ne[0] / shape.hop + 1;
    return node_of(site, aligned(shape.fft + 2), steps + 2 * shape.padding, {wave}, run_analyse, shape);
}

ggml_tensor * resynthesise(const Site & site, ggml_tensor * spectrum, const SourceShape & shape) {
    return node_of(site, (spectrum->ne[1] - 1) * shape.hop, 1, {spectrum}, run_resynthesise, shape);
}

}  // namespace eliza::kokoro
