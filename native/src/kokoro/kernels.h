// Inner loops over channels, compiled for several instruction sets where the toolchain can choose at load.
#pragma once

#include <cstdint>

#if defined(__x86_64__) && defined(__linux__) && !defined(__ANDROID__) && defined(__GNUC__) &&                         \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ELIZA_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ELIZA_CLONES
#endif

namespace eliza::kokoro {

// sum += x, square += x * x
void accumulate(const float * x, float * sum, float * square, int64_t n);
// y = a * x + b, then: nothing; leaky with `slope`; snake y + sin(alpha y)^2 / alpha
void affine(const float * x, const float * a, const float * b, float * y, int64_t n);
void affine_leaky(const float * x, const float * a, const float * b, float slope, float * y, int64_t n);
void affine_snake(const float * x, const float * a, const float * b, const float * alpha, const float * inverse,
                  float * y, int64_t n);
void add_scaled(const float * x, float * y, int64_t n);  // y += x
void scale_by(float * y, float scale, int64_t n);        // y *= scale
void to_bfloat16(const float * x, uint16_t * y, int64_t n);
// rows[r] = sum over n of a[r * stride + n] * b[n], for `rows` consecutive rows
void matvec(const float * a, const float * b, float * out, int64_t rows, int64_t n);
void gelu(const float * x, float * y, int64_t n);
// one LSTM step from gate sums i, f, g, o: updates cell, writes hidden
void lstm_cell(const float * gates, float * cell, float * hidden, int64_t n);

}  // namespace eliza::kokoro
