#include "llm/threads.h"

#include "abi/guard.h"
#include "common.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace eliza::llm {
namespace {

constexpr long most_threads = 512;

int allowed_cpus() {
#if defined(__linux__)
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        return CPU_COUNT(&set);
    }
#endif
    return static_cast<int>(std::thread::hardware_concurrency());
}

int default_threads() {
    return std::max(1, std::min(allowed_cpus(), static_cast<int>(common_cpu_get_num_physical_cores())));
}

}  // namespace

int cpu_threads() {
    const char * named = std::getenv("ELIZA_THREADS");
    if (named == nullptr || *named == '\0') {
        static const int found = default_threads();
        return found;
    }
    char *     end   = nullptr;
    const long value = std::strtol(named, &end, 10);
    if (*end != '\0' || value < 1 || value > most_threads) {
        throw Failure(ELIZA_ERR_INVALID_ARG, std::string("ELIZA_THREADS is '") + named + "', not a number from 1 to " +
                                                 std::to_string(most_threads));
    }
    return static_cast<int>(value);
}

}  // namespace eliza::llm
