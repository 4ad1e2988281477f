/* Constants that all sets share (facts, section 10), and the steps of an encoder that are the same in all. */
#ifndef ELIZA_KERNEL_TABLES_H
#define ELIZA_KERNEL_TABLES_H

#include <stdint.h>

extern const float eliza_tbq_signs[32];
extern const float eliza_tbq_scale; /* 1 / sqrt(32) */
extern const float eliza_tbq_book3[8];
extern const float eliza_tbq_book4[16];

extern const float eliza_tcq_signs1[128];
extern const float eliza_tcq_signs2[128];
extern const float eliza_tcq_scale;     /* 1 / sqrt(128) */
extern const float eliza_tcq_book[512]; /* the value that a walk through a state stands for */
/* Rotates the unit vector, walks, and writes the block; states[0..128]. */
void eliza_tcq_encode_with(const float * values, uint8_t * block, void (*rotate)(const float *, float *),
                           void (*walk)(const float * rotated, int * states));

extern const float eliza_polar_centroids[16];
extern const float eliza_polar_residual_step; /* half of 1 / sqrt(128) */
extern const float eliza_polar_signs[128];    /* the direction that the one residual bit speaks of */

extern const float eliza_qjl_scale; /* sqrt(pi / 2) / 256 */
void               eliza_qjl_put_norm(const float * values, uint8_t * block);
float              eliza_qjl_norm(const uint8_t * block);

#endif
