#include "backend/llama_backend.h"

#include "abi/guard.h"
#include "abi/regions.h"
#include "llm/prompt_cache.h"
#include "llm/slot.h"
#include "llm/text_stream.h"

#include <algorithm>
#include <optional>

namespace eliza::backend {
namespace {

struct StepBuffers {
    int32_t * tokens;
    size_t    tokens_cap;
    size_t *  num_tokens;
    char *    text;
    size_t    text_cap;
    int32_t * drafted;
    int32_t * accepted;
};

void check(const StepBuffers & out) {
    require(out.tokens != nullptr && out.num_tokens != nullptr, "tokens_out and num_tokens_out must not be NULL");
    require(out.text != nullptr && out.text_cap > 0, "text_out must have room for at least its end");
    *out.num_tokens = 0;
    out.text[0]     = '\0';
    if (out.drafted != nullptr) {
        *out.drafted = 0;
    }
    if (out.accepted != nullptr) {
        *out.accepted = 0;
    }
}

void require_room(const llm::Step & step, const StepBuffers & out) {
    if (step.tokens.size() > out.tokens_cap || step.text.size() + 1 > out.text_cap) {
        throw Failure(ELIZA_ERR_INVALID_ARG, "the step needs room for " + std::to_string(step.tokens.size()) +
                                                 " tokens and " + std::to_string(step.text.size() + 1) +
                                                 " bytes; call again with that much");
    }
}

void deliver(const llm::Step & step, const StepBuffers & out) {
    std::copy(step.tokens.begin(), step.tokens.end(), out.tokens);
    *out.num_tokens = step.tokens.size();
    std::copy(step.text.begin(), step.text.end(), out.text);
    out.text[step.text.size()] = '\0';
    if (out.drafted != nullptr) {
        *out.drafted = step.drafted;
    }
    if (out.accepted != nullptr) {
        *out.accepted = step.accepted;
    }
}

class LlamaSession final : public LlmBackendSession {
  public:
    // What the stream has read goes to `prompts` under `key` at its end; an empty key keeps nothing.
    LlamaSession(std::unique_ptr<llm::TextStream> stream, std::shared_ptr<llm::PromptCache> prompts, std::string key)
        : stream_(std::move(stream)), prompts_(std::move(prompts)), key_(std::move(key)) {}

    ~LlamaSession() override {
        if (!key_.empty()) {
            guarded(nullptr, [this] {  // a stream that failed or read nothing has nothing to leave
                prompts_->park(key_, stream_->snapshot());
                return ELIZA_OK;
            });
        }
    }

    int prefill(const int32_t * token_ids, size_t num_tokens, char ** out_error) override {
        return guarded(out_error, [&] {
            require(token_ids != nullptr || num_tokens == 0, "token_ids is NULL");
            require(!waiting_, "a step waits for a larger buffer; fetch it or reset first");
            stream_->prefill(token_ids, num_tokens);
            return ELIZA_OK;
        });
    }

    int next(int32_t * tokens_out, size_t tokens_cap, size_t * num_tokens_out, char * text_out, size_t text_cap,
             int32_t * drafter_drafted_out, int32_t * drafter_accepted_out, char ** out_error) override {
        return guarded(out_error, [&] {
            const StepBuffers out = {tokens_out, tokens_cap,          num_tokens_out,      text_out,
                                     text_cap,   drafter_drafted_out, drafter_accepted_out};
            check(out);
            stream_->require_running();
            if (!waiting_) {
                waiting_ = stream_->next();
            }
            require_room(*waiting_, out);
            deliver(*waiting_, out);
            const bool is_final = waiting_->end_reason != ELIZA_END_NONE;
            waiting_.reset();
            return is_final ? 1 : 0;
        });
    }

    int cancel() override {
        stream_->cancel();
        return ELIZA_OK;
    }

    int reset() override {
        return guarded(nullptr, [&] {
            waiting_.reset();
            stream_->reset();
            return ELIZA_OK;
        });
    }

    int reset_keep(int32_t n_keep) override {
        return guarded(nullptr, [&] {
            waiting_.reset();
            return stream_->reset_keep(n_keep);
        });
    }

    int save_slot(const char * filename, char ** out_error) override {
        return guarded(out_error, [&] {
            require(filename != nullptr, "the slot file's name is NULL");
            require(!waiting_, "a step waits for a larger buffer; fetch it or reset first");
            llm::write_slot(stream_->snapshot(), filename);
            return ELIZA_OK;
        });
    }

    int restore_slot(const char * filename, char ** out_error) override {
        return guarded(out_error, [&] {
            require(filename != nullptr, "the slot file's name is NULL");
            const llm::Slot slot = llm::read_slot(filename);
            waiting_.reset();
            stream_->reset();  // like a reset, this ends a cancelled turn
            stream_->adopt(slot);
            return ELIZA_OK;
        });
    }

    int end_reason() const override { return stream_->end_reason(); }

    int tokens_reused() const override { return stream_->tokens_reused(); }

  private:
    std::unique_ptr<llm::TextStream>  stream_;
    std::shared_ptr<llm::PromptCache> prompts_;
    std::string                       key_;
    std::optional<llm::Step>          waiting_;  // computed, but its buffers were too small
};

}  // namespace

std::unique_ptr<LlmBackendSession> open_llama_session(EliInferenceContext &             ctx,
                                                      const eliza_llm_stream_config_t & config) {
    const llm::StreamSettings settings = llm::check_settings(config);
    auto                      model    = require_text_model(ctx, settings.n_gpu_layers);
    auto drafter = settings.draft ? require_drafter(ctx, settings.draft->path, settings.n_gpu_layers) : nullptr;
    auto tell    = [&ctx](const EliVerifierEvent & event) { tell_verified(ctx, event); };
    auto stream  = std::make_unique<llm::TextStream>(std::move(model), std::move(drafter), settings, tell);
    if (!settings.cache_key.empty()) {
        stream->warm_from(ctx.prompts->find(settings.cache_key));
    }
    return std::make_unique<LlamaSession>(std::move(stream), ctx.prompts, settings.cache_key);
}

std::unique_ptr<LlmBackendSession> session_of(std::unique_ptr<llm::TextStream> stream) {
    return std::make_unique<LlamaSession>(std::move(stream), nullptr, "");
}

}  // namespace eliza::backend
