// Which voice a context speaks with: the one that was loaded by name, else the bundle's own.
#pragma once

#include "abi/context.h"
#include "bundle/voice_preset.h"
#include "kokoro/voice.h"

#include <filesystem>
#include <memory>

namespace eliza {

// Loads model and style table by name, replacing what was loaded; acquires an evicted region. The caller holds
// tts_mutex. Throws Failure.
void load_voice(EliInferenceContext & ctx, const std::filesystem::path & model, const std::filesystem::path & style,
                int style_dim);

// The preset <bundle>/cache/voice-preset-<id>.bin, NULL = the default one; null where the bundle has none. Read once
// and kept. The caller holds tts_mutex. Throws Failure: INVALID_ARG for an id that is none, BUNDLE_INVALID.
const bundle::VoicePreset * voice_preset(EliInferenceContext & ctx, const char * preset_id);

// The voice to speak with. `preset_id` names a preset, or else a table of <bundle>/tts/kokoro/voices; NULL keeps the
// loaded voice or takes the bundle's default. A preset says whose table goes with it, or holds the table itself. The
// caller holds tts_mutex. Throws Failure: INVALID_ARG for an id that is none and while the region is evicted,
// BUNDLE_INVALID when the bundle has no voice.
kokoro::Voice & bundle_voice(EliInferenceContext & ctx, const char * preset_id);

// The voice that eliza_inference_kokoro_load loaded. The caller holds tts_mutex. Throws Failure(INVALID_ARG).
kokoro::Voice & loaded_voice(EliInferenceContext & ctx);

}  // namespace eliza
