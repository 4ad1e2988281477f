#include "kokoro/voice.h"

#include "abi/guard.h"
#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "llm/threads.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

namespace eliza::kokoro {
namespace {

constexpr size_t  max_nodes       = 16384;
constexpr int64_t max_frames      = 4000;        // duration units of one piece, 100 s: more is cut in two
constexpr size_t  kept_work_bytes = 256u << 20;  // work memory that stays between calls
constexpr float   slowest = 0.25f, fastest = 4.0f;

bool must_stop(void * flag) {
    return static_cast<const Cancel *>(flag)->load(std::memory_order_relaxed);
}

// The nodes of one graph. Their data lives in the voice's allocator, their parameters here.
struct Scratch {
    Scratch(const Cancel & cancel, Crew * crew)
        : context(ggml_init(
              {ggml_tensor_overhead() * max_nodes + ggml_graph_overhead_custom(max_nodes, false), nullptr, true})),
          site{context.get(), &arena, &cancel, crew} {
        if (context == nullptr) {
            throw std::bad_alloc();
        }
        graph = ggml_new_graph_custom(context.get(), max_nodes, false);
    }

    ggml_tensor * input(ggml_type type, int64_t ne0, int64_t ne1 = 1) {
        ggml_tensor * x = ggml_new_tensor_2d(context.get(), type, ne0, ne1);
        ggml_set_input(x);
        return x;
    }
    void expand(ggml_tensor * x) {
        ggml_set_output(x);
        ggml_build_forward_expand(graph, x);
    }
    void place(ggml_gallocr_t memory) {
        if (!ggml_gallocr_alloc_graph(memory, graph)) {
            throw Failure(ELIZA_ERR_OOM, "not enough memory to speak");
        }
    }

    Arena            arena;
    ggml_context_ptr context;
    Site             site;
    ggml_cgraph *    graph = nullptr;
};

template <typename T> void fill(ggml_tensor * x, const T * values) {
    std::memcpy(x->data, values, ggml_nbytes(x));
}

std::vector<float> values_of(const ggml_tensor * x) {
    const auto * data = static_cast<const float *>(x->data);
    return std::vector<float>(data, data + ggml_nelements(x));
}

// Units of 25 ms for every phoneme: the sum of its sigmoids over speed, rounded to even as torch does.
std::vector<int32_t> align(const ggml_tensor * durations, float speed) {
    std::vector<int32_t> frames;
    for (int64_t i = 0; i < durations->ne[1]; ++i) {
        const float * row = static_cast<const float *>(durations->data) + i * durations->ne[0];
        const float   sum = std::accumulate(row, row + durations->ne[0], 0.0f,
                                            [](float total, float x) { return total + 1.0f / (1.0f + std::exp(-x)); });
        const int     units = std::isfinite(sum) ? std::max(1, static_cast<int>(std::nearbyint(sum / speed))) : 1;
        frames.insert(frames.end(), static_cast<size_t>(units), static_cast<int32_t>(i));
    }
    return frames;
}

}  // namespace

StyleTable StyleTable::load(const std::filesystem::path & file, int64_t rows, int64_t width) {
    std::error_code error;
    const auto      size   = std::filesystem::file_size(file, error);
    const auto      floats = static_cast<size_t>(rows * width);
    if (error) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID, "the voice's style file cannot be read: " + file.filename().string());
    }
    if (size != floats * sizeof(float)) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID, "the voice's style file " + file.filename().string() + " has " +
                                                    std::to_string(size) + " bytes, expected " +
                                                    std::to_string(floats * sizeof(float)));
    }
    StyleTable table;
    table.width_ = static_cast<size_t>(width);
    table.values_.resize(floats);
    std::ifstream stream(file, std::ios::binary);
    if (!stream.read(reinterpret_cast<char *>(table.values_.data()), static_cast<std::streamsize>(size))) {
        throw Failure(ELIZA_ERR_FFI_FAULT, "reading the voice's style file failed");
    }
    if (!std::all_of(table.values_.begin(), table.values_.end(), [](float x) { return std::isfinite(x); })) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID,
                      "the voice's style file " + file.filename().string() + " holds no numbers");
    }
    return table;
}

