// Where a stream's attention state goes: beside the weights, or spilled to the host's memory.
#pragma once

#include "llama.h"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace eliza::llm {

// From this many tokens on a state may spill, and its need is known before it is allocated (facts 4.3).
constexpr int spill_from_tokens = 65536;

// Bytes; a state with its working buffers.
struct StateNeed {
    uint64_t                on_device   = 0;  // if it lies where the layers are, on all GPUs together
    uint64_t                on_host     = 0;  // beside that
    uint64_t                spilled     = 0;  // on the host when nothing of it lies on a GPU
    uint64_t                device_free = 0;
    std::optional<uint64_t> host_available;  // nothing: the system does not tell
};

enum class StatePlace { device, host };

// Without a GPU the device is the host. Throws Failure(OOM) whose message begins with kv-spill-unsupported when the
// state fits nowhere: llama.cpp has no third place, such as the disk.
StatePlace place_state(const StateNeed & need);

// Reads the model's header again, allocates nothing, and answers exactly. Throws Failure: BUNDLE_INVALID, FFI_FAULT.
StateNeed measure_state(const std::filesystem::path & model, int n_gpu_layers, llama_context_params params);

}  // namespace eliza::llm
