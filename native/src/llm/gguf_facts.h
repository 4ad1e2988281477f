// What a GGUF header says, read without loading weights. Broken files are an error here, never a crash.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace eliza::llm {

struct GgufFacts {
    std::string architecture;
    bool        has_next_token_head = false;  // an embedded multi-token head: blk.N.nextn.eh_proj.weight
};

// Throws Failure(BUNDLE_INVALID) when the file is missing, no GGUF, truncated or without an architecture.
GgufFacts read_gguf_facts(const std::filesystem::path & path);

}  // namespace eliza::llm
