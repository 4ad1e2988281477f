// The recogniser's own arithmetic: choosing, looping, the front end's table, and attention in bfloat16 against
// a plain computation.
#include "check.h"
#include "ggml-cpp.h"
#include "ggml-cpu.h"
#include "whisper/gelu.h"
#include "whisper/greedy.h"
#include "whisper/mel.h"
#include "whisper/silence.h"
#include "whisper/wide_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

std::vector<float> noise(size_t count, unsigned seed, float level = 0.3f) {
    std::mt19937                          random(seed);
    std::uniform_real_distribution<float> values(-level, level);
    std::vector<float>                    sound(count);
    std::generate(sound.begin(), sound.end(), [&] { return values(random); });
    return sound;
}

void choices_are_the_likeliest() {
    const float nan    = std::numeric_limits<float>::quiet_NaN();
    const float none   = -std::numeric_limits<float>::infinity();
    const float some[] = {none, 1.0f, nan, 3.0f, 2.0f};
    const auto  choice = eliza::whisper::likeliest(some, 5);
    CHECK(choice.token == 3 && std::abs(choice.log_probability + 0.407606f) < 1e-5f);
    CHECK(std::abs(eliza::whisper::probability_of(some, 5, 1) - 0.0900306f) < 1e-5f);
    const float nothing[] = {nan, none};
    CHECK(eliza::whisper::likeliest(nothing, 2).token == 0 && eliza::whisper::probability_of(nothing, 2, 0) == 0.0f);
}

void only_long_loops_are_loops() {
    using eliza::whisper::looped_tail;
    std::vector<int> twelve_times, speech = {1, 2, 3, 4, 5, 1, 2, 3, 1, 2, 3, 9};
    for (int i = 0; i < 12; ++i) {
        twelve_times.insert(twelve_times.end(), {7, 8});
        CHECK(looped_tail(twelve_times, 24) == (i == 11 ? 22u : 0u));
    }
    CHECK(looped_tail(twelve_times, 25) == 0);
    CHECK(eliza::whisper::least_looped(0.5) == 24 && eliza::whisper::least_looped(30) == 180);
    CHECK(looped_tail(speech, 24) == 0 && looped_tail({}, 24) == 0);
}

// One row of attention, in double precision.
std::vector<double> plain_attention(const std::vector<float> & qkv, int64_t heads, int64_t width, int64_t n,
                                    int64_t head, int64_t row) {
    const int64_t stride = 3 * heads * width;
    const auto    at     = [&](int64_t part, int64_t place, int64_t d) {
        return static_cast<double>(qkv[static_cast<size_t>(place * stride + (part * heads + head) * width + d)]);
    };
    std::vector<double> seen(static_cast<size_t>(width));
    double              sum = 0.0;
    for (int64_t k = 0; k < n; ++k) {
        double score = 0.0;
        for (int64_t d = 0; d < width; ++d) {
            score += at(0, row, d) * at(1, k, d);
        }
        const double odds = std::exp(score / std::sqrt(static_cast<double>(width)));
        sum += odds;
        for (int64_t d = 0; d < width; ++d) {
            seen[static_cast<size_t>(d)] += odds * at(2, k, d);
        }
    }
    for (double & value : seen) {
        value /= sum;
    }
    return seen;
}

void wide_attention_sees_what_attention_sees(int64_t heads, int64_t width, int64_t n, int threads) {
    const ggml_context_ptr   ctx(ggml_init({64u << 20, nullptr, false}));
    const std::vector<float> qkv    = noise(static_cast<size_t>(3 * heads * width * n), 3, 2.0f);
    ggml_tensor *            input  = ggml_new_tensor_2d(ctx.get(), GGML_TYPE_F32, 3 * heads * width, n);
    ggml_tensor *            result = eliza::whisper::wide_attention(ctx.get(), input, heads, threads);
    std::copy(qkv.begin(), qkv.end(), ggml_get_data_f32(input));
    ggml_cgraph * graph = ggml_new_graph(ctx.get());
    ggml_build_forward_expand(graph, result);
    CHECK(ggml_graph_compute_with_ctx(ctx.get(), graph, threads) == GGML_STATUS_SUCCESS);
    CHECK(result->ne[0] == heads * width && result->ne[1] == n);
    for (int64_t head = 0; head < heads; ++head) {
        for (int64_t row = 0; row < n; row += 5) {
            const auto wanted = plain_attention(qkv, heads, width, n, head, row);
            for (int64_t d = 0; d < width; ++d) {
                const float got = ggml_get_data_f32(result)[row * heads * width + head * width + d];
                CHECK(std::abs(static_cast<double>(got) - wanted[static_cast<size_t>(d)]) < 0.02);
            }
        }
    }
}

