// One loaded projector: turns pictures and sound into the text model's embeddings.
#pragma once

#include "llm/text_model.h"
#include "mtmd.h"
#include "sight/projector_facts.h"

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>

namespace eliza::sight {

class Projector {
  public:
    // Throws Failure: BUNDLE_INVALID for a file that is no projector or does not fit the model, NOT_IMPLEMENTED for
    // a kind that is not served, OOM.
    Projector(const std::filesystem::path & path, std::shared_ptr<llm::TextModel> model);

    const std::filesystem::path &   path() const noexcept { return path_; }
    const llm::TextModel &          model() const noexcept { return *model_; }
    std::shared_ptr<llm::TextModel> shared_model() const noexcept { return model_; }
    mtmd_context *                  get() const noexcept { return context_.get(); }
    bool                            sees() const { return mtmd_support_vision(get()); }
    bool                            hears() const { return mtmd_support_audio(get()); }

    // Encodes one picture or sound and gives its embeddings to `use` (float *, valid during the call); one caller at
    // a time. Throws Failure: CANCELLED, OOM, FFI_FAULT, and what `use` throws.
    template <typename Use>
    void encode(const mtmd_input_chunk * chunk, const std::atomic<bool> & cancelled, Use && use) {
        const std::lock_guard<std::mutex> lock(mutex_);
        use(encode_locked(chunk, cancelled));
    }

  private:
    static bool on_node(ggml_tensor * node, bool ask, void * self);
    void        load();
    float *     encode_locked(const mtmd_input_chunk * chunk, const std::atomic<bool> & cancelled);

    const std::filesystem::path           path_;
    const std::shared_ptr<llm::TextModel> model_;  // the context below points into it
    std::mutex                            mutex_;  // guards what follows
    const std::atomic<bool> *             cancelled_ = nullptr;
    int                                   asked_     = 0;
    mtmd::context_ptr                     context_;
};

}  // namespace eliza::sight
