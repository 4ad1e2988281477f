// The part of a text stream that remembers beyond itself: slots, and the prompts of earlier streams.
#include "abi/guard.h"
#include "llm/runtime.h"
#include "llm/text_stream.h"

#include <algorithm>

namespace eliza::llm {
namespace {

constexpr llama_seq_id sequence = 0;
// Fewer tokens are read anew as quickly as a state is copied.
constexpr int least_worth_keeping = 16;

std::vector<uint8_t> copy_state(llama_context * context) {
    std::vector<uint8_t> bytes(llama_state_seq_get_size(context, sequence));
    if (llama_state_seq_get_data(context, bytes.data(), bytes.size(), sequence) != bytes.size()) {
        throw Failure(ELIZA_ERR_FFI_FAULT, explain("the runtime did not give its state"));
    }
    return bytes;
}

}  // namespace

// The runtime's state has no identity of its own: bytes of another model of the same shape would be taken.
std::string TextStream::owner() const {
    return model_->mark() + ' ' + ELIZA_LLAMA_COMMIT + ' ' + ggml_type_name(settings_.type_k) + ' ' +
           ggml_type_name(settings_.type_v);
}

Slot TextStream::snapshot() {
    require(!is_broken_, "the stream failed before; reset it first");
    require(media_ == nullptr && !holds_media_,
            "a slot holds tokens, and this stream has looked at a picture or sound");
    require(!cached_.empty(), "the stream has read nothing yet");
    Slot slot;
    slot.owner   = owner();
    slot.tokens  = cached_;
    slot.pending = pending_;
    forget_runtime_errors();
    slot.state = copy_state(context_.get());
    if (drafter_ != nullptr) {
        slot.drafter = drafter_->state();
    }
    if (checkpoints_.newest() != nullptr) {
        slot.earlier = *checkpoints_.newest();
    }
    if (has_logits_) {  // they are not part of the state: the last token will be read again
        slot.pending = slot.tokens.back();
        slot.tokens.pop_back();
    }
    return slot;
}

void TextStream::adopt(const Slot & slot) {
    require(slot.owner == owner(), "the slot belongs to another model, build or cache type");
    const int  vocab_size = model_->vocab_size();
    const auto is_known   = [&](llama_token id) { return id >= 0 && id < vocab_size; };
    require(std::all_of(slot.tokens.begin(), slot.tokens.end(), is_known) && (!slot.pending || is_known(*slot.pending)),
            "the slot holds a token that the model does not know");
    const size_t count = slot.tokens.size() + (slot.pending ? 1 : 0);
    require(count <= static_cast<size_t>(limit_), "the slot holds more tokens than this stream's context");
    forget_all();
    is_broken_ = true;  // until the cache is known to agree with the tokens
    forget_runtime_errors();
    const bool is_read = llama_state_seq_set_data(context_.get(), slot.state.data(), slot.state.size(), sequence) != 0;
    const auto wanted  = static_cast<llama_pos>(slot.tokens.size());
    const auto held    = llama_memory_seq_pos_max(llama_get_memory(context_.get()), sequence) + 1;
    if (!is_read || held < wanted || held > wanted + 1) {
        forget_all();
        throw Failure(ELIZA_ERR_INVALID_ARG, explain("the runtime does not take the slot's state"));
    }
    if (held > wanted) {
        forget_from(wanted);
    }
    if (drafter_ != nullptr) {
        drafter_->restore(slot.drafter, wanted);
    }
    if (slot.earlier.count > 0) {
        checkpoints_.put(slot.earlier);
    }
    cached_  = slot.tokens;
    pending_ = slot.pending;
    std::for_each(cached_.begin(), cached_.end(), [&](llama_token id) { sampler_.remember_prompt(id); });
    is_broken_ = false;
}

void TextStream::warm_from(std::shared_ptr<const Slot> slot) {
    warm_ = slot != nullptr && slot->owner == owner() ? std::move(slot) : nullptr;
}

// How many of the prompt's first tokens an earlier stream has read; the last token is always read here, for its
// logits.
size_t TextStream::keep_warm(const llama_token * ids, size_t count) {
    const std::shared_ptr<const Slot> slot = std::move(warm_);
    warm_                                  = nullptr;
    if (slot == nullptr || !cached_.empty() || pending_ || slot->tokens.size() > static_cast<size_t>(limit_)) {
        return 0;
    }
    const size_t most = std::min(count - 1, slot->tokens.size());
    const auto   same = static_cast<int>(std::mismatch(ids, ids + most, slot->tokens.begin()).first - ids);
    if (same < least_worth_keeping) {
        return 0;
    }
    adopt(*slot);
    return static_cast<size_t>(keep_first(same));
}

}  // namespace eliza::llm
