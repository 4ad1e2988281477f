#include "eliza_kernels.h"
#include "tables.h"

#include <math.h>

#define VALUES ELIZA_HEAD_VALUES
#define DIRECTIONS ELIZA_QJL_DIRECTION

static uint64_t splitmix64(uint64_t * state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z          = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z          = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double uniform(uint64_t * state) {
    return (double)((splitmix64(state) >> 11) | 1u) / 9007199254740992.0; /* 2^53 */
}

void eliza_qjl_projection(uint64_t seed, float * projection) {
    uint64_t state = seed ^ 0xC0FFEE1234567890u;
    for (int i = 0; i < VALUES * DIRECTIONS; i += 2) {
        const double radius = sqrt(-2.0 * log(uniform(&state)));
        const double angle  = 6.28318530717958647692 * uniform(&state);
        projection[i]       = (float)(radius * cos(angle));
        projection[i + 1]   = (float)(radius * sin(angle));
    }
}

static float projected(const float * projection, const float * values, int direction) {
    float sum = 0;
    for (int i = 0; i < VALUES; ++i) {
        sum += values[i] * projection[i * DIRECTIONS + direction];
    }
    return sum;
}

void eliza_qjl_put_norm(const float * values, uint8_t * block) {
    double square = 0;
    for (int i = 0; i < VALUES; ++i) {
        square += (double)values[i] * (double)values[i];
    }
    const uint16_t norm       = eliza_bfloat_of((float)sqrt(square));
    block[DIRECTIONS / 8]     = (uint8_t)(norm & 0xffu);
    block[DIRECTIONS / 8 + 1] = (uint8_t)(norm >> 8);
}

float eliza_qjl_norm(const uint8_t * block) {
    return eliza_float_of_bfloat((uint16_t)(block[DIRECTIONS / 8] | block[DIRECTIONS / 8 + 1] << 8));
}

void eliza_qjl_encode(const float * projection, const float * values, uint8_t * block) {
    for (int i = 0; i < DIRECTIONS / 8; ++i) {
        block[i] = 0;
        for (int bit = 0; bit < 8; ++bit) {
            block[i] |= (uint8_t)((projected(projection, values, 8 * i + bit) > 0) << bit);
        }
    }
    eliza_qjl_put_norm(values, block);
}

float eliza_qjl_score(const float * projection, const float * query, const uint8_t * block) {
    float sum = 0;
    for (int j = 0; j < DIRECTIONS; ++j) {
        const float length = projected(projection, query, j);
        sum += (block[j / 8] >> (j % 8) & 1u) != 0 ? length : -length;
    }
    return eliza_qjl_norm(block) * eliza_qjl_scale * sum;
}
