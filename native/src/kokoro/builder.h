// The network's repeated parts, as graph nodes over one model's weights.
#pragma once

#include "kokoro/model.h"
#include "kokoro/ops.h"

#include <string>
#include <utility>

namespace eliza::kokoro {

// Intermediate results by name, for parity tests; nothing is kept alive unless `wanted`.
struct Trace {
    bool                                               wanted = false;
    std::vector<std::pair<std::string, ggml_tensor *>> stages;
};

class Builder {
  public:
    Builder(const Model & model, Site site, Trace & trace) : model_(model), site_(site), trace_(trace) {}

    const Hyper & hyper() const { return model_.hyper(); }
    const Site &  site() const { return site_; }
    ggml_tensor * weight(const std::string & name) const { return model_.tensor(name); }
    ggml_tensor * stage(const char * name, ggml_tensor * x) const;

    ggml_tensor * linear(const std::string & name, ggml_tensor * x) const;
    ggml_tensor * multiply(const std::string & name, ggml_tensor * x) const;  // the whole name of one matrix
    ggml_tensor * layer_norm(const std::string & name, ggml_tensor * x, float epsilon) const;
    // Layer norm whose scale and shift come from the style.
    ggml_tensor * adaptive_norm(const std::string & name, ggml_tensor * x, ggml_tensor * style) const;
    ggml_tensor * lstm(const std::string & name, ggml_tensor * x) const;

    // `x` comes from prepare() with the same taps and dilation; no bias.
    Signal convolve(const std::string & name, ggml_tensor * x, int64_t taps, int64_t length, int64_t stride = 1) const;
    // prepare() and the convolution that `how` speaks of, on the matrix unit where the weights are laid for it.
    Signal shape(const std::string & name, const Signal & x, Prepare how) const;
    // One tap, with bias.
    ggml_tensor * project(const std::string & name, const Signal & x) const;

    Signal res_block(const std::string & name, const Signal & x, ggml_tensor * style, int64_t out, bool upsample) const;
    Signal snake_block(const std::string & name, const Signal & x, ggml_tensor * style, int64_t taps) const;

  private:
    Signal shortcut(const std::string & name, const Signal & x, int64_t out, bool upsample) const;

    const Model & model_;
    Site          site_;
    Trace &       trace_;
};

struct TextOutputs {
    ggml_tensor *encoded, *durations, *content;  // [hidden + style, n], [max_duration, n] before sigmoid, [hidden, n]
};
struct TextInputs {
    ggml_tensor *tokens, *positions, *style;
};
TextOutputs build_text(const Builder & b, const TextInputs & in);

struct SpeechInputs {
    ggml_tensor *encoded, *content, *frames, *prosody, *timbre;  // frames: for each duration unit its phoneme
};
// Returns the waveform [samples].
ggml_tensor * build_speech(const Builder & b, const SpeechInputs & in, uint64_t seed, float noise);

}  // namespace eliza::kokoro