StyleTable StyleTable::of(std::vector<float> values, int64_t rows, int64_t width) {
    const auto row = static_cast<size_t>(width);
    if (values.size() != row && values.size() != row * static_cast<size_t>(rows)) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID, "the voice preset's embedding has " + std::to_string(values.size()) +
                                                    " numbers, the voice model takes " + std::to_string(width) +
                                                    " or " + std::to_string(rows * width));
    }
    StyleTable table;
    table.width_  = row;
    table.values_ = std::move(values);
    return table;
}

const float * StyleTable::row(size_t characters) const {
    const size_t last = values_.size() / width_ - 1;
    return values_.data() + std::min(last, std::max<size_t>(characters, 1) - 1) * width_;
}

Voice::Voice(const std::filesystem::path & model, const std::filesystem::path & style, int style_dim)
    : model_(Model::load(model)), model_file_(model), alphabet_(model_->phonemes()), backend_(ggml_backend_cpu_init()) {
    if (style_dim != this->style_dim()) {
        throw Failure(ELIZA_ERR_INVALID_ARG, "style_dim is " + std::to_string(style_dim) + ", the voice model has " +
                                                 std::to_string(this->style_dim()));
    }
    if (backend_ == nullptr) {
        throw Failure(ELIZA_ERR_OOM, "the CPU backend could not be started");
    }
    use_style(style);
    text_memory_.reset(ggml_gallocr_new(ggml_backend_cpu_buffer_type()));
    speech_memory_.reset(ggml_gallocr_new(ggml_backend_cpu_buffer_type()));
}

void Voice::use_style(const std::filesystem::path & style) {
    style_      = StyleTable::load(style, model_->hyper().bert_context - 2, style_dim());
    style_file_ = style;
}

void Voice::use_style(const std::filesystem::path & name, std::vector<float> values) {
    style_      = StyleTable::of(std::move(values), model_->hyper().bert_context - 2, style_dim());
    style_file_ = name;
}

void Voice::speak(std::string_view ipa, const Manner & manner, const Cancel & cancel, const Sink & sink) {
    if (!(manner.speed >= slowest && manner.speed <= fastest)) {
        throw Failure(ELIZA_ERR_INVALID_ARG, "speed must be from 0.25 to 4");
    }
    const auto most   = static_cast<size_t>(model_->hyper().bert_context) - 2;
    const auto pieces = cut_text(ipa, most, manner.by_sentence);
    const bool silent = std::all_of(pieces.begin(), pieces.end(),
                                    [&](const std::string & one) { return alphabet_.read(one).tokens.empty(); });
    if (silent) {
        throw Failure(ELIZA_ERR_INVALID_ARG, "the text holds nothing that the voice can say");
    }
    gather();
    for (const std::string & piece : pieces) {
        speak_piece(piece, manner, cancel, sink);
    }
    trim();
}

void Voice::speak_piece(const std::string & piece, const Manner & manner, const Cancel & cancel, const Sink & sink) {
    const Phrase phrase = alphabet_.read(piece);
    if (phrase.tokens.empty()) {
        return;
    }
    const float * style = style_.row(phrase.characters);
    const Text    text  = read_text(phrase.tokens, style, manner.speed, cancel);
    if (static_cast<int64_t>(text.frames.size()) > max_frames && phrase.characters > 1) {
        for (const std::string & half : halve_text(piece)) {
            speak_piece(half, manner, cancel, sink);
        }
        return;
    }
    const std::vector<float> sound = make_sound(text, style, manner, cancel);
    if (sink(sound.data(), sound.size()) != 0) {
        throw Failure(ELIZA_ERR_CANCELLED, "the listener stopped the speech");
    }
}

