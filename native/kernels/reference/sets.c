#include "eliza_kernels.h"
#include "kernel_set.h"

#include <stddef.h>
#include <string.h>

#define SCORES(kernel, bytes)                                                                                          \
    static void kernel##_scores(const float * query, const uint8_t * blocks, int count, float * scores) {              \
        for (int i = 0; i < count; ++i) {                                                                              \
            scores[i] = eliza_##kernel##_score(query, blocks + i * (bytes));                                           \
        }                                                                                                              \
    }

SCORES(tbq3, ELIZA_TBQ3_BYTES)
SCORES(tbq4, ELIZA_TBQ4_BYTES)
SCORES(tcq, ELIZA_TCQ_BYTES)
SCORES(polar, ELIZA_POLAR_BYTES)

static void qjl_scores(const float * projection, const float * query, const uint8_t * blocks, int count,
                       float * scores) {
    for (int i = 0; i < count; ++i) {
        scores[i] = eliza_qjl_score(projection, query, blocks + i * ELIZA_QJL_BYTES);
    }
}

const struct eliza_kernel_set eliza_scalar_kernels = {
    "scalar",           eliza_tbq3_encode,  eliza_tbq4_encode,
    eliza_tcq_encode,   eliza_polar_encode, eliza_qjl_encode,
    eliza_tbq3_decode,  eliza_tbq4_decode,  eliza_tcq_decode_rotated,
    eliza_polar_decode, tbq3_scores,        tbq4_scores,
    tcq_scores,         polar_scores,       qjl_scores,
};

#if defined(ELIZA_HAS_AVX2_SET)
extern const struct eliza_kernel_set eliza_avx2_kernels;
#endif
#if defined(ELIZA_HAS_NEON_SET)
extern const struct eliza_kernel_set eliza_neon_kernels;
#endif

#if defined(ELIZA_HAS_AVX2_SET) && defined(_MSC_VER)
#include <intrin.h>
static int has_avx2(void) {
    int found[4];
    __cpuidex(found, 7, 0);
    const int leaf7 = found[1];
    __cpuid(found, 1);
    const int saves = (found[2] >> 27) & 1; /* the system keeps the wide registers */
    return saves && (_xgetbv(0) & 6) == 6 && (leaf7 >> 5 & 1);
}
#elif defined(ELIZA_HAS_AVX2_SET)
static int has_avx2(void) {
    return __builtin_cpu_supports("avx2");
}
#endif

const struct eliza_kernel_set * eliza_best_kernels(void) {
#if defined(ELIZA_HAS_NEON_SET)
    return &eliza_neon_kernels;
#elif defined(ELIZA_HAS_AVX2_SET)
    return has_avx2() ? &eliza_avx2_kernels : &eliza_scalar_kernels;
#else
    return &eliza_scalar_kernels;
#endif
}

const struct eliza_kernel_set * eliza_kernels_named(const char * name) {
    const struct eliza_kernel_set * best = eliza_best_kernels();
    if (strcmp(name, eliza_scalar_kernels.name) == 0) {
        return &eliza_scalar_kernels;
    }
    return strcmp(name, best->name) == 0 ? best : NULL;
}
