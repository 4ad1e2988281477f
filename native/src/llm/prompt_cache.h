// What closed streams had read, kept in memory for the next stream of the same key.
#pragma once

#include "llm/slot.h"

#include <list>
#include <memory>
#include <mutex>
#include <string>

namespace eliza::llm {

// Thread-safe; the least recently used entries go first when the bytes run out.
class PromptCache {
  public:
    explicit PromptCache(size_t most_bytes) : most_bytes_(most_bytes) {}

    // Replaces what the key held. A slot larger than the whole cache is not kept.
    void park(const std::string & key, Slot slot);
    // Null when there is none.
    std::shared_ptr<const Slot> find(const std::string & key);
    // Forgets everything and keeps nothing more, until it is opened again.
    void   shut();
    void   open();
    size_t size_bytes() const;

  private:
    struct Entry {
        std::string                 key;
        std::shared_ptr<const Slot> slot;
    };

    std::list<Entry>::iterator locate(const std::string & key);
    void                       shrink_to(size_t bytes);

    mutable std::mutex mutex_;
    std::list<Entry>   entries_;  // most recently used first
    size_t             held_bytes_ = 0;
    bool               is_shut_    = false;
    const size_t       most_bytes_;
};

// ELIZA_PROMPT_CACHE_MB in bytes, 256 MiB when unset; 0 keeps nothing. Throws Failure(INVALID_ARG) for no number.
size_t prompt_cache_limit();

}  // namespace eliza::llm
