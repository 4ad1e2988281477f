#include "whisper/graphs.h"

#include "whisper/gelu.h"
#include "whisper/mel.h"
#include "whisper/wide_attention.h"

#include <cmath>

namespace eliza::whisper {
namespace {

constexpr float epsilon = 1e-5f;

ggml_tensor * normalise(ggml_context * ctx, const Norm & norm, ggml_tensor * x) {
    return ggml_add(ctx, ggml_mul(ctx, ggml_norm(ctx, x, epsilon), norm.weight), norm.bias);
}

ggml_tensor * apply(ggml_context * ctx, const Linear & linear, ggml_tensor * x) {
    return ggml_add_inplace(ctx, ggml_mul_mat(ctx, linear.weight, x), linear.bias);
}

// One part of a tensor whose columns hold several vectors of `width`, by heads: [head width, n, heads].
ggml_tensor * by_heads(ggml_context * ctx, const Hyper & h, ggml_tensor * x, int part, int64_t n) {
    const size_t head = static_cast<size_t>(h.head_width()) * x->nb[0];
    const size_t skip = static_cast<size_t>(part * h.width) * x->nb[0];
    return ggml_view_3d(ctx, x, h.head_width(), n, h.heads, x->nb[1], head, skip);
}

// `kept` holds keys and values of `known` places; the result is [width, n].
ggml_tensor * attend(ggml_context * ctx, const Hyper & h, ggml_tensor * queries, ggml_tensor * kept, int first_part,
                     int64_t known, ggml_tensor * mask) {
    ggml_tensor * q     = by_heads(ctx, h, queries, 0, queries->ne[1]);
    ggml_tensor * k     = by_heads(ctx, h, kept, first_part, known);
    ggml_tensor * v     = by_heads(ctx, h, kept, first_part + 1, known);
    const float   scale = 1.0f / std::sqrt(static_cast<float>(h.head_width()));
    ggml_tensor * seen  = ggml_flash_attn_ext(ctx, q, k, v, mask, scale, 0.0f, 0.0f);
    return ggml_reshape_2d(ctx, seen, h.width, queries->ne[1]);
}

ggml_tensor * feed_forward(ggml_context * ctx, const FeedForward & feed, ggml_tensor * x) {
    ggml_tensor * inner = ggml_mul_mat(ctx, feed.up.weight, normalise(ctx, feed.norm, x));
    return ggml_add(ctx, x, apply(ctx, feed.down, add_bias_gelu(ctx, inner, feed.up.bias)));
}

// Rows of `width` values that begin every `step` bytes and overlap, which ggml_view_2d does not allow.
ggml_tensor * overlapping_rows(ggml_context * ctx, ggml_tensor * x, int64_t width, int64_t count, size_t step) {
    ggml_tensor * view = ggml_view_1d(ctx, x, width, 0);
    view->ne[1]        = count;
    view->nb[1]        = step;
    view->nb[2]        = step * static_cast<size_t>(count);
    view->nb[3]        = view->nb[2];
    return view;
}

// Three taps of all channels at once: neighbouring rows are read as one. `x` is [channels, any], padded.
ggml_tensor * convolve(ggml_context * ctx, const Linear & conv, ggml_tensor * x, int64_t stride, int64_t length) {
    const size_t  step = static_cast<size_t>(stride) * x->nb[1];
    ggml_tensor * taps = overlapping_rows(ctx, x, conv_taps * x->ne[0], length, step);
    return add_bias_gelu(ctx, ggml_mul_mat(ctx, conv.weight, taps), conv.bias);
}

// A file in f32 is a promise of f32 arithmetic; everything smaller may be rounded to bfloat16.
ggml_tensor * look_around(ggml_context * ctx, const Hyper & h, const SelfAttention & self, ggml_tensor * x,
                          int threads) {
    ggml_tensor * qkv = apply(ctx, self.qkv, normalise(ctx, self.norm, x));
    if (self.qkv.weight->type != GGML_TYPE_F32 && wide_attention_fits(h.head_width())) {
        return apply(ctx, self.out, wide_attention(ctx, qkv, h.heads, threads));
    }
    return apply(ctx, self.out, attend(ctx, h, qkv, qkv, 1, qkv->ne[1], nullptr));
}

ggml_tensor * encoder_layer(ggml_context * ctx, const Hyper & h, const EncoderLayer & layer, ggml_tensor * x,
                            int threads) {
    x = ggml_add(ctx, x, look_around(ctx, h, layer.self, x, threads));
    return feed_forward(ctx, layer.feed, x);
}

// Remembers keys and values of the new tokens, then looks at all that are remembered.
ggml_tensor * look_back(ggml_context * ctx, ggml_cgraph * graph, const Hyper & h, const SelfAttention & self,
                        ggml_tensor * kept, const Said & said, ggml_tensor * x) {
    const int64_t n       = x->ne[1];
    ggml_tensor * qkv     = apply(ctx, self.qkv, normalise(ctx, self.norm, x));
    const size_t  queries = static_cast<size_t>(h.width) * sizeof(float);
    ggml_tensor * fresh   = ggml_view_2d(ctx, qkv, 2 * h.width, n, qkv->nb[1], queries);
    const size_t  begin   = static_cast<size_t>(said.past) * kept->nb[1];
    ggml_build_forward_expand(graph, ggml_cpy(ctx, fresh, ggml_view_2d(ctx, kept, 2 * h.width, n, kept->nb[1], begin)));
    return apply(ctx, self.out, attend(ctx, h, qkv, kept, 0, said.past + n, said.mask));
}

// Looks at all that was heard. Plain products: for one query they pass over keys and values at the memory's speed,
// which ggml's own attention does not.
ggml_tensor * listen(ggml_context * ctx, const Hyper & h, ggml_tensor * queries, ggml_tensor * keys,
                     ggml_tensor * values) {
    const int64_t n     = queries->ne[1];
    const float   scale = 1.0f / std::sqrt(static_cast<float>(h.head_width()));
    ggml_tensor * q     = by_heads(ctx, h, queries, 0, n);
    ggml_tensor * k     = by_heads(ctx, h, keys, 0, audio_context);
    ggml_tensor * odds  = ggml_soft_max_ext(ctx, ggml_mul_mat(ctx, k, q), nullptr, scale, 0.0f);
    ggml_tensor * v     = ggml_reshape_3d(ctx, values, audio_context, h.head_width(), h.heads);
    ggml_tensor * seen  = ggml_mul_mat(ctx, v, odds);  // [head width, n, heads]
    return ggml_cont_2d(ctx, ggml_permute(ctx, seen, 0, 2, 1, 3), h.width, n);
}

ggml_tensor * decoder_layer(ggml_context * ctx, ggml_cgraph * graph, const Model & model, const Memory & memory,
                            size_t index, const Said & said, ggml_tensor * x) {
    const Hyper &        h     = model.hyper;
    const DecoderLayer & layer = model.decoder[index];
    x                          = ggml_add(ctx, x, look_back(ctx, graph, h, layer.self, memory.said[index], said, x));

    ggml_tensor * q    = apply(ctx, layer.cross.q, normalise(ctx, layer.cross.norm, x));
    ggml_tensor * seen = listen(ctx, h, q, memory.heard_keys[index], memory.heard_values[index]);
    x                  = ggml_add(ctx, x, apply(ctx, layer.cross.out, seen));
    return feed_forward(ctx, layer.feed, x);
}

}  // namespace

ggml_tensor * build_mel(ggml_context * ctx, const Memory & memory, ggml_tensor * samples, int64_t frames) {
    const size_t  hop    = hop_samples * sizeof(float);
    ggml_tensor * framed = ggml_cont(ctx, overlapping_rows(ctx, samples, fft_samples, frames, hop));
    ggml_tensor * parts  = ggml_sqr(ctx, ggml_mul_mat(ctx, memory.fourier, framed));
    ggml_tensor * cosine = ggml_view_2d(ctx, parts, fft_bins, frames, parts->nb[1], 0);
    ggml_tensor * sine   = ggml_view_2d(ctx, parts, fft_bins, frames, parts->nb[1], fft_bins * sizeof(float));
    return ggml_mul_mat(ctx, memory.bands, ggml_add(ctx, cosine, sine));
}

ggml_tensor * build_encoder(ggml_context * ctx, const Model & model, ggml_tensor * mel, int threads) {
    ggml_tensor * x = convolve(ctx, model.conv1, mel, 1, audio_frames);
    x               = ggml_pad_ext(ctx, x, 0, 0, 1, 0, 0, 0, 0, 0);  // the last frame's right neighbour is never asked
    x               = convolve(ctx, model.conv2, x, 2, audio_context);
    x               = ggml_add(ctx, x, model.position_heard);
    for (const EncoderLayer & layer : model.encoder) {
        x = encoder_layer(ctx, model.hyper, layer, x, threads);
    }
    return normalise(ctx, model.encoder_norm, x);
}

void build_cross(ggml_context * ctx, ggml_cgraph * graph, const Model & model, const Memory & memory,
                 ggml_tensor * heard) {
    for (size_t i = 0; i < model.decoder.size(); ++i) {
        ggml_tensor * kv   = apply(ctx, model.decoder[i].cross.kv, heard);
        const int64_t w    = model.hyper.width;
        ggml_tensor * keys = ggml_view_2d(ctx, kv, w, audio_context, kv->nb[1], 0);
        ggml_tensor * rest = ggml_view_2d(ctx, kv, w, audio_context, kv->nb[1], static_cast<size_t>(w) * kv->nb[0]);
        ggml_build_forward_expand(graph, ggml_cpy(ctx, keys, memory.heard_keys[i]));
        ggml_build_forward_expand(graph, ggml_cpy(ctx, ggml_transpose(ctx, rest), memory.heard_values[i]));
    }
}

ggml_tensor * build_decoder(ggml_context * ctx, ggml_cgraph * graph, const Model & model, const Memory & memory,
                            const Said & said) {
    ggml_tensor * places = model.position_said;
    const size_t  begin  = static_cast<size_t>(said.past) * places->nb[1];
    ggml_tensor * rows   = ggml_view_2d(ctx, places, places->ne[0], said.tokens->ne[0], places->nb[1], begin);
    ggml_tensor * x      = ggml_add(ctx, ggml_get_rows(ctx, model.token, said.tokens), rows);
    for (size_t i = 0; i < model.decoder.size(); ++i) {
        x = decoder_layer(ctx, graph, model, memory, i, said, x);
    }
    return ggml_mul_mat(ctx, model.token, normalise(ctx, model.decoder_norm, x));
}

size_t encoder_nodes(const Hyper & hyper) {
    return 64 + 40 * static_cast<size_t>(hyper.encoder_layers) + 12 * static_cast<size_t>(hyper.decoder_layers);
}

size_t decoder_nodes(const Hyper & hyper) {
    return 64 + 72 * static_cast<size_t>(hyper.decoder_layers);
}

}  // namespace eliza::whisper
