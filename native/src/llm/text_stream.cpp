#include "llm/text_stream.h"

#include "abi/guard.h"
#include "llm/runtime.h"
#include "llm/state_place.h"
#include "llm/threads.h"

#include <algorithm>

namespace eliza::llm {
namespace {

constexpr llama_seq_id sequence          = 0;
constexpr int          smallest_capacity = 8;
// Room for more outputs than a step has: with less the runtime packs its intermediate results so tightly that a
// prompt of 512 tokens was measured a fifth slower. Costs 128 bytes for each word of the vocabulary.
constexpr int least_outputs = 32;

bool is_cancelled(void * flag) {
    return static_cast<std::atomic<bool> *>(flag)->load(std::memory_order_relaxed);
}

// Only to ask what memory more would need takes seconds and gigabytes.
constexpr int most_tokens = 1 << 22;

int checked_limit(const TextModel & model, int wanted) {
    const int trained = model.trained_context();
    if (wanted > trained) {
        throw Failure(ELIZA_ERR_INVALID_ARG, "context_size " + std::to_string(wanted) +
                                                 " is more than the model was trained for (" + std::to_string(trained) +
                                                 ")");
    }
    require(wanted == 0 || wanted >= smallest_capacity, "context_size must be 0 or at least 8");
    const int tokens = wanted == 0 ? trained : wanted;
    require(tokens <= most_tokens, "a context has at most 4194304 tokens");
    return tokens;
}

}  // namespace

TextStream::TextStream(std::shared_ptr<TextModel> model, std::shared_ptr<DraftModel> drafter,
                       const StreamSettings & settings, OnVerified on_verified)
    : model_(std::move(model)), settings_(settings), on_verified_(std::move(on_verified)),
      limit_(checked_limit(*model_, settings.context_size)), sampler_(model_->vocab(), settings.sampler),
      checkpoints_(llama_model_n_swa(model_->get()) > 0) {
    if (drafter != nullptr) {
        drafter->require_fits(*model_);
    }
    open_context();
    if (drafter != nullptr) {
        drafter_ = std::make_unique<Drafter>(std::move(drafter), context_.get(), *settings_.draft, context_params());
    }
}

llama_context_params TextStream::context_params() const {
    llama_context_params params  = llama_context_default_params();
    params.n_ctx                 = static_cast<uint32_t>(limit_);
    params.n_batch               = static_cast<uint32_t>(settings_.batch_tokens);
    params.n_ubatch              = params.n_batch;
    params.n_seq_max             = 1;
    const int outputs_of_a_step  = settings_.draft ? settings_.draft->max_tokens + 1 : 1;
    params.n_outputs_max         = static_cast<uint32_t>(std::max(least_outputs, outputs_of_a_step));
    params.n_outputs_max_per_seq = params.n_outputs_max;
    params.n_threads             = cpu_threads();
    params.n_threads_batch       = params.n_threads;
    params.type_k                = settings_.type_k;
    params.type_v                = settings_.type_v;
    params.swa_full              = false;
    params.offload_kqv           = !is_spilled_;
    params.no_perf               = true;
    params.abort_callback        = is_cancelled;
    params.abort_callback_data   = const_cast<std::atomic<bool> *>(&cancelled_);
    return params;
}

// Short contexts are simply tried; a long one could be granted now and end the process when it fills.
bool TextStream::must_spill() const {
    return limit_ >= spill_from_tokens &&
           place_state(measure_state(model_->path(), settings_.n_gpu_layers, context_params())) == StatePlace::host;
}

void TextStream::open_context() {
    is_spilled_ = must_spill();
    forget_runtime_errors();
    context_.reset(llama_init_from_model(model_->get(), context_params()));
    if (context_ == nullptr) {
        const int status = runtime_ran_out_of_memory() ? ELIZA_ERR_OOM : ELIZA_ERR_FFI_FAULT;
        throw Failure(status, explain("cannot open a context of " + std::to_string(limit_) + " tokens"));
    }
    batch_ = common_batch(context_.get());
}

void TextStream::require_running() const {
    if (cancelled_.load(std::memory_order_relaxed)) {
        throw Failure(ELIZA_ERR_CANCELLED, "the stream was cancelled; reset it to go on");
    }
}

// Decodes batch_ on the text model and lets the drafter see it.
void TextStream::decode() {
    forget_runtime_errors();
    is_broken_       = true;  // until the caches are known to agree again
    const int status = llama_process(context_.get(), LLAMA_PROCESS_TYPE_DECODE, batch_.get());
    require_running();
    if (status != 0) {
        throw Failure(ELIZA_ERR_FFI_FAULT, explain("the runtime failed to decode, code " + std::to_string(status)));
    }
    if (drafter_ != nullptr && !drafter_->observe(batch_)) {
        require_running();
        throw Failure(ELIZA_ERR_FFI_FAULT, explain("the drafter failed to decode"));
    }
    is_broken_ = false;
}

void TextStream::decode_prompt(const std::vector<llama_token> & prompt) {
    const size_t chunk = llama_n_batch(context_.get());
    for (size_t begin = 0; begin < prompt.size(); begin += chunk) {
        require_running();
        const size_t end = std::min(begin + chunk, prompt.size());
        batch_.clear();
        for (size_t i = begin; i < end; ++i) {
            batch_.add(prompt[i], static_cast<llama_pos>(cached_.size() + i - begin), sequence, i + 1 == end);
        }
        decode();
        cached_.insert(cached_.end(), prompt.begin() + static_cast<std::ptrdiff_t>(begin),
                       prompt.begin() + static_cast<std::ptrdiff_t>(end));
        if (end == prompt.size() || checkpoints_.is_due(static_cast<int>(cached_.size()))) {
            checkpoints_.take(context_.get(), static_cast<int>(cached_.size()));
        }
    }
}

void TextStream::prefill(const llama_token * ids, size_t count) {
    require_running();
    require(!is_broken_, "the stream failed before; reset it first");
    decode_media();
    if (count == 0) {
        return;
    }
    const int vocab_size = model_->vocab_size();
    require(count <= static_cast<size_t>(limit_), "the prompt is longer than the context");
    require(std::all_of(ids, ids + count, [&](llama_token id) { return id >= 0 && id < vocab_size; }),
            "a token id lies outside the vocabulary");
    const size_t wanted = static_cast<size_t>(cells_used()) + (pending_ ? 1 : 0) + count;
    if (wanted > static_cast<size_t>(limit_)) {
        throw Failure(ELIZA_ERR_INVALID_ARG, "the prompt needs " + std::to_string(wanted) +
                                                 " tokens, the context holds " + std::to_string(limit_));
    }
    const size_t             known = keep_warm(ids, count);
    std::vector<llama_token> prompt;
    prompt.reserve(count + 1);
    if (pending_) {
        prompt.push_back(*pending_);
    }
    prompt.insert(prompt.end(), ids + known, ids + count);
    tokens_reused_ = static_cast<int>(known);
    clear_turn();
    decode_prompt(prompt);
    std::for_each(ids + known, ids + count, [&](llama_token id) { sampler_.remember_prompt(id); });
    has_logits_ = true;
}

const float * TextStream::logits() const {
    require(has_logits_ && !is_broken_, "there are no logits; prefill first");
    const float * logits = llama_get_logits_ith(context_.get(), -1);
    if (logits == nullptr) {
        throw Failure(ELIZA_ERR_FFI_FAULT, "the runtime gave no logits for this position");
    }
    return logits;
}

Step TextStream::next() {
    require_running();
    require(!is_broken_, "the stream failed before; reset it first");
    if (end_reason_ != ELIZA_END_NONE) {
        Step ended;
        ended.end_reason = end_reason_;
        return ended;
    }
    decode_media();
    require(has_logits_ || pending_, "prefill at least one token before the first step");
    const int  first_index = generated_;
    const Step step        = has_logits_ ? first_step() : verify(propose());
    report(step, first_index);
    return step;
}

Step TextStream::first_step() {
    Step step;
    has_logits_ = false;
    finish(step, sampler_.sample(context_.get(), -1));
    return step;
}

llama_tokens TextStream::propose() {
    const int room      = limit_ - cells_used() - 1;
    const int remaining = settings_.max_tokens > 0 ? settings_.max_tokens - generated_ - 1 : room;
    const int most      = drafter_ == nullptr ? 0 : std::min({settings_.draft->max_tokens, room, remaining});
    if (most <= 0) {
        return {};
    }
    llama_tokens draft = drafter_->propose({static_cast<llama_pos>(cached_.size()), *pending_, cached_, most});
    require_running();  // the driver swallows an abort
    return draft;
}

// Decodes the pending token and the proposals in one batch and keeps the proposals that the model itself
// would have chosen.
Step TextStream::verify(const llama_tokens & draft) {
    batch_.clear();
    batch_.add(*pending_, static_cast<llama_pos>(cached_.size()), sequence, true);
    for (size_t i = 0; i < draft.size(); ++i) {
        batch_.add(draft[i], static_cast<llama_pos>(cached_.size() + 1 + i), sequence, true);
    }
    decode();
    cached_.push_back(*pending_);
    pending_.reset();
    Step        step;
    llama_token sampled = sampler_.sample(context_.get(), 0);
    while (step.tokens.size() < draft.size() && sampled == draft[step.tokens.size()] && !is_end(sampled)) {
        step.tokens.push_back(sampled);
        cached_.push_back(sampled);
        sampled = sampler_.sample(context_.get(), static_cast<int>(step.tokens.size()));
    }
    step.drafted  = static_cast<int>(draft.size());
    step.accepted = static_cast<int>(step.tokens.size());
    if (drafter_ != nullptr) {
        forget_from(static_cast<int>(cached_.size()));
        drafter_->settle(step.accepted, static_cast<llama_pos>(cached_.size()));
    }
    finish(step, sampled);
    return step;
}

// Adds the token that the model chose after the kept proposals, renders the text and sees whether the turn ends.
void TextStream::finish(Step & step, std::optional<llama_token> sampled) {
    if (is_end(*sampled)) {
        end_reason_ = ELIZA_END_OF_TEXT;
    } else {
        step.tokens.push_back(*sampled);
        pending_ = sampled;
    }
    generated_ += static_cast<int>(step.tokens.size());
    for (const llama_token token : step.tokens) {
        step.text += utf8_.push(piece(token));
    }
    if (end_reason_ == ELIZA_END_NONE && settings_.max_tokens > 0 && generated_ >= settings_.max_tokens) {
        end_reason_ = ELIZA_END_MAX_TOKENS;
    } else if (end_reason_ == ELIZA_END_NONE && cells_used() >= limit_) {
        end_reason_ = ELIZA_END_CONTEXT_FULL;
    }
    step.end_reason = end_reason_;
    if (end_reason_ != ELIZA_END_NONE) {
        step.text += utf8_.flush();
    }
}

void TextStream::report(const Step & step, int first_index) const {
    if (!on_verified_) {
        return;
    }
    const bool       was_rejected = step.accepted < step.drafted;
    const size_t     kept         = was_rejected ? static_cast<size_t>(step.accepted) : step.tokens.size();
    EliVerifierEvent event        = {};
    event.accepted_token_ids      = step.tokens.data();
    event.n_accepted              = kept;
    event.rejected_from           = was_rejected ? first_index + step.accepted : -1;
    event.rejected_to             = was_rejected ? first_index + step.drafted : -1;
    event.corrected_token_ids     = step.tokens.data() + kept;
    event.n_corrected             = step.tokens.size() - kept;
    on_verified_(event);
}

void TextStream::forget_from(int position) {
    if (!llama_memory_seq_rm(llama_get_memory(context_.get()), sequence, position, -1)) {
        is_broken_ = true;
        throw Failure(ELIZA_ERR_FFI_FAULT, "the model's memory cannot take tokens back");
    }
}

void TextStream::clear_turn() {
    pending_.reset();
    has_logits_ = false;
    generated_  = 0;
    end_reason_ = ELIZA_END_NONE;
    utf8_.clear();
    sampler_.begin_turn();
}

void TextStream::reset() {
    cancelled_.store(false, std::memory_order_relaxed);
    forget_all();
}

void TextStream::forget_all() {
    clear_turn();
    sampler_.reset();
    media_.reset();
    cached_.clear();
    checkpoints_.truncate(0);
    unseen_cells_ = 0;
    holds_media_  = false;
    llama_memory_clear(llama_get_memory(context_.get()), true);
    if (drafter_ != nullptr) {
        drafter_->truncate(0);
    }
    is_broken_ = false;
}

// A sliding window has let go of old tokens: the first `count` are only useful while the window before them
// is still there.
bool TextStream::cache_covers(int count) const {
    const llama_pos oldest = llama_memory_seq_pos_min(llama_get_memory(context_.get()), sequence);
    const int       window = llama_model_n_swa(model_->get());
    return oldest >= 0 && oldest <= (window > 0 ? std::max(0, count - window + 1) : 0);
}

int TextStream::reset_keep(int count) {
    cancelled_.store(false, std::memory_order_relaxed);
    return keep_first(count);
}

int TextStream::keep_first(int count) {
    const bool is_of_tokens = media_ == nullptr && !holds_media_;
    int        kept         = is_of_tokens ? std::min(count, static_cast<int>(cached_.size())) : 0;
    if (kept > 0 && !cache_covers(kept)) {
        kept = checkpoints_.go_back(context_.get(), kept);
    }
    if (kept <= 0 || !llama_memory_seq_rm(llama_get_memory(context_.get()), sequence, kept, -1)) {
        forget_all();
        return 0;
    }
    clear_turn();
    sampler_.reset();
    cached_.resize(static_cast<size_t>(kept));
    std::for_each(cached_.begin(), cached_.end(), [&](llama_token id) { sampler_.remember_prompt(id); });
    checkpoints_.truncate(kept);
    if (drafter_ != nullptr) {
        drafter_->truncate(kept);
    }
    is_broken_ = false;
    return kept;
}

bool TextStream::is_end(llama_token token) const {
    return llama_vocab_is_eog(model_->vocab(), token);
}

std::string TextStream::piece(llama_token token) const {
    return common_token_to_piece(model_->vocab(), token, /*special=*/false);
}

}  // namespace eliza::llm
