#include "verify_sets.h"

#include "reference/eliza_kernels.h"
#include "reference/kernel_set.h"
#include "tally.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

namespace {

using Values = std::vector<float>;
using Block  = std::vector<uint8_t>;

constexpr int rounds = 200;
constexpr int keys   = 9;  // of one call, so that no call is a single block

const Values & projection() {
    static const Values made = [] {
        Values values(size_t{ELIZA_HEAD_VALUES} * ELIZA_QJL_DIRECTION);
        eliza_qjl_projection(42, values.data());
        return values;
    }();
    return made;
}

struct Kernel {
    const char *                                                      name;
    int                                                               values;
    int                                                               bytes;
    std::function<void(const float *, uint8_t *)>                     encode;
    std::vector<std::function<void(const uint8_t *, float *)>>        decoders;
    std::function<void(const float *, const uint8_t *, int, float *)> scores;
};

std::vector<Kernel> kernels_of(const eliza_kernel_set & set) {
    const auto polar = [&set](int with_residual) {
        return
            [&set, with_residual](const uint8_t * block, float * out) { set.polar_decode(block, with_residual, out); };
    };
    const auto qjl_encode = [&set](const float * x, uint8_t * block) { set.qjl_encode(projection().data(), x, block); };
    const auto qjl_scores = [&set](const float * q, const uint8_t * blocks, int count, float * scores) {
        set.qjl_scores(projection().data(), q, blocks, count, scores);
    };
    return {
        {"tbq3", ELIZA_TBQ_VALUES, ELIZA_TBQ3_BYTES, set.tbq3_encode, {set.tbq3_decode}, set.tbq3_scores},
        {"tbq4", ELIZA_TBQ_VALUES, ELIZA_TBQ4_BYTES, set.tbq4_encode, {set.tbq4_decode}, set.tbq4_scores},
        {"tcq", ELIZA_HEAD_VALUES, ELIZA_TCQ_BYTES, set.tcq_encode, {set.tcq_decode_rotated}, set.tcq_scores},
        {"polar", ELIZA_HEAD_VALUES, ELIZA_POLAR_BYTES, set.polar_encode, {polar(0), polar(1)}, set.polar_scores},
        {"qjl", ELIZA_HEAD_VALUES, ELIZA_QJL_BYTES, qjl_encode, {}, qjl_scores},
    };
}

// Ordinary keys, tiny ones, huge ones, one of zeros and one with a single spike.
Values some_key(int count, int round, std::mt19937 & random) {
    std::normal_distribution<float> normal;
    Values                          key(static_cast<size_t>(count));
    const float                     size = round % 5 == 1 ? 1e-6f : round % 5 == 2 ? 1e3f : 1.0f;
    for (float & x : key) {
        x = round % 5 == 3 ? 0.0f : size * normal(random);
    }
    if (round % 5 == 4) {
        key.assign(key.size(), 0.0f);
        key[static_cast<size_t>(round) % key.size()] = 2.5f;
    }
    return key;
}

bool same_bits(const Values & a, const Values & b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

float length_of(const Values & x) {
    double sum = 0;
    for (const float value : x) {
        sum += static_cast<double>(value) * static_cast<double>(value);
    }
    return static_cast<float>(std::sqrt(sum));
}

struct Equality {
    bool blocks = true, values = true, scores = true;
};

// Bytes behind the block are watched: a vector store must not run over.
Block encoded(const Kernel & kernel, const Values & key) {
    Block block(static_cast<size_t>(kernel.bytes) + 32, 0xee);
    kernel.encode(key.data(), block.data());
    return block;
}

void compare_round(const Kernel & scalar, const Kernel & vector, int round, std::mt19937 & random, Equality & equal) {
    const Values query = some_key(scalar.values, 0, random);
    Block        blocks;
    float        longest = 0.0f;
    for (int i = 0; i < keys; ++i) {
        const Values key   = some_key(scalar.values, round + i, random);
        const Block  block = encoded(scalar, key);
        equal.blocks       = equal.blocks && block == encoded(vector, key);
        longest            = std::max(longest, length_of(key));
        blocks.insert(blocks.end(), block.begin(), block.begin() + scalar.bytes);
        for (size_t d = 0; d < scalar.decoders.size(); ++d) {
            Values one(static_cast<size_t>(scalar.values)), other(one.size());
            scalar.decoders[d](block.data(), one.data());
            vector.decoders[d](block.data(), other.data());
            equal.values = equal.values && same_bits(one, other);
        }
    }
    Values one(keys), other(keys);
    scalar.scores(query.data(), blocks.data(), keys, one.data());
    vector.scores(query.data(), blocks.data(), keys, other.data());
    for (size_t i = 0; i < one.size(); ++i) {
        equal.scores = equal.scores && std::fabs(one[i] - other[i]) <= 4e-6f * longest * length_of(query);
    }
}

}  // namespace

int verify_set(const char * name) {
    const eliza_kernel_set * set = eliza_kernels_named(name);
    if (set == nullptr) {
        printf("%s: NEEDS HARDWARE (not this processor)\n", name);
        return 0;
    }
    Tally        tally;
    std::mt19937 random(19);
    const auto   scalar = kernels_of(eliza_scalar_kernels);
    const auto   vector = kernels_of(*set);
    for (size_t i = 0; i < scalar.size(); ++i) {
        Equality equal;
        for (int round = 0; round < rounds; ++round) {
            compare_round(scalar[i], vector[i], round, random, equal);
        }
        tally.check(equal.blocks, std::string(name) + " " + scalar[i].name + ": other blocks than the reference");
        tally.check(equal.values, std::string(name) + " " + scalar[i].name + ": other values than the reference");
        tally.check(equal.scores, std::string(name) + " " + scalar[i].name + ": other scores than the reference");
    }
    return tally.close(name);
}
