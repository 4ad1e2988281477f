// Memory regions: what is evicted is out of the process and stays out, and what is acquired serves again.
#include "streams.h"

using namespace tests;

namespace {

int acquire(const Bundle & bundle, const char * region) {
    return eliza_inference_mmap_acquire(bundle.get(), region, nullptr);
}

int evict(const Bundle & bundle, const char * region) {
    return eliza_inference_mmap_evict(bundle.get(), region, nullptr);
}

// Whether this file's pages are part of the process. Only Linux tells.
bool is_mapped(const fs::path & file) {
    std::ifstream     maps("/proc/self/maps");
    const std::string all((std::istreambuf_iterator<char>(maps)), std::istreambuf_iterator<char>());
    return all.find(fs::canonical(file).u8string()) != std::string::npos;
}

void evicted_weights_are_out_of_the_process(const Bundle & bundle) {
#if defined(__linux__)
    const fs::path text    = models() / "whole" / "text" / "text.gguf";
    const fs::path drafter = models() / "whole" / "mtp" / "drafter-2b.gguf";
    CHECK(acquire(bundle, "text") == ELIZA_OK && acquire(bundle, "mtp") == ELIZA_OK);
    CHECK(is_mapped(text) && is_mapped(drafter));
    CHECK(evict(bundle, "mtp") == ELIZA_OK && is_mapped(text) && !is_mapped(drafter));
    CHECK(evict(bundle, "text") == ELIZA_OK && !is_mapped(text));
    CHECK(acquire(bundle, "text") == ELIZA_OK && acquire(bundle, "dflash") == ELIZA_OK);
    CHECK(is_mapped(text) && is_mapped(drafter));
#else
    (void)bundle;
#endif
}

int embed(const Bundle & bundle) {
    float vector[64] = {};
    int   dim        = 0;
    return eliza_inference_embed(bundle.get(), "word", 4, ELIZA_POOLING_MEAN, vector, 64, &dim, nullptr);
}

// What reads with the text model holds its weights: it must let go with it.
void no_reader_keeps_evicted_text(const Bundle & bundle) {
    const int id          = 5;
    float     probability = 0.0f;
    CHECK(embed(bundle) == ELIZA_OK);
    CHECK(eliza_inference_llm_eot_score(bundle.get(), &id, 1, 1, &probability, nullptr, nullptr, nullptr) == ELIZA_OK);
    CHECK(evict(bundle, "text") == ELIZA_OK);
#if defined(__linux__)
    CHECK(!is_mapped(models() / "whole" / "text" / "text.gguf"));
#endif
    CHECK(embed(bundle) == ELIZA_ERR_INVALID_ARG);
    CHECK(acquire(bundle, "text") == ELIZA_OK);
    CHECK(embed(bundle) == ELIZA_OK);
}

int say(const Bundle & bundle) {
    std::vector<float> pcm(400000);
    return eliza_inference_tts_synthesize(bundle.get(), "hello", 5, nullptr, pcm.data(), pcm.size(), nullptr);
}

void an_evicted_voice_is_silent(const Bundle & bundle) {
    const int samples = say(bundle);
    CHECK(samples > 0);
    CHECK(evict(bundle, "tts") == ELIZA_OK);
    CHECK(say(bundle) == ELIZA_ERR_INVALID_ARG);
    CHECK(acquire(bundle, "tts") == ELIZA_OK);
    CHECK(say(bundle) == samples);
    CHECK(evict(bundle, "tts") == ELIZA_OK);
    const fs::path    voice = models() / "whole" / "tts" / "kokoro";
    const std::string model = (voice / "voice.gguf").u8string();
    const std::string style = (voice / "voices" / "af_heart.bin").u8string();
    CHECK(eliza_inference_kokoro_load(bundle.get(), model.c_str(), style.c_str(), 256, nullptr) == ELIZA_OK);
    CHECK(say(bundle) == samples);  // naming the files is acquiring them
}

void regions_without_files_do_not_pretend(const Bundle & bundle) {
    for (const char * region : {"vad", "asr"}) {
        CHECK(acquire(bundle, region) == ELIZA_ERR_BUNDLE_INVALID);
        CHECK(evict(bundle, region) == ELIZA_OK);
        CHECK(acquire(bundle, region) == ELIZA_ERR_BUNDLE_INVALID);
    }
    CHECK(evict(bundle, "vad") == ELIZA_OK);
    CHECK(eliza_inference_vad_open(bundle.get(), 16000, nullptr) == nullptr);
    CHECK(eliza_inference_last_status() == ELIZA_ERR_INVALID_ARG);
    CHECK(acquire(bundle, "wakeword") == ELIZA_ERR_NOT_IMPLEMENTED);
    CHECK(acquire(bundle, "attic") == ELIZA_ERR_INVALID_ARG);
}

}  // namespace

int main() {
    const Bundle bundle(models() / "whole");
    evicted_weights_are_out_of_the_process(bundle);
    no_reader_keeps_evicted_text(bundle);
    an_evicted_voice_is_silent(bundle);
    regions_without_files_do_not_pretend(bundle);
    return 0;
}
