#include "kokoro/builder.h"

#include "kokoro/tile_conv.h"

#include <cmath>

namespace eliza::kokoro {
namespace {

constexpr float res_slope   = 0.2f;
constexpr float ada_epsilon = 1e-5f;
const float     half_power  = 1.0f / std::sqrt(2.0f);

// [taps * channels, rows, phases]: row t starts where step t * stride of `x` does, so rows overlap. ggml's own
// view calls only know views that are not larger than their source, hence the shape is set by hand.
ggml_tensor * windows(ggml_context * c, ggml_tensor * x, int64_t taps, int64_t rows, int64_t stride) {
    ggml_tensor * view = ggml_view_1d(c, x, 1, 0);
    view->ne[0]        = taps * x->ne[0];
    view->ne[1]        = rows;
    view->ne[2]        = x->ne[2];
    view->nb[1]        = static_cast<size_t>(stride) * x->nb[1];
    view->nb[2]        = x->nb[2];
    view->nb[3]        = x->nb[2] * static_cast<size_t>(x->ne[2]);
    return view;
}

}  // namespace

ggml_tensor * Builder::stage(const char * name, ggml_tensor * x) const {
    if (trace_.wanted) {
        ggml_set_output(x);
        trace_.stages.emplace_back(name, x);
    }
    return x;
}

ggml_tensor * Builder::linear(const std::string & name, ggml_tensor * x) const {
    return ggml_add(site_.context, multiply(name + ".weight", x), weight(name + ".bias"));
}

ggml_tensor * Builder::multiply(const std::string & name, ggml_tensor * x) const {
    const TileWeights * tiles = model_.tiles(name);
    if (tiles == nullptr) {
        return ggml_mul_mat(site_.context, weight(name), x);
    }
    Prepare how;
    how.tiles           = true;
    ggml_tensor * ready = prepare(site_, {x, x->ne[0], x->ne[1]}, how);
    return convolve_tiles(site_, ready, *tiles, 1, x->ne[1]);
}

ggml_tensor * Builder::layer_norm(const std::string & name, ggml_tensor * x, float epsilon) const {
    ggml_tensor * normal = ggml_mul(site_.context, ggml_norm(site_.context, x, epsilon), weight(name + ".weight"));
    return ggml_add(site_.context, normal, weight(name + ".bias"));
}

ggml_tensor * Builder::adaptive_norm(const std::string & name, ggml_tensor * x, ggml_tensor * style) const {
    ggml_context * c     = site_.context;
    ggml_tensor *  both  = linear(name, style);
    ggml_tensor *  gamma = ggml_view_1d(c, both, x->ne[0], 0);
    ggml_tensor *  beta  = ggml_view_1d(c, both, x->ne[0], static_cast<size_t>(x->ne[0]) * sizeof(float));
    ggml_tensor *  norm  = ggml_norm(c, x, ada_epsilon);
    return ggml_add(c, ggml_add(c, norm, ggml_mul(c, norm, gamma)), beta);
}

ggml_tensor * Builder::lstm(const std::string & name, ggml_tensor * x) const {
    ggml_tensor * gates = multiply(name + ".ih", x);
    return lstm_scan(site_, ggml_add(site_.context, gates, weight(name + ".bias")), weight(name + ".hh"));
}

// A convolution is one matrix product: its windows are overlapping rows of the padded signal.
Signal Builder::convolve(const std::string & name, ggml_tensor * x, int64_t taps, int64_t length,
                         int64_t stride) const {
    ggml_tensor * w      = weight(name + ".weight");
    const int64_t phases = x->ne[2];
    const int64_t rows   = (length + phases - 1) / phases;
    ggml_tensor * window = windows(site_.context, x, taps, rows, stride);
    return {ggml_mul_mat(site_.context, w, window), w->ne[1], length, phases};
}

ggml_tensor * Builder::project(const std::string & name, const Signal & x) const {
    const bool    whole = x.tensor->ne[0] == aligned(x.channels);
    ggml_tensor * input = whole ? x.tensor : prepare(site_, x, {});
    return linear(name, input);
}

Signal Builder::shortcut(const std::string & name, const Signal & x, int64_t out, bool upsample) const {
    Signal kept = x;
    if (upsample) {
        kept = {repeat_each(site_, x.tensor), x.channels, 2 * x.length};
    }
    return x.channels == out ? kept : shape(name + ".conv1x1", kept, {});
}

Signal Builder::res_block(const std::string & name, const Signal & x, ggml_tensor * style, int64_t out,
                          bool upsample) const {
    const Prepare same{nullptr, nullptr, Activation::none, 0, 3, 1, 1};
    Prepare       first{linear(name + ".norm1", style), nullptr, Activation::leaky, res_slope, 3, 1, 1};
    Signal        middle = x;
    // conv1's bias would be taken away by the instance norm that follows, so it is not added
    if (upsample) {
        first.padding = 0;
        ggml_tensor * wide =
            pool_up(site_, prepare(site_, x, first), weight(name + ".pool.weight"), weight(name + ".pool.bias"));
        middle = shape(name + ".conv1", {wide, x.channels, 2 * x.length}, same);
    } else {
        middle = shape(name + ".conv1", x, first);
    }
    const Prepare second{linear(name + ".norm2", style), nullptr, Activation::leaky, res_slope, 3, 1, 1};
    const Signal  main = shape(name + ".conv2", middle, second);
    const Signal  side = shortcut(name, x, out, upsample);
    return {add_up(site_, {main, side}, weight(name + ".conv2.bias"), half_power), out, main.length};
}

Signal Builder::shape(const std::string & name, const Signal & x, Prepare how) const {
    const TileWeights * tiles = model_.tiles(name + ".weight");
    how.tiles                 = tiles != nullptr;
    ggml_tensor * ready       = prepare(site_, x, how);
    const int64_t length      = x.length + 2 * how.padding - how.dilation * (how.taps - 1);
    if (tiles == nullptr) {
        return convolve(name, ready, how.taps, length);
    }
    return {convolve_tiles(site_, ready, *tiles, how.dilation, length), tiles->out, length};
}

Signal Builder::snake_block(const std::string & name, const Signal & x, ggml_tensor * style, int64_t taps) const {
    Signal now = x;
    for (size_t i = 0; i < hyper().dilations.size(); ++i) {
        const auto snake = [&](const char * half, int64_t dilation) {
            const std::string end = half + std::to_string(i);
            Prepare how{linear(name + ".adain" + end, style), weight(name + ".alpha" + end), Activation::snake};
            how.taps     = taps;
            how.dilation = dilation;
            how.padding  = dilation * (taps - 1) / 2;
            return how;
        };
        const std::string n      = std::to_string(i);
        const Signal      middle = shape(name + ".convs1." + n, now, snake("1.", hyper().dilations[i]));
        const Signal      step   = shape(name + ".convs2." + n, middle, snake("2.", 1));
        now.tensor               = add_up(site_, {step, now}, weight(name + ".convs2." + n + ".bias"), 1.0f);
    }
    return now;
}

}  // namespace eliza::kokoro