void wide_attention_is_right_where_it_is_used() {
    CHECK(!eliza::whisper::wide_attention_fits(16) && !eliza::whisper::wide_attention_fits(160));
    if (!eliza::whisper::wide_attention_fits(64)) {
        std::puts("NEEDS HARDWARE: no bfloat16 dot products here, so the quick attention was not run");
        return;
    }
    wide_attention_sees_what_attention_sees(2, 64, 1, 1);
    wide_attention_sees_what_attention_sees(3, 32, 37, 1);
    wide_attention_sees_what_attention_sees(2, 64, 96, 2);
    wide_attention_sees_what_attention_sees(1, 128, 131, 3);
    wide_attention_sees_what_attention_sees(2, 64, 301, 5);
}

void gelu_is_exact() {
    const ggml_context_ptr ctx(ggml_init({4u << 20, nullptr, false}));
    ggml_tensor *          x    = ggml_new_tensor_2d(ctx.get(), GGML_TYPE_F32, 4001, 3);
    ggml_tensor *          bias = ggml_new_tensor_1d(ctx.get(), GGML_TYPE_F32, 4001);
    for (int64_t i = 0; i < ggml_nelements(x); ++i) {
        ggml_get_data_f32(x)[i] = static_cast<float>(i % 4001 - 2000) / 100.0f;
    }
    std::fill_n(ggml_get_data_f32(bias), 4001, 0.5f);
    ggml_cgraph * graph = ggml_new_graph(ctx.get());
    ggml_build_forward_expand(graph, eliza::whisper::add_bias_gelu(ctx.get(), x, bias));
    CHECK(ggml_graph_compute_with_ctx(ctx.get(), graph, 2) == GGML_STATUS_SUCCESS);
    for (int64_t i = 0; i < ggml_nelements(x); ++i) {
        const double v = static_cast<double>(i % 4001 - 2000) / 100.0 + 0.5;
        CHECK(std::abs(ggml_get_data_f32(x)[i] - 0.5 * v * (1.0 + std::erf(v / std::sqrt(2.0)))) < 5e-6);
    }
}

// Figures of Slaney's table as the official front end ships it (80 bands): the first and a late band's peaks.
void mel_bands_are_slaneys() {
    const auto rows = eliza::whisper::mel_rows(80);
    const auto row  = [&](size_t band) { return rows.begin() + static_cast<std::ptrdiff_t>(band * 201); };
    CHECK(rows.size() == 80 * 201);
    CHECK(*row(0) == 0.0f && std::abs(row(0)[1] - 0.024862593f) < 1e-7f);
    CHECK(std::max_element(row(79), row(79) + 201) - row(79) == 192);
    CHECK(std::abs(row(79)[192] - 0.0031647117f) < 1e-7f);
}

void silence_is_below_every_voice() {
    CHECK(eliza::whisper::is_silence(nullptr, 0));
    CHECK(eliza::whisper::is_silence(noise(16000, 1, 1e-4f).data(), 16000));
    std::vector<float> sound(16000);
    std::fill(sound.begin() + 8000, sound.begin() + 8640, 0.01f);
    CHECK(!eliza::whisper::is_silence(sound.data(), sound.size()));
}

}  // namespace

int main() {
    choices_are_the_likeliest();
    only_long_loops_are_loops();
    silence_is_below_every_voice();
    mel_bands_are_slaneys();
    gelu_is_exact();
    wide_attention_is_right_where_it_is_used();
    return 0;
}
