#include "whisper/wide_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>

// clang 16 dies of these products when it optimises; 19 does not.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && (!defined(__clang__) || __clang_major__ > 16)
#define ELIZA_HAS_WIDE 1
#include <immintrin.h>
#if !defined(__clang__)  // GCC's own header leaves what is masked out unset, and GCC warns of that here
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#define ELIZA_WIDE __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))
#else
#define ELIZA_HAS_WIDE 0
#endif

namespace eliza::whisper {

#if ELIZA_HAS_WIDE

namespace {

constexpr int64_t rows_at_once = 12;  // with two columns of 16 sums they fill 24 of 32 registers
constexpr int64_t block        = 32;  // columns of one product
constexpr int64_t widest_head  = 128;

struct Sizes {
    int64_t heads, head_width, places, keys;  // keys: places, rounded up to whole blocks

    int64_t key_words() const { return keys * head_width / 2; }
    size_t  bytes() const {
        const int64_t queries = rows_at_once * head_width / 2, odds = rows_at_once * keys / 2;
        return static_cast<size_t>(2 * key_words() + queries + odds + rows_at_once * keys) * sizeof(uint32_t) + 64;
    }
};

Sizes sizes_of(const ggml_tensor * qkv, int64_t heads) {
    const int64_t places = qkv->ne[1];
    return {heads, qkv->ne[0] / 3 / heads, places, (places + block - 1) / block * block};
}

// One thread's memory. Words are pairs of bfloat16.
struct Room {
    uint32_t *keys, *values;   // blocks of 32 columns, each word after word
    uint32_t *queries, *odds;  // rows
    float *   scores;          // rows of `keys` numbers
};

Room room_of(ggml_tensor * memory, const Sizes & s, int thread) {
    auto *     begin   = static_cast<uint8_t *>(memory->data) + static_cast<size_t>(thread) * s.bytes();
    const auto address = reinterpret_cast<uintptr_t>(begin);
    Room       room;
    room.keys    = reinterpret_cast<uint32_t *>(begin + (64 - address % 64) % 64);
    room.values  = room.keys + s.key_words();
    room.odds    = room.values + s.key_words();
    room.scores  = reinterpret_cast<float *>(room.odds + rows_at_once * s.keys / 2);
    room.queries = reinterpret_cast<uint32_t *>(room.scores + rows_at_once * s.keys);
    return room;
}

uint32_t rounded(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}

uint32_t pair_of(float first, float second) {
    return rounded(first) | rounded(second) << 16;
}

// Word p of key k lies in block k / 32 at [p][k % 32].
void pack_keys(const float * keys, int64_t stride, const Sizes & s, uint32_t * out) {
    const int64_t words = s.head_width / 2;
    std::fill(out, out + s.key_words(), 0u);
    for (int64_t k = 0; k < s.places; ++k) {
        const float * key   = keys + k * stride;
        uint32_t *    place = out + k / block * block * words + k % block;
        for (int64_t p = 0; p < words; ++p) {
            place[p * block] = pair_of(key[2 * p], key[2 * p + 1]);
        }
    }
}

// The pair of values 2 p and 2 p + 1 in dimension d lies in block d / 32 at [p][d % 32].
void pack_values(const float * values, int64_t stride, const Sizes & s, uint32_t * out) {
    const int64_t pairs = s.keys / 2;
    for (int64_t p = 0; p < pairs; ++p) {
        const float * first  = 2 * p < s.places ? values + 2 * p * stride : nullptr;
        const float * second = 2 * p + 1 < s.places ? first + stride : nullptr;
        for (int64_t d = 0; d < s.head_width; ++d) {
            out[(d / block * pairs + p) * block + d % block] =
                pair_of(first != nullptr ? first[d] : 0.0f, second != nullptr ? second[d] : 0.0f);
        }
    }
}

// sums[r][0..31] = sum over words w of left[r][w] . right[w][0..31], for twelve rows.
ELIZA_WIDE void multiply(const uint32_t * left, int64_t left_stride, const uint32_t * right, int64_t words,
                         float * sums, int64_t sums_stride) {
    __m512 low[rows_at_once], high[rows_at_once];
#pragma GCC unroll 12
    for (int64_t r = 0; r < rows_at_once; ++r) {
        low[r] = high[r] = _mm512_setzero_ps();
    }
    for (int64_t w = 0; w < words; ++w) {
        const auto right_low  = (__m512bh)_mm512_load_si512(right + w * block);
        const auto right_high = (__m512bh)_mm512_load_si512(right + w * block + block / 2);
#pragma GCC unroll 12
        for (int64_t r = 0; r < rows_at_once; ++r) {
            const auto one = (__m512bh)_mm512_set1_epi32(static_cast<int>(left[r * left_stride + w]));
            low[r]         = _mm512_dpbf16_ps(low[r], one, right_low);
            high[r]        = _mm512_dpbf16_ps(high[r], one, right_high);
        }
    }
#pragma GCC unroll 12
    for (int64_t r = 0; r < rows_at_once; ++r) {
        _mm512_storeu_ps(sums + r * sums_stride, low[r]);
        _mm512_storeu_ps(sums + r * sums_stride + block / 2, high[r]);
    }
}

// e^x for x <= 0; relative error below 1e-6, and what would vanish ends at e^-87.
ELIZA_WIDE inline __m512 exponential(__m512 x) {
    x              = _mm512_max_ps(x, _mm512_set1_ps(-87.0f));
    const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)), 0);
    __m512       r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), x);
    r              = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.12194440e-4f), r);
    __m512 p       = _mm512_set1_ps(1.0f / 720.0f);
    for (const float next : {1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f, 0.5f, 1.0f, 1.0f}) {
        p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(next));
    }
    return _mm512_scalef_ps(p, n);
}

