// Runs a fuzz target without a fuzzer: every seed of the corpus, each cut short, and each with bytes changed in a way
// that is the same in every run. `TARGET CORPUS_FOLDER [CHANGES]`.
#include "fuzz.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

namespace {

using Bytes = std::vector<uint8_t>;

Bytes read(const std::filesystem::path & path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void run(const Bytes & bytes) {
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

// Bytes that lengths, counts and signs are made of.
uint8_t spiteful(std::mt19937 & random) {
    static constexpr uint8_t words[] = {0x00, 0x01, 0x7f, 0x80, 0xff, 0xfe, 0x40, 0x20};
    return random() % 2 == 0 ? words[random() % std::size(words)] : static_cast<uint8_t>(random());
}

void run_changed(const Bytes & seed, int changes) {
    std::mt19937 random(7);
    for (int i = 0; i < changes && !seed.empty(); ++i) {
        Bytes bytes = seed;
        for (unsigned n = 1 + random() % 4; n > 0; --n) {
            bytes[random() % bytes.size()] = spiteful(random);
        }
        if (i % 5 == 0) {
            bytes.resize(random() % bytes.size());
        }
        run(bytes);
    }
}

}  // namespace

int main(int count, char ** words) {
    if (count < 2) {
        fprintf(stderr, "usage: %s CORPUS_FOLDER [CHANGES]\n", words[0]);
        return 2;
    }
    const int                          changes = count > 2 ? std::atoi(words[2]) : 2000;
    std::vector<std::filesystem::path> seeds;
    for (const auto & entry : std::filesystem::directory_iterator(words[1])) {
        seeds.push_back(entry.path());
    }
    std::sort(seeds.begin(), seeds.end());
    int taken = 0;
    for (const auto & path : seeds) {
        const Bytes seed = read(path);
        fuzz::accepted   = 0;
        run(seed);
        taken += fuzz::accepted;
        run_changed(seed, changes);
    }
    run({});
    printf("%zu seeds, %d of them taken, %d changes each\n", seeds.size(), taken, changes);
    return taken > 0 ? 0 : 1;
}
