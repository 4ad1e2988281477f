// The encoder's self attention on CPUs with bfloat16 dot products (x86 AVX512-BF16). Where there are none, nothing here
// is ever used: wide_attention_fits() says so, and ggml's own attention does the work.
#pragma once

#include "ggml.h"

#include <cstdint>

namespace eliza::whisper {

// Whether this process may use it for heads of this width.
bool wide_attention_fits(int64_t head_width);

// `qkv` is [3 * heads * head_width, n]: queries, keys, values; all of the n places see each other. The result is
// [heads * head_width, n]. Factors are rounded to bfloat16, sums are f32. At most `threads` threads take part.
ggml_tensor * wide_attention(ggml_context * ctx, ggml_tensor * qkv, int64_t heads, int threads);

}  // namespace eliza::whisper
