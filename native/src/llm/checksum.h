// FNV-1a over whole words: quick, the same on every machine, and enough to tell damage. No defence against malice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace eliza::llm {

inline uint64_t checksum(const void * from, size_t count) noexcept {
    const auto * bytes = static_cast<const unsigned char *>(from);
    uint64_t     sum   = 14695981039346656037ull;
    while (count > 0) {
        const size_t part = std::min<size_t>(count, 8);
        uint64_t     word = 0;
        std::memcpy(&word, bytes, part);
        sum = (sum ^ word) * 1099511628211ull;
        sum ^= sum >> 29;
        bytes += part;
        count -= part;
    }
    return sum;
}

}  // namespace eliza::llm
