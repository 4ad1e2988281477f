#include "abi/voices.h"

#include "abi/guard.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace eliza {
namespace {

namespace fs = std::filesystem;

constexpr int          published_style_dim = 256;
constexpr const char * default_preset      = "default";

fs::path voice_dir(const EliInferenceContext & ctx) {
    return ctx.bundle_dir / "tts" / "kokoro";
}

std::vector<fs::path> files_with(const fs::path & folder, const char * extension) {
    std::vector<fs::path> found;
    std::error_code       error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        if (it->path().extension() == extension) {
            found.push_back(it->path());
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

fs::path bundle_model(const EliInferenceContext & ctx) {
    const auto found = files_with(voice_dir(ctx), ".gguf");
    if (found.size() != 1) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID,
                      "expected one voice model in tts/kokoro, found " + std::to_string(found.size()));
    }
    return found.front();
}

bool is_preset_id(const std::string & id) {
    const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-'; };
    return !id.empty() && std::all_of(id.begin(), id.end(), allowed) && id.find("..") == std::string::npos;
}

fs::path default_style(const EliInferenceContext & ctx) {
    const auto found = files_with(voice_dir(ctx) / "voices", ".bin");
    if (found.empty()) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID, "the bundle has no style table in tts/kokoro/voices");
    }
    for (const char * wanted : {"af_heart", "af_bella"}) {
        const auto it =
            std::find_if(found.begin(), found.end(), [&](const fs::path & p) { return p.stem() == wanted; });
        if (it != found.end()) {
            return *it;
        }
    }
    return found.front();
}

void check_preset_id(const std::string & id) {
    require(is_preset_id(id), "a speaker preset is named by letters, digits, '.', '_' and '-', without '..'");
}

// `at` tells who asked: a caller for a voice that is not there, or a preset of the bundle.
fs::path named_style(const EliInferenceContext & ctx, const std::string & id, int at) {
    const fs::path  style = voice_dir(ctx) / "voices" / (id + ".bin");
    std::error_code error;
    if (!is_preset_id(id) || !fs::is_regular_file(style, error)) {
        throw Failure(at, "the bundle has no voice '" + id + "'");
    }
    return style;
}

fs::path preset_file(const EliInferenceContext & ctx, const std::string & id) {
    return ctx.bundle_dir / "cache" / ("voice-preset-" + id + ".bin");
}

std::shared_ptr<const bundle::VoicePreset> find_preset(const EliInferenceContext & ctx, const std::string & id) {
    std::error_code error;
    if (!fs::exists(preset_file(ctx, id), error)) {
        return nullptr;
    }
    return std::make_shared<const bundle::VoicePreset>(bundle::read_voice_preset(preset_file(ctx, id)));
}

fs::path style_of(const EliInferenceContext & ctx, const bundle::VoicePreset * preset, const char * id) {
    if (preset != nullptr && !preset->voice.empty()) {
        return named_style(ctx, preset->voice, ELIZA_ERR_BUNDLE_INVALID);
    }
    return preset != nullptr || id == nullptr ? default_style(ctx) : named_style(ctx, id, ELIZA_ERR_INVALID_ARG);
}

bool holds_style(const bundle::VoicePreset * preset) {
    return preset != nullptr && preset->voice.empty() && !preset->embedding.empty();
}

}  // namespace

void load_voice(EliInferenceContext & ctx, const fs::path & model, const fs::path & style, int style_dim) {
    if (ctx.voice != nullptr && ctx.voice->has_model(model) && ctx.voice->style_dim() == style_dim) {
        if (!ctx.voice->has_style(style)) {
            ctx.voice->use_style(style);
        }
        return;
    }
    ctx.is_tts_evicted = false;
    ctx.voice.reset();  // never two models in memory at once
    ctx.voice = std::make_shared<kokoro::Voice>(model, style, style_dim);
}

const bundle::VoicePreset * voice_preset(EliInferenceContext & ctx, const char * preset_id) {
    const std::string id = preset_id == nullptr ? default_preset : preset_id;
    check_preset_id(id);
    const auto known = ctx.presets.find(id);
    if (known != ctx.presets.end()) {
        return known->second.get();
    }
    auto found = find_preset(ctx, id);  // ids that the bundle lacks are not kept: a host may ask for any number
    return found == nullptr ? nullptr : (ctx.presets[id] = std::move(found)).get();
}

kokoro::Voice & bundle_voice(EliInferenceContext & ctx, const char * preset_id) {
    require(!ctx.is_tts_evicted, "the region 'tts' is evicted; acquire it first");
    if (ctx.voice != nullptr && preset_id == nullptr) {
        return *ctx.voice;
    }
    const bundle::VoicePreset * preset = voice_preset(ctx, preset_id);
    const int                   dim    = ctx.voice == nullptr ? published_style_dim : ctx.voice->style_dim();
    if (!holds_style(preset)) {
        load_voice(ctx, bundle_model(ctx), style_of(ctx, preset, preset_id), dim);
        return *ctx.voice;
    }
    const fs::path name = preset_file(ctx, preset_id == nullptr ? default_preset : preset_id);
    if (ctx.voice == nullptr || !ctx.voice->has_style(name)) {
        load_voice(ctx, bundle_model(ctx), default_style(ctx), dim);
        try {
            ctx.voice->use_style(name, preset->embedding);
        } catch (...) {
            ctx.voice.reset();  // else the next call would speak with the default table and say nothing of it
            throw;
        }
    }
    return *ctx.voice;
}

kokoro::Voice & loaded_voice(EliInferenceContext & ctx) {
    require(!ctx.is_tts_evicted, "the region 'tts' is evicted; acquire it first");
    require(ctx.voice != nullptr, "no voice is loaded; eliza_inference_kokoro_load names one");
    return *ctx.voice;
}

}  // namespace eliza
