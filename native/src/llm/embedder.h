// What a text means, as a vector of length one.
#pragma once

#include "llm/text_model.h"

#include <memory>
#include <string_view>
#include <vector>

namespace eliza::llm {

// How the vectors of a text's tokens become one: ELIZA_POOLING_MEAN, _CLS (the first token's) or _LAST.
class Embedder {
  public:
    explicit Embedder(std::shared_ptr<TextModel> model);

    // `pooling` must be one of the three. Throws Failure: INVALID_ARG (another pooling, no token, a text longer than
    // the model's context), OOM, FFI_FAULT.
    std::vector<float> embed(std::string_view text, int pooling);

    // Whether it keeps this model in memory.
    bool reads_with(const TextModel * model) const noexcept { return model_.get() == model; }
    int  width() const noexcept { return llama_model_n_embd_out(model_->get()); }

  private:
    void               make_room(size_t tokens);
    std::vector<float> pool(const std::vector<llama_token> & tokens, int pooling);

    const std::shared_ptr<TextModel> model_;
    llama_context_ptr                context_;
    size_t                           room_ = 0;  // tokens
};

// The first `dimensions` of a vector, brought back to length one (Matryoshka representation: the leading part of a
// vector is a vector of its own, for models trained that way).
std::vector<float> cut_embedding(std::vector<float> vector, int dimensions);

}  // namespace eliza::llm
