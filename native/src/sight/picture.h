// A picture file in memory, decoded to pixels.
#pragma once

#include "mtmd.h"

#include <cstddef>
#include <cstdint>

namespace eliza::sight {

constexpr int64_t most_pixels      = 64 * 1000 * 1000;
constexpr int     longest_side     = 32768;
constexpr size_t  most_image_bytes = size_t{64} << 20;

// Decodes a JPEG, PNG or BMP. Dimensions, completeness and the size of what is packed are checked before anything is
// unpacked. Throws Failure(INVALID_ARG): no such picture, cut off, more than 64 megapixels, a side beyond 32768, more
// than 50 times as long as wide.
mtmd::bitmap decode_picture(const uint8_t * bytes, size_t count);

}  // namespace eliza::sight
