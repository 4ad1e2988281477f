// The part of a text stream that begins with pictures or sound.
#include "abi/guard.h"
#include "llm/runtime.h"
#include "llm/text_stream.h"

namespace eliza::llm {

int TextStream::cells_used() const {
    return static_cast<int>(cached_.size()) + unseen_cells_;
}

void TextStream::begin_with(std::unique_ptr<Media> media) {
    require(drafter_ == nullptr && cached_.empty(), "media begin a stream without a drafter");
    if (media->cells() >= limit_ || media->largest_piece() > settings_.batch_tokens) {
        throw Failure(ELIZA_ERR_INVALID_ARG, "the prompt needs " + std::to_string(media->cells()) +
                                                 " tokens, the context holds " + std::to_string(limit_));
    }
    media_ = std::move(media);
}

// Tokens of media have no ids; LLAMA_TOKEN_NULL keeps their places.
void TextStream::decode_media() {
    if (media_ == nullptr) {
        return;
    }
    const std::unique_ptr<Media> media = std::move(media_);
    forget_runtime_errors();
    is_broken_ = true;
    media->decode(context_.get(), static_cast<llama_pos>(cached_.size()), cancelled_);
    require_running();
    cached_.resize(cached_.size() + static_cast<size_t>(media->positions()), LLAMA_TOKEN_NULL);
    unseen_cells_ += media->cells() - media->positions();
    holds_media_ = true;
    has_logits_  = true;
    is_broken_   = false;
}

}  // namespace eliza::llm
