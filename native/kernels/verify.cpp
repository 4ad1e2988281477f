// `native_verify FIXTURES.json`: holds every kernel of this build against recorded blocks and against the true dot
// product, and prints one line per backend: "cpu: N/N PASS". The exit code is 1 when one of them fails.
//
// Recorded blocks show that we compute what others compute; the dot product shows that it is right. A kernel can pass
// the first and be useless (facts, section 10.4), so it has to pass both.
#include "reference/eliza_kernels.h"
#include "tally.h"
#include "verify_sets.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using Values = std::vector<float>;
using Block  = std::vector<uint8_t>;

constexpr int keys = 400;

struct Kernel {
    std::string                                          name;
    int                                                  values;
    int                                                  bytes;
    double                                               least_correlation;
    std::function<void(const float *, uint8_t *)>        encode;
    std::function<float(const float *, const uint8_t *)> score;
};

const Values & projection() {
    static const Values made = [] {
        Values values(size_t{ELIZA_HEAD_VALUES} * ELIZA_QJL_DIRECTION);
        eliza_qjl_projection(42, values.data());
        return values;
    }();
    return made;
}

std::vector<Kernel> kernels() {
    const auto qjl_encode = [](const float * x, uint8_t * block) { eliza_qjl_encode(projection().data(), x, block); };
    const auto qjl_score  = [](const float * q, const uint8_t * block) {
        return eliza_qjl_score(projection().data(), q, block);
    };
    // The least correlation is what the number of bits allows, less a margin: a wrong basis or sign is far below it.
    return {
        {"tbq3", ELIZA_TBQ_VALUES, ELIZA_TBQ3_BYTES, 0.99, eliza_tbq3_encode, eliza_tbq3_score},
        {"tbq4", ELIZA_TBQ_VALUES, ELIZA_TBQ4_BYTES, 0.998, eliza_tbq4_encode, eliza_tbq4_score},
        {"tcq", ELIZA_HEAD_VALUES, ELIZA_TCQ_BYTES, 0.998, eliza_tcq_encode, eliza_tcq_score},
        {"polar", ELIZA_HEAD_VALUES, ELIZA_POLAR_BYTES, 0.999, eliza_polar_encode, eliza_polar_score},
        {"qjl", ELIZA_HEAD_VALUES, ELIZA_QJL_BYTES, 0.97, qjl_encode, qjl_score},
    };
}

Values ramp(int count, int step, int start, int modulus, float middle, float scale) {
    Values values;
    for (int i = 0; i < count; ++i) {
        values.push_back((static_cast<float>((step * i + start) % modulus) - middle) / scale);
    }
    return values;
}

Values key_ramp(int count) {
    return ramp(count, 37, 11, 101, 50, 25);
}

std::string hex(const Block & block) {
    std::string text;
    char        digits[3];
    for (const uint8_t byte : block) {
        snprintf(digits, sizeof digits, "%02x", byte);
        text += digits;
    }
    return text;
}

Block encoded(const Kernel & kernel, const Values & values) {
    Block block(static_cast<size_t>(kernel.bytes), 0xee);
    kernel.encode(values.data(), block.data());
    return block;
}

bool is_near(double value, double wanted) {
    return std::fabs(value - wanted) <= 1e-5 * std::max(1.0, std::fabs(wanted));
}

// Correlation of the scores of random keys with their true dot products, as a query of any direction sees them.
double correlation(const Kernel & kernel) {
    std::mt19937                    random(7);
    std::normal_distribution<float> normal;
    double                          x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (int i = 0; i < keys; ++i) {
        Values key(static_cast<size_t>(kernel.values)), query(key.size());
        double dot = 0;
        for (size_t j = 0; j < key.size(); ++j) {
            key[j]   = normal(random);
            query[j] = 0.5f * key[j] * (i % 3 == 0 ? 1.0f : -1.0f) + normal(random);
            dot += static_cast<double>(key[j]) * static_cast<double>(query[j]);
        }
        const double score = static_cast<double>(kernel.score(query.data(), encoded(kernel, key).data()));
        x += dot, y += score, xx += dot * dot, yy += score * score, xy += dot * score;
    }
    return (keys * xy - x * y) / std::sqrt((keys * xx - x * x) * (keys * yy - y * y));
}

