#include "whisper/session.h"

#include "abi/guard.h"
#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "llm/threads.h"
#include "whisper/mel.h"

#include <algorithm>
#include <cmath>

namespace eliza::whisper {
namespace {

constexpr size_t mel_nodes = 32;
// One token's graph is many small nodes, and threads meet after each: where others want the same cores, every meeting
// costs a time slice, and a sentence that takes 0.2 s alone took 40 s with two. Its work is reading memory anyway.
constexpr int decoder_threads = 1;

[[noreturn]] void out_of_memory() {
    throw Failure(ELIZA_ERR_OOM, "not enough memory to recognise speech");
}

std::vector<float> contents(const ggml_tensor * tensor) {
    std::vector<float> values(static_cast<size_t>(ggml_nelements(tensor)));
    ggml_backend_tensor_get(tensor, values.data(), 0, ggml_nbytes(tensor));
    return values;
}

template <typename T> void fill(ggml_tensor * tensor, const std::vector<T> & values) {
    ggml_backend_tensor_set(tensor, values.data(), 0, values.size() * sizeof(T));
}

// A token sees itself and what came before.
std::vector<ggml_fp16_t> causal_mask(int64_t past, int64_t n) {
    const ggml_fp16_t        hidden = ggml_fp32_to_fp16(-INFINITY);
    std::vector<ggml_fp16_t> mask(static_cast<size_t>((past + n) * n), ggml_fp32_to_fp16(0.0f));
    for (int64_t row = 0; row < n; ++row) {
        const auto begin = mask.begin() + row * (past + n);
        std::fill(begin + past + row + 1, begin + past + n, hidden);
    }
    return mask;
}

}  // namespace

struct Session::Graph {
    ggml_context_ptr context;
    ggml_cgraph *    nodes;

    ggml_tensor * input(ggml_type type, int64_t ne0, int64_t ne1 = 1) const {
        ggml_tensor * tensor = ggml_new_tensor_2d(context.get(), type, ne0, ne1);
        ggml_set_input(tensor);
        return tensor;
    }
    void expect(ggml_tensor * result) const {
        ggml_set_output(result);
        ggml_build_forward_expand(nodes, result);
    }
};

Session::Session(const Model & model) : model_(model) {
    allocator_.reset(ggml_gallocr_new(ggml_backend_get_default_buffer_type(cpu_.get())));
    remember();
}

void Session::remember() {
    const Hyper & h      = model_.hyper;
    const size_t  layers = model_.decoder.size();
    kept_context_.reset(ggml_init({ggml_tensor_overhead() * (3 * layers + 2), nullptr, /*.no_alloc =*/true}));
    ggml_context * ctx = kept_context_.get();
    if (ctx == nullptr || allocator_ == nullptr) {
        out_of_memory();
    }
    memory_.fourier = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, fft_samples, 2 * fft_bins);
    memory_.bands   = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, fft_bins, h.mel_bands);
    for (size_t i = 0; i < layers; ++i) {
        memory_.heard_keys.push_back(ggml_new_tensor_2d(ctx, GGML_TYPE_F16, h.width, audio_context));
        memory_.heard_values.push_back(ggml_new_tensor_2d(ctx, GGML_TYPE_F16, audio_context, h.width));
        memory_.said.push_back(ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 2 * h.width, h.text_context));
    }
    kept_buffer_.reset(ggml_backend_alloc_ctx_tensors(ctx, cpu_.get()));
    if (kept_buffer_ == nullptr) {
        out_of_memory();
    }
    fill(memory_.fourier, fourier_rows());
    fill(memory_.bands, mel_rows(h.mel_bands));
}

Session::Graph Session::begin(size_t nodes) {
    const size_t size = ggml_tensor_overhead() * nodes + ggml_graph_overhead_custom(nodes, false);
    graph_bytes_.resize(std::max(graph_bytes_.size(), size));
    Graph graph{ggml_context_ptr(ggml_init({size, graph_bytes_.data(), /*.no_alloc =*/true})), nullptr};
    if (graph.context == nullptr) {
        out_of_memory();
    }
    graph.nodes = ggml_new_graph_custom(graph.context.get(), nodes, false);
    return graph;
}

void Session::place(const Graph & graph) {
    if (!ggml_gallocr_alloc_graph(allocator_.get(), graph.nodes)) {
        out_of_memory();
    }
}

void Session::compute(const Graph & graph, int threads) {
    cpu_.set_threads(threads);
    const ggml_status status = ggml_backend_graph_compute(cpu_.get(), graph.nodes);
    if (status == GGML_STATUS_ALLOC_FAILED) {
        out_of_memory();
    }
    if (status != GGML_STATUS_SUCCESS) {
        throw Failure(ELIZA_ERR_FFI_FAULT, "the recognition model did not run to its end");
    }
}

std::vector<float> Session::mel_of(const float * samples, size_t count) {
    const std::vector<float> padded = padded_samples(samples, count);
    const Graph              graph  = begin(mel_nodes);
    ggml_tensor *            input  = graph.input(GGML_TYPE_F32, static_cast<int64_t>(padded.size()));
    ggml_tensor *            power  = build_mel(graph.context.get(), memory_, input, heard_frames(count));
    graph.expect(power);
    place(graph);
    fill(input, padded);
    compute(graph, llm::cpu_threads());
    return log_mel(contents(power), model_.hyper.mel_bands, audio_frames);
}

void Session::hear(const float * samples, size_t count) {
    const int                threads = llm::cpu_threads();  // once: the graph has room for so many
    const std::vector<float> mel     = mel_of(samples, count);
    const int64_t            bands   = model_.hyper.mel_bands;
    const Graph              graph   = begin(encoder_nodes(model_.hyper));
    ggml_tensor *            input   = graph.input(GGML_TYPE_F32, bands, audio_frames + 2);
    ggml_tensor *            heard   = build_encoder(graph.context.get(), model_, input, threads);
    graph.expect(heard);
    build_cross(graph.context.get(), graph.nodes, model_, memory_, heard);
    place(graph);
    ggml_backend_tensor_memset(input, 0, 0, ggml_nbytes(input));
    ggml_backend_tensor_set(input, mel.data(), input->nb[1], mel.size() * sizeof(float));
    compute(graph, threads);
    if (watcher_) {
        watcher_(contents(heard));
    }
}

const std::vector<float> & Session::say(const std::vector<int> & tokens, int64_t past) {
    const auto  n     = static_cast<int64_t>(tokens.size());
    const Graph graph = begin(decoder_nodes(model_.hyper));
    Said        said{graph.input(GGML_TYPE_I32, n), nullptr, past};
    if (n > 1) {
        said.mask = graph.input(GGML_TYPE_F16, past + n, n);
    }
    ggml_tensor * logits = build_decoder(graph.context.get(), graph.nodes, model_, memory_, said);
    graph.expect(logits);
    place(graph);
    fill(said.tokens, tokens);
    if (said.mask != nullptr) {
        fill(said.mask, causal_mask(past, n));
    }
    compute(graph, decoder_threads);
    logits_.resize(static_cast<size_t>(ggml_nelements(logits)));
    ggml_backend_tensor_get(logits, logits_.data(), 0, ggml_nbytes(logits));
    return logits_;
}

}  // namespace eliza::whisper
