// One loaded model with one style table: phonemes in, 24 kHz mono float out.
#pragma once

#include "kokoro/builder.h"
#include "kokoro/crew.h"
#include "kokoro/phonemes.h"

#include "ggml-cpp.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace eliza::kokoro {

// Rows of [timbre | prosody], one row per phoneme count.
class StyleTable {
  public:
    // Throws Failure(BUNDLE_INVALID) when the file's size is not rows * width floats, or holds no numbers.
    static StyleTable load(const std::filesystem::path & file, int64_t rows, int64_t width);
    // The same from values in memory: rows * width floats, or `width` of them for every phoneme count.
    static StyleTable of(std::vector<float> values, int64_t rows, int64_t width);
    const float *     row(size_t characters) const;

  private:
    std::vector<float> values_;
    size_t             width_ = 0;
};

// Non-zero stops. `samples` live during the call only.
using Sink = std::function<int(const float * samples, size_t count)>;

struct Manner {
    float    speed       = 1.0f;
    bool     by_sentence = false;  // cut into sentences, so that the first sound comes early
    uint64_t seed        = 0x656c697a61;
    float    noise       = 1.0f;  // of the excitation; 0 in parity tests
};

using StageSink = std::function<void(const std::string & name, const ggml_tensor * tensor)>;

// Not thread-safe: one synthesis at a time (the context's tts_mutex).
class Voice {
  public:
    // style_dim is the width of a table row, both halves. Throws Failure.
    Voice(const std::filesystem::path & model, const std::filesystem::path & style, int style_dim);

    void use_style(const std::filesystem::path & style);
    // A table that lies in another file, which gives it its name. Throws Failure(BUNDLE_INVALID) for another size.
    void        use_style(const std::filesystem::path & name, std::vector<float> values);
    bool        has_model(const std::filesystem::path & model) const { return model == model_file_; }
    bool        has_style(const std::filesystem::path & style) const { return style == style_file_; }
    int         style_dim() const { return 2 * model_->hyper().style; }
    std::string spell(std::string_view text) const { return alphabet_.spell(text); }

    // Speaks IPA piece by piece. Throws Failure: CANCELLED (flag or sink), INVALID_ARG (nothing to say, speed).
    void speak(std::string_view ipa, const Manner & manner, const Cancel & cancel, const Sink & sink);
    // Where the intermediate results of every piece go; for tests.
    void watch(StageSink stages) { stages_ = std::move(stages); }

  private:
    struct Text {
        std::vector<float>   encoded, content;
        std::vector<int32_t> frames;  // phoneme index of every duration unit
        int64_t              count;
    };

    void speak_piece(const std::string & piece, const Manner & manner, const Cancel & cancel, const Sink & sink);
    Text read_text(const std::vector<int32_t> & tokens, const float * style, float speed, const Cancel & cancel);
    std::vector<float> make_sound(const Text & text, const float * style, const Manner & manner, const Cancel & cancel);
    void               run(ggml_cgraph * graph, const Cancel & cancel);
    void               show(const Trace & trace) const;
    void               trim();
    void               gather();  // as many threads as ELIZA_THREADS says now

    std::shared_ptr<const Model> model_;
    std::filesystem::path        model_file_, style_file_;
    StyleTable                   style_;
    Alphabet                     alphabet_;
    ggml_backend_ptr             backend_;
    std::unique_ptr<Crew>        crew_;  // only with the matrix unit: all that is heavy then runs in our own nodes
    ggml_gallocr_ptr             text_memory_, speech_memory_;
    StageSink                    stages_;
};

}  // namespace eliza::kokoro
