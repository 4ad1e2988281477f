#include "eliza_kernels.h"

#include <string.h>

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint16_t eliza_half_of(float value) {
    const uint32_t bits      = bits_of(value);
    const uint32_t sign      = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude >= 0x7f800000u) { /* infinity stays, NaN stays one */
        return (uint16_t)(sign | 0x7c00u | (magnitude > 0x7f800000u ? 0x200u : 0u));
    }
    if (magnitude >= 0x477ff000u) { /* rounds to 65536 or more */
        return (uint16_t)(sign | 0x7c00u);
    }
    if (magnitude < 0x38800000u) { /* subnormal: let the addition round at 2^-24 */
        return (uint16_t)(sign | (bits_of(from_bits(magnitude) + 0.5f) - 0x3f000000u));
    }
    const uint32_t odd = (magnitude >> 13) & 1u;
    return (uint16_t)(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

float eliza_float_of(uint16_t half) {
    const uint32_t sign      = (uint32_t)(half & 0x8000u) << 16;
    const uint32_t magnitude = half & 0x7fffu;
    if (magnitude >= 0x7c00u) {
        return from_bits(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
    }
    if (magnitude < 0x400u) {
        const float value = (float)magnitude * 5.9604644775390625e-8f; /* 2^-24 */
        return sign != 0 ? -value : value;
    }
    return from_bits(sign | ((magnitude << 13) + 0x38000000u));
}

uint16_t eliza_bfloat_of(float value) {
    const uint32_t bits = bits_of(value);
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float eliza_float_of_bfloat(uint16_t bits) {
    return from_bits((uint32_t)bits << 16);
}

void eliza_hadamard(float * values, int count) {
    for (int half = 1; half < count; half *= 2) {
        for (int start = 0; start < count; start += 2 * half) {
            for (int i = start; i < start + half; ++i) {
                const float a    = values[i];
                const float b    = values[i + half];
                values[i]        = a + b;
                values[i + half] = a - b;
            }
        }
    }
}

void eliza_flip(float * values, const float * signs, int count) {
    for (int i = 0; i < count; ++i) {
        values[i] *= signs[i];
    }
}
