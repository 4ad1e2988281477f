// One generation: prompt in, verified tokens out, at any moment stoppable.
#pragma once

#include "eliza/inference.h"
#include "llama-cpp.h"
#include "llm/checkpoints.h"
#include "llm/drafter.h"
#include "llm/media.h"
#include "llm/sampler.h"
#include "llm/slot.h"
#include "llm/stream_settings.h"
#include "llm/text_model.h"
#include "llm/utf8.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace eliza::llm {

struct Step {
    std::vector<llama_token> tokens;
    std::string              text;
    int                      drafted    = 0;
    int                      accepted   = 0;
    int                      end_reason = ELIZA_END_NONE;
};

class TextStream {
  public:
    using OnVerified = std::function<void(const EliVerifierEvent &)>;

    // `drafter` may be null: no speculation. Throws Failure: INVALID_ARG, BUNDLE_INVALID, OOM.
    TextStream(std::shared_ptr<TextModel> model, std::shared_ptr<DraftModel> drafter, const StreamSettings & settings,
               OnVerified on_verified);

    // Appends a prompt and begins a turn. Throws Failure: INVALID_ARG (a foreign id, no room), CANCELLED,
    // FFI_FAULT; after the last two only reset or reset_keep help.
    void prefill(const llama_token * ids, size_t count);

    // The turn begins with `media`; the first prefill or step decodes it, so that cancel() can end that. Only for a
    // stream without a drafter, before its first prompt. Throws Failure(INVALID_ARG) when it has no room for it.
    void begin_with(std::unique_ptr<Media> media);

    // One step of the turn; after its end, empty steps with the same reason. Throws as prefill does.
    Step next();

    // Any thread: the running call stops at the next kernel boundary.
    void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }

    void reset();
    // Keeps the first `count` tokens where the cache still has all that they need, else nothing.
    int reset_keep(int count);

    // What it has read, to go on from elsewhere. Throws Failure: INVALID_ARG (nothing read, failed before), FFI_FAULT.
    Slot snapshot();
    // Becomes what the slot was: the next step or prompt goes on from there. Throws Failure(INVALID_ARG) for a slot
    // of another model, build or cache type; a slot that the runtime refuses leaves an empty stream.
    void adopt(const Slot & slot);
    // Lets the first prompt start from what an earlier stream had read of it; null or a foreign slot: from nothing.
    void warm_from(std::shared_ptr<const Slot> slot);
    // The scores of all tokens for the next place, right after a prefill. Throws Failure: INVALID_ARG, FFI_FAULT.
    const float * logits() const;
    // Tokens of the last prompt that were not read again.
    int tokens_reused() const noexcept { return tokens_reused_; }

    // Throws Failure(CANCELLED) after cancel().
    void require_running() const;
    int  end_reason() const noexcept { return end_reason_; }

  private:
    llama_context_params context_params() const;
    bool                 must_spill() const;
    void                 open_context();
    void                 decode();
    void                 decode_prompt(const std::vector<llama_token> & prompt);
    void                 decode_media();
    int                  cells_used() const;
    llama_tokens         propose();
    Step                 verify(const llama_tokens & draft);
    Step                 first_step();
    void                 finish(Step & step, std::optional<llama_token> sampled);
    void                 report(const Step & step, int first_index) const;
    void                 forget_from(int position);
    void                 clear_turn();
    void                 forget_all();
    int                  keep_first(int count);
    std::string          owner() const;
    size_t               keep_warm(const llama_token * ids, size_t count);
    bool                 cache_covers(int count) const;
    bool                 is_end(llama_token token) const;
    std::string          piece(llama_token token) const;

    const std::shared_ptr<TextModel> model_;
    const StreamSettings             settings_;
    const OnVerified                 on_verified_;
    std::atomic<bool>                cancelled_{false};
    int                              limit_      = 0;      // tokens that fit into the context
    bool                             is_spilled_ = false;  // the attention state lies on the host, not on the GPU
    Sampler                          sampler_;
    Utf8Assembler                    utf8_;
    llama_context_ptr                context_;
    common_batch                     batch_;
    std::unique_ptr<Drafter>         drafter_;

    std::unique_ptr<Media>     media_;             // not yet decoded
    std::vector<llama_token>   cached_;            // what the cache holds, one entry a position
    int                        unseen_cells_ = 0;  // of media, beyond their positions
    bool                       holds_media_  = false;
    std::optional<llama_token> pending_;  // sampled and handed out, not yet in the cache
    bool                       has_logits_    = false;
    bool                       is_broken_     = false;
    int                        generated_     = 0;  // tokens of this turn
    int                        end_reason_    = ELIZA_END_NONE;
    int                        tokens_reused_ = 0;

    Checkpoints                 checkpoints_;
    std::shared_ptr<const Slot> warm_;  // for the first prompt
};

}  // namespace eliza::llm
