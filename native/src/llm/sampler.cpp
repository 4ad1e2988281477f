#include "llm/sampler.h"

#include "abi/guard.h"
#include "llm/grammar_check.h"
#include "llm/runtime.h"

#include <algorithm>
#include <cmath>

namespace eliza::llm {
namespace {

constexpr int penalty_window_tokens = 64;

llama_sampler_ptr make_grammar(const llama_vocab * vocab, const std::string & grammar) {
    if (grammar.empty()) {
        return nullptr;
    }
    check_grammar(grammar);
    forget_runtime_errors();
    llama_sampler_ptr sampler(llama_sampler_init_grammar(vocab, grammar.c_str(), "root"));
    if (sampler == nullptr) {
        throw Failure(ELIZA_ERR_INVALID_ARG, explain("the grammar does not parse"));
    }
    return sampler;
}

llama_sampler_ptr make_chain(int vocab_size, const SamplerSettings & settings) {
    llama_sampler_ptr chain(llama_sampler_chain_init(llama_sampler_chain_default_params()));
    const auto        add = [&](llama_sampler * sampler) { llama_sampler_chain_add(chain.get(), sampler); };
    if (settings.repeat_penalty != 1.0f) {
        add(llama_sampler_init_penalties(vocab_size, penalty_window_tokens, settings.repeat_penalty, 0.0f, 0.0f));
    }
    if (settings.temperature <= 0.0f) {
        add(llama_sampler_init_greedy());
        return chain;
    }
    if (settings.top_k > 0) {
        add(llama_sampler_init_top_k(settings.top_k));
    }
    if (settings.top_p < 1.0f) {
        add(llama_sampler_init_top_p(settings.top_p, 1));
    }
    add(llama_sampler_init_temp(settings.temperature));
    add(llama_sampler_init_dist(LLAMA_DEFAULT_SEED));
    return chain;
}

}  // namespace

Sampler::Sampler(const llama_vocab * vocab, const SamplerSettings & settings)
    : vocab_size_(llama_vocab_n_tokens(vocab)), is_greedy_(settings.temperature <= 0.0f),
      grammar_(make_grammar(vocab, settings.grammar)), chain_(make_chain(vocab_size_, settings)) {
    is_plain_greedy_ = is_greedy_ && grammar_ == nullptr && settings.repeat_penalty == 1.0f;
}

void Sampler::fill(llama_context * context, int index) {
    const float * logits = llama_get_logits_ith(context, index);
    if (logits == nullptr) {
        throw Failure(ELIZA_ERR_FFI_FAULT, "the runtime gave no logits for this position");
    }
    candidates_.resize(static_cast<size_t>(vocab_size_));
    for (int id = 0; id < vocab_size_; ++id) {
        candidates_[static_cast<size_t>(id)] = {id, logits[id], 0.0f};
    }
    view_ = {candidates_.data(), candidates_.size(), -1, false};
}

llama_token Sampler::choose() {
    llama_sampler_apply(chain_.get(), &view_);
    if (view_.selected < 0 || view_.selected >= static_cast<int64_t>(view_.size)) {
        throw Failure(ELIZA_ERR_FFI_FAULT, "the sampler chose no token");
    }
    return view_.data[view_.selected].id;
}

bool Sampler::grammar_allows(llama_token token) const {
    llama_token_data       single = {token, 1.0f, 0.0f};
    llama_token_data_array alone  = {&single, 1, -1, false};
    llama_sampler_apply(grammar_.get(), &alone);
    return !std::isinf(single.logit);
}

llama_token Sampler::sample(llama_context * context, int index) {
    llama_token token = 0;
    if (is_plain_greedy_) {
        const float * logits = llama_get_logits_ith(context, index);
        if (logits == nullptr) {
            throw Failure(ELIZA_ERR_FFI_FAULT, "the runtime gave no logits for this position");
        }
        return static_cast<llama_token>(std::max_element(logits, logits + vocab_size_) - logits);
    }
    fill(context, index);
    // Walking a grammar over the whole vocabulary is slow. A greedy choice that the grammar allows is the
    // one it would have left on top, so the walk is only needed when it does not.
    if (grammar_ != nullptr && !is_greedy_) {
        llama_sampler_apply(grammar_.get(), &view_);
    }
    token = choose();
    if (grammar_ != nullptr && is_greedy_ && !grammar_allows(token)) {
        fill(context, index);
        llama_sampler_apply(grammar_.get(), &view_);
        token = choose();
    }
    if (grammar_ != nullptr) {
        llama_sampler_accept(grammar_.get(), token);
    }
    llama_sampler_accept(chain_.get(), token);
    return token;
}

void Sampler::remember_prompt(llama_token token) {
    if (!is_plain_greedy_) {
        llama_sampler_accept(chain_.get(), token);
    }
}

void Sampler::begin_turn() {
    if (grammar_ != nullptr) {
        llama_sampler_reset(grammar_.get());
    }
}

void Sampler::reset() {
    begin_turn();
    llama_sampler_reset(chain_.get());
}

}  // namespace eliza::llm
