// One opened bundle. Every engine keeps its own state behind a pointer that only its own room knows.
#pragma once

#include "abi/owned_mutex.h"
#include "eliza/inference.h"

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace eliza::llm {
class TextModel;    // llm/text_model.h: the shared weights of the bundle's text model
class DraftModel;   // llm/draft_model.h: the shared weights of its drafter
class Embedder;     // llm/embedder.h: a context that gives vectors
class EndOfTurn;    // llm/end_of_turn.h: a context that gives one probability
class PromptCache;  // llm/prompt_cache.h: what closed streams had read
}  // namespace eliza::llm
namespace eliza::sight {
class Projector;  // sight/projector.h: turns pictures into embeddings of the text model
}
namespace eliza::asr {
class Recognizer;  // asr/recognizer.h: one loaded recognition model
}
namespace eliza::vad {
struct Weights;  // vad/model.h
}
namespace eliza::bundle {
struct VoicePreset;  // bundle/voice_preset.h
}
namespace eliza::kokoro {
class Voice;  // kokoro/voice.h: one loaded model with one style table
}

struct EliInferenceContext {
    explicit EliInferenceContext(std::filesystem::path dir);
    ~EliInferenceContext();

    const std::filesystem::path bundle_dir;
    const std::string           bundle_dir_utf8;

    // text: guarded by text_mutex; streams hold the weights alive by their own reference
    std::mutex                                     text_mutex;
    std::shared_ptr<eliza::llm::TextModel>         text_model;
    std::shared_ptr<eliza::llm::DraftModel>        drafter;    // the last one used
    std::shared_ptr<eliza::sight::Projector>       projector;  // likewise; bound to text_model
    const std::shared_ptr<eliza::llm::PromptCache> prompts;
    bool                                           is_text_evicted   = false;
    bool                                           is_vision_evicted = false;
    bool                                           is_mtp_evicted    = false;
    eliza_verifier_callback                        on_verified       = nullptr;
    void *                                         on_verified_data  = nullptr;

    // meaning: meaning_mutex admits one question at a time and is taken after asr_mutex and before text_mutex
    std::mutex                             meaning_mutex;
    std::unique_ptr<eliza::llm::Embedder>  embedder;
    std::unique_ptr<eliza::llm::EndOfTurn> end_of_turn;
    bool                                   is_embedding_evicted = false;

    // hearing: keeps the acquired weights warm; sessions hold their own reference
    std::mutex                                 vad_mutex;
    std::shared_ptr<const eliza::vad::Weights> vad_weights;
    bool                                       is_vad_evicted = false;

    // recognition: asr_mutex admits one recording at a time
    std::mutex                              asr_mutex;
    std::unique_ptr<eliza::asr::Recognizer> recognizer;
    bool                                    is_asr_evicted = false;

    // speech: tts_mutex admits one synthesis at a time and is held while chunks go to the host; tts_cancel may be set
    // from any thread
    eliza::OwnedMutex                     tts_mutex;
    std::shared_ptr<eliza::kokoro::Voice> voice;
    bool                                  is_tts_evicted = false;
    std::atomic<bool>                     tts_cancel{false};
    // by id; read once
    std::map<std::string, std::shared_ptr<const eliza::bundle::VoicePreset>> presets;
};
