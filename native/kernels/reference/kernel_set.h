/* One set of kernels for each way of computing them. All sets write the same blocks and decode the same values, bit for
 * bit; scores agree to a few units in the last place. */
#ifndef ELIZA_KERNEL_SET_H
#define ELIZA_KERNEL_SET_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*eliza_encode)(const float * values, uint8_t * block);
typedef void (*eliza_decode)(const uint8_t * block, float * values);
/* One query against `count` blocks that lie one behind the other. */
typedef void (*eliza_scores)(const float * query, const uint8_t * blocks, int count, float * scores);

struct eliza_kernel_set {
    const char * name;
    eliza_encode tbq3_encode, tbq4_encode, tcq_encode, polar_encode;
    void (*qjl_encode)(const float * projection, const float * values, uint8_t * block);
    eliza_decode tbq3_decode, tbq4_decode, tcq_decode_rotated;
    void (*polar_decode)(const uint8_t * block, int with_residual, float * values);
    eliza_scores tbq3_scores, tbq4_scores, tcq_scores, polar_scores;
    void (*qjl_scores)(const float * projection, const float * query, const uint8_t * blocks, int count,
                       float * scores);
};

extern const struct eliza_kernel_set eliza_scalar_kernels;

/* The fastest set for this processor. */
const struct eliza_kernel_set * eliza_best_kernels(void);
/* The set of that name ("scalar", "avx2", "neon"); NULL where this build or processor has none. */
const struct eliza_kernel_set * eliza_kernels_named(const char * name);

#ifdef __cplusplus
}
#endif

#endif
