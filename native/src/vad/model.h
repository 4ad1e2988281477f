// The weights of the voice activity model (Silero VAD, 16 kHz), read once and shared by every detector.
#pragma once

#include "ggml.h"

#include <cstdint>
#include <filesystem>
#include <memory>

namespace eliza::vad {

// All tensors are f32 and read-only after load; shapes are in ggml order (fastest dimension first).
struct Weights {
    struct Conv {
        ggml_tensor * weight = nullptr;  // [taps, channels in, channels out]
        ggml_tensor * bias   = nullptr;  // [channels out]
    };

    ggml_tensor * stft = nullptr;  // [256, 1, 258]: windowed cosines, then windowed sines
    Conv          encoder[4];
    ggml_tensor * lstm_input_weight  = nullptr;  // [128, 512], gates in the order i, f, g, o
    ggml_tensor * lstm_input_bias    = nullptr;  // [512]
    ggml_tensor * lstm_hidden_weight = nullptr;  // [128, 512]
    ggml_tensor * lstm_hidden_bias   = nullptr;  // [512]
    Conv          head;                          // [1, 128, 1] and [1]

    // Storage of the tensors above; the memory outlives the context that points into it.
    std::unique_ptr<uint8_t[]>                              memory;
    std::unique_ptr<ggml_context, void (*)(ggml_context *)> context{nullptr, ggml_free};
};

// The one GGUF below <bundle>/vad/. Failure(BUNDLE_INVALID) when there is none or more than one.
std::filesystem::path find_model(const std::filesystem::path & bundle_dir);

// Reads and checks a model file; a file that is already loaded is shared, not read again.
// Failure(BUNDLE_INVALID) for everything that is not exactly this model, Failure(FFI_FAULT) when reading fails.
std::shared_ptr<const Weights> load_weights(const std::filesystem::path & file);

}  // namespace eliza::vad
