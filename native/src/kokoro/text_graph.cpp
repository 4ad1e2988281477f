// From phonemes to durations: PL-BERT, the duration predictor and the text encoder.
#include "kokoro/builder.h"

#include <cmath>

namespace eliza::kokoro {
namespace {

constexpr float bert_epsilon = 1e-12f;
constexpr float text_epsilon = 1e-5f;
constexpr float text_slope   = 0.2f;

ggml_tensor * heads(const Builder & b, const char * part, ggml_tensor * x) {
    ggml_tensor * all = b.linear(std::string("bert.attention.") + part, x);
    const auto    n   = static_cast<int64_t>(b.hyper().bert_heads);
    ggml_tensor * cut = ggml_reshape_3d(b.site().context, all, x->ne[0] / n, n, x->ne[1]);
    return ggml_permute(b.site().context, cut, 0, 2, 1, 3);  // [width, time, head]
}

ggml_tensor * attend(const Builder & b, ggml_tensor * x) {
    ggml_context * c     = b.site().context;
    ggml_tensor *  q     = heads(b, "q", x);
    ggml_tensor *  k     = heads(b, "k", x);
    ggml_tensor *  v     = ggml_cont(c, ggml_transpose(c, heads(b, "v", x)));
    const float    scale = 1.0f / std::sqrt(static_cast<float>(q->ne[0]));
    ggml_tensor *  mix   = ggml_soft_max_ext(c, ggml_mul_mat(c, k, q), nullptr, scale, 0.0f);
    ggml_tensor *  seen  = ggml_permute(c, ggml_mul_mat(c, v, mix), 0, 2, 1, 3);
    return b.linear("bert.attention.out", ggml_cont_2d(c, seen, x->ne[0], x->ne[1]));
}

ggml_tensor * bert(const Builder & b, const TextInputs & in) {
    ggml_context * c = b.site().context;
    ggml_tensor *  x = ggml_add(c, ggml_get_rows(c, b.weight("bert.tokens"), in.tokens),
                                ggml_get_rows(c, b.weight("bert.positions"), in.positions));
    x                = b.linear("bert.map", b.layer_norm("bert.embedding_norm", x, bert_epsilon));
    for (int i = 0; i < b.hyper().bert_layers; ++i) {  // one layer's weights, used again and again
        x                 = b.layer_norm("bert.attention_norm", ggml_add(c, x, attend(b, x)), bert_epsilon);
        ggml_tensor * ffn = b.linear("bert.ffn_down", gelu_tanh(b.site(), b.linear("bert.ffn_up", x)));
        x                 = b.layer_norm("bert.ffn_norm", ggml_add(c, ffn, x), bert_epsilon);
    }
    return b.stage("bert", x);
}

ggml_tensor * duration_encoder(const Builder & b, ggml_tensor * x, ggml_tensor * style) {
    const int64_t width = b.hyper().hidden + b.hyper().style;
    ggml_tensor * now   = join(b.site(), {x, style}, width, x->ne[1]);
    for (int i = 0; i < b.hyper().layers; ++i) {
        const std::string n = std::to_string(i);
        now                 = b.adaptive_norm("predictor.norm." + n, b.lstm("predictor.lstm." + n, now), style);
        now                 = join(b.site(), {now, style}, width, x->ne[1]);
    }
    return now;
}

ggml_tensor * text_encoder(const Builder & b, ggml_tensor * tokens) {
    ggml_context * c    = b.site().context;
    ggml_tensor *  x    = ggml_get_rows(c, b.weight("text.tokens"), tokens);
    const int64_t  taps = b.hyper().text_kernel;
    for (int i = 0; i < b.hyper().layers; ++i) {
        const std::string n = std::to_string(i);
        const Prepare     pad{nullptr, nullptr, Activation::none, 0, taps, 1, (taps - 1) / 2};
        const Signal      now{x, b.hyper().hidden, x->ne[1]};
        ggml_tensor *     y = b.shape("text.cnn." + n, now, pad).tensor;
        y                   = ggml_add(c, y, b.weight("text.cnn." + n + ".bias"));
        x                   = ggml_leaky_relu(c, b.layer_norm("text.norm." + n, y, text_epsilon), text_slope, false);
    }
    return b.lstm("text.lstm", x);
}

}  // namespace

TextOutputs build_text(const Builder & b, const TextInputs & in) {
    ggml_tensor * meaning = b.linear("bert.project", bert(b, in));
    TextOutputs   out{};
    out.encoded   = b.stage("encoded", duration_encoder(b, meaning, in.style));
    out.durations = b.linear("predictor.duration_out", b.lstm("predictor.duration", out.encoded));
    out.content   = b.stage("content", text_encoder(b, in.tokens));
    b.stage("durations", out.durations);
    return out;
}

}  // namespace eliza::kokoro
