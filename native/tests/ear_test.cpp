// Recognition by a text model with an ear, through the C border: whole, growing and timed, at every usual rate.
#include "streams.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tests;

namespace {

// Two seconds and more of something that is no silence.
std::vector<float> sound(double seconds, int rate_hz, float pitch_hz = 330.0f) {
    std::vector<float> samples(static_cast<size_t>(seconds * rate_hz));
    for (size_t i = 0; i < samples.size(); ++i) {
        const float t = static_cast<float>(i) / static_cast<float>(rate_hz);
        samples[i]    = 0.4f * std::sin(2.0f * 3.14159265f * pitch_hz * t) * std::sin(5.0f * t);
    }
    return samples;
}

struct Text {
    int         status = 0;
    std::string text;
    std::string said;
};

Text transcribe(const Bundle & bundle, const std::vector<float> & pcm, int rate_hz = 16000) {
    std::string out(1 << 16, '\0');
    Said        said;
    const int   status = eliza_inference_asr_transcribe(bundle.get(), pcm.data(), pcm.size(), rate_hz, out.data(),
                                                        out.size(), &said.text);
    return {status, status > 0 ? out.substr(0, static_cast<size_t>(status)) : "",
            said.text == nullptr ? "" : said.text};
}

class Listening {
  public:
    Listening(const Bundle & bundle, int rate_hz)
        : stream_(eliza_inference_asr_stream_open(bundle.get(), rate_hz, nullptr)) {
        CHECK(stream_ != nullptr);
    }
    Listening(const Listening &)             = delete;
    Listening & operator=(const Listening &) = delete;
    ~Listening() { eliza_inference_asr_stream_close(stream_); }

    int feed(const std::vector<float> & pcm) {
        return eliza_inference_asr_stream_feed(stream_, pcm.data(), pcm.size(), nullptr);
    }
    template <typename Call> std::string so_far(Call call, std::vector<int> * tokens = nullptr) {
        std::string      out(1 << 16, '\0');
        std::vector<int> ids(4096);
        size_t           count  = ids.size();
        const int        status = call(stream_, out.data(), out.size(), ids.data(), &count, nullptr);
        CHECK(status >= 0);
        if (tokens != nullptr) {
            tokens->assign(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count));
        }
        return out.substr(0, static_cast<size_t>(status));
    }
    std::string partial() { return so_far(eliza_inference_asr_stream_partial); }
    std::string finish(std::vector<int> * tokens = nullptr) {
        return so_far(eliza_inference_asr_stream_finish, tokens);
    }

  private:
    EliAsrStream * stream_;
};

void sound_becomes_the_words_of_the_model(const Bundle & ear) {
    CHECK(transcribe(ear, sound(2.0, 16000)).text == words());
}

void different_sounds_are_heard_differently(const Bundle & murmur) {
    const std::string low  = transcribe(murmur, sound(1.5, 16000, 200.0f)).text;
    const std::string high = transcribe(murmur, sound(1.5, 16000, 900.0f)).text;
    CHECK(!low.empty() && low != high && transcribe(murmur, sound(1.5, 16000, 200.0f)).text == low);
}

void a_stream_ends_with_what_the_blocking_call_says(const Bundle & murmur) {
    const auto whole = sound(2.0, 16000);
    Listening  stream(murmur, 16000);
    for (size_t begin = 0; begin < whole.size(); begin += 5000) {
        const size_t end = std::min(begin + 5000, whole.size());
        CHECK(stream.feed({whole.begin() + static_cast<std::ptrdiff_t>(begin),
                           whole.begin() + static_cast<std::ptrdiff_t>(end)}) == static_cast<int>(end - begin));
    }
    std::vector<int> tokens;
    CHECK(stream.finish(&tokens) == transcribe(murmur, whole).text && !tokens.empty() && tokens.size() <= 512);
}

// Beyond thirty seconds a second window is heard, and the sure model says its sentence once for each.
void a_partial_grows_with_the_recording(const Bundle & ear) {
    Listening stream(ear, 16000);
    CHECK(stream.partial().empty());
    CHECK(stream.feed(sound(29.0, 16000)) > 0);
    CHECK(stream.partial() == words());
    CHECK(stream.feed(sound(4.0, 16000)) > 0);
    const std::string twice = words() + " " + words();
    CHECK(stream.partial() == twice && stream.finish() == twice);
    CHECK(transcribe(ear, sound(61.0, 16000)).text.compare(0, twice.size(), twice) == 0);
}

void words_are_timed_over_the_recording(const Bundle & ear) {
    const auto  pcm = sound(3.0, 16000);
    std::string out(4096, '\0');
    int         start[64];
    int         end[64];
    size_t      count = 64;
    CHECK(eliza_inference_asr_transcribe_timed(ear.get(), pcm.data(), pcm.size(), 16000, out.data(), out.size(), start,
                                               end, &count, nullptr) == static_cast<int>(words().size()));
    CHECK(count > 1 && start[0] == 0 && end[count - 1] == 3000);
    for (size_t i = 1; i < count; ++i) {
        CHECK(start[i] == end[i - 1] && end[i] > start[i]);
    }
}

