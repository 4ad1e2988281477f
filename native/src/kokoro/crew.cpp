#include "kokoro/crew.h"

namespace eliza::kokoro {
namespace {

constexpr int patience = 2000;  // looks before a helper goes to sleep: about the time between two operations

uint64_t job_word(uint32_t job, int shares, int next) {
    return static_cast<uint64_t>(job) << 32 | static_cast<uint64_t>(shares) << 16 | static_cast<uint64_t>(next);
}
uint32_t job_of(uint64_t word) {
    return static_cast<uint32_t>(word >> 32);
}
int shares_of(uint64_t word) {
    return static_cast<int>(word >> 16 & 0xffff);
}
int next_of(uint64_t word) {
    return static_cast<int>(word & 0xffff);
}

void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace

Crew::Crew(int threads) {
    for (int i = 1; i < threads; ++i) {
        helpers_.emplace_back([this] { help(); });
    }
}

Crew::~Crew() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        leaving_.store(true);
    }
    called_.notify_all();
    for (std::thread & helper : helpers_) {
        helper.join();
    }
}

void Crew::run(int shares, const Work & work) {
    if (shares == 1 || helpers_.empty()) {
        for (int share = 0; share < shares; ++share) {
            work(share, shares);
        }
        return;
    }
    const uint32_t job = job_of(open_.load(std::memory_order_relaxed)) + 1;
    work_              = &work;
    done_.store(0, std::memory_order_relaxed);
    {
        const std::lock_guard<std::mutex> lock(mutex_);  // a helper is either about to look, or asleep and called
        open_.store(job_word(job, shares, 0), std::memory_order_release);
    }
    called_.notify_all();
    int mine = 0;
    for (int all = shares; take(job, mine, all);) {
        work(mine, all);
        done_.fetch_add(1, std::memory_order_acq_rel);
    }
    for (int looks = 0; done_.load(std::memory_order_acquire) < shares; ++looks) {
        if (looks < patience) {
            pause();
        } else {
            std::this_thread::yield();  // a helper holds a share and wants this core
        }
    }
}

bool Crew::take(uint32_t job, int & share, int & shares) {
    uint64_t word = open_.load(std::memory_order_acquire);
    while (job_of(word) == job && next_of(word) < shares_of(word)) {
        if (open_.compare_exchange_weak(word, word + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
            share  = next_of(word);
            shares = shares_of(word);
            return true;
        }
    }
    return false;
}

uint32_t Crew::wait_for_job(uint32_t seen) {
    for (int looks = 0; looks < patience; ++looks) {
        const uint32_t job = job_of(open_.load(std::memory_order_acquire));
        if (job != seen) {
            return job;
        }
        pause();
    }
    std::unique_lock<std::mutex> lock(mutex_);
    called_.wait(lock, [&] { return leaving_.load() || job_of(open_.load(std::memory_order_acquire)) != seen; });
    return job_of(open_.load(std::memory_order_acquire));
}

void Crew::help() {
    uint32_t seen = 0;
    while (!leaving_.load(std::memory_order_relaxed)) {
        seen       = wait_for_job(seen);
        int share  = 0;
        int shares = 0;
        while (take(seen, share, shares)) {
            (*work_)(share, shares);
            done_.fetch_add(1, std::memory_order_acq_rel);
        }
    }
}

}  // namespace eliza::kokoro
