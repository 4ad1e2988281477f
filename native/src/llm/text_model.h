// The bundle's text model: weights and vocabulary, mapped once and shared by every stream.
#pragma once

#include "llama-cpp.h"

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

namespace eliza::llm {

class TextModel {
  public:
    // Maps the weights. Throws Failure: BUNDLE_INVALID for a file that is no text model, OOM.
    TextModel(const std::filesystem::path & path, int n_gpu_layers);

    llama_model *       get() const noexcept { return model_.get(); }
    const llama_vocab * vocab() const noexcept { return llama_model_get_vocab(model_.get()); }
    int                 vocab_size() const noexcept { return llama_vocab_n_tokens(vocab()); }
    // Tokens that the model was trained for.
    int                           trained_context() const noexcept { return llama_model_n_ctx_train(model_.get()); }
    const std::filesystem::path & path() const noexcept { return path_; }
    // Tells this file from others of the same shape: its size and a hash of pages all over it. Throws
    // Failure(BUNDLE_INVALID) when the file is gone.
    const std::string & mark();
    const std::string & architecture() const noexcept { return architecture_; }

  private:
    std::filesystem::path path_;
    std::string           architecture_;
    std::once_flag        is_marked_;
    std::string           mark_;
    llama_model_ptr       model_;
};

// Loads any llama.cpp model file with mmap. Throws Failure: BUNDLE_INVALID, OOM.
llama_model_ptr load_weights(const std::filesystem::path & path, int n_gpu_layers);

}  // namespace eliza::llm