void every_usual_rate_is_heard(const Bundle & ear) {
    for (const int rate_hz : {8000, 16000, 22050, 44100, 48000}) {
        CHECK(transcribe(ear, sound(1.0, rate_hz), rate_hz).text == words());
    }
    CHECK(transcribe(ear, sound(1.0, 16000), 100).status == ELIZA_ERR_INVALID_ARG);
}

void what_is_no_sound_is_refused_or_empty(const Bundle & ear) {
    auto pcm = sound(1.0, 16000);
    pcm[500] = std::nanf("");
    CHECK(transcribe(ear, pcm).status == ELIZA_ERR_INVALID_ARG);
    pcm[500] = std::numeric_limits<float>::infinity();
    CHECK(transcribe(ear, pcm).status == ELIZA_ERR_INVALID_ARG);
    for (const size_t count : {0u, 1u, 2u, 639u, 1599u}) {
        CHECK(transcribe(ear, std::vector<float>(count, 0.1f)).status == 0);
    }
    CHECK(transcribe(ear, std::vector<float>(1600, 0.1f)).text == words());
    CHECK(transcribe(ear, std::vector<float>(16000, 3e38f)).status >= 0);
}

void the_language_is_a_name() {
    for (const char * wrong : {"<|turn>", "En\nglish", "a name that is longer than any language has ever had"}) {
        setenv("ELIZA_ASR_FORCE_LANGUAGE", wrong, 1);
        const Bundle bundle(models() / "murmur");
        CHECK(transcribe(bundle, sound(1.0, 16000)).status == ELIZA_ERR_INVALID_ARG);
    }
    const Bundle english(models() / "murmur");
    unsetenv("ELIZA_ASR_FORCE_LANGUAGE");
    const std::string usual = transcribe(english, sound(1.0, 16000)).text;
    setenv("ELIZA_ASR_FORCE_LANGUAGE", "German", 1);
    const Bundle german(models() / "murmur");
    CHECK(transcribe(german, sound(1.0, 16000)).text != usual);
    unsetenv("ELIZA_ASR_FORCE_LANGUAGE");
}

void regions_own_the_recognizer() {
    const Bundle bundle(models() / "ear");
    CHECK(eliza_inference_mmap_acquire(bundle.get(), "asr", nullptr) == ELIZA_OK);
    CHECK(eliza_inference_mmap_evict(bundle.get(), "asr", nullptr) == ELIZA_OK);
    CHECK(transcribe(bundle, sound(1.0, 16000)).status == ELIZA_ERR_INVALID_ARG);
    CHECK(eliza_inference_mmap_acquire(bundle.get(), "asr", nullptr) == ELIZA_OK);
    CHECK(transcribe(bundle, sound(1.0, 16000)).text == words());
}

// As today's bundles are published: the text model is the ear's, and goes and comes with its own region.
void a_projector_alone_gives_ears_to_the_text_model(const Bundle & murmur) {
    const Bundle published(models() / "published");
    const auto   pcm = sound(1.0, 16000);
    CHECK(transcribe(published, pcm).text == transcribe(murmur, pcm).text);
    CHECK(eliza_inference_mmap_evict(published.get(), "text", nullptr) == ELIZA_OK);
    CHECK(transcribe(published, pcm).status == ELIZA_ERR_INVALID_ARG);
    CHECK(eliza_inference_mmap_acquire(published.get(), "text", nullptr) == ELIZA_OK);
    CHECK(transcribe(published, pcm).text == transcribe(murmur, pcm).text);
}

void a_projector_for_another_model_is_refused(const fs::path & scratch) {
    fs::create_directories(scratch / "asr");
    fs::copy_file(models() / "mmproj.gguf", scratch / "asr" / "eliza-1-asr-mmproj.gguf");
    fs::copy_file(models() / "sure" / "mtp" / "drafter-2b.gguf", scratch / "asr" / "eliza-1-asr.gguf");
    CHECK(transcribe(Bundle(scratch), sound(1.0, 16000)).status == ELIZA_ERR_BUNDLE_INVALID);
}

}  // namespace

int main() {
    setenv("ELIZA_THREADS", "1", 1);  // tiny models have no work for two
    const fs::path scratch = models().parent_path() / "ear";
    fs::remove_all(scratch);
    const Bundle ear(models() / "ear");
    const Bundle murmur(models() / "murmur");
    sound_becomes_the_words_of_the_model(ear);
    different_sounds_are_heard_differently(murmur);
    a_stream_ends_with_what_the_blocking_call_says(murmur);
    a_partial_grows_with_the_recording(ear);
    words_are_timed_over_the_recording(ear);
    every_usual_rate_is_heard(ear);
    what_is_no_sound_is_refused_or_empty(ear);
    the_language_is_a_name();
    regions_own_the_recognizer();
    a_projector_alone_gives_ears_to_the_text_model(murmur);
    a_projector_for_another_model_is_refused(scratch);
    fs::remove_all(scratch);
    return 0;
}