// What a score gives that forgets to bring the query into the block's basis: it must fail, or the test shows nothing.
Kernel forgetful_tcq() {
    return {"tcq with a plain query",
            ELIZA_HEAD_VALUES,
            ELIZA_TCQ_BYTES,
            0.0,
            eliza_tcq_encode,
            [](const float * query, const uint8_t * block) {
                Values values(ELIZA_HEAD_VALUES);
                eliza_tcq_decode_rotated(block, values.data());
                return std::inner_product(values.begin(), values.end(), query, 0.0f);
            }};
}

void check_decoded(const nlohmann::json & wanted, const char * name, const Values & values, Tally & tally) {
    for (size_t i = 0; i < 4; ++i) {
        const auto value = static_cast<double>(values[i]);
        tally.check(is_near(value, wanted.at(name).at(i)), std::string(name) + ": decoded " + std::to_string(value));
    }
}

void check_all_decoded(const nlohmann::json & wanted, Tally & tally) {
    const Values key = key_ramp(ELIZA_HEAD_VALUES);
    Values       out(ELIZA_HEAD_VALUES);
    Block        block(ELIZA_POLAR_BYTES);
    eliza_tbq3_encode(key.data(), block.data());
    eliza_tbq3_decode(block.data(), out.data());
    check_decoded(wanted, "tbq3", out, tally);
    eliza_tbq4_encode(key.data(), block.data());
    eliza_tbq4_decode(block.data(), out.data());
    check_decoded(wanted, "tbq4", out, tally);
    eliza_tcq_encode(key.data(), block.data());
    eliza_tcq_decode_rotated(block.data(), out.data());
    check_decoded(wanted, "tcq_rotated", out, tally);
    eliza_polar_encode(key.data(), block.data());
    eliza_polar_decode(block.data(), 0, out.data());
    check_decoded(wanted, "polar", out, tally);
    eliza_polar_decode(block.data(), 1, out.data());
    check_decoded(wanted, "polar_with_residual", out, tally);
}

void check_halves(Tally & tally) {
    bool is_right = true;
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
        const auto half   = static_cast<uint16_t>(bits);
        const bool is_nan = (bits & 0x7c00u) == 0x7c00u && (bits & 0x3ffu) != 0;
        is_right          = is_right && (is_nan || eliza_half_of(eliza_float_of(half)) == half);
    }
    tally.check(is_right, "every half float survives the way there and back");
}

}  // namespace

int main(int count, char ** words) {
    if (count != 2) {
        fprintf(stderr, "usage: native_verify FIXTURES.json\n");
        return 2;
    }
    std::ifstream file(words[1]);
    const auto    golden = nlohmann::json::parse(file, nullptr, false);
    if (golden.is_discarded()) {
        fprintf(stderr, "native_verify: '%s' is not there or is not JSON\n", words[1]);
        return 2;
    }
    Tally tally;
    check_halves(tally);
    for (size_t i = 0; i < 4; ++i) {
        tally.check(is_near(static_cast<double>(projection()[i]), golden.at("projection_begin").at(i)), "projection");
    }
    for (const Kernel & kernel : kernels()) {
        const std::string block  = hex(encoded(kernel, key_ramp(kernel.values)));
        const double      degree = correlation(kernel);
        const Values      zero(static_cast<size_t>(kernel.values));
        const Values      query = ramp(kernel.values, 53, 7, 97, 48, 24);
        tally.check(block == golden.at("blocks").at(kernel.name), kernel.name + ": block is " + block);
        tally.check(degree >= kernel.least_correlation, kernel.name + ": correlation " + std::to_string(degree));
        tally.check(std::fabs(kernel.score(query.data(), encoded(kernel, zero).data())) < 1e-6f,
                    kernel.name + ": zero");
        printf("%-6s %3d values in %2d bytes, correlation with the true dot product %.4f\n", kernel.name.c_str(),
               kernel.values, kernel.bytes, degree);
    }
    tally.check(correlation(forgetful_tcq()) < 0.5, "a query in another basis is noticed");
    check_all_decoded(golden.at("decoded_first_four"), tally);
    const Values query = ramp(ELIZA_HEAD_VALUES, 53, 7, 97, 48, 24);
    const float  score = kernels().back().score(query.data(), encoded(kernels().back(), key_ramp(128)).data());
    tally.check(is_near(static_cast<double>(score), golden.at("scores").at("qjl")), "qjl: score");
    const int references = tally.close("cpu");
    const int avx2       = verify_set("avx2");
    const int neon       = verify_set("neon");
    return references | avx2 | neon;
}
