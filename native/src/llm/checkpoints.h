// Copies of what a sliding window would let go of, so that a stream can go back further than the window.
#pragma once

#include "llama.h"

#include <cstdint>
#include <vector>

namespace eliza::llm {

// Bounded on purpose: an unbounded ring of copies once ate whole devices (facts 3.2). Models without a window need
// none and keep none.
class Checkpoints {
  public:
    explicit Checkpoints(bool has_window) : has_window_(has_window) {}

    // After `count` tokens have been read. Keeps at most `most` copies, the oldest goes first.
    void take(llama_context * context, int count);
    // Whether the next one is due: `interval` tokens after the last.
    bool is_due(int count) const noexcept;
    // Puts the newest copy back that lets a stream of `count` tokens go on, and returns for how many it does; 0: none.
    // A copy holds the window of its own last token too, so it serves one token less than it was taken at.
    int go_back(llama_context * context, int count);
    // The stream now holds `count` tokens: copies beyond are of another past.
    void truncate(int count);

    struct Copy {
        int                  count = 0;  // tokens read when it was taken
        std::vector<uint8_t> state;
    };

    // For a slot; null: there is none.
    const Copy * newest() const noexcept { return copies_.empty() ? nullptr : &copies_.back(); }
    // From a slot.
    void put(Copy copy);

    static constexpr size_t most     = 4;
    static constexpr int    interval = 4096;

  private:
    bool              has_window_;
    std::vector<Copy> copies_;  // by count, ascending
};

}  // namespace eliza::llm
