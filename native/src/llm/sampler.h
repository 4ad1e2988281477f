// From logits to one token: grammar first, then penalties, top-k, top-p, temperature.
#pragma once

#include "llama-cpp.h"
#include "llm/stream_settings.h"

#include <vector>

namespace eliza::llm {

class Sampler {
  public:
    // Throws Failure(INVALID_ARG) for a grammar that does not parse.
    Sampler(const llama_vocab * vocab, const SamplerSettings & settings);

    // Chooses from the logits of output `index` and remembers the choice.
    llama_token sample(llama_context * context, int index);

    // Lets prompt tokens count for the repeat penalty; the grammar never sees them.
    void remember_prompt(llama_token token);

    // A new turn: the grammar starts over, the penalty's memory stays.
    void begin_turn();

    // Forgets everything.
    void reset();

  private:
    void        fill(llama_context * context, int index);
    llama_token choose();
    bool        grammar_allows(llama_token token) const;

    int                           vocab_size_;
    bool                          is_plain_greedy_;
    bool                          is_greedy_;
    llama_sampler_ptr             grammar_;
    llama_sampler_ptr             chain_;
    std::vector<llama_token_data> candidates_;
    llama_token_data_array        view_{};
};

}  // namespace eliza::llm
