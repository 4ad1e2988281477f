// What every fuzz target shares: failures are answers, everything else is a find.
#pragma once

#include "abi/guard.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

namespace fuzz {

// How many inputs a reader took. Seeds that are all refused would show nothing.
inline int accepted = 0;

// Runs a reader on hostile bytes. It may refuse with a Failure; any other exception ends the process, and so the run.
template <typename Read> void expect_answer(Read && read) {
    try {
        read();
        ++accepted;
    } catch (const eliza::Failure &) {
    }
}

// One file of this process, with these bytes.
inline std::filesystem::path file_with(const uint8_t * data, size_t size) {
    static const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("eliza-fuzz-" + std::to_string(std::random_device()()) + ".bin");
    FILE * file = std::fopen(path.c_str(), "wb");
    if (file == nullptr || std::fwrite(data, 1, size, file) != size || std::fclose(file) != 0) {
        std::abort();
    }
    return path;
}

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t * data, size_t size);
