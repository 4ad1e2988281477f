// One running voice activity detector: a prepared graph over shared weights, and its own state.
#pragma once

#include "llm/cpu_backend.h"
#include "vad/model.h"

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>

namespace eliza::vad {

constexpr int    sample_rate     = 16000;
constexpr size_t window_samples  = 512;  // 32 ms
constexpr size_t context_samples = 64;   // the tail of the window before, put in front of this one

class Detector {
  public:
    explicit Detector(std::shared_ptr<const Weights> weights);

    // Speech probability in [0, 1] of the next `window_samples` samples of the stream, mono f32.
    // Failure(INVALID_ARG) when a sample is not finite (the state is then as it was) or so large that
    // the model overflows (the state is then reset).
    float process(const float * pcm);

    // Forgets everything heard so far.
    void reset();

  private:
    void build();
    void forget();

    std::shared_ptr<const Weights>                          weights_;
    std::unique_ptr<uint8_t[]>                              memory_;
    std::unique_ptr<ggml_context, void (*)(ggml_context *)> context_{nullptr, ggml_free};
    llm::CpuBackend                                         cpu_;
    ggml_cgraph *                                           graph_       = nullptr;
    ggml_tensor *                                           samples_     = nullptr;  // [640]
    ggml_tensor *                                           hidden_      = nullptr;  // [128], LSTM state h
    ggml_tensor *                                           cell_        = nullptr;  // [128], LSTM state c
    ggml_tensor *                                           probability_ = nullptr;  // [1]
    std::array<float, context_samples>                      tail_{};
    std::mutex                                              mutex_;  // one window at a time
};

}  // namespace eliza::vad
