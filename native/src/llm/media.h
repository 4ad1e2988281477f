// A prompt that is more than tokens: pictures or sound between pieces of text.
#pragma once

#include "llama.h"

#include <atomic>

namespace eliza::llm {

class Media {
  public:
    virtual ~Media() = default;

    // What it takes of a context. Some models count positions slower than cells.
    virtual int cells() const     = 0;
    virtual int positions() const = 0;
    // Tokens that must be decoded in one piece, because all of them look at each other.
    virtual int largest_piece() const = 0;

    // Decodes all of it from position `first` on and leaves the last token's logits. Throws Failure: CANCELLED soon
    // after the flag is set, OOM, FFI_FAULT.
    virtual void decode(llama_context * context, llama_pos first, const std::atomic<bool> & cancelled) = 0;
};

}  // namespace eliza::llm
