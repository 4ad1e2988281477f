// Speech: every call is one synthesis under the context's tts_mutex, stoppable from any thread.
#include "abi/guard.h"
#include "abi/voices.h"
#include "asr/resample.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace {

using eliza::Failure;
using eliza::guarded;
using eliza::require;
using eliza::kokoro::Manner;
using eliza::kokoro::Voice;

constexpr int    sample_rate_hz = 24000;
constexpr size_t longest_text   = 1 << 20;
constexpr size_t block_samples  = 2400;  // 100 ms: how far a listener may be from a cancel

struct Words {
    const char *     text;
    size_t           length;
    bool             is_ipa;
    float            speed;
    std::string_view view() const { return {text == nullptr ? "" : text, length}; }
};

// The voice that was loaded by name, or a preset of the bundle (NULL = its default).
struct Speaker {
    bool         is_loaded;
    const char * preset_id = nullptr;
};

// Sound that the publisher made beforehand, at the voice's rate; empty when the preset has none for this text.
std::vector<float> ready_sound(EliInferenceContext & ctx, const Speaker & speaker, const Words & words) {
    if (speaker.is_loaded) {
        return {};
    }
    require(!ctx.is_tts_evicted, "the region 'tts' is evicted; acquire it first");
    const eliza::bundle::VoicePreset * preset = eliza::voice_preset(ctx, speaker.preset_id);
    if (preset == nullptr) {
        return {};
    }
    const auto found = preset->phrases.find(eliza::bundle::phrase_key(words.view()));
    if (found == preset->phrases.end()) {
        return {};
    }
    const auto & phrase = found->second;
    return eliza::asr::resample(phrase.samples.data(), phrase.samples.size(), phrase.rate_hz, sample_rate_hz);
}

// Holds the voice for one synthesis. A cancel that comes while it is held is kept; one that came before, when
// nothing ran for it to stop, is forgotten.
void speak(EliInferenceContext * ctx, const Words & words, bool by_sentence, const Speaker & speaker,
           const eliza::kokoro::Sink & sink, bool & has_begun) {
    require(ctx != nullptr, "the context is NULL");
    require(words.text != nullptr || words.length == 0, "the text is NULL");
    require(words.length <= longest_text, "the text has more than 1048576 bytes");
    const std::lock_guard lock(ctx->tts_mutex);
    has_begun = true;
    ctx->tts_cancel.store(false);
    const std::vector<float> ready = ready_sound(*ctx, speaker, words);
    if (!ready.empty()) {
        if (sink(ready.data(), ready.size()) != 0) {
            throw Failure(ELIZA_ERR_CANCELLED, "the listener stopped the speech");
        }
        return;
    }
    Voice & voice = speaker.is_loaded ? eliza::loaded_voice(*ctx) : eliza::bundle_voice(*ctx, speaker.preset_id);
    Manner  manner;
    manner.speed       = words.speed;
    manner.by_sentence = by_sentence;
    voice.speak(words.is_ipa ? std::string(words.view()) : voice.spell(words.view()), manner, ctx->tts_cancel, sink);
}

int speak_into(EliInferenceContext * ctx, const Words & words, const Speaker & speaker, float * out, size_t room) {
    require(out != nullptr || room == 0, "the sample buffer is NULL");
    std::vector<float> sound;
    bool               has_begun = false;
    const auto         keep      = [&](const float * samples, size_t count) {
        sound.insert(sound.end(), samples, samples + count);
        return 0;
    };
    speak(ctx, words, false, speaker, keep, has_begun);
    if (sound.size() > room || sound.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
        throw Failure(ELIZA_ERR_INVALID_ARG, "the buffer holds " + std::to_string(room) + " samples, " +
                                                 std::to_string(sound.size()) + " are needed");
    }
    std::copy(sound.begin(), sound.end(), out);
    return static_cast<int>(sound.size());
}

