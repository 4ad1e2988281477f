// Lifecycle: open and close a bundle, acquire and evict its regions, free what the library handed out.
#include "abi/context.h"

#include "abi/guard.h"
#include "abi/regions.h"
#include "asr/recognizer.h"
#include "eliza/llm_backend.h"
#include "llm/draft_model.h"
#include "llm/embedder.h"
#include "llm/end_of_turn.h"
#include "llm/prompt_cache.h"
#include "llm/runtime.h"
#include "llm/text_model.h"
#include "sight/projector.h"

namespace {

std::filesystem::path checked_folder(const char * bundle_dir) {
    eliza::require(bundle_dir != nullptr, "bundle_dir is NULL");
    std::filesystem::path folder = std::filesystem::u8path(bundle_dir);
    std::error_code       failed;
    if (!std::filesystem::is_directory(folder, failed)) {
        throw eliza::Failure(ELIZA_ERR_BUNDLE_INVALID, "'" + std::string(bundle_dir) + "' is not a folder");
    }
    return folder;
}

}  // namespace

EliInferenceContext::EliInferenceContext(std::filesystem::path dir)
    : bundle_dir(std::move(dir)), bundle_dir_utf8(bundle_dir.u8string()),
      prompts(std::make_shared<eliza::llm::PromptCache>(eliza::llm::prompt_cache_limit())) {}

EliInferenceContext::~EliInferenceContext() = default;

const char * llm_backend_context_bundle_dir(const EliInferenceContext * ctx) {
    return ctx == nullptr ? nullptr : ctx->bundle_dir_utf8.c_str();
}

extern "C" {

EliInferenceContext * eliza_inference_create(const char * bundle_dir, char ** out_error) {
    return eliza::guarded_handle<EliInferenceContext>(out_error, [&] {
        eliza::own_process();
        eliza::llm::start_runtime();
        return new EliInferenceContext(checked_folder(bundle_dir));
    });
}

void eliza_inference_destroy(EliInferenceContext * ctx) {
    if (!eliza::is_forked_child()) {
        delete ctx;
    }
}

int eliza_inference_last_status(void) {
    return eliza::last_handle_status();
}

int eliza_inference_mmap_acquire(EliInferenceContext * ctx, const char * region, char ** out_error) {
    return eliza::guarded(out_error, [&] {
        eliza::require(ctx != nullptr && region != nullptr, "ctx and region must not be NULL");
        eliza::acquire_region(*ctx, region);
        return ELIZA_OK;
    });
}

int eliza_inference_mmap_evict(EliInferenceContext * ctx, const char * region, char ** out_error) {
    return eliza::guarded(out_error, [&] {
        eliza::require(ctx != nullptr && region != nullptr, "ctx and region must not be NULL");
        eliza::evict_region(*ctx, region);
        return ELIZA_OK;
    });
}

void eliza_inference_free_string(char * text) {
    std::free(text);
}

void eliza_inference_free_tokens(int * tokens) {
    std::free(tokens);
}

int eliza_inference_set_verifier_callback(EliInferenceContext * ctx, eliza_verifier_callback callback, void * user_data,
                                          char ** out_error) {
    return eliza::guarded(out_error, [&] {
        eliza::require(ctx != nullptr, "ctx is NULL");
        const std::lock_guard<std::mutex> lock(ctx->text_mutex);
        ctx->on_verified      = callback;
        ctx->on_verified_data = user_data;
        return ELIZA_OK;
    });
}

}  // extern "C"
