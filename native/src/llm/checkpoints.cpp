#include "llm/checkpoints.h"

#include <algorithm>

namespace eliza::llm {
namespace {

constexpr llama_seq_id          sequence = 0;
constexpr llama_state_seq_flags windowed = LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY;

}  // namespace

bool Checkpoints::is_due(int count) const noexcept {
    return has_window_ && count - (copies_.empty() ? 0 : copies_.back().count) >= interval;
}

void Checkpoints::take(llama_context * context, int count) {
    if (!has_window_ || count == 0 || (!copies_.empty() && copies_.back().count == count)) {
        return;
    }
    std::vector<uint8_t> state(llama_state_seq_get_size_ext(context, sequence, windowed));
    if (llama_state_seq_get_data_ext(context, state.data(), state.size(), sequence, windowed) != state.size()) {
        return;  // going back will read everything anew, which is right if slow
    }
    put({count, std::move(state)});
}

void Checkpoints::put(Copy copy) {
    if (copies_.size() == most) {
        copies_.erase(copies_.begin());
    }
    copies_.push_back(std::move(copy));
}

int Checkpoints::go_back(llama_context * context, int count) {
    truncate(count + 1);
    if (copies_.empty()) {
        return 0;
    }
    const Copy & copy = copies_.back();
    const bool   is_back =
        llama_state_seq_set_data_ext(context, copy.state.data(), copy.state.size(), sequence, windowed) != 0;
    return is_back ? std::min(copy.count, count) : 0;
}

void Checkpoints::truncate(int count) {
    while (!copies_.empty() && copies_.back().count > count) {
        copies_.pop_back();
    }
}

}  // namespace eliza::llm
