// One stream's drafter: proposes tokens that the text model then verifies.
#pragma once

#include "common.h"
#include "llama-cpp.h"
#include "llm/draft_model.h"
#include "llm/stream_settings.h"
#include "speculative.h"

#include <memory>
#include <vector>

namespace eliza::llm {

struct DraftRequest {
    llama_pos            position;    // of `last` in the sequence
    llama_token          last;        // sampled, not yet in the cache
    const llama_tokens & history;     // everything before `last`
    int                  max_tokens;  // > 0
};

class Drafter {
  public:
    // `target` must outlive the drafter. Throws Failure: BUNDLE_INVALID, OOM.
    Drafter(std::shared_ptr<DraftModel> model, llama_context * target, const DraftSettings & settings,
            const llama_context_params & target_params);

    // Shows a batch that the target has just decoded. False when the runtime failed or was cancelled.
    bool observe(const common_batch & batch);

    // Proposes up to request.max_tokens tokens; leaves the drafter's cache at request.position.
    llama_tokens propose(const DraftRequest & request);

    // Tells how many proposals were kept, and forgets everything from `position` on.
    void settle(int accepted, llama_pos position);

    // Its own attention state; empty for one that shares the target's.
    std::vector<uint8_t> state() const;
    // Goes back to such a state, at `position`; without one it starts over and proposes worse for a while.
    void restore(const std::vector<uint8_t> & state, llama_pos position);

    // Keeps only the first `position` tokens; 0 also drops carried-over state.
    void truncate(llama_pos position);

  private:
    void start();
    void forget_from(llama_pos position);

    std::shared_ptr<DraftModel> model_;
    llama_context_ptr           context_;
    common_params_speculative   params_;
    common_speculative_ptr      driver_;
};

}  // namespace eliza::llm