int speak_to(EliInferenceContext * ctx, const Words & words, const Speaker & speaker, eliza_tts_chunk_callback on_chunk,
             void * user_data) {
    require(on_chunk != nullptr, "the chunk callback is NULL");
    const auto tell = [&](const float * samples, size_t count) {
        for (size_t at = 0; at < count; at += block_samples) {
            if (ctx->tts_cancel.load() ||
                on_chunk(samples + at, std::min(block_samples, count - at), 0, user_data) != 0) {
                return 1;
            }
        }
        return 0;
    };
    bool has_begun = false;
    try {
        speak(ctx, words, true, speaker, tell, has_begun);
    } catch (...) {
        if (has_begun) {
            on_chunk(nullptr, 0, 1, user_data);  // the listener lets go of what it holds for this utterance
        }
        throw;
    }
    on_chunk(nullptr, 0, 1, user_data);
    return ELIZA_OK;
}

constexpr Speaker loaded = {true};

// "" is no name either.
const char * preset_named(const char * id) {
    return id != nullptr && *id == '\0' ? nullptr : id;
}

}  // namespace

extern "C" {

int eliza_inference_kokoro_supported(void) {
    return 1;
}

int eliza_inference_kokoro_load(EliInferenceContext * ctx, const char * gguf_path, const char * voice_bin_path,
                                int style_dim, char ** out_error) {
    return guarded(out_error, [&] {
        require(ctx != nullptr && gguf_path != nullptr && voice_bin_path != nullptr, "an argument is NULL");
        const std::lock_guard lock(ctx->tts_mutex);
        eliza::load_voice(*ctx, std::filesystem::u8path(gguf_path), std::filesystem::u8path(voice_bin_path), style_dim);
        return ELIZA_OK;
    });
}

int eliza_inference_kokoro_sample_rate(EliInferenceContext * ctx) {
    return ctx == nullptr ? ELIZA_ERR_INVALID_ARG : sample_rate_hz;
}

int eliza_inference_kokoro_g2p_kind(EliInferenceContext * ctx) {
    return ctx == nullptr ? ELIZA_ERR_INVALID_ARG : ELIZA_KOKORO_G2P_ASCII;
}

int eliza_inference_kokoro_synthesize(EliInferenceContext * ctx, const char * text, size_t text_len, float speed,
                                      float * out_pcm, size_t max_samples, char ** out_error) {
    return guarded(out_error,
                   [&] { return speak_into(ctx, {text, text_len, false, speed}, loaded, out_pcm, max_samples); });
}

int eliza_inference_kokoro_synthesize_ipa(EliInferenceContext * ctx, const char * ipa, size_t ipa_len, float speed,
                                          float * out_pcm, size_t max_samples, char ** out_error) {
    return guarded(out_error,
                   [&] { return speak_into(ctx, {ipa, ipa_len, true, speed}, loaded, out_pcm, max_samples); });
}

int eliza_inference_kokoro_synthesize_ipa_stream(EliInferenceContext * ctx, const char * ipa, size_t ipa_len,
                                                 float speed, eliza_tts_chunk_callback on_chunk, void * user_data,
                                                 char ** out_error) {
    return guarded(out_error, [&] { return speak_to(ctx, {ipa, ipa_len, true, speed}, loaded, on_chunk, user_data); });
}

int eliza_inference_tts_synthesize(EliInferenceContext * ctx, const char * text, size_t text_len,
                                   const char * speaker_preset_id, float * out_pcm, size_t max_samples,
                                   char ** out_error) {
    return guarded(out_error, [&] {
        return speak_into(ctx, {text, text_len, false, 1.0f}, {false, preset_named(speaker_preset_id)}, out_pcm,
                          max_samples);
    });
}

int eliza_inference_tts_stream_supported(void) {
    return 1;
}

int eliza_inference_tts_synthesize_stream(EliInferenceContext * ctx, const char * text, size_t text_len,
                                          const char * speaker_preset_id, eliza_tts_chunk_callback on_chunk,
                                          void * user_data, char ** out_error) {
    return guarded(out_error, [&] {
        return speak_to(ctx, {text, text_len, false, 1.0f}, {false, preset_named(speaker_preset_id)}, on_chunk,
                        user_data);
    });
}

int eliza_inference_cancel_tts(EliInferenceContext * ctx, char ** out_error) {
    return guarded(out_error, [&] {
        require(ctx != nullptr, "the context is NULL");
        ctx->tts_cancel.store(true);
        return ELIZA_OK;
    });
}

int eliza_inference_encode_reference(EliInferenceContext *, const float *, size_t, int, int *, int *, int **,
                                     char ** out_error) {
    return eliza::not_implemented(out_error, "the reference encoder");
}

}  // extern "C"
