/* Scalar references of the quantised block types that Eliza-1's fused kernels work on: what a device kernel must equal.
 *
 * Plain C99 without a runtime, compiled without fused multiply-add. Every encoder takes one block of float32 values
 * and writes the block's bytes; every score returns an estimate of the dot product with a float32 query of the same
 * length. Layouts and constants: facts, section 10; the idea of each: TurboQuant (rotation, then a scalar codebook),
 * QJL (signs of a random projection), PolarQuant, trellis-coded quantisation. */
#ifndef ELIZA_KERNELS_H
#define ELIZA_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ELIZA_TBQ_VALUES    = 32,
    ELIZA_TBQ3_BYTES    = 14,
    ELIZA_TBQ4_BYTES    = 18,
    ELIZA_HEAD_VALUES   = 128, /* one head: TCQ, QJL and polar blocks */
    ELIZA_TCQ_BYTES     = 52,
    ELIZA_POLAR_BYTES   = 82,
    ELIZA_QJL_BYTES     = 34,
    ELIZA_QJL_DIRECTION = 256 /* directions a head is projected on */
};

/* --- shared: half floats and rotations --- */

uint16_t eliza_half_of(float value); /* round to nearest even */
float    eliza_float_of(uint16_t half);
uint16_t eliza_bfloat_of(float value); /* round to nearest even; not for NaN */
float    eliza_float_of_bfloat(uint16_t bits);
/* Walsh-Hadamard in place, natural order, unscaled; `count` is a power of two. */
void eliza_hadamard(float * values, int count);
/* signs[i] is +1 or -1 */
void eliza_flip(float * values, const float * signs, int count);

/* --- turbo3 and turbo4 (tbq3_0, tbq4_0): 32 values --- */

void  eliza_tbq3_encode(const float * values, uint8_t * block);
void  eliza_tbq4_encode(const float * values, uint8_t * block);
void  eliza_tbq3_decode(const uint8_t * block, float * values);
void  eliza_tbq4_decode(const uint8_t * block, float * values);
float eliza_tbq3_score(const float * query, const uint8_t * block);
float eliza_tbq4_score(const float * query, const uint8_t * block);

/* --- turbo3_tcq: 128 values, decoded in the ROTATED basis --- */

void eliza_tcq_encode(const float * values, uint8_t * block);
void eliza_tcq_decode_rotated(const uint8_t * block, float * values);
/* Brings a query (or any vector) into the basis of the decoded block. */
void  eliza_tcq_rotate(const float * values, float * rotated);
float eliza_tcq_score(const float * query, const uint8_t * block); /* rotates the query itself */

/* --- qjl1_256: 128 values as 256 signs; `projection` is 128 x 256, row major --- */

void  eliza_qjl_projection(uint64_t seed, float * projection);
void  eliza_qjl_encode(const float * projection, const float * values, uint8_t * block);
float eliza_qjl_score(const float * projection, const float * query, const uint8_t * block);

/* --- q4_polar: 128 values --- */

void  eliza_polar_encode(const float * values, uint8_t * block);
void  eliza_polar_decode(const uint8_t * block, int with_residual, float * values);
float eliza_polar_score(const float * query, const uint8_t * block);

#ifdef __cplusplus
}
#endif

#endif