// Scores of one row become bfloat16 odds that are not yet divided by their sum, which is returned.
ELIZA_WIDE float to_odds(float * scores, const Sizes & s, uint32_t * odds) {
    std::fill(scores + s.places, scores + s.keys, -INFINITY);
    __m512 most = _mm512_set1_ps(-INFINITY), sum = _mm512_setzero_ps();
    for (int64_t k = 0; k < s.keys; k += 16) {
        most = _mm512_max_ps(most, _mm512_loadu_ps(scores + k));
    }
    const __m512 top = _mm512_set1_ps(_mm512_reduce_max_ps(most));
    for (int64_t k = 0; k < s.keys; k += 16) {
        const __m512 one = exponential(_mm512_sub_ps(_mm512_loadu_ps(scores + k), top));
        sum              = _mm512_add_ps(sum, one);
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(odds + k / 2), (__m256i)_mm512_cvtneps_pbh(one));
    }
    return _mm512_reduce_add_ps(sum);
}

// Up to twelve queries of one head, from `row` on.
void answer(const ggml_tensor * qkv, ggml_tensor * dst, const Sizes & s, const Room & room, int64_t head, int64_t row) {
    const int64_t rows = std::min(rows_at_once, s.places - row), words = s.head_width / 2, pairs = s.keys / 2;
    const float   scale = 1.0f / std::sqrt(static_cast<float>(s.head_width));
    std::fill(room.queries, room.queries + rows_at_once * words, 0u);
    for (int64_t r = 0; r < rows; ++r) {
        const float * query =
            reinterpret_cast<const float *>(static_cast<const char *>(qkv->data) + (row + r) * qkv->nb[1]) +
            head * s.head_width;
        for (int64_t p = 0; p < words; ++p) {
            room.queries[r * words + p] = pair_of(query[2 * p] * scale, query[2 * p + 1] * scale);
        }
    }
    for (int64_t k = 0; k < s.keys; k += block) {
        multiply(room.queries, words, room.keys + k * words, words, room.scores + k, s.keys);
    }
    float sums[rows_at_once], seen[rows_at_once * widest_head];
    for (int64_t r = 0; r < rows_at_once; ++r) {
        sums[r] = to_odds(room.scores + r * s.keys, s, room.odds + r * pairs);
    }
    for (int64_t d = 0; d < s.head_width; d += block) {
        multiply(room.odds, pairs, room.values + d * pairs, pairs, seen + d, s.head_width);
    }
    for (int64_t r = 0; r < rows; ++r) {
        float * out = static_cast<float *>(dst->data) + (row + r) * dst->ne[0] + head * s.head_width;
        for (int64_t d = 0; d < s.head_width; ++d) {
            out[d] = seen[r * s.head_width + d] / sums[r];
        }
    }
}

// Every thread takes an equal share of all heads' query blocks, one after the other.
void run(ggml_tensor * dst, int ith, int nth, void * data) {
    const ggml_tensor * qkv    = dst->src[0];
    const Sizes         s      = sizes_of(qkv, static_cast<int64_t>(reinterpret_cast<intptr_t>(data)));
    const Room          room   = room_of(dst->src[1], s, ith);
    const int64_t       blocks = (s.places + rows_at_once - 1) / rows_at_once, all = blocks * s.heads;
    const auto          stride = static_cast<int64_t>(qkv->nb[1] / sizeof(float));
    const auto *        first  = static_cast<const float *>(qkv->data);
    int64_t             packed = -1;
    for (int64_t at = all * ith / nth; at < all * (ith + 1) / nth; ++at) {
        const int64_t head = at / blocks;
        if (head != packed) {
            pack_keys(first + (s.heads + head) * s.head_width, stride, s, room.keys);
            pack_values(first + (2 * s.heads + head) * s.head_width, stride, s, room.values);
            packed = head;
        }
        answer(qkv, dst, s, room, head, at % blocks * rows_at_once);
    }
}

}  // namespace

bool wide_attention_fits(int64_t head_width) {
    static const bool has = __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    return has && head_width % block == 0 && head_width <= widest_head;
}

ggml_tensor * wide_attention(ggml_context * ctx, ggml_tensor * qkv, int64_t heads, int threads) {
    const size_t  bytes  = sizes_of(qkv, heads).bytes() * static_cast<size_t>(threads);
    ggml_tensor * memory = ggml_new_tensor_1d(ctx, GGML_TYPE_I8, static_cast<int64_t>(bytes));
    ggml_tensor * args[] = {qkv, memory};
    return ggml_custom_4d(ctx, GGML_TYPE_F32, qkv->ne[0] / 3, qkv->ne[1], 1, 1, args, 2, run, threads,
                          reinterpret_cast<void *>(static_cast<intptr_t>(heads)));
}

#else

bool wide_attention_fits(int64_t) {
    return false;
}

ggml_tensor * wide_attention(ggml_context *, ggml_tensor * qkv, int64_t, int) {
    return qkv;
}

#endif

}  // namespace eliza::whisper
