// A few threads that share one operation at a time with the thread that asked for it.
// ggml's own threads meet at a spinning barrier after every node; where others want the same cores, every meeting
// costs a time slice. Here the asking thread takes shares itself and waits only for shares that are being worked on.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace eliza::kokoro {

class Crew {
  public:
    using Work = std::function<void(int share, int shares)>;

    explicit Crew(int threads);  // the asking thread is one of them
    Crew(const Crew &)             = delete;
    Crew & operator=(const Crew &) = delete;
    ~Crew();

    int size() const { return static_cast<int>(helpers_.size()) + 1; }
    // Calls work(share, shares) once for every share and returns when all are done. One caller at a time.
    // `work` must not throw.
    void run(int shares, const Work & work);

  private:
    void     help();
    bool     take(uint32_t job, int & share, int & shares);
    uint32_t wait_for_job(uint32_t seen);

    // job number, shares in all, next free share: in one word, so that a late helper can never take from a newer job
    std::atomic<uint64_t>    open_{0};
    std::atomic<int>         done_{0};
    std::atomic<bool>        leaving_{false};
    const Work *             work_ = nullptr;
    std::mutex               mutex_;
    std::condition_variable  called_;
    std::vector<std::thread> helpers_;
};

}  // namespace eliza::kokoro
