// Hearing: voice activity. Recognition, wake word and speakers live in their own files.
#include "abi/guard.h"
#include "abi/regions.h"
#include "vad/detector.h"

struct EliVad {
    eliza::vad::Detector detector;
};

extern "C" {

int eliza_inference_vad_supported(void) {
    return 1;
}

EliVad * eliza_inference_vad_open(EliInferenceContext * ctx, int sample_rate, char ** out_error) {
    return eliza::guarded_handle<EliVad>(out_error, [&] {
        eliza::require(ctx != nullptr, "ctx is NULL");
        eliza::require(sample_rate == eliza::vad::sample_rate, "voice activity is detected at 16000 Hz only");
        return new EliVad{eliza::vad::Detector(eliza::require_vad(*ctx))};
    });
}

int eliza_inference_vad_process(EliVad * vad, const float * pcm, size_t num_samples, float * out_probability,
                                char ** out_error) {
    return eliza::guarded(out_error, [&] {
        eliza::require(vad != nullptr && pcm != nullptr && out_probability != nullptr,
                       "vad, pcm and out_probability must not be NULL");
        eliza::require(num_samples == eliza::vad::window_samples, "a window is exactly 512 samples");
        *out_probability = vad->detector.process(pcm);
        return ELIZA_OK;
    });
}

int eliza_inference_vad_reset(EliVad * vad, char ** out_error) {
    return eliza::guarded(out_error, [&] {
        eliza::require(vad != nullptr, "vad is NULL");
        vad->detector.reset();
        return ELIZA_OK;
    });
}

void eliza_inference_vad_close(EliVad * vad) {
    delete vad;
}

}  // extern "C"
