#include "llm/host_memory.h"

#include "abi/guard.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

#if defined(_WIN32)
#include <windows.h>
#elif defined(__APPLE__)
#include <mach/mach.h>
#endif

namespace eliza::llm {

uint64_t available_in_meminfo(const std::string & meminfo) {
    std::istringstream lines(meminfo);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string        name;
        uint64_t           kib = 0;
        if (fields >> name >> kib && name == "MemAvailable:") {
            return kib * 1024;
        }
    }
    return 0;
}

namespace {

#if defined(__linux__)
std::string content_of(const char * path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Containers see their own group at the root of this tree.
uint64_t left_in_container() {
    const std::string most = content_of("/sys/fs/cgroup/memory.max");
    const std::string used = content_of("/sys/fs/cgroup/memory.current");
    if (most.empty() || most.front() < '0' || most.front() > '9' || used.empty()) {
        return std::numeric_limits<uint64_t>::max();
    }
    const uint64_t limit = std::stoull(most);
    return limit - std::min<uint64_t>(limit, std::stoull(used));
}

uint64_t available() {
    return std::min(available_in_meminfo(content_of("/proc/meminfo")), left_in_container());
}
#elif defined(__APPLE__)
uint64_t available() {
    vm_statistics64_data_t pages = {};
    mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
    if (host_statistics64(mach_host_self(), HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&pages), &count) !=
        KERN_SUCCESS) {
        return 0;
    }
    return (uint64_t{pages.free_count} + pages.inactive_count + pages.purgeable_count) * vm_kernel_page_size;
}
#elif defined(_WIN32)
uint64_t available() {
    MEMORYSTATUSEX status = {};
    status.dwLength       = sizeof status;
    return GlobalMemoryStatusEx(&status) ? status.ullAvailPhys : 0;
}
#else
uint64_t available() {
    return 0;
}
#endif

uint64_t headroom() {
    const char * wish = std::getenv("ELIZA_LOCAL_RAM_HEADROOM_MB");
    if (wish == nullptr || *wish == '\0') {
        return 0;
    }
    char *                   end = nullptr;
    const unsigned long long mib = std::strtoull(wish, &end, 10);
    require(*wish >= '0' && *wish <= '9' && *end == '\0' && mib < (uint64_t{1} << 40),
            "ELIZA_LOCAL_RAM_HEADROOM_MB must be a number of MiB");
    return mib << 20;
}

}  // namespace

std::optional<uint64_t> host_memory_available() {
    const uint64_t bytes = available();
    if (bytes == 0) {
        return std::nullopt;
    }
    return bytes - std::min(bytes, headroom());
}

}  // namespace eliza::llm
