// The weights of a Whisper-architecture recogniser, checked whole at load and read-only afterwards.
// "Robust Speech Recognition via Large-Scale Weak Supervision", Radford et al. 2022; the file's layout is that of
// catalog/eliza_catalog/convert/whisper_layout.py.
#pragma once

#include "ggml-cpp.h"
#include "ggml.h"
#include "whisper/vocabulary.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace eliza::whisper {

constexpr int64_t audio_frames  = 3000;  // mel frames of one window of 30 s
constexpr int64_t audio_context = 1500;  // what the encoder makes of them
constexpr int64_t conv_taps     = 3;

struct Hyper {
    int64_t width          = 0;
    int64_t heads          = 0;
    int64_t feed_forward   = 0;
    int64_t encoder_layers = 0;
    int64_t decoder_layers = 0;
    int64_t text_context   = 0;
    int64_t mel_bands      = 0;

    int64_t head_width() const { return width / heads; }
};

struct Linear {
    ggml_tensor * weight = nullptr;  // [in, out]
    ggml_tensor * bias   = nullptr;  // [out]
};
struct Norm {
    ggml_tensor * weight = nullptr;
    ggml_tensor * bias   = nullptr;
};
struct FeedForward {
    Norm   norm;
    Linear up, down;
};
struct SelfAttention {
    Norm   norm;
    Linear qkv, out;  // queries, keys and values one after the other
};
struct CrossAttention {
    Norm   norm;
    Linear q, kv, out;
};
struct EncoderLayer {
    SelfAttention self;
    FeedForward   feed;
};
struct DecoderLayer {
    SelfAttention  self;
    CrossAttention cross;
    FeedForward    feed;
};

struct Model {
    Hyper      hyper;
    Vocabulary vocabulary;

    Linear                    conv1, conv2;      // rows hold tap after tap, each with all channels
    ggml_tensor *             position_heard{};  // [width, audio_context]
    std::vector<EncoderLayer> encoder;
    Norm                      encoder_norm;
    ggml_tensor *             token{};          // [width, tokens]: embedding and head in one
    ggml_tensor *             position_said{};  // [width, text_context]
    std::vector<DecoderLayer> decoder;
    Norm                      decoder_norm;

    ggml_context_ptr        context;
    ggml_backend_buffer_ptr buffer;
};

// One tensor that a file of these sizes must hold.
struct Wanted {
    enum class Kind { vector, matrix, busy_matrix };  // busy: it meets a whole window at once
    std::string    name;
    int64_t        columns;
    int64_t        rows;
    Kind           kind;
    ggml_tensor ** slot;
};
// All of them, pointing into `model`, whose layers have been counted out.
std::vector<Wanted> wanted_tensors(Model & model);

// Throws Failure: BUNDLE_INVALID for everything that is not exactly such a model, OOM, FFI_FAULT when reading fails.
std::unique_ptr<const Model> load_model(const std::filesystem::path & file);

[[noreturn]] void refuse_model(const std::string & why);

}  // namespace eliza::whisper
