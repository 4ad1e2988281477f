// The weights of one voice model, checked against its own hyper-parameters before anything runs.
#pragma once

#include "ggml-cpp.h"
#include "kokoro/tile_conv.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct gguf_context;

namespace eliza::kokoro {

constexpr int sample_rate_hz = 24000;
constexpr int harmonics      = 9;   // sine partials of the excitation, the fundamental among them
constexpr int channel_align  = 32;  // convolution inputs are padded to whole quantisation blocks

inline int64_t aligned(int64_t channels) {
    return (channels + channel_align - 1) / channel_align * channel_align;
}

struct Hyper {
    int hidden = 0, style = 0, layers = 0, tokens = 0, max_duration = 0, text_kernel = 0;
    int bert_embedding = 0, bert_hidden = 0, bert_heads = 0, bert_ffn = 0, bert_layers = 0, bert_context = 0;
    int decoder_hidden = 0, decoder_residual = 0, channels = 0, fft = 0, hop = 0;

    std::vector<int> rates, kernels, dilations;

    int upsampling() const;  // STFT frames per F0 frame
    int samples_per_frame() const { return upsampling() * hop; }
    int bins() const { return fft / 2 + 1; }
    int stage_channels(size_t stage) const { return channels >> (stage + 1); }
    int noise_stride(size_t stage) const;  // how far apart stage `stage` samples the excitation's spectrum
    int noise_kernel(size_t stage) const { return stage + 1 < rates.size() ? 2 * noise_stride(stage) : 1; }
    int noise_padding(size_t stage) const { return stage + 1 < rates.size() ? (noise_stride(stage) + 1) / 2 : 0; }
    int noise_block_kernel(size_t stage) const { return stage + 1 < rates.size() ? 7 : 11; }
};

struct Wanted {
    enum class Kind { matrix, vector };  // a matrix may be quantised, a vector is f32
    std::string name;
    int64_t     columns, rows;
    Kind        kind;
    int64_t     tile_taps = 0;  // taps of what may go to the matrix unit; 0 for all else
};

class Model {
  public:
    // Throws Failure(BUNDLE_INVALID) naming what is wrong; Failure(OOM) when memory runs out.
    static std::shared_ptr<const Model> load(const std::filesystem::path & file);

    const Hyper &                    hyper() const { return hyper_; }
    const std::vector<std::string> & phonemes() const { return phonemes_; }
    ggml_tensor *                    tensor(const std::string & name) const { return tensors_.at(name); }
    // The weights in the matrix unit's order, or nullptr where the ordinary product is used. What has tiles has
    // no other copy: its tensor() knows only type and shape.
    const TileWeights * tiles(const std::string & name) const;
    bool                has_tiles() const { return !tiles_.empty(); }

  private:
    void read_weights(const std::filesystem::path & file, const gguf_context * gguf, const std::vector<Wanted> & all);

    Hyper                                hyper_;
    std::vector<std::string>             phonemes_;
    std::map<std::string, ggml_tensor *> tensors_;

    std::map<std::string, std::unique_ptr<TileWeights>> tiles_;
    ggml_context_ptr                                    context_;
    ggml_backend_buffer_ptr                             buffer_;
};

[[noreturn]] void refuse_model(const std::string & why);  // Failure(BUNDLE_INVALID)

// Every tensor that the graphs will ask for. The file must hold exactly these shapes.
std::vector<Wanted> wanted_tensors(const Hyper & hyper);

}  // namespace eliza::kokoro
