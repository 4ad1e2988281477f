// The drafter's weights and what kind of drafter they make.
#pragma once

#include "common.h"
#include "llama-cpp.h"
#include "llm/text_model.h"

#include <filesystem>

namespace eliza::llm {

class DraftModel {
  public:
    // Maps the weights. Throws Failure: BUNDLE_INVALID for a file that is no drafter at all, OOM.
    DraftModel(const std::filesystem::path & path, int n_gpu_layers);

    // Throws Failure(BUNDLE_INVALID) with the reason when this drafter cannot draft for `target`:
    // llama.cpp would stop the process instead.
    void require_fits(const TextModel & target) const;

    llama_model *                 get() const noexcept { return model_.get(); }
    common_speculative_type       kind() const noexcept { return kind_; }
    const std::filesystem::path & path() const noexcept { return path_; }

  private:
    void              require_same_vocabulary(const TextModel & target) const;
    void              require_same_attention(const TextModel & target) const;
    [[noreturn]] void refuse(const std::string & reason) const;

    std::filesystem::path   path_;
    std::string             architecture_;
    common_speculative_type kind_ = COMMON_SPECULATIVE_TYPE_NONE;
    llama_model_ptr         model_;
};

}  // namespace eliza::llm
