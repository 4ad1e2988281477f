#include "eliza_kernels.h"
#include "tables.h"

#include <math.h>
#include <string.h>

#define VALUES ELIZA_HEAD_VALUES
#define STATES 512
#define SYMBOLS 8

void eliza_tcq_rotate(const float * values, float * rotated) {
    memcpy(rotated, values, VALUES * sizeof(float));
    eliza_flip(rotated, eliza_tcq_signs1, VALUES);
    eliza_hadamard(rotated, VALUES);
    for (int i = 0; i < VALUES; ++i) {
        rotated[i] *= eliza_tcq_scale;
    }
    eliza_flip(rotated, eliza_tcq_signs2, VALUES);
}

/* One step of Viterbi: the cheapest way into every state, and which of its eight predecessors it came from. */
static void step(const float * before, float value, float * after, uint8_t * came_from) {
    for (int state = 0; state < STATES; ++state) {
        const float * from = before + ((state & 63) << 3);
        int           best = 0;
        for (int p = 1; p < SYMBOLS; ++p) {
            best = from[p] < from[best] ? p : best;
        }
        const float error = value - eliza_tcq_book[state];
        after[state]      = from[best] + error * error;
        came_from[state]  = (uint8_t)best;
    }
}

/* Fills states[1..VALUES] with the cheapest walk and states[0] with where it starts. */
static void walk(const float * rotated, int * states) {
    static const float free_start[STATES];
    float              costs[2][STATES];
    uint8_t            came_from[VALUES][STATES];
    memcpy(costs[0], free_start, sizeof free_start);
    for (int t = 0; t < VALUES; ++t) {
        step(costs[t % 2], rotated[t], costs[(t + 1) % 2], came_from[t]);
    }
    int last = 0;
    for (int state = 1; state < STATES; ++state) {
        last = costs[VALUES % 2][state] < costs[VALUES % 2][last] ? state : last;
    }
    for (int t = VALUES; t > 0; --t) {
        states[t] = last;
        last      = ((last & 63) << 3) | came_from[t - 1][last];
    }
    states[0] = last;
}

static void put_bits(uint8_t * stream, int at, int count, unsigned value) {
    for (int i = 0; i < count; ++i) {
        stream[(at + i) / 8] |= (uint8_t)(((value >> i) & 1u) << ((at + i) % 8));
    }
}

static float length_of(const float * values) {
    double square = 0;
    for (int i = 0; i < VALUES; ++i) {
        square += (double)values[i] * (double)values[i];
    }
    return (float)sqrt(square);
}

void eliza_tcq_encode_with(const float * values, uint8_t * block, void (*rotate)(const float *, float *),
                           void (*walk_through)(const float *, int *)) {
    const float length = length_of(values);
    float       unit[VALUES], rotated[VALUES], chosen[VALUES];
    int         states[VALUES + 1];
    for (int i = 0; i < VALUES; ++i) {
        unit[i] = length > 1e-10f ? values[i] / length : 0.0f;
    }
    rotate(unit, rotated);
    walk_through(rotated, states);
    for (int t = 0; t < VALUES; ++t) {
        chosen[t] = eliza_tcq_book[states[t + 1]];
    }
    const float    walked = length_of(chosen);
    const uint16_t half   = eliza_half_of(walked > 1e-10f ? length / walked : length);
    memset(block, 0, ELIZA_TCQ_BYTES);
    block[0] = (uint8_t)(half & 0xffu);
    block[1] = (uint8_t)(half >> 8);
    put_bits(block + 2, 0, 6, (unsigned)states[0] >> 3);
    for (int t = 0; t < VALUES; ++t) {
        put_bits(block + 2, 6 + 3 * t, 3, (unsigned)states[t + 1] >> 6);
    }
}

void eliza_tcq_encode(const float * values, uint8_t * block) {
    eliza_tcq_encode_with(values, block, eliza_tcq_rotate, walk);
}

void eliza_tcq_decode_rotated(const uint8_t * block, float * values) {
    const float scale = eliza_float_of((uint16_t)(block[0] | block[1] << 8));
    for (int t = 0; t < VALUES; ++t) {
        const uint8_t * at   = block + 2 + 3 * t / 8;
        const unsigned  bits = at[0] | (unsigned)at[1] << 8; /* the last window ends in the pad byte */
        values[t]            = eliza_tcq_book[(bits >> (3 * t % 8)) & (STATES - 1)] * scale;
    }
}

float eliza_tcq_score(const float * query, const uint8_t * block) {
    float rotated[VALUES], key[VALUES];
    float sum = 0;
    eliza_tcq_rotate(query, rotated);
    eliza_tcq_decode_rotated(block, key);
    for (int i = 0; i < VALUES; ++i) {
        sum += rotated[i] * key[i];
    }
    return sum;
}
