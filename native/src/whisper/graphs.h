// The network as ggml graphs: front end, encoder, decoder. Builders only; memory and computing are the session's.
#pragma once

#include "whisper/model.h"

#include <vector>

namespace eliza::whisper {

// What stays between graphs: constants of the front end, and what the decoder looks back at.
struct Memory {
    ggml_tensor * fourier{};  // [fft_samples, 2 * fft_bins]
    ggml_tensor * bands{};    // [fft_bins, mel_bands]
    // per decoder layer, of what was heard, in f16: keys [width, audio_context], values [audio_context, width]
    std::vector<ggml_tensor *> heard_keys, heard_values;
    // per decoder layer, of what was said: keys and values [2 * width, text_context]
    std::vector<ggml_tensor *> said;
};

// `samples` is [(frames - 1) * hop + fft]; the result, mel power, is [mel_bands, frames].
ggml_tensor * build_mel(ggml_context * ctx, const Memory & memory, ggml_tensor * samples, int64_t frames);

// `mel` is [mel_bands, audio_frames + 2] with a frame of zeros at each end; the result is [width, audio_context].
ggml_tensor * build_encoder(ggml_context * ctx, const Model & model, ggml_tensor * mel, int threads);
// Adds what writes keys and values of `heard` (the encoder's result) to `memory`.
void build_cross(ggml_context * ctx, ggml_cgraph * graph, const Model & model, const Memory & memory,
                 ggml_tensor * heard);

struct Said {
    ggml_tensor * tokens;  // [n] of int32
    ggml_tensor * mask;    // [past + n, n] of f16, 0 or -inf; none when n is 1
    int64_t       past;    // how many tokens the self attention remembers
};
// The result is [tokens of the vocabulary, n]: logits after each token.
ggml_tensor * build_decoder(ggml_context * ctx, ggml_cgraph * graph, const Model & model, const Memory & memory,
                            const Said & said);

// Upper bounds of nodes and leaves, for the graphs' memory.
size_t encoder_nodes(const Hyper & hyper);
size_t decoder_nodes(const Hyper & hyper);

}  // namespace eliza::whisper
