// From aligned phonemes to sound: pitch and loudness curves, the decoder, the harmonic generator.
#include "kokoro/builder.h"

namespace eliza::kokoro {
namespace {

constexpr float stage_slope = 0.1f;
constexpr float last_slope  = 0.01f;

ggml_tensor * curve(const Builder & b, const std::string & name, const Signal & shared, ggml_tensor * style) {
    const int64_t hidden = b.hyper().hidden;
    Signal        x      = b.res_block(name + ".0", shared, style, hidden, false);
    x                    = b.res_block(name + ".1", x, style, hidden / 2, true);
    x                    = b.res_block(name + ".2", x, style, hidden / 2, false);
    return b.project(name + "_out", x);
}

struct Curves {
    ggml_tensor *f0, *loudness;
};

Curves prosody(const Builder & b, const SpeechInputs & in) {
    ggml_tensor * spread = ggml_get_rows(b.site().context, in.encoded, in.frames);
    const Signal  shared{b.lstm("predictor.shared", spread), b.hyper().hidden, in.frames->ne[0]};
    return {b.stage("f0", curve(b, "predictor.F0", shared, in.prosody)),
            b.stage("n", curve(b, "predictor.N", shared, in.prosody))};
}

Signal decode(const Builder & b, const SpeechInputs & in, const Curves & curves) {
    const Hyper & h      = b.hyper();
    const int64_t length = in.frames->ne[0];
    ggml_tensor * asr    = b.stage("asr", ggml_get_rows(b.site().context, in.content, in.frames));
    ggml_tensor * f0     = halve_curve(b.site(), curves.f0, b.weight("decoder.F0.weight"), b.weight("decoder.F0.bias"));
    ggml_tensor * n = halve_curve(b.site(), curves.loudness, b.weight("decoder.N.weight"), b.weight("decoder.N.bias"));
    const int64_t first    = h.hidden + 2;
    const Signal  joined   = {join(b.site(), {asr, f0, n}, aligned(first), length), first, length};
    Signal        x        = b.res_block("decoder.encode", joined, in.timbre, h.decoder_hidden, false);
    ggml_tensor * residual = b.project("decoder.residual", {asr, h.hidden, length});
    const int64_t wide     = h.decoder_hidden + h.decoder_residual + 2;
    for (int i = 0; i < 4; ++i) {
        const Signal all{join(b.site(), {x.tensor, residual, f0, n}, aligned(wide), length), wide, length};
        const bool   last = i == 3;
        x = b.res_block("decoder.decode." + std::to_string(i), all, in.timbre, last ? h.channels : h.decoder_hidden,
                        last);
    }
    b.stage("decoder", x.tensor);
    return x;
}

// The transposed convolution: from every pair of neighbours, `rate` outputs at once.
Signal upsample(const Builder & b, size_t stage, const Signal & x) {
    const std::string name = "generator.up." + std::to_string(stage);
    const int64_t     rate = b.hyper().rates[stage], width = b.hyper().stage_channels(stage);
    ggml_context *    c = b.site().context;
    const Prepare     pad{nullptr, nullptr, Activation::leaky, stage_slope, 2, 1, 1};
    ggml_tensor *     all   = b.shape(name, x, pad).tensor;
    ggml_tensor *     steps = ggml_reshape_2d(c, all, width, rate * (x.length + 1));
    const size_t      skip  = static_cast<size_t>(rate / 2) * steps->nb[1];
    return {ggml_view_2d(c, steps, width, rate * x.length, steps->nb[1], skip), width, rate * x.length};
}

// What the excitation's spectrum adds at one stage.
Signal excitation(const Builder & b, size_t stage, ggml_tensor * spectrum, int64_t padding, ggml_tensor * style) {
    const Hyper &     h      = b.hyper();
    const std::string n      = std::to_string(stage);
    const int64_t     spare  = padding - h.noise_padding(stage);
    const int64_t     taps   = h.noise_kernel(stage);
    const int64_t     usable = spectrum->ne[1] - 2 * spare;
    const int64_t     length = (usable - taps) / h.noise_stride(stage) + 1;
    ggml_tensor *     inner  = ggml_view_2d(b.site().context, spectrum, spectrum->ne[0], usable, spectrum->nb[1],
                                            static_cast<size_t>(spare) * spectrum->nb[1]);
    Signal            x      = b.convolve("generator.noise." + n, inner, taps, length, h.noise_stride(stage));
    x.tensor                 = ggml_add(b.site().context, x.tensor, b.weight("generator.noise." + n + ".bias"));
    return b.snake_block("generator.noise_block." + n, x, style, h.noise_block_kernel(stage));
}

Signal stage_blocks(const Builder & b, size_t stage, const Signal & x, ggml_tensor * style) {
    const auto &        kernels = b.hyper().kernels;
    std::vector<Signal> parts;
    for (size_t j = 0; j < kernels.size(); ++j) {
        const std::string name = "generator.block." + std::to_string(stage * kernels.size() + j);
        parts.push_back(b.snake_block(name, x, style, kernels[j]));
    }
    return {add_up(b.site(), parts, nullptr, 1.0f / static_cast<float>(parts.size())), x.channels, x.length};
}

ggml_tensor * generate(const Builder & b, const Signal & decoded, ggml_tensor * f0, ggml_tensor * style,
                       const SourceShape & shape) {
    const Hyper & h = b.hyper();
    ggml_tensor * wave =
        excite(b.site(), f0, b.weight("generator.source.weight"), b.weight("generator.source.bias"), shape);
    ggml_tensor * spectrum = analyse(b.site(), b.stage("source", wave), shape);
    Signal        x        = decoded;
    for (size_t i = 0; i < h.rates.size(); ++i) {
        const Signal side = excitation(b, i, spectrum, shape.padding, style);
        const Signal main = upsample(b, i, x);
        const bool   last = i + 1 == h.rates.size();
        x.tensor = add_up(b.site(), {main, side}, b.weight("generator.up." + std::to_string(i) + ".bias"), 1.0f, last);
        x.channels = side.channels;
        x.length   = side.length;
        x          = stage_blocks(b, i, x, style);
    }
    const Prepare pad{nullptr, nullptr, Activation::leaky, last_slope, 7, 1, 3};
    ggml_tensor * out = b.convolve("generator.out", prepare(b.site(), x, pad), 7, x.length).tensor;
    out               = b.stage("spectrum", ggml_add(b.site().context, out, b.weight("generator.out.bias")));
    return b.stage("wave", resynthesise(b.site(), out, shape));
}

}  // namespace

ggml_tensor * build_speech(const Builder & b, const SpeechInputs & in, uint64_t seed, float noise) {
    const Hyper &     h      = b.hyper();
    const Curves      curves = prosody(b, in);
    const Signal      x      = decode(b, in, curves);
    const SourceShape shape{h.samples_per_frame(), h.fft, h.hop, h.noise_padding(0), seed, noise};
    return generate(b, x, curves.f0, in.timbre, shape);
}

}  // namespace eliza::kokoro
