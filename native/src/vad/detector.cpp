#include "vad/detector.h"

#include "abi/guard.h"

#include <algorithm>
#include <cmath>

namespace eliza::vad {
namespace {

constexpr int64_t fft_samples   = 256;
constexpr int     hop_samples   = 128;
constexpr int64_t bins          = fft_samples / 2 + 1;
constexpr int64_t width         = 128;                               // of the encoder's end and the LSTM
constexpr size_t  heard_samples = context_samples + window_samples;  // what the network sees
constexpr size_t  mirror        = 64;                                // reflected at the end, as in training
constexpr int64_t input_samples = static_cast<int64_t>(heard_samples + mirror);
constexpr int64_t frames        = (input_samples - fft_samples) / hop_samples + 1;
constexpr size_t  graph_nodes   = 96;
constexpr size_t  data_bytes    = 256u << 10;  // all activations together are below 64 KiB

// Magnitude spectrum: [frames, bins].
ggml_tensor * spectrum(ggml_context * ctx, ggml_tensor * samples, ggml_tensor * stft) {
    ggml_tensor * framed = ggml_im2col(ctx, stft, samples, hop_samples, 0, 0, 0, 1, 0, false, GGML_TYPE_F32);
    ggml_tensor * parts  = ggml_mul_mat(ctx, framed, ggml_reshape_2d(ctx, stft, fft_samples, 2 * bins));
    ggml_tensor * cosine = ggml_view_2d(ctx, parts, frames, bins, parts->nb[1], 0);
    ggml_tensor * sine   = ggml_view_2d(ctx, parts, frames, bins, parts->nb[1], bins * parts->nb[1]);
    return ggml_sqrt(ctx, ggml_add(ctx, ggml_sqr(ctx, cosine), ggml_sqr(ctx, sine)));
}

// Convolution over time of [frames, channels in] with one frame of padding, then ReLU.
ggml_tensor * convolve(ggml_context * ctx, ggml_tensor * x, const Weights::Conv & conv, int stride) {
    ggml_tensor * w       = conv.weight;
    const int64_t out     = w->ne[2];
    ggml_tensor * columns = ggml_im2col(ctx, w, x, stride, 0, 1, 0, 1, 0, false, GGML_TYPE_F32);
    ggml_tensor * y       = ggml_mul_mat(ctx, columns, ggml_reshape_2d(ctx, w, w->ne[0] * w->ne[1], out));
    return ggml_relu(ctx, ggml_add(ctx, y, ggml_reshape_2d(ctx, conv.bias, 1, out)));
}

struct State {
    ggml_tensor * hidden;
    ggml_tensor * cell;
};

State lstm_step(ggml_context * ctx, const Weights & w, ggml_tensor * x, State past) {
    ggml_tensor * seen  = ggml_add(ctx, ggml_mul_mat(ctx, w.lstm_input_weight, x), w.lstm_input_bias);
    ggml_tensor * known = ggml_add(ctx, ggml_mul_mat(ctx, w.lstm_hidden_weight, past.hidden), w.lstm_hidden_bias);
    ggml_tensor * gates = ggml_add(ctx, seen, known);
    const auto    gate  = [&](int index) {
        return ggml_view_1d(ctx, gates, width, static_cast<size_t>(index) * width * sizeof(float));
    };
    ggml_tensor * kept  = ggml_mul(ctx, ggml_sigmoid(ctx, gate(1)), past.cell);
    ggml_tensor * added = ggml_mul(ctx, ggml_sigmoid(ctx, gate(0)), ggml_tanh(ctx, gate(2)));
    ggml_tensor * cell  = ggml_add(ctx, kept, added);
    return {ggml_mul(ctx, ggml_sigmoid(ctx, gate(3)), ggml_tanh(ctx, cell)), cell};
}

}  // namespace

Detector::Detector(std::shared_ptr<const Weights> weights) : weights_(std::move(weights)) {
    const size_t size =
        ggml_tensor_overhead() * graph_nodes + ggml_graph_overhead_custom(graph_nodes, false) + data_bytes;
    memory_.reset(new uint8_t[size]);
    context_.reset(ggml_init({size, memory_.get(), /*.no_alloc =*/false}));
    if (context_ == nullptr) {
        throw std::bad_alloc();
    }
    cpu_.set_threads(1);
    build();
    reset();
}

void Detector::build() {
    ggml_context *  ctx = context_.get();
    const Weights & w   = *weights_;
    samples_            = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, input_samples);
    hidden_             = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, width);
    cell_               = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, width);

    ggml_tensor * x = spectrum(ctx, samples_, w.stft);
    x               = convolve(ctx, x, w.encoder[0], 1);
    x               = convolve(ctx, x, w.encoder[1], 2);
    x               = convolve(ctx, x, w.encoder[2], 2);
    x               = convolve(ctx, x, w.encoder[3], 1);  // one frame is left
    const State now = lstm_step(ctx, w, ggml_reshape_1d(ctx, x, width), {hidden_, cell_});

    ggml_tensor * head  = ggml_reshape_1d(ctx, w.head.weight, width);
    ggml_tensor * logit = ggml_mul_mat(ctx, head, ggml_relu(ctx, now.hidden));
    probability_        = ggml_sigmoid(ctx, ggml_add(ctx, logit, w.head.bias));

    graph_ = ggml_new_graph_custom(ctx, graph_nodes, false);
    ggml_build_forward_expand(graph_, probability_);
    // The old state has been read by every node above when these two overwrite it.
    ggml_build_forward_expand(graph_, ggml_cpy(ctx, now.hidden, hidden_));
    ggml_build_forward_expand(graph_, ggml_cpy(ctx, now.cell, cell_));
}

float Detector::process(const float * pcm) {
    require(std::all_of(pcm, pcm + window_samples, [](float sample) { return std::isfinite(sample); }),
            "a sample is not a finite number");
    const std::lock_guard<std::mutex> lock(mutex_);
    float *                           samples = ggml_get_data_f32(samples_);
    std::copy(tail_.begin(), tail_.end(), samples);
    std::copy(pcm, pcm + window_samples, samples + context_samples);
    for (size_t i = 0; i < mirror; ++i) {
        samples[heard_samples + i] = samples[heard_samples - 2 - i];
    }
    if (ggml_backend_graph_compute(cpu_.get(), graph_) != GGML_STATUS_SUCCESS) {
        throw Failure(ELIZA_ERR_FFI_FAULT, "the voice activity model did not run to its end");
    }
    std::copy(pcm + window_samples - context_samples, pcm + window_samples, tail_.begin());
    const float probability = *ggml_get_data_f32(probability_);
    if (!std::isfinite(probability)) {  // samples near the end of f32's range; the state would stay poisoned
        forget();
        throw Failure(ELIZA_ERR_INVALID_ARG, "samples are too large; they must lie within [-1, 1]");
    }
    return probability;
}

void Detector::reset() {
    const std::lock_guard<std::mutex> lock(mutex_);
    forget();
}

void Detector::forget() {
    tail_.fill(0.0f);
    ggml_set_zero(hidden_);
    ggml_set_zero(cell_);
}

}  // namespace eliza::vad
