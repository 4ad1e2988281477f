// How much memory this process may still take from the host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace eliza::llm {

// Bytes that can be had without pushing others out: what the system calls available, no more than a container leaves,
// less ELIZA_LOCAL_RAM_HEADROOM_MB (unset: nothing; the agent keeps its own margin). Nothing where the system does not
// tell. Throws Failure(INVALID_ARG) when the variable is no number.
std::optional<uint64_t> host_memory_available();

// `MemAvailable` of Linux's /proc/meminfo in bytes; 0 when it is not there.
uint64_t available_in_meminfo(const std::string & meminfo);

}  // namespace eliza::llm
