#include "abi/process.h"

#include <atomic>

#if !defined(_WIN32)
#include <unistd.h>
#endif

namespace eliza {
namespace {

#if defined(_WIN32)
int this_process() {
    return 1;  // nothing forks here
}
#else
int this_process() {
    return static_cast<int>(getpid());
}
#endif

std::atomic<int> owner{0};

}  // namespace

void own_process() noexcept {
    int nobody = 0;
    owner.compare_exchange_strong(nobody, this_process());
}

bool is_forked_child() noexcept {
    const int known = owner.load(std::memory_order_relaxed);
    return known != 0 && known != this_process();
}

}  // namespace eliza
