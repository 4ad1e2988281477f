/* Eight floats at a time on x86 with AVX2. No fused multiply-add: results must equal the scalar references. */
#ifndef ELIZA_LANES_H
#define ELIZA_LANES_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

typedef __m256  lanes;
typedef __m256i codes;

static inline lanes lanes_load(const float * from) {
    return _mm256_loadu_ps(from);
}
static inline void lanes_store(float * into, lanes x) {
    _mm256_storeu_ps(into, x);
}
static inline lanes lanes_all(float x) {
    return _mm256_set1_ps(x);
}
static inline lanes lanes_add(lanes a, lanes b) {
    return _mm256_add_ps(a, b);
}
static inline lanes lanes_sub(lanes a, lanes b) {
    return _mm256_sub_ps(a, b);
}
static inline lanes lanes_mul(lanes a, lanes b) {
    return _mm256_mul_ps(a, b);
}
static inline lanes lanes_magnitude(lanes x) {
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
}
/* Where a < b the lane of `yes`, else of `no`. */
static inline lanes lanes_if_less(lanes a, lanes b, lanes yes, lanes no) {
    return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
static inline float lanes_sum(lanes x) {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 two  = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}
/* Eight codes of `width` bits that begin `step` bits apart in a 32-bit little-endian word. */
static inline codes codes_of(const uint8_t * from, int step, unsigned mask) {
    uint32_t word;
    memcpy(&word, from, sizeof word);
    const __m256i shifts = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(step));
    return _mm256_and_si256(_mm256_srlv_epi32(_mm256_set1_epi32((int)word), shifts), _mm256_set1_epi32((int)mask));
}
/* Eight codes, each in the low or high half of a byte of its own. */
static inline codes codes_of_halves(const uint8_t * from, int is_high) {
    const __m256i bytes = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)from));
    return is_high ? _mm256_srli_epi32(bytes, 4) : _mm256_and_si256(bytes, _mm256_set1_epi32(15));
}
static inline lanes book_of_8(const float * book, codes at) {
    return _mm256_permutevar8x32_ps(_mm256_loadu_ps(book), at);
}
static inline lanes book_of_16(const float * book, codes at) {
    const __m256 low  = _mm256_permutevar8x32_ps(_mm256_loadu_ps(book), at);
    const __m256 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(book + 8), at);
    return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(at, 28)));
}
static inline lanes book_of_512(const float * book, codes at) {
    return _mm256_i32gather_ps(book, at, 4);
}
/* +1 where the bit is set, else -1. */
static inline lanes lanes_of_bits(uint8_t bits) {
    const __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i set  = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits), each), each);
    return _mm256_blendv_ps(_mm256_set1_ps(-1.0f), _mm256_set1_ps(1.0f), _mm256_castsi256_ps(set));
}
/* One bit for each lane above zero. */
static inline uint8_t lanes_above_zero(lanes x) {
    return (uint8_t)_mm256_movemask_ps(_mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_GT_OQ));
}

#endif
