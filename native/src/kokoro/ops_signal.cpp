#include "kokoro/kernels.h"
#include "kokoro/model.h"
#include "kokoro/ops.h"
#include "kokoro/tile_conv.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace eliza::kokoro {
namespace {

constexpr float   norm_epsilon  = 1e-5f;
constexpr int64_t rows_per_look = 64;  // how often a loop over time looks at the cancel flag
constexpr int64_t lane_channels = 16;  // threads share channels in whole cache lines

struct Slab {
    int64_t from, to;
};

Slab slab_of(int64_t total, int64_t unit, int ith, int nth) {
    const int64_t units = (total + unit - 1) / unit;
    return {std::min(total, units * ith / nth * unit), std::min(total, units * (ith + 1) / nth * unit)};
}

bool stopped(const Cancel * cancel, int64_t row) {
    return row % rows_per_look == 0 && cancel->load(std::memory_order_relaxed);
}

const float * row_of(const ggml_tensor * x, int64_t phases, int64_t t) {
    const auto * base = static_cast<const char *>(x->data);
    return reinterpret_cast<const float *>(base + static_cast<size_t>(t / phases) * x->nb[1] +
                                           static_cast<size_t>(t % phases) * x->nb[2]);
}

float * out_row(ggml_tensor * y, int64_t t) {
    return reinterpret_cast<float *>(static_cast<char *>(y->data) + static_cast<size_t>(t) * y->nb[1]);
}

struct PrepareNode {
    int64_t        channels, length, phases;
    Prepare        how;
    const Cancel * cancel;
};

// a, b of y = a * x + b for the channels of one slab: the instance norm and the style in one line.
void norm_line(const PrepareNode & node, const ggml_tensor * x, const float * style, Slab slab, std::vector<float> & a,
               std::vector<float> & b) {
    const int64_t       width = slab.to - slab.from;
    std::vector<double> sums(static_cast<size_t>(2 * width), 0.0);
    std::vector<float>  part(static_cast<size_t>(2 * width));
    for (int64_t t = 0; t < node.length;) {
        if (node.cancel->load(std::memory_order_relaxed)) {
            return;
        }
        std::fill(part.begin(), part.end(), 0.0f);
        for (const int64_t end = std::min(node.length, t + rows_per_look); t < end; ++t) {
            accumulate(row_of(x, node.phases, t) + slab.from, part.data(), part.data() + width, width);
        }
        std::transform(part.begin(), part.end(), sums.begin(), sums.begin(),
                       [](float one, double sum) { return sum + static_cast<double>(one); });
    }
    for (int64_t c = 0; c < width; ++c) {
        const double mean         = sums[static_cast<size_t>(c)] / static_cast<double>(node.length);
        const double square       = sums[static_cast<size_t>(width + c)] / static_cast<double>(node.length);
        const double variance     = std::max(0.0, square - mean * mean);
        const double gain         = (1.0 + style[slab.from + c]) / std::sqrt(variance + norm_epsilon);
        a[static_cast<size_t>(c)] = static_cast<float>(gain);
        b[static_cast<size_t>(c)] = static_cast<float>(style[node.channels + slab.from + c] - mean * gain);
    }
}

struct Line {
    std::vector<float> a, b, alpha, inverse;
};

void apply(const Prepare & how, const Line & line, const float * x, float * y, int64_t n) {
    if (how.activation == Activation::snake) {
        affine_snake(x, line.a.data(), line.b.data(), line.alpha.data(), line.inverse.data(), y, n);
    } else if (how.activation == Activation::leaky) {
        affine_leaky(x, line.a.data(), line.b.data(), how.slope, y, n);
    } else if (how.style != nullptr) {
        affine(x, line.a.data(), line.b.data(), y, n);
    } else {
        std::memcpy(y, x, static_cast<size_t>(n) * sizeof(float));
    }
}

Line make_line(const PrepareNode & node, const ggml_tensor * dst, Slab real) {
    const auto width = static_cast<size_t>(real.to - real.from);
    Line       line{std::vector<float>(width, 1.0f), std::vector<float>(width, 0.0f), {}, {}};
    int        next = 1;
    if (node.how.style != nullptr) {
        norm_line(node, dst->src[0], static_cast<const float *>(dst->src[next++]->data), real, line.a, line.b);
    }
    if (node.how.alpha != nullptr) {
        const auto * alpha = static_cast<const float *>(dst->src[next]->data);
        line.alpha.assign(alpha + real.from, alpha + real.to);
        line.inverse.resize(width);
        std::transform(line.alpha.begin(), line.alpha.end(), line.inverse.begin(),
                       [](float one) { return 1.0f / one; });
    }
    return line;
}

void run_prepare(ggml_tensor * dst, int ith, int nth, void * data) {
    const auto &       node = *static_cast<const PrepareNode *>(data);
    const Slab         slab = slab_of(dst->ne[0], lane_channels, ith, nth);
    const Slab         real{std::min(slab.from, node.channels), std::min(slab.to, node.channels)};
    const Line         line = make_line(node, dst, real);
    const auto         step = node.how.tiles ? 1 : node.how.dilation;
    const auto         lead = node.how.padding / step;
    std::vector<float> wide(dst->type == GGML_TYPE_BF16 ? static_cast<size_t>(slab.to - slab.from) : 0);
    for (int64_t phase = 0; phase < dst->ne[2]; ++phase) {
        for (int64_t i = 0; i < dst->ne[1]; ++i) {
            if (stopped(node.cancel, i)) {
                return;
            }
            char *  row     = static_cast<char *>(dst->data) + static_cast<size_t>(phase * dst->ne[1] + i) * dst->nb[1];
            float * y       = wide.empty() ? reinterpret_cast<float *>(row) + slab.from : wide.data();
            const int64_t t = (i - lead) * step + phase;
            int64_t       n = 0;
            if (t >= 0 && t < node.length && real.to > real.from) {
                n = real.to - real.from;
                apply(node.how, line, row_of(dst->src[0], node.phases, t) + real.from, y, n);
            }
            std::fill(y + n, y + (slab.to - slab.from), 0.0f);
            if (!wide.empty()) {
                to_bfloat16(y, reinterpret_cast<uint16_t *>(row) + slab.from, slab.to - slab.from);
            }
        }
    }
}

struct AddNode {
    std::vector<Signal> parts;  // only their shapes: the tensors are the node's sources
    float               scale;
    bool                biased, reflect;
    const Cancel *      cancel;
};

void run_add(ggml_tensor * dst, int ith, int nth, void * data) {
    const auto &  node  = *static_cast<const AddNode *>(data);
    const Slab    time  = slab_of(dst->ne[1], 1, ith, nth);
    const int64_t width = dst->ne[0];
    for (int64_t t = time.from; t < time.to; ++t) {
        if (stopped(node.cancel, t)) {
            return;
        }
        float *       y     = out_row(dst, t);
        const int64_t first = node.reflect ? (t == 0 ? 1 : t - 1) : t;
        std::memcpy(y, row_of(dst->src[0], node.parts[0].phases, first), static_cast<size_t>(width) * sizeof(float));
        for (size_t i = 1; i < node.parts.size(); ++i) {
            add_scaled(row_of(dst->src[i], node.parts[i].phases, t), y, width);
        }
        if (node.biased) {
            add_scaled(static_cast<const float *>(dst->src[node.parts.size()]->data), y, width);
        }
        if (node.scale != 1.0f) {
            scale_by(y, node.scale, width);
        }
    }
}

struct JoinNode {
    size_t         parts;
    const Cancel * cancel;
};

void run_join(ggml_tensor * dst, int ith, int nth, void * data) {
    const auto & node = *static_cast<const JoinNode *>(data);
    const Slab   time = slab_of(dst->ne[1], 1, ith, nth);
    for (int64_t t = time.from; t < time.to; ++t) {
        float * y = out_row(dst, t);
        float * p = y;
        for (size_t i = 0; i < node.parts; ++i) {
            const ggml_tensor * part = dst->src[i];
            std::memcpy(p, row_of(part, 1, part->ne[1] == 1 ? 0 : t), static_cast<size_t>(part->ne[0]) * sizeof(float));
            p += part->ne[0];
        }
        std::fill(p, y + dst->ne[0], 0.0f);
    }
}

struct PoolNode {
    int64_t channels, length;
};

void pool_row(const ggml_tensor * dst, const PoolNode & node, int64_t t, float * y) {
    const auto *  w      = static_cast<const float *>(dst->src[1]->data);
    const auto *  bias   = static_cast<const float *>(dst->src[2]->data);
    const int64_t c_all  = node.channels;
    const float * here   = row_of(dst->src[0], 1, t / 2);
    const float * next   = t / 2 + 1 < node.length ? row_of(dst->src[0], 1, t / 2 + 1) : nullptr;
    const float * middle = w + c_all;
    const float * last   = w + 2 * c_all;
    for (int64_t c = 0; c < c_all; ++c) {
        const float odd = last[c] * here[c] + (next != nullptr ? w[c] * next[c] : 0.0f);
        y[c]            = bias[c] + (t % 2 == 0 ? middle[c] * here[c] : odd);
    }
}

void run_pool(ggml_tensor * dst, int ith, int nth, void * data) {
    const auto & node = *static_cast<const PoolNode *>(data);
    const Slab   time = slab_of(dst->ne[1], 1, ith, nth);
    for (int64_t t = time.from; t < time.to; ++t) {
        pool_row(dst, node, t, out_row(dst, t));
    }
}

void run_repeat(ggml_tensor * dst, int ith, int nth, void *) {
    const Slab time = slab_of(dst->ne[1], 1, ith, nth);
    for (int64_t t = time.from; t < time.to; ++t) {
        std::memcpy(out_row(dst, t), row_of(dst->src[0], 1, t / 2), static_cast<size_t>(dst->ne[0]) * sizeof(float));
    }
}

void run_halve(ggml_tensor * dst, int ith, int, void *) {
    if (ith != 0) {
        return;
    }
    const ggml_tensor * x    = dst->src[0];
    const auto *        w    = static_cast<const float *>(dst->src[1]->data);
    const float         bias = *static_cast<const float *>(dst->src[2]->data);
    for (int64_t t = 0; t < dst->ne[1]; ++t) {
        float sum = bias;
        for (int64_t k = 0; k < 3; ++k) {
            const int64_t at = 2 * t + k - 1;
            sum += at >= 0 && at < x->ne[1] ? w[k] * *row_of(x, 1, at) : 0.0f;
        }
        *out_row(dst, t) = sum;
    }
}

void run_gelu(ggml_tensor * dst, int ith, int nth, void *) {
    const Slab time = slab_of(dst->ne[1], 1, ith, nth);
    for (int64_t t = time.from; t < time.to; ++t) {
        gelu(row_of(dst->src[0], 1, t), out_row(dst, t), dst->ne[0]);
    }
}

}  // namespace

