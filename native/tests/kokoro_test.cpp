// The voice's parts that need no model: the crew's sharing, where a text is cut, the matrix unit's convolution.
#include "abi/guard.h"
#include "check.h"
#include "ggml-backend.h"
#include "ggml-cpp.h"
#include "ggml-cpu.h"
#include "kokoro/crew.h"
#include "kokoro/phonemes.h"
#include "kokoro/tile_conv.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace eliza::kokoro;

namespace {

void a_crew_does_every_share_once(int threads) {
    Crew                          crew(threads);
    std::vector<std::atomic<int>> times(16);
    constexpr int                 jobs = 3000;
    for (int job = 0; job < jobs; ++job) {
        const int shares = 1 + job % 16;
        crew.run(shares, [&](int share, int all) {
            CHECK(all == shares && share < shares);
            times[static_cast<size_t>(share)].fetch_add(1, std::memory_order_relaxed);
        });
    }
    int total = 0;
    for (const auto & one : times) {
        total += one.load();
    }
    CHECK(times[0].load() == jobs);
    int expected = 0;
    for (int job = 0; job < jobs; ++job) {
        expected += 1 + job % 16;
    }
    CHECK(total == expected);
}

void crews_come_and_go() {
    for (int i = 0; i < 300; ++i) {
        Crew crew(1 + i % 4);
        int  done[8] = {};
        if (i % 3 != 0) {
            crew.run(8, [&](int share, int) { done[share] = share + 1; });
            CHECK(done[0] == 1 && done[7] == 8);
        }
    }
}

std::string joined(const std::vector<std::string> & pieces) {
    std::string all;
    for (const std::string & piece : pieces) {
        all += (all.empty() ? "" : "|") + piece;
    }
    return all;
}

void texts_are_cut_where_one_breathes() {
    CHECK(joined(cut_text("  ab cd  ", 10, false)) == "ab cd");
    CHECK(cut_text(" \n\t ", 10, false).empty() && cut_text("", 10, true).empty());
    CHECK(joined(cut_text("one two. three four, five six", 20, false)) == "one two.|three four, five six");
    CHECK(joined(cut_text("one two, three four", 12, false)) == "one two,|three four");
    CHECK(joined(cut_text("abcdefghij", 4, false)) == "abcd|efgh|ij");
    CHECK(joined(cut_text("The first one is. And the second is! Yes.", 100, true)) ==
          "The first one is.|And the second is!|Yes.");
    CHECK(joined(cut_text("No. It is not so.", 100, true)) == "No. It is not so.");
    CHECK(joined(halve_text("aaa bbb ccc ddd")) == "aaa bbb|ccc ddd");
    CHECK(joined(halve_text("abcd")) == "ab|cd");
    CHECK(halve_text("ab").size() == 2);
}

void no_cut_loses_or_invents_a_character() {
    uint32_t state = 7;
    for (int round = 0; round < 2000; ++round) {
        static const char * const marks[] = {"a", "ə", ".", " ", ",", "…", "\"", "\xff", "ˈ", "!"};
        std::string               text;
        for (int i = 0; i < 60; ++i) {
            state = state * 1664525u + 1013904223u;
            text += marks[state >> 24 & 7u ? state >> 28 & 7u : state >> 26 & 9u];
        }
        std::string solid, pieces;
        for (const char c : text) {
            solid += c == ' ' ? "" : std::string(1, c);
        }
        for (const std::string & piece : cut_text(text, 7 + static_cast<size_t>(round % 30), round % 2 == 0)) {
            for (const char c : piece) {
                pieces += c == ' ' ? "" : std::string(1, c);
            }
        }
        CHECK(pieces == solid);
    }
}

void unknown_characters_are_skipped_but_counted() {
    const Alphabet alphabet({"", "a", "ˈ", "ɡ", " "});
    const Phrase   phrase = alphabet.read("ˈa?\xffg ɡ");
    CHECK((phrase.tokens == std::vector<int32_t>{2, 1, 4, 3}));
    CHECK(phrase.characters == 7);
    CHECK(alphabet.spell("A\tg!") == "a ɡ");
    CHECK(alphabet.read("漢字").tokens.empty());
}

float bfloat16(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    bits = (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u;
    memcpy(&x, &bits, sizeof(bits));
    return x;
}

struct Case {
    int64_t in, out, taps, dilation, length;
};

float drawn(uint32_t & state) {
    state = state * 1664525u + 1013904223u;
    return bfloat16(static_cast<float>(static_cast<int32_t>(state)) / 2147483648.0f);
}

// One convolution on the matrix unit against the sum written out; `crew` shares it or ggml does.
void tiles_agree_with_the_sum(const Case & c, Crew * crew) {
    const Cancel     never{false};
    Arena            arena;
    ggml_context_ptr context(ggml_init({32u << 20, nullptr, false}));
    const Site       site{context.get(), &arena, &never, crew};
    uint32_t         state  = 1;
    ggml_tensor *    weight = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, c.taps * c.in, c.out);
    ggml_tensor *    x      = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, c.in, c.length);
    for (ggml_tensor * one : {weight, x}) {
        for (int64_t i = 0; i < ggml_nelements(one); ++i) {
            static_cast<float *>(one->data)[i] = drawn(state);
        }
    }
    const auto    tiles   = make_tiles(weight, static_cast<const char *>(weight->data), c.taps);
    const int64_t padding = c.dilation * (c.taps - 1) / 2;
    Prepare       how;
    how.padding         = padding;
    how.tiles           = true;
    ggml_tensor * y     = convolve_tiles(site, prepare(site, {x, c.in, c.length}, how), *tiles, c.dilation, c.length);
    ggml_cgraph * graph = ggml_new_graph(context.get());
    ggml_build_forward_expand(graph, y);
    CHECK(ggml_graph_compute_with_ctx(context.get(), graph, 2) == GGML_STATUS_SUCCESS);
    for (int64_t t = 0; t < c.length; t += c.length > 100 ? 13 : 1) {
        for (int64_t n = 0; n < c.out; ++n) {
            double sum = 0;
            for (int64_t k = 0; k < c.taps; ++k) {
                const int64_t at = t + k * c.dilation - padding;
                for (int64_t i = 0; at >= 0 && at < c.length && i < c.in; ++i) {
                    sum += static_cast<double>(static_cast<const float *>(weight->data)[(n * c.taps + k) * c.in + i]) *
                           static_cast<double>(static_cast<const float *>(x->data)[at * c.in + i]);
                }
            }
            CHECK(std::fabs(sum - static_cast<double>(static_cast<const float *>(y->data)[t * c.out + n])) < 1e-3);
        }
    }
}

void the_matrix_unit_is_right_where_there_is_one() {
    if (!tiles_available()) {
        printf("NEEDS HARDWARE: no bfloat16 matrix unit here, or a build that leaves it out\n");
        return;
    }
    Crew crew(2);
    for (Crew * who : {&crew, static_cast<Crew *>(nullptr)}) {
        for (const int64_t length : {1, 31, 32, 33, 64, 700}) {
            tiles_agree_with_the_sum({32, 32, 1, 1, length}, who);
            tiles_agree_with_the_sum({64, 96, 3, 5, length}, who);
            tiles_agree_with_the_sum({128, 32, 11, 3, length}, who);
        }
    }
}

}  // namespace

int main() {
    for (const int threads : {1, 2, 3, 5}) {
        a_crew_does_every_share_once(threads);
    }
    crews_come_and_go();
    texts_are_cut_where_one_breathes();
    no_cut_loses_or_invents_a_character();
    unknown_characters_are_skipped_but_counted();
    the_matrix_unit_is_right_where_there_is_one();
    return 0;
}
