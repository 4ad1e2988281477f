#include "abi/regions.h"

#include "abi/guard.h"
#include "abi/voices.h"
#include "asr/recognizer.h"
#include "bundle/bundle_dir.h"
#include "llm/draft_model.h"
#include "llm/text_model.h"
#include "sight/projector.h"
#include "vad/model.h"

namespace eliza {
namespace {

constexpr int all_layers = -1;

enum class Region { text, vision, mtp, tts, vad, asr, not_built };

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
    if (name == "wakeword") {
        return Region::not_built;
    }
    throw Failure(ELIZA_ERR_INVALID_ARG,
                  "there is no region '" + name + "'; known: text, vision, mtp, dflash, tts, vad, asr, wakeword");
}

[[noreturn]] void refuse_not_built(const std::string & name) {
    throw Failure(ELIZA_ERR_NOT_IMPLEMENTED, "the region '" + name + "' is not part of this build");
}

void require_voice(EliInferenceContext & ctx) {
    const std::lock_guard<std::mutex> lock(ctx.tts_mutex);
    bundle_voice(ctx, nullptr);
}

void set_text_evicted(EliInferenceContext & ctx, bool is_evicted) {
    const std::lock_guard<std::mutex> lock(ctx.text_mutex);
    ctx.is_text_evicted = is_evicted;
    if (is_evicted) {
        ctx.projector.reset();  // it points into the model
        ctx.text_model.reset();
    }
}

void set_vision_evicted(EliInferenceContext & ctx, bool is_evicted) {
    const std::lock_guard<std::mutex> lock(ctx.text_mutex);
    ctx.is_vision_evicted = is_evicted;
    if (is_evicted) {
        ctx.projector.reset();
    }
}

void set_mtp_evicted(EliInferenceContext & ctx, bool is_evicted) {
    const std::lock_guard<std::mutex> lock(ctx.text_mutex);
    ctx.is_mtp_evicted = is_evicted;
    if (is_evicted) {
        ctx.drafter.reset();
    }
}

void set_asr_evicted(EliInferenceContext & ctx, bool is_evicted) {
    const std::lock_guard<std::mutex> lock(ctx.asr_mutex);
    ctx.is_asr_evicted = is_evicted;
    if (is_evicted) {
        ctx.recognizer.reset();
    } else {
        require_recognizer(ctx);
    }
}

void load_vad(EliInferenceContext & ctx) {
    auto                              weights = vad::load_weights(vad::find_model(ctx.bundle_dir));
    const std::lock_guard<std::mutex> lock(ctx.vad_mutex);
    ctx.vad_weights = std::move(weights);
}

}  // namespace

std::shared_ptr<llm::TextModel> require_text_model(EliInferenceContext & ctx, int n_gpu_layers) {
    const std::lock_guard<std::mutex> lock(ctx.text_mutex);
    require(!ctx.is_text_evicted, "the region 'text' is evicted; acquire it first");
    if (ctx.text_model == nullptr) {
        ctx.text_model = std::make_shared<llm::TextModel>(bundle::find_text_model(ctx.bundle_dir), n_gpu_layers);
    }
    return ctx.text_model;
}

std::shared_ptr<llm::DraftModel> require_drafter(EliInferenceContext & ctx, const std::filesystem::path & path,
                                                 int n_gpu_layers) {
    const std::lock_guard<std::mutex> lock(ctx.text_mutex);
    require(!ctx.is_mtp_evicted, "the region 'mtp' is evicted; acquire it first");
    if (ctx.drafter == nullptr || ctx.drafter->path() != path) {
        ctx.drafter = std::make_shared<llm::DraftModel>(path, n_gpu_layers);
    }
    return ctx.drafter;
}

std::shared_ptr<sight::Projector> require_projector(EliInferenceContext & ctx, const std::filesystem::path & path) {
    auto                              model = require_text_model(ctx, all_layers);
    const std::lock_guard<std::mutex> lock(ctx.text_mutex);
    require(!ctx.is_vision_evicted, "the region 'vision' is evicted; acquire it first");
    if (ctx.projector == nullptr || ctx.projector->path() != path || ctx.projector->shared_model() != model) {
        ctx.projector = std::make_shared<sight::Projector>(path, std::move(model));
    }
    return ctx.projector;
}

asr::Recognizer & require_recognizer(EliInferenceContext & ctx) {
    require(!ctx.is_asr_evicted, "the region 'asr' is evicted; acquire it first");
    if (ctx.recognizer == nullptr) {
        ctx.recognizer = asr::open_recognizer(ctx.bundle_dir);
    }
    return *ctx.recognizer;
}

void acquire_region(EliInferenceContext & ctx, const std::string & region) {
    switch (named_region(region)) {
    case Region::text:
        set_text_evicted(ctx, false);
        require_text_model(ctx, all_layers);
        return;
    case Region::vision:
        set_vision_evicted(ctx, false);
        require_projector(ctx, bundle::find_projector(ctx.bundle_dir));
        return;
    case Region::mtp:
        set_mtp_evicted(ctx, false);
        require_drafter(ctx, bundle::find_drafter(ctx.bundle_dir), all_layers);
        return;
    case Region::tts:
        return require_voice(ctx);
    case Region::vad:
        return load_vad(ctx);
    case Region::asr:
        return set_asr_evicted(ctx, false);
    case Region::not_built:
        refuse_not_built(region);
    }
}

void evict_region(EliInferenceContext & ctx, const std::string & region) {
    switch (named_region(region)) {
    case Region::text:
        return set_text_evicted(ctx, true);
    case Region::vision:
        return set_vision_evicted(ctx, true);
    case Region::mtp:
        return set_mtp_evicted(ctx, true);
    case Region::tts: {
        const std::lock_guard<std::mutex> lock(ctx.tts_mutex);
        ctx.voice.reset();
        return;
    }
    case Region::vad: {
        const std::lock_guard<std::mutex> lock(ctx.vad_mutex);
        ctx.vad_weights.reset();
        return;
    }
    case Region::asr:
        return set_asr_evicted(ctx, true);
    case Region::not_built:
        refuse_not_built(region);
    }
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
