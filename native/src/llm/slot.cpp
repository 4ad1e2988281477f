#include "llm/slot.h"

#include "abi/guard.h"
#include "llm/checksum.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace eliza::llm {
namespace {

constexpr std::array<char, 8> magic   = {'E', 'L', 'I', 'Z', 'S', 'L', 'O', 'T'};
constexpr uint32_t            version = 1;

// Little endian on disk and in memory: every target of ours is.
struct Header {
    char     magic[8];
    uint64_t checksum;  // of everything after it
    uint32_t version;
    int32_t  pending;  // -1: none
    uint64_t owner_bytes;
    uint64_t tokens;
    uint64_t state_bytes;
    uint64_t drafter_bytes;
    uint64_t earlier_bytes;
    uint64_t earlier_tokens;
};
static_assert(sizeof(Header) == 72, "the layout on disk");

constexpr size_t checked_from = 16;

[[noreturn]] void refuse() {
    throw Failure(ELIZA_ERR_INVALID_ARG, "this is not a whole slot file of this version");
}

// The header's lengths must add up to the bytes that are there, without overflow.
Header checked_header(const std::vector<uint8_t> & bytes) {
    Header header = {};
    if (bytes.size() < sizeof header) {
        refuse();
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    uint64_t left = bytes.size() - sizeof header;
    if (std::memcmp(header.magic, magic.data(), magic.size()) != 0 || header.version != version ||
        header.tokens > left / sizeof(llama_token)) {
        refuse();
    }
    left -= header.tokens * sizeof(llama_token);
    for (const uint64_t part : {header.owner_bytes, header.state_bytes, header.drafter_bytes, header.earlier_bytes}) {
        if (part > left) {
            refuse();
        }
        left -= part;
    }
    if (left != 0 || header.pending < -1 || header.earlier_tokens > header.tokens + 1 ||
        checksum(bytes.data() + checked_from, bytes.size() - checked_from) != header.checksum) {
        refuse();
    }
    return header;
}

}  // namespace

std::vector<uint8_t> encode_slot(const Slot & slot) {
    std::vector<uint8_t> bytes(sizeof(Header) + slot.size_bytes());
    uint8_t *            at  = bytes.data() + sizeof(Header);
    const auto           put = [&at](const void * from, size_t count) {
        if (count > 0) {
            std::memcpy(at, from, count);
            at += count;
        }
    };
    put(slot.owner.data(), slot.owner.size());
    put(slot.tokens.data(), slot.tokens.size() * sizeof(llama_token));
    put(slot.state.data(), slot.state.size());
    put(slot.drafter.data(), slot.drafter.size());
    put(slot.earlier.state.data(), slot.earlier.state.size());
    Header header         = {};
    header.version        = version;
    header.pending        = slot.pending.value_or(-1);
    header.owner_bytes    = slot.owner.size();
    header.tokens         = slot.tokens.size();
    header.state_bytes    = slot.state.size();
    header.drafter_bytes  = slot.drafter.size();
    header.earlier_bytes  = slot.earlier.state.size();
    header.earlier_tokens = static_cast<uint64_t>(slot.earlier.count);
    std::copy(magic.begin(), magic.end(), header.magic);
    std::memcpy(bytes.data(), &header, sizeof header);
    header.checksum = checksum(bytes.data() + checked_from, bytes.size() - checked_from);
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
}

Slot decode_slot(const std::vector<uint8_t> & bytes) {
    const Header    header = checked_header(bytes);
    const uint8_t * at     = bytes.data() + sizeof header;
    const auto      take   = [&at](void * into, uint64_t count) {
        if (count > 0) {
            std::memcpy(into, at, count);
            at += count;
        }
    };
    Slot slot;
    slot.owner.resize(header.owner_bytes);
    take(slot.owner.data(), header.owner_bytes);
    slot.tokens.resize(header.tokens);
    take(slot.tokens.data(), header.tokens * sizeof(llama_token));
    slot.state.resize(header.state_bytes);
    take(slot.state.data(), header.state_bytes);
    slot.drafter.resize(header.drafter_bytes);
    take(slot.drafter.data(), header.drafter_bytes);
    slot.earlier.count = static_cast<int>(header.earlier_tokens);
    slot.earlier.state.resize(header.earlier_bytes);
    take(slot.earlier.state.data(), header.earlier_bytes);
    if (header.pending >= 0) {
        slot.pending = header.pending;
    }
    return slot;
}

}  // namespace eliza::llm
