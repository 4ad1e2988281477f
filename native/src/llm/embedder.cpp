#include "llm/embedder.h"

#include "abi/guard.h"
#include "common.h"
#include "llm/runtime.h"
#include "llm/threads.h"
#include "llm/tokens.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace eliza::llm {
namespace {

constexpr llama_seq_id sequence     = 0;
constexpr size_t       batch_tokens = 512;
constexpr size_t       usual_tokens = 2048;  // larger texts get a larger context, and keep it

void normalise(std::vector<float> & vector) {
    double sum = 0.0;
    for (const float x : vector) {
        sum += static_cast<double>(x) * x;
    }
    const double length = std::sqrt(sum);
    if (!(length > 0.0) || !std::isfinite(length)) {
        throw Failure(ELIZA_ERR_FFI_FAULT, "the model gave a vector without direction");
    }
    for (float & x : vector) {
        x = static_cast<float>(x / length);
    }
}

// Without a causal order every token sees all others, so the whole text must be one batch.
bool is_causal(const TextModel & model) {
    std::array<char, 16> answer = {};
    const std::string    key    = model.architecture() + ".attention.causal";
    llama_model_meta_val_str(model.get(), key.c_str(), answer.data(), answer.size());
    return std::string(answer.data()) != "false";
}

}  // namespace

Embedder::Embedder(std::shared_ptr<TextModel> model) : model_(std::move(model)) {}

void Embedder::make_room(size_t tokens) {
    const auto trained = static_cast<size_t>(model_->trained_context());
    if (tokens > trained) {
        throw Failure(ELIZA_ERR_INVALID_ARG,
                      "the text has " + std::to_string(tokens) + " tokens, the model reads " + std::to_string(trained));
    }
    if (tokens <= room_) {
        return;
    }
    room_                        = std::min(std::max(tokens, usual_tokens), trained);
    const size_t         batch   = is_causal(*model_) ? std::min(batch_tokens, room_) : room_;
    llama_context_params params  = llama_context_default_params();
    params.n_ctx                 = static_cast<uint32_t>(room_);
    params.n_batch               = static_cast<uint32_t>(batch);
    params.n_ubatch              = params.n_batch;
    params.n_seq_max             = 1;
    params.n_outputs_max         = params.n_batch;
    params.n_outputs_max_per_seq = params.n_batch;
    params.n_threads             = cpu_threads();
    params.n_threads_batch       = params.n_threads;
    params.embeddings            = true;
    params.pooling_type          = LLAMA_POOLING_TYPE_NONE;
    params.swa_full              = false;
    params.no_perf               = true;
    context_.reset();
    forget_runtime_errors();
    context_.reset(llama_init_from_model(model_->get(), params));
    if (context_ == nullptr) {
        room_            = 0;
        const int status = runtime_ran_out_of_memory() ? ELIZA_ERR_OOM : ELIZA_ERR_FFI_FAULT;
        throw Failure(status, explain("cannot open a context for embeddings"));
    }
}

std::vector<float> Embedder::pool(const std::vector<llama_token> & tokens, int pooling) {
    std::vector<double> sum(static_cast<size_t>(width()));
    common_batch        batch(context_.get());
    const size_t        chunk = llama_n_batch(context_.get());
    llama_memory_clear(llama_get_memory(context_.get()), true);
    for (size_t begin = 0; begin < tokens.size(); begin += chunk) {
        const size_t end = std::min(begin + chunk, tokens.size());
        batch.clear();
        for (size_t i = begin; i < end; ++i) {
            batch.add(tokens[i], static_cast<llama_pos>(i), sequence, true);
        }
        if (llama_process(context_.get(), LLAMA_PROCESS_TYPE_DECODE, batch.get()) != 0) {
            throw Failure(ELIZA_ERR_FFI_FAULT, explain("the runtime failed to read the text"));
        }
        for (size_t i = begin; i < end; ++i) {
            const bool    is_wanted = pooling == ELIZA_POOLING_MEAN || (pooling == ELIZA_POOLING_CLS && i == 0) ||
                                      (pooling == ELIZA_POOLING_LAST && i + 1 == tokens.size());
            const float * row =
                is_wanted ? llama_get_embeddings_ith(context_.get(), static_cast<int>(i - begin)) : nullptr;
            require(!is_wanted || row != nullptr, "the runtime gave no vector for a token");
            for (size_t at = 0; is_wanted && at < sum.size(); ++at) {
                sum[at] += row[at];
            }
        }
    }
    return {sum.begin(), sum.end()};
}

std::vector<float> Embedder::embed(std::string_view text, int pooling) {
    require(pooling == ELIZA_POOLING_MEAN || pooling == ELIZA_POOLING_CLS || pooling == ELIZA_POOLING_LAST,
            "pooling must be MEAN, CLS or LAST");
    const auto tokens = tokenize(model_->vocab(), text, /*add_special=*/true, /*parse_special=*/false);
    require(!tokens.empty(), "the text has no token");
    make_room(tokens.size());
    std::vector<float> vector = pool(tokens, pooling);
    normalise(vector);
    return vector;
}

std::vector<float> cut_embedding(std::vector<float> vector, int dimensions) {
    if (dimensions < 1 || static_cast<size_t>(dimensions) > vector.size()) {
        throw Failure(ELIZA_ERR_INVALID_ARG, "dimensions must lie in [1, " + std::to_string(vector.size()) + "]");
    }
    if (static_cast<size_t>(dimensions) < vector.size()) {
        vector.resize(static_cast<size_t>(dimensions));
        normalise(vector);
    }
    return vector;
}

}  // namespace eliza::llm
