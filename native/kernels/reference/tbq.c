#include "eliza_kernels.h"
#include "tables.h"

#include <math.h>
#include <string.h>

#define VALUES ELIZA_TBQ_VALUES

static void rotate(const float * values, float * rotated) {
    memcpy(rotated, values, VALUES * sizeof(float));
    eliza_flip(rotated, eliza_tbq_signs, VALUES);
    eliza_hadamard(rotated, VALUES);
    for (int i = 0; i < VALUES; ++i) {
        rotated[i] *= eliza_tbq_scale;
    }
}

static void rotate_back(float * values) {
    eliza_hadamard(values, VALUES);
    for (int i = 0; i < VALUES; ++i) {
        values[i] *= eliza_tbq_scale;
    }
    eliza_flip(values, eliza_tbq_signs, VALUES);
}

static int nearest(const float * book, int count, float value) {
    int best = 0;
    for (int i = 1; i < count; ++i) {
        if (fabsf(value - book[i]) < fabsf(value - book[best])) {
            best = i;
        }
    }
    return best;
}

/* Rotates, writes the scale at the front of the block and returns the codes. */
static void quantise(const float * values, const float * book, int count, uint8_t * block, uint8_t * codes) {
    float  rotated[VALUES];
    double square = 0;
    rotate(values, rotated);
    for (int i = 0; i < VALUES; ++i) {
        square += (double)rotated[i] * (double)rotated[i];
    }
    const float    deviation = (float)sqrt(square / VALUES);
    const uint16_t half      = eliza_half_of(deviation);
    block[0]                 = (uint8_t)(half & 0xffu);
    block[1]                 = (uint8_t)(half >> 8);
    for (int i = 0; i < VALUES; ++i) {
        codes[i] = deviation == 0.0f ? 0 : (uint8_t)nearest(book, count, rotated[i] / deviation);
    }
}

static float scale_of(const uint8_t * block) {
    return eliza_float_of((uint16_t)(block[0] | block[1] << 8));
}

static void rotated3(const uint8_t * block, float * rotated) {
    for (int i = 0; i < VALUES; ++i) {
        const int      bit  = 3 * i;
        const int      byte = 2 + bit / 8;
        const unsigned pair = block[byte] | (unsigned)(byte + 1 < ELIZA_TBQ3_BYTES ? block[byte + 1] : 0) << 8;
        rotated[i]          = eliza_tbq_book3[(pair >> (bit % 8)) & 7u] * scale_of(block);
    }
}

static void rotated4(const uint8_t * block, float * rotated) {
    for (int i = 0; i < VALUES / 2; ++i) {
        rotated[i]              = eliza_tbq_book4[block[2 + i] & 15u] * scale_of(block);
        rotated[i + VALUES / 2] = eliza_tbq_book4[block[2 + i] >> 4] * scale_of(block);
    }
}

/* The rotation keeps dot products, so the query is rotated once instead of every key. */
static float score(const float * query, const float * rotated_key) {
    float rotated[VALUES];
    float sum = 0;
    rotate(query, rotated);
    for (int i = 0; i < VALUES; ++i) {
        sum += rotated[i] * rotated_key[i];
    }
    return sum;
}

void eliza_tbq3_encode(const float * values, uint8_t * block) {
    uint8_t codes[VALUES];
    memset(block, 0, ELIZA_TBQ3_BYTES);
    quantise(values, eliza_tbq_book3, 8, block, codes);
    for (int i = 0; i < 3 * VALUES; ++i) {
        block[2 + i / 8] |= (uint8_t)(((codes[i / 3] >> (i % 3)) & 1u) << (i % 8));
    }
}

void eliza_tbq4_encode(const float * values, uint8_t * block) {
    uint8_t codes[VALUES];
    quantise(values, eliza_tbq_book4, 16, block, codes);
    for (int i = 0; i < VALUES / 2; ++i) {
        block[2 + i] = (uint8_t)(codes[i] | codes[i + VALUES / 2] << 4);
    }
}

void eliza_tbq3_decode(const uint8_t * block, float * values) {
    rotated3(block, values);
    rotate_back(values);
}

void eliza_tbq4_decode(const uint8_t * block, float * values) {
    rotated4(block, values);
    rotate_back(values);
}

float eliza_tbq3_score(const float * query, const uint8_t * block) {
    float key[VALUES];
    rotated3(block, key);
    return score(query, key);
}

float eliza_tbq4_score(const float * query, const uint8_t * block) {
    float key[VALUES];
    rotated4(block, key);
    return score(query, key);
}
