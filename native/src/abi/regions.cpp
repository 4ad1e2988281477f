#include "abi/regions.h"

#include "abi/guard.h"
#include "abi/voices.h"
#include "asr/recognizer.h"
#include "bundle/bundle_dir.h"
#include "llm/draft_model.h"
#include "llm/embedder.h"
#include "llm/end_of_turn.h"
#include "llm/prompt_cache.h"
#include "llm/text_model.h"
#include "sight/projector.h"
#include "vad/model.h"

#include <utility>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace eliza {
namespace {

constexpr int all_layers = -1;

enum class Region { text, vision, mtp, tts, vad, asr, embedding, not_built };

Region named_region(const std::string & name) {
    if (name == "text") {
        return Region::text;
    }
    if (name == "vision") {
        return Region::vision;
    }
    if (name == "mtp" || name == "dflash") {
        return Region::mtp;
    }
    if (name == "tts") {
        return Region::tts;
    }
    if (name == "vad") {
        return Region::vad;
    }
    if (name == "asr") {
        return Region::asr;
    }
    if (name == "embedding") {
        return Region::embedding;
    }
    if (name == "wakeword") {
        return Region::not_built;
    }
    throw Failure(ELIZA_ERR_INVALID_ARG, "there is no region '" + name +
                                             "'; known: text, vision, mtp, dflash, tts, vad, asr, embedding, wakeword");
}

[[noreturn]] void refuse_not_built(const std::string & name) {
    throw Failure(ELIZA_ERR_NOT_IMPLEMENTED, "the region '" + name + "' is not part of this build");
}

// The caller holds text_mutex.
std::shared_ptr<llm::TextModel> load_text(EliInferenceContext & ctx, int n_gpu_layers) {
    require(!ctx.is_text_evicted, "the region 'text' is evicted; acquire it first");
    if (ctx.text_model == nullptr) {
        ctx.text_model = std::make_shared<llm::TextModel>(bundle::find_text_model(ctx.bundle_dir), n_gpu_layers);
    }
    return ctx.text_model;
}

// The caller holds text_mutex.
std::shared_ptr<llm::DraftModel> load_drafter(EliInferenceContext & ctx, const std::filesystem::path & path,
                                              int n_gpu_layers) {
    require(!ctx.is_mtp_evicted, "the region 'mtp' is evicted; acquire it first");
    if (ctx.drafter == nullptr || ctx.drafter->path() != path) {
        ctx.drafter = std::make_shared<llm::DraftModel>(path, n_gpu_layers);
    }
    return ctx.drafter;
}

// The caller holds text_mutex.
std::shared_ptr<sight::Projector> load_projector(EliInferenceContext & ctx, const std::filesystem::path & path) {
    require(!ctx.is_vision_evicted, "the region 'vision' is evicted; acquire it first");
    auto model = load_text(ctx, all_layers);
    if (ctx.projector == nullptr || ctx.projector->path() != path || ctx.projector->shared_model() != model) {
        ctx.projector = std::make_shared<sight::Projector>(path, std::move(model));
    }
    return ctx.projector;
}

// A region that cannot be loaded stays evicted.
template <typename Load> void acquire(bool & is_evicted, Load && load) {
    const bool before = std::exchange(is_evicted, false);
    try {
        load();
    } catch (...) {
        is_evicted = before;
        throw;
    }
}

void set_tts_evicted(EliInferenceContext & ctx, bool is_evicted) {
    const std::lock_guard lock(ctx.tts_mutex);
    if (!is_evicted) {
        return acquire(ctx.is_tts_evicted, [&] { bundle_voice(ctx, nullptr); });
    }
    ctx.is_tts_evicted = true;
    ctx.voice.reset();
    ctx.presets.clear();
}

void set_embedding_evicted(EliInferenceContext & ctx, bool is_evicted) {
    const std::lock_guard<std::mutex> lock(ctx.meaning_mutex);
    if (!is_evicted) {
        return acquire(ctx.is_embedding_evicted, [&] { require_embedder(ctx); });
    }
    ctx.is_embedding_evicted = true;
    ctx.embedder.reset();
}

// What reads with the text model goes with it.
void set_text_evicted(EliInferenceContext & ctx, bool is_evicted) {
    const std::lock_guard<std::mutex> asr_lock(ctx.asr_mutex);
    const std::lock_guard<std::mutex> meaning_lock(ctx.meaning_mutex);
    const std::lock_guard<std::mutex> lock(ctx.text_mutex);
    if (is_evicted) {
        ctx.end_of_turn.reset();
    }
    if (is_evicted && ctx.recognizer != nullptr && ctx.recognizer->reads_with(ctx.text_model.get())) {
        ctx.recognizer.reset();
    }
    if (is_evicted && ctx.embedder != nullptr && ctx.embedder->reads_with(ctx.text_model.get())) {
        ctx.embedder.reset();
    }
    if (!is_evicted) {
        acquire(ctx.is_text_evicted, [&] { load_text(ctx, all_layers); });
        return ctx.prompts->open();
    }
    ctx.is_text_evicted = true;
    ctx.projector.reset();  // it points into the model
    ctx.text_model.reset();
    ctx.prompts->shut();
}

void set_vision_evicted(EliInferenceContext & ctx, bool is_evicted) {
    const std::lock_guard<std::mutex> lock(ctx.text_mutex);
    if (!is_evicted) {
        return acquire(ctx.is_vision_evicted, [&] { load_projector(ctx, bundle::find_projector(ctx.bundle_dir)); });
    }
    ctx.is_vision_evicted = true;
    ctx.projector.reset();
}

void set_mtp_evicted(EliInferenceContext & ctx, bool is_evicted) {
    const std::lock_guard<std::mutex> lock(ctx.text_mutex);
    if (!is_evicted) {
        return acquire(ctx.is_mtp_evicted,
                       [&] { load_drafter(ctx, bundle::find_drafter(ctx.bundle_dir), all_layers); });
    }
    ctx.is_mtp_evicted = true;
    ctx.drafter.reset();
}

void set_asr_evicted(EliInferenceContext & ctx, bool is_evicted) {
    const std::lock_guard<std::mutex> lock(ctx.asr_mutex);
    if (!is_evicted) {
        return acquire(ctx.is_asr_evicted, [&] { require_recognizer(ctx); });
    }
    ctx.is_asr_evicted = true;
    ctx.recognizer.reset();
}

void set_vad_evicted(EliInferenceContext & ctx, bool is_evicted) {
    {
        const std::lock_guard<std::mutex> lock(ctx.vad_mutex);
        ctx.is_vad_evicted = is_evicted;
        ctx.vad_weights.reset();
    }
    if (!is_evicted) {
        auto                              weights = require_vad(ctx);
        const std::lock_guard<std::mutex> lock(ctx.vad_mutex);
        ctx.vad_weights = std::move(weights);
    }
}

// What was freed in small pieces goes back to the device too; large pieces were given back at once.
void return_freed_memory() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

void set_evicted(EliInferenceContext & ctx, const std::string & name, bool is_evicted) {
    switch (named_region(name)) {
    case Region::text:
        return set_text_evicted(ctx, is_evicted);
    case Region::vision:
        return set_vision_evicted(ctx, is_evicted);
    case Region::mtp:
        return set_mtp_evicted(ctx, is_evicted);
    case Region::tts:
        return set_tts_evicted(ctx, is_evicted);
    case Region::vad:
        return set_vad_evicted(ctx, is_evicted);
    case Region::asr:
        return set_asr_evicted(ctx, is_evicted);
    case Region::embedding:
        return set_embedding_evicted(ctx, is_evicted);
    case Region::not_built:
        refuse_not_built(name);
    }
}

}  // namespace

