// The one activation of the network, with the bias in front of it: gelu(x + bias), by the error function.
#pragma once

#include "ggml.h"

namespace eliza::whisper {

// Overwrites `x` [width, n]; `bias` is [width]. Differs from the exact function by at most 1e-6.
ggml_tensor * add_bias_gelu(ggml_context * ctx, ggml_tensor * x, ggml_tensor * bias);

}  // namespace eliza::whisper
