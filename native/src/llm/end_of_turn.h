// How likely a speaker has finished: the chance that a given token, usually the end of a turn, comes next.
#pragma once

#include "llm/text_stream.h"

#include <memory>

namespace eliza::llm {

struct NextToken {
    float       probability;  // of the token that was asked for
    llama_token top;
    float       top_probability;
};

// Made for being asked again and again about a growing text: what the last call has read is not read anew.
class EndOfTurn {
  public:
    explicit EndOfTurn(std::shared_ptr<TextModel> model);

    // Only the last `most_tokens` ids count. Throws Failure: INVALID_ARG (no id, an id outside the vocabulary), and
    // what a stream throws.
    NextToken score(const llama_token * ids, size_t count, llama_token target);

    static constexpr size_t most_tokens = 1024;

  private:
    std::shared_ptr<TextModel> model_;
    TextStream                 stream_;
    std::vector<llama_token>   read_;
};

}  // namespace eliza::llm
