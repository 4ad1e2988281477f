/* Eight floats at a time on 64-bit Arm: two registers of four. No fused multiply-add: results must equal the scalar
 * references. */
#ifndef ELIZA_LANES_H
#define ELIZA_LANES_H

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    float32x4_t a, b;
} lanes;
typedef struct {
    uint32x4_t a, b;
} codes;

static inline lanes lanes_load(const float * from) {
    return (lanes){vld1q_f32(from), vld1q_f32(from + 4)};
}
static inline void lanes_store(float * into, lanes x) {
    vst1q_f32(into, x.a);
    vst1q_f32(into + 4, x.b);
}
static inline lanes lanes_all(float x) {
    return (lanes){vdupq_n_f32(x), vdupq_n_f32(x)};
}
static inline lanes lanes_add(lanes x, lanes y) {
    return (lanes){vaddq_f32(x.a, y.a), vaddq_f32(x.b, y.b)};
}
static inline lanes lanes_sub(lanes x, lanes y) {
    return (lanes){vsubq_f32(x.a, y.a), vsubq_f32(x.b, y.b)};
}
static inline lanes lanes_mul(lanes x, lanes y) {
    return (lanes){vmulq_f32(x.a, y.a), vmulq_f32(x.b, y.b)};
}
static inline lanes lanes_magnitude(lanes x) {
    return (lanes){vabsq_f32(x.a), vabsq_f32(x.b)};
}
static inline lanes lanes_if_less(lanes x, lanes y, lanes yes, lanes no) {
    return (lanes){vbslq_f32(vcltq_f32(x.a, y.a), yes.a, no.a), vbslq_f32(vcltq_f32(x.b, y.b), yes.b, no.b)};
}
static inline float lanes_sum(lanes x) {
    return vaddvq_f32(vaddq_f32(x.a, x.b));
}
static inline codes codes_of(const uint8_t * from, int step, unsigned mask) {
    static const int32_t first[4] = {0, -1, -2, -3};
    uint32_t             word;
    memcpy(&word, from, sizeof word);
    const int32x4_t  low  = vmulq_n_s32(vld1q_s32(first), step);
    const int32x4_t  high = vsubq_s32(low, vdupq_n_s32(4 * step));
    const uint32x4_t all = vdupq_n_u32(word), kept = vdupq_n_u32(mask);
    return (codes){vandq_u32(vshlq_u32(all, low), kept), vandq_u32(vshlq_u32(all, high), kept)};
}
static inline codes codes_of_halves(const uint8_t * from, int is_high) {
    const uint8x8_t  bytes = vld1_u8(from);
    const uint16x8_t wide  = vmovl_u8(is_high ? vshr_n_u8(bytes, 4) : vand_u8(bytes, vdup_n_u8(15)));
    return (codes){vmovl_u16(vget_low_u16(wide)), vmovl_u16(vget_high_u16(wide))};
}
/* Byte places of four table floats: code * 4 + 0, 1, 2, 3. */
static inline uint8x16_t places_of(uint32x4_t at) {
    return vreinterpretq_u8_u32(vmlaq_u32(vdupq_n_u32(0x03020100u), at, vdupq_n_u32(0x04040404u)));
}
static inline lanes book_of_8(const float * book, codes at) {
    const uint8x16x2_t table = vld1q_u8_x2((const uint8_t *)book);
    return (lanes){vreinterpretq_f32_u8(vqtbl2q_u8(table, places_of(at.a))),
                   vreinterpretq_f32_u8(vqtbl2q_u8(table, places_of(at.b)))};
}
static inline lanes book_of_16(const float * book, codes at) {
    const uint8x16x4_t table = vld1q_u8_x4((const uint8_t *)book);
    return (lanes){vreinterpretq_f32_u8(vqtbl4q_u8(table, places_of(at.a))),
                   vreinterpretq_f32_u8(vqtbl4q_u8(table, places_of(at.b)))};
}
static inline lanes book_of_512(const float * book, codes at) {
    uint32_t places[8];
    float    values[8];
    vst1q_u32(places, at.a);
    vst1q_u32(places + 4, at.b);
    for (int i = 0; i < 8; ++i) {
        values[i] = book[places[i]];
    }
    return lanes_load(values);
}
static inline lanes lanes_of_bits(uint8_t bits) {
    static const uint32_t each[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    const uint32x4_t      all     = vdupq_n_u32(bits);
    const float32x4_t     yes = vdupq_n_f32(1.0f), no = vdupq_n_f32(-1.0f);
    return (lanes){vbslq_f32(vtstq_u32(all, vld1q_u32(each)), yes, no),
                   vbslq_f32(vtstq_u32(all, vld1q_u32(each + 4)), yes, no)};
}
static inline uint8_t lanes_above_zero(lanes x) {
    static const uint32_t each[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    const uint32x4_t      low     = vandq_u32(vcgtzq_f32(x.a), vld1q_u32(each));
    const uint32x4_t      high    = vandq_u32(vcgtzq_f32(x.b), vld1q_u32(each + 4));
    return (uint8_t)vaddvq_u32(vorrq_u32(low, high));
}

#endif
