// One recogniser's working memory: hears a window of sound, then tells which token may follow what was said.
#pragma once

#include "ggml-cpp.h"
#include "llm/cpu_backend.h"
#include "whisper/graphs.h"

#include <functional>
#include <memory>
#include <vector>

namespace eliza::whisper {

class Session {
  public:
    // Throws Failure(OOM).
    explicit Session(const Model & model);

    // 1 to window_samples samples. Throws Failure: OOM, FFI_FAULT.
    void hear(const float * samples, size_t count);
    // Logits after each of `tokens`, row after row; they follow the first `past` tokens said since hear().
    // Throws Failure: OOM, FFI_FAULT.
    const std::vector<float> & say(const std::vector<int> & tokens, int64_t past);

    // Is shown the encoder's result, [width, audio_context], each time; for parity tests.
    using Watcher = std::function<void(const std::vector<float> & states)>;
    void watch(Watcher watcher) { watcher_ = std::move(watcher); }

  private:
    struct Graph;

    Graph              begin(size_t nodes);
    void               place(const Graph & graph);
    void               compute(const Graph & graph, int threads);
    std::vector<float> mel_of(const float * samples, size_t count);
    void               remember();

    const Model &           model_;
    llm::CpuBackend         cpu_;
    ggml_gallocr_ptr        allocator_;
    ggml_context_ptr        kept_context_;
    ggml_backend_buffer_ptr kept_buffer_;
    Memory                  memory_;
    std::vector<uint8_t>    graph_bytes_;
    std::vector<float>      logits_;
    Watcher                 watcher_;
};

}  // namespace eliza::whisper
