// A mutex whose second lock by one thread is an error instead of waiting for itself forever.
#pragma once

#include "abi/guard.h"

#include <atomic>
#include <mutex>
#include <thread>

namespace eliza {

// For locks that are held while the host's own callback runs.
class OwnedMutex {
  public:
    // Throws Failure(INVALID_ARG) when this thread holds it already.
    void lock() {
        require(owner_.load() != std::this_thread::get_id(), "this call was made from a callback of the same context");
        mutex_.lock();
        owner_.store(std::this_thread::get_id());
    }

    void unlock() {
        owner_.store(std::thread::id());
        mutex_.unlock();
    }

  private:
    std::mutex                   mutex_;
    std::atomic<std::thread::id> owner_;
};

}  // namespace eliza
