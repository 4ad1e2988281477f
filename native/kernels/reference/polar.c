#include "eliza_kernels.h"
#include "tables.h"

#include <math.h>
#include <string.h>

#define VALUES ELIZA_HEAD_VALUES

static const float boundaries[15] = {-2.423958757f,  -1.868302108f,  -1.461390631f,    -1.121190365f, -0.8175165476f,
                                     -0.5351446099f, -0.2648274426f, 4.996003611e-16f, 0.2648274426f, 0.5351446099f,
                                     0.8175165476f,  1.121190365f,   1.461390631f,     1.868302108f,  2.423958757f};

static int code_of(float value) {
    int code = 0;
    while (code < 15 && value > boundaries[code]) {
        ++code;
    }
    return code;
}

void eliza_polar_encode(const float * values, uint8_t * block) {
    float  rotated[VALUES];
    double square = 0, along = 0;
    for (int i = 0; i < VALUES; ++i) {
        square += (double)values[i] * (double)values[i];
    }
    const float norm    = (float)sqrt(square);
    const float inverse = norm > 1e-10f ? 1.0f / norm : 0.0f;
    for (int i = 0; i < VALUES; ++i) {
        rotated[i] = values[i] * inverse;
    }
    eliza_hadamard(rotated, VALUES);
    memset(block, 0, ELIZA_POLAR_BYTES);
    const uint16_t half = eliza_half_of(norm);
    block[0]            = (uint8_t)(half & 0xffu);
    block[1]            = (uint8_t)(half >> 8);
    for (int i = 0; i < VALUES; ++i) {
        const int code = code_of(rotated[i]);
        block[2 + i / 2] |= (uint8_t)(code << (i % 2 * 4));
        along += (double)((rotated[i] - eliza_polar_centroids[code]) * eliza_polar_signs[i]);
    }
    block[66] = along >= 0 ? 1 : 0;
}

void eliza_polar_decode(const uint8_t * block, int with_residual, float * values) {
    const float norm = eliza_float_of((uint16_t)(block[0] | block[1] << 8));
    const float step = (block[66] & 1u) != 0 ? eliza_polar_residual_step : -eliza_polar_residual_step;
    for (int i = 0; i < VALUES; ++i) {
        values[i] = eliza_polar_centroids[(block[2 + i / 2] >> (i % 2 * 4)) & 15u];
        values[i] += with_residual ? step * eliza_polar_signs[i] : 0.0f;
    }
    eliza_hadamard(values, VALUES);
    for (int i = 0; i < VALUES; ++i) {
        values[i] = values[i] / VALUES * norm;
    }
}

float eliza_polar_score(const float * query, const uint8_t * block) {
    float key[VALUES];
    float sum = 0;
    eliza_polar_decode(block, 0, key);
    for (int i = 0; i < VALUES; ++i) {
        sum += query[i] * key[i];
    }
    return sum;
}
