// What a stream remembers, outside of the stream: the tokens it has read and the attention state they left.
#pragma once

#include "llama.h"
#include "llm/checkpoints.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace eliza::llm {

struct Slot {
    std::string                owner;    // model, build and cache types that the bytes belong to
    std::vector<llama_token>   tokens;   // in the cache
    std::optional<llama_token> pending;  // the next token to read, already known
    std::vector<uint8_t>       state;    // of the text model's context
    Checkpoints::Copy          earlier;  // at the end of the last prompt; count 0: none
    std::vector<uint8_t>       drafter;  // of the drafter's own context; empty where it has none

    size_t size_bytes() const noexcept {
        return owner.size() + tokens.size() * sizeof(llama_token) + state.size() + earlier.state.size() +
               drafter.size();
    }
};

// A slot as one file: a header with lengths and a checksum, then the parts. The checksum tells damage, not
// malice: a slot file is trusted like the program that wrote it.
std::vector<uint8_t> encode_slot(const Slot & slot);
// Throws Failure(INVALID_ARG) for bytes that are no whole slot.
Slot decode_slot(const std::vector<uint8_t> & bytes);

// Writes whole or not at all, readable by the owner only. Throws Failure: INVALID_ARG, FFI_FAULT.
void write_slot(const Slot & slot, const std::string & path_utf8);
// Throws Failure: INVALID_ARG (no such file, no slot), FFI_FAULT.
Slot read_slot(const std::string & path_utf8);

}  // namespace eliza::llm