Voice::Text Voice::read_text(const std::vector<int32_t> & tokens, const float * style, float speed,
                             const Cancel & cancel) {
    const Hyper &        h = model_->hyper();
    std::vector<int32_t> padded(tokens.size() + 2, 0), positions(tokens.size() + 2);
    std::copy(tokens.begin(), tokens.end(), padded.begin() + 1);
    std::iota(positions.begin(), positions.end(), 0);
    const auto count = static_cast<int64_t>(padded.size());

    Scratch           scratch(cancel, crew_.get());
    Trace             trace{stages_ != nullptr, {}};
    const TextInputs  in{scratch.input(GGML_TYPE_I32, count), scratch.input(GGML_TYPE_I32, count),
                         scratch.input(GGML_TYPE_F32, h.style)};
    const TextOutputs out = build_text(Builder(*model_, scratch.site, trace), in);
    scratch.expand(out.encoded);
    scratch.expand(out.durations);
    scratch.expand(out.content);
    scratch.place(text_memory_.get());
    fill(in.tokens, padded.data());
    fill(in.positions, positions.data());
    fill(in.style, style + h.style);
    run(scratch.graph, cancel);
    show(trace);
    return {values_of(out.encoded), values_of(out.content), align(out.durations, speed), count};
}

std::vector<float> Voice::make_sound(const Text & text, const float * style, const Manner & manner,
                                     const Cancel & cancel) {
    const Hyper &      h = model_->hyper();
    Scratch            scratch(cancel, crew_.get());
    Trace              trace{stages_ != nullptr, {}};
    const SpeechInputs in{scratch.input(GGML_TYPE_F32, h.hidden + h.style, text.count),
                          scratch.input(GGML_TYPE_F32, h.hidden, text.count),
                          scratch.input(GGML_TYPE_I32, static_cast<int64_t>(text.frames.size())),
                          scratch.input(GGML_TYPE_F32, h.style), scratch.input(GGML_TYPE_F32, h.style)};
    ggml_tensor *      wave = build_speech(Builder(*model_, scratch.site, trace), in, manner.seed, manner.noise);
    scratch.expand(wave);
    scratch.place(speech_memory_.get());
    fill(in.encoded, text.encoded.data());
    fill(in.content, text.content.data());
    fill(in.frames, text.frames.data());
    fill(in.timbre, style);
    fill(in.prosody, style + h.style);
    run(scratch.graph, cancel);
    show(trace);
    return values_of(wave);
}

void Voice::gather() {
    const int threads = llm::cpu_threads();
    ggml_backend_cpu_set_n_threads(backend_.get(), model_->has_tiles() ? 1 : threads);
    if (model_->has_tiles() && (crew_ == nullptr || crew_->size() != threads)) {
        crew_ = std::make_unique<Crew>(threads);
    }
}

void Voice::run(ggml_cgraph * graph, const Cancel & cancel) {
    ggml_backend_cpu_set_abort_callback(backend_.get(), must_stop, const_cast<Cancel *>(&cancel));
    const ggml_status status = ggml_backend_graph_compute(backend_.get(), graph);
    ggml_backend_cpu_set_abort_callback(backend_.get(), nullptr, nullptr);
    // the last node may have been left early without the runtime noticing, so the flag itself decides
    if (status == GGML_STATUS_ABORTED || cancel.load()) {
        throw Failure(ELIZA_ERR_CANCELLED, "the speech was cancelled");
    }
    if (status == GGML_STATUS_ALLOC_FAILED) {
        throw Failure(ELIZA_ERR_OOM, "not enough memory to speak");
    }
    if (status != GGML_STATUS_SUCCESS) {
        throw Failure(ELIZA_ERR_FFI_FAULT, "the runtime could not compute the speech");
    }
}

void Voice::show(const Trace & trace) const {
    for (const auto & one : trace.stages) {
        stages_(one.first, one.second);
    }
}

void Voice::trim() {
    if (ggml_gallocr_get_buffer_size(speech_memory_.get(), 0) > kept_work_bytes) {
        speech_memory_.reset(ggml_gallocr_new(ggml_backend_cpu_buffer_type()));
    }
}

}  // namespace eliza::kokoro