ggml_tensor * prepare(const Site & site, const Signal & x, const Prepare & how) {
    auto *                     node = site.arena->add(PrepareNode{x.channels, x.length, x.phases, how, site.cancel});
    std::vector<ggml_tensor *> args{x.tensor};
    for (ggml_tensor * one : {how.style, how.alpha}) {
        if (one != nullptr) {
            args.push_back(one);
        }
    }
    const int64_t per_phase = (x.length + how.dilation - 1) / how.dilation;
    if (how.tiles) {
        const int64_t length = x.length + 2 * how.padding + tile_steps;
        return make_node(site, {aligned(x.channels), length, 1, GGML_TYPE_BF16}, args, run_prepare, node);
    }
    const int64_t length = how.dilation == 1 ? x.length + 2 * how.padding : per_phase + how.taps - 1;
    return make_node(site, {aligned(x.channels), length, how.dilation}, args, run_prepare, node);
}

ggml_tensor * add_up(const Site & site, const std::vector<Signal> & parts, ggml_tensor * bias, float scale,
                     bool reflect) {
    auto *                     node = site.arena->add(AddNode{parts, scale, bias != nullptr, reflect, site.cancel});
    std::vector<ggml_tensor *> args;
    for (const Signal & part : parts) {
        args.push_back(part.tensor);
    }
    if (bias != nullptr) {
        args.push_back(bias);
    }
    return make_node(site, {parts[0].channels, parts.back().length}, args, run_add, node);
}

ggml_tensor * join(const Site & site, const std::vector<ggml_tensor *> & parts, int64_t width, int64_t length) {
    return make_node(site, {width, length}, parts, run_join, site.arena->add(JoinNode{parts.size(), site.cancel}));
}

ggml_tensor * pool_up(const Site & site, ggml_tensor * x, ggml_tensor * weight, ggml_tensor * bias) {
    auto * node = site.arena->add(PoolNode{weight->ne[0], x->ne[1]});
    return make_node(site, {weight->ne[0], 2 * x->ne[1]}, {x, weight, bias}, run_pool, node);
}

ggml_tensor * repeat_each(const Site & site, ggml_tensor * x) {
    return make_node(site, {x->ne[0], 2 * x->ne[1]}, {x}, run_repeat, nullptr);
}

ggml_tensor * halve_curve(const Site & site, ggml_tensor * x, ggml_tensor * weight, ggml_tensor * bias) {
    return make_node(site, {1, x->ne[1] / 2}, {x, weight, bias}, run_halve, nullptr);
}

ggml_tensor * gelu_tanh(const Site & site, ggml_tensor * x) {
    return make_node(site, {x->ne[0], x->ne[1]}, {x}, run_gelu, nullptr);
}

}  // namespace eliza::kokoro