std::shared_ptr<llm::TextModel> require_text_model(EliInferenceContext & ctx, int n_gpu_layers) {
    const std::lock_guard<std::mutex> lock(ctx.text_mutex);
    return load_text(ctx, n_gpu_layers);
}

std::shared_ptr<llm::DraftModel> require_drafter(EliInferenceContext & ctx, const std::filesystem::path & path,
                                                 int n_gpu_layers) {
    const std::lock_guard<std::mutex> lock(ctx.text_mutex);
    return load_drafter(ctx, path, n_gpu_layers);
}

llm::Embedder & require_embedder(EliInferenceContext & ctx) {
    require(!ctx.is_embedding_evicted, "the region 'embedding' is evicted; acquire it first");
    if (ctx.embedder == nullptr) {
        const auto own = bundle::find_embedding_model(ctx.bundle_dir);
        auto model     = own ? std::make_shared<llm::TextModel>(*own, all_layers) : require_text_model(ctx, all_layers);
        ctx.embedder   = std::make_unique<llm::Embedder>(std::move(model));
    }
    return *ctx.embedder;
}

llm::EndOfTurn & require_end_of_turn(EliInferenceContext & ctx) {
    if (ctx.end_of_turn == nullptr) {
        ctx.end_of_turn = std::make_unique<llm::EndOfTurn>(require_text_model(ctx, all_layers));
    }
    return *ctx.end_of_turn;
}

std::shared_ptr<sight::Projector> require_projector(EliInferenceContext & ctx, const std::filesystem::path & path) {
    const std::lock_guard<std::mutex> lock(ctx.text_mutex);
    return load_projector(ctx, path);
}

asr::Recognizer & require_recognizer(EliInferenceContext & ctx) {
    require(!ctx.is_asr_evicted, "the region 'asr' is evicted; acquire it first");
    if (ctx.recognizer == nullptr) {
        ctx.recognizer = asr::open_recognizer(ctx.bundle_dir, [&ctx] { return require_text_model(ctx, all_layers); });
    }
    return *ctx.recognizer;
}

std::shared_ptr<const vad::Weights> require_vad(EliInferenceContext & ctx) {
    const std::lock_guard<std::mutex> lock(ctx.vad_mutex);
    require(!ctx.is_vad_evicted, "the region 'vad' is evicted; acquire it first");
    return ctx.vad_weights != nullptr ? ctx.vad_weights : vad::load_weights(vad::find_model(ctx.bundle_dir));
}

void acquire_region(EliInferenceContext & ctx, const std::string & region) {
    set_evicted(ctx, region, false);
}

void evict_region(EliInferenceContext & ctx, const std::string & region) {
    set_evicted(ctx, region, true);
    return_freed_memory();
}

void tell_verified(EliInferenceContext & ctx, const EliVerifierEvent & event) {
    eliza_verifier_callback callback  = nullptr;
    void *                  user_data = nullptr;
    {
        const std::lock_guard<std::mutex> lock(ctx.text_mutex);
        callback  = ctx.on_verified;
        user_data = ctx.on_verified_data;
    }
    if (callback != nullptr) {
        callback(&event, user_data);
    }
}

}  // namespace eliza
