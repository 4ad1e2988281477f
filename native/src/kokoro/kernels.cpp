#include "kokoro/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace eliza::kokoro {
namespace {

// exp for |x| <= 87, relative error about 2e-7; written without branches so that it becomes vector code.
inline float fast_exp(float x) {
    x                  = std::min(87.0f, std::max(-87.0f, x));
    const float magic  = 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
    const float n      = (x * 1.44269504f + magic) - magic;
    float       r      = x - n * 0.693359375f;
    r                  = r + n * 2.12194440e-4f;
    float p            = 1.9875691500e-4f;
    p                  = p * r + 1.3981999507e-3f;
    p                  = p * r + 8.3334519073e-3f;
    p                  = p * r + 4.1665795894e-2f;
    p                  = p * r + 1.6666665459e-1f;
    p                  = p * r + 5.0000001201e-1f;
    p                  = p * r * r + r + 1.0f;
    const int32_t bits = (static_cast<int32_t>(n) + 127) << 23;
    float         scale;
    std::memcpy(&scale, &bits, sizeof(scale));
    return p * scale;
}

inline float sigmoid(float x) {
    return 1.0f / (1.0f + fast_exp(-x));
}
inline float tanh_of(float x) {
    return 2.0f / (1.0f + fast_exp(-2.0f * x)) - 1.0f;
}

// sin(z)^2: pi-periodic, so the sign of the half wave never matters.
inline float sine_squared(float z) {
    const float magic = 12582912.0f;
    const float n     = (z * 0.318309886f + magic) - magic;
    float       r     = z - n * 3.140625f;
    r                 = r - n * 9.67502593994140625e-4f;
    r                 = r - n * 1.509957990978376432e-7f;
    const float q     = r * r;
    float       p     = 2.6083159809786593541503e-6f;
    p                 = p * q - 0.0001981069071916863322258f;
    p                 = p * q + 0.00833307858556509017944336f;
    p                 = p * q - 0.166666597127914428710938f;
    const float s     = r + r * q * p;
    return s * s;
}

}  // namespace

ELIZA_CLONES void accumulate(const float * x, float * sum, float * square, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        sum[i] += x[i];
        square[i] += x[i] * x[i];
    }
}

ELIZA_CLONES void affine(const float * x, const float * a, const float * b, float * y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        y[i] = a[i] * x[i] + b[i];
    }
}

ELIZA_CLONES void affine_leaky(const float * x, const float * a, const float * b, float slope, float * y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        const float v = a[i] * x[i] + b[i];
        y[i]          = v > 0.0f ? v : slope * v;
    }
}

ELIZA_CLONES void affine_snake(const float * x, const float * a, const float * b, const float * alpha,
                               const float * inverse, float * y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        const float v = a[i] * x[i] + b[i];
        y[i]          = v + inverse[i] * sine_squared(alpha[i] * v);
    }
}

ELIZA_CLONES void add_scaled(const float * x, float * y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        y[i] += x[i];
    }
}

ELIZA_CLONES void scale_by(float * y, float scale, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        y[i] *= scale;
    }
}

ELIZA_CLONES void to_bfloat16(const float * x, uint16_t * y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        uint32_t bits;
        std::memcpy(&bits, x + i, sizeof(bits));
        y[i] = static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
    }
}

ELIZA_CLONES void matvec(const float * a, const float * b, float * out, int64_t rows, int64_t n) {
    for (int64_t r = 0; r < rows; ++r) {
        const float * row       = a + r * n;
        float         lanes[32] = {};
        int64_t       i         = 0;
        for (; i + 32 <= n; i += 32) {
            for (int64_t l = 0; l < 32; ++l) {
                lanes[l] += row[i + l] * b[i + l];
            }
        }
        float sum = 0;
        for (; i < n; ++i) {
            sum += row[i] * b[i];
        }
        for (const float lane : lanes) {
            sum += lane;
        }
        out[r] = sum;
    }
}

ELIZA_CLONES void gelu(const float * x, float * y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        const float v = x[i];
        y[i]          = 0.5f * v * (1.0f + tanh_of(0.7978845608f * (v + 0.044715f * v * v * v)));
    }
}

ELIZA_CLONES void lstm_cell(const float * gates, float * cell, float * hidden, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        const float in     = sigmoid(gates[i]);
        const float forget = sigmoid(gates[n + i]);
        const float value  = tanh_of(gates[2 * n + i]);
        const float out    = sigmoid(gates[3 * n + i]);
        cell[i]            = forget * cell[i] + in * value;
        hidden[i]          = out * tanh_of(cell[i]);
    }
}

}  // namespace eliza::kokoro
