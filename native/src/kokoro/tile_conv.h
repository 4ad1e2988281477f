// Convolutions on the CPU's bfloat16 matrix unit (x86 AMX). Where there is none, nothing here is ever used:
// tiles_available() decides once, and the ordinary product over a strided view does the work.
#pragma once

#include "kokoro/ops.h"

#include <cstdint>
#include <memory>

namespace eliza::kokoro {

// Whether this process may use the matrix unit; asks the kernel for it on the first call.
bool tiles_available();

constexpr int64_t tile_channels = 32;  // inputs and outputs come in whole blocks of this many
constexpr int64_t tile_steps    = 32;  // outputs are computed this many time steps at a time

// One convolution's weights as bfloat16 tiles.
struct TileWeights {
    int64_t                     taps, in, out;
    std::unique_ptr<uint16_t[]> memory;  // a little more than needed, so that `tiles` can start on a cache line
    uint16_t *                  tiles;
};

bool fits_tiles(int64_t in, int64_t out);
// `weight` is [taps * in, out], of any type that ggml can widen; `bytes` are its contents.
std::unique_ptr<TileWeights> make_tiles(const ggml_tensor * weight, const char * bytes, int64_t taps);

// `x` is bfloat16 [in, length + dilation * (taps - 1) + spare], spare >= tile_steps; no bias.
ggml_tensor * convolve_tiles(const Site & site, ggml_tensor * x, const TileWeights & weights, int64_t dilation,
                             int64_t length);

}  // namespace eliza::kokoro
