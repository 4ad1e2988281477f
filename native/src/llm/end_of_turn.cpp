#include "llm/end_of_turn.h"

#include "abi/guard.h"

#include <algorithm>
#include <cmath>

namespace eliza::llm {
namespace {

StreamSettings settings_for(const TextModel & model) {
    StreamSettings settings;
    settings.context_size = std::min(static_cast<int>(EndOfTurn::most_tokens), model.trained_context());
    return settings;
}

NextToken judge(const float * logits, int vocab_size, llama_token target) {
    const auto * top = std::max_element(logits, logits + vocab_size);
    double       sum = 0.0;
    for (int id = 0; id < vocab_size; ++id) {
        sum += std::exp(static_cast<double>(logits[id]) - *top);
    }
    if (!std::isfinite(sum)) {
        throw Failure(ELIZA_ERR_FFI_FAULT, "the text model computes no numbers");
    }
    return {static_cast<float>(std::exp(static_cast<double>(logits[target]) - *top) / sum),
            static_cast<llama_token>(top - logits), static_cast<float>(1.0 / sum)};
}

}  // namespace

EndOfTurn::EndOfTurn(std::shared_ptr<TextModel> model)
    : model_(std::move(model)), stream_(model_, nullptr, settings_for(*model_), nullptr) {}

NextToken EndOfTurn::score(const llama_token * ids, size_t count, llama_token target) {
    require(count > 0, "there is no token to judge by");
    require(target >= 0 && target < model_->vocab_size(), "the target token lies outside the vocabulary");
    const size_t        room  = static_cast<size_t>(settings_for(*model_).context_size);
    const llama_token * first = ids + (count > room ? count - room : 0);
    const llama_token * end   = ids + count;
    const auto          most  = static_cast<size_t>(end - first) - 1;  // the last is read for its logits
    const auto          same =
        std::mismatch(read_.begin(), read_.begin() + static_cast<std::ptrdiff_t>(std::min(most, read_.size())), first)
            .second;
    read_.clear();
    const int kept = stream_.reset_keep(static_cast<int>(same - first));
    stream_.prefill(first + kept, static_cast<size_t>(end - first - kept));
    read_.assign(first, end);
    return judge(stream_.logits(), model_->vocab_size(), target);
}

}  // namespace eliza::llm
