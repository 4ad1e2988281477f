// One loaded recognition model, whatever its architecture.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace eliza::llm {
class TextModel;
}

namespace eliza::asr {

constexpr int sample_rate_hz = 16000;

struct Heard {
    std::string      text;    // UTF-8, without leading or trailing space; empty for silence
    std::vector<int> tokens;  // the model's own ids that spelled it
};

class Recognizer {
  public:
    virtual ~Recognizer() = default;

    // Mono samples in [-1, 1] at 16 kHz, any number of them. One caller at a time. Throws Failure: OOM, FFI_FAULT.
    virtual Heard transcribe(const float * samples, size_t count) = 0;

    // Whether it keeps this model in memory.
    virtual bool reads_with(const llm::TextModel * model) const noexcept {
        (void)model;
        return false;
    }
};

using ShareTextModel = std::function<std::shared_ptr<llm::TextModel>()>;

// The recognizer of <bundle>/asr, chosen by the architecture that its GGUF names. A projector alone gives ears to the
// bundle's own text model, which `share` then hands out. Throws Failure: BUNDLE_INVALID, NOT_IMPLEMENTED for an
// architecture that no engine of this build serves, OOM, and what `share` throws.
std::unique_ptr<Recognizer> open_recognizer(const std::filesystem::path & bundle_dir, const ShareTextModel & share);

}  // namespace eliza::asr
