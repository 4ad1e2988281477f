// Families that this build does not carry: they say so, and touch nothing.
#include "abi/guard.h"
#include "eliza/inference.h"

namespace {

template <typename Handle> Handle * no_handle(char ** out_error, const char * family) noexcept {
    return eliza::guarded_handle<Handle>(out_error, [&]() -> Handle * {
        throw eliza::Failure(ELIZA_ERR_NOT_IMPLEMENTED, std::string(family) + " is not part of this build");
    });
}

}  // namespace

extern "C" {

// --- wake word, speaker, diarizer ---

int eliza_inference_wakeword_supported(void) {
    return 0;
}

EliWakeWord * eliza_inference_wakeword_open(EliInferenceContext *, int, const char *, char ** out_error) {
    return no_handle<EliWakeWord>(out_error, "the wake word");
}

int eliza_inference_wakeword_score(EliWakeWord *, const float *, size_t, float *, char ** out_error) {
    return eliza::not_implemented(out_error, "the wake word");
}

int eliza_inference_wakeword_reset(EliWakeWord *, char ** out_error) {
    return eliza::not_implemented(out_error, "the wake word");
}

void eliza_inference_wakeword_close(EliWakeWord *) {}

int eliza_inference_speaker_supported(void) {
    return 0;
}

EliSpeaker * eliza_inference_speaker_open(EliInferenceContext *, const char *, char ** out_error) {
    return no_handle<EliSpeaker>(out_error, "speaker recognition");
}

int eliza_inference_speaker_embed(EliSpeaker *, const float *, size_t, float *, char ** out_error) {
    return eliza::not_implemented(out_error, "speaker recognition");
}

void eliza_inference_speaker_free(float *) {}

void eliza_inference_speaker_close(EliSpeaker *) {}

int eliza_inference_diariz_supported(void) {
    return 0;
}

EliDiariz * eliza_inference_diariz_open(EliInferenceContext *, const char *, char ** out_error) {
    return no_handle<EliDiariz>(out_error, "diarization");
}

int eliza_inference_diariz_segment(EliDiariz *, const float *, size_t, int8_t *, size_t *, char ** out_error) {
    return eliza::not_implemented(out_error, "diarization");
}

void eliza_inference_diariz_close(EliDiariz *) {}

}  // extern "C"
