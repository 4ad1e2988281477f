#include "whisper/gelu.h"

#include "kokoro/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace eliza::whisper {
namespace {

// e^-x for 0 <= x, without branches so that it becomes vector code; relative error below 1e-6.
inline float decay(float x) {
    const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
    x                 = std::min(x, 87.0f);
    const float n     = (x * 1.44269504f + magic) - magic;
    const float r     = (n * 0.693359375f - x) - n * 2.12194440e-4f;  // -x + n ln 2
    float       p     = 1.0f / 720.0f;
    p                 = p * r + 1.0f / 120.0f;
    p                 = p * r + 1.0f / 24.0f;
    p                 = p * r + 1.0f / 6.0f;
    p                 = p * r + 0.5f;
    p                 = p * r + 1.0f;
    p                 = p * r + 1.0f;

    const int32_t bits = (127 - static_cast<int32_t>(n)) << 23;
    float         scale;
    std::memcpy(&scale, &bits, sizeof(scale));
    return p * scale;
}

// Abramowitz and Stegun 7.1.26, absolute error below 1.5e-7.
inline float error_function(float x) {
    const float z = std::fabs(x);
    const float t = 1.0f / (1.0f + 0.3275911f * z);
    float       p = 1.061405429f;
    p             = p * t - 1.453152027f;
    p             = p * t + 1.421413741f;
    p             = p * t - 0.284496736f;
    p             = p * t + 0.254829592f;
    return std::copysign(1.0f - p * t * decay(z * z), x);
}

ELIZA_CLONES void row_gelu(float * x, const float * bias, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        const float v = x[i] + bias[i];
        x[i]          = 0.5f * v * (1.0f + error_function(v * 0.70710678f));
    }
}

void run(ggml_tensor * dst, const ggml_tensor * /*x*/, const ggml_tensor * bias, int ith, int nth, void * /*data*/) {
    const auto * b = static_cast<const float *>(bias->data);
    for (int64_t row = dst->ne[1] * ith / nth; row < dst->ne[1] * (ith + 1) / nth; ++row) {
        row_gelu(static_cast<float *>(dst->data) + row * dst->ne[0], b, dst->ne[0]);
    }
}

}  // namespace

ggml_tensor * add_bias_gelu(ggml_context * ctx, ggml_tensor * x, ggml_tensor * bias) {
    return ggml_map_custom2_inplace(ctx, x, bias, run, GGML_N_TASKS_MAX, nullptr);
}

}  // namespace eliza::whisper
