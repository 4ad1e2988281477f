#include "llm/drafter.h"

#include "abi/guard.h"
#include "llm/runtime.h"

#include <algorithm>

namespace eliza::llm {
namespace {

constexpr llama_seq_id sequence = 0;

llama_context_ptr make_context(const DraftModel & model, llama_context * target, llama_context_params params) {
    params.n_ctx                 = llama_n_ctx(target);
    params.type_k                = GGML_TYPE_F16;
    params.type_v                = GGML_TYPE_F16;
    params.n_outputs_max         = 1;
    params.n_outputs_max_per_seq = 1;
    params.ctx_other             = target;
    if (model.kind() == COMMON_SPECULATIVE_TYPE_DRAFT_MTP) {
        params.ctx_type = LLAMA_CONTEXT_TYPE_MTP;
    }
    forget_runtime_errors();
    llama_context_ptr context(llama_init_from_model(model.get(), params));
    if (context == nullptr) {
        const int status = runtime_ran_out_of_memory() ? ELIZA_ERR_OOM : ELIZA_ERR_BUNDLE_INVALID;
        throw Failure(status, explain("cannot open the drafter '" + model.path().u8string() + "'"));
    }
    return context;
}

}  // namespace

Drafter::Drafter(std::shared_ptr<DraftModel> model, llama_context * target, const DraftSettings & settings,
                 const llama_context_params & target_params)
    : model_(std::move(model)), context_(make_context(*model_, target, target_params)) {
    params_.types         = {model_->kind()};
    params_.draft.n_max   = settings.max_tokens;
    params_.draft.n_min   = settings.min_tokens;
    params_.draft.ctx_tgt = target;
    params_.draft.ctx_dft = context_.get();
    start();
}

void Drafter::start() {
    driver_.reset();
    try {
        driver_.reset(common_speculative_init(params_, 1));
    } catch (const std::runtime_error & error) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID, "the drafter '" + model_->path().u8string() + "': " + error.what());
    }
    if (driver_ == nullptr) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID, "the drafter '" + model_->path().u8string() + "' cannot be driven");
    }
}

bool Drafter::observe(const common_batch & batch) {
    return common_speculative_process(driver_.get(), batch);
}

llama_tokens Drafter::propose(const DraftRequest & request) {
    llama_tokens draft;
    common_speculative_get_draft_params(driver_.get(), sequence) = {
        /*.drafting =*/true,
        /*.n_max =*/request.max_tokens,
        /*.pos0 =*/request.position,
        /*.id_last =*/request.last,
        /*.prompt =*/&request.history,
        /*.result =*/&draft,
    };
    common_speculative_draft(driver_.get());
    // The drafter decoded its own proposals; verification will show them to it again.
    forget_from(request.position);
    if (draft.size() > static_cast<size_t>(request.max_tokens)) {
        draft.resize(static_cast<size_t>(request.max_tokens));
    }
    return draft;
}

void Drafter::settle(int accepted, llama_pos position) {
    common_speculative_accept(driver_.get(), sequence, static_cast<uint16_t>(accepted));
    forget_from(position);
}

void Drafter::truncate(llama_pos position) {
    if (position == 0) {
        llama_memory_clear(llama_get_memory(context_.get()), true);
        start();
    } else {
        forget_from(position);
    }
}

std::vector<uint8_t> Drafter::state() const {
    if (model_->kind() == COMMON_SPECULATIVE_TYPE_DRAFT_MTP) {
        return {};
    }
    std::vector<uint8_t> bytes(llama_state_seq_get_size(context_.get(), sequence));
    bytes.resize(llama_state_seq_get_data(context_.get(), bytes.data(), bytes.size(), sequence));
    return bytes;
}

void Drafter::restore(const std::vector<uint8_t> & state, llama_pos position) {
    if (model_->kind() == COMMON_SPECULATIVE_TYPE_DRAFT_MTP) {
        return start();  // its attention state is the target's, and that is there already
    }
    truncate(0);
    if (!state.empty() && llama_state_seq_set_data(context_.get(), state.data(), state.size(), sequence) != 0) {
        forget_from(position);
    }
}

void Drafter::forget_from(llama_pos position) {
    llama_memory_seq_rm(llama_get_memory(context_.get()), sequence, position, -1);
}

}  // namespace eliza::llm
