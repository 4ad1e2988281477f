#include "llm/prompt_cache.h"

#include "abi/guard.h"

#include <algorithm>
#include <cstdlib>

namespace eliza::llm {
namespace {

constexpr size_t default_mib = 256;
constexpr size_t largest_mib = 1 << 20;

}  // namespace

std::list<PromptCache::Entry>::iterator PromptCache::locate(const std::string & key) {
    return std::find_if(entries_.begin(), entries_.end(), [&](const Entry & entry) { return entry.key == key; });
}

void PromptCache::shrink_to(size_t bytes) {
    while (held_bytes_ > bytes) {
        held_bytes_ -= entries_.back().slot->size_bytes();
        entries_.pop_back();
    }
}

void PromptCache::park(const std::string & key, Slot slot) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto old = locate(key); old != entries_.end()) {
        held_bytes_ -= old->slot->size_bytes();
        entries_.erase(old);
    }
    const size_t size = slot.size_bytes();
    if (is_shut_ || size > most_bytes_) {
        return;
    }
    shrink_to(most_bytes_ - size);
    entries_.push_front({key, std::make_shared<const Slot>(std::move(slot))});
    held_bytes_ += size;
}

std::shared_ptr<const Slot> PromptCache::find(const std::string & key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto                        entry = locate(key);
    if (entry == entries_.end()) {
        return nullptr;
    }
    entries_.splice(entries_.begin(), entries_, entry);
    return entries_.front().slot;
}

void PromptCache::shut() {
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.clear();
    held_bytes_ = 0;
    is_shut_    = true;
}

void PromptCache::open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_shut_ = false;
}

size_t PromptCache::size_bytes() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return held_bytes_;
}

size_t prompt_cache_limit() {
    const char * wish = std::getenv("ELIZA_PROMPT_CACHE_MB");
    if (wish == nullptr || *wish == '\0') {
        return default_mib << 20;
    }
    char *                   end = nullptr;
    const unsigned long long mib = std::strtoull(wish, &end, 10);
    require(*wish >= '0' && *wish <= '9' && *end == '\0' && mib <= largest_mib,
            "ELIZA_PROMPT_CACHE_MB must be a number of MiB");
    return static_cast<size_t>(mib) << 20;
}

}  // namespace eliza::llm
