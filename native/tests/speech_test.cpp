// Speech through the C border: what is said, what is refused, and that it stops, a thousand times over.
#include "streams.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

using namespace tests;

namespace {

constexpr int    style_dim = 256;
constexpr int    cycles    = 1000;
const char *     phrase    = "həlˈO, wˈɜɹld.";
constexpr size_t room      = 24000 * 60;

fs::path voice_file() {
    return models() / "voice" / "tts" / "kokoro" / "voice.gguf";
}
fs::path style_file(const char * name = "af_heart") {
    return models() / "voice" / "tts" / "kokoro" / "voices" / (std::string(name) + ".bin");
}

int load(const Bundle & bundle, const fs::path & model, const fs::path & style, Said & said, int dim = style_dim) {
    return eliza_inference_kokoro_load(bundle.get(), model.u8string().c_str(), style.u8string().c_str(), dim,
                                       &said.text);
}

struct Sound {
    int                status = 0;
    std::vector<float> samples;
};

Sound say(const Bundle & bundle, const std::string & ipa, float speed = 1.0f, size_t most = room) {
    Sound sound;
    sound.samples.resize(most);
    sound.status = eliza_inference_kokoro_synthesize_ipa(bundle.get(), ipa.data(), ipa.size(), speed,
                                                         sound.samples.data(), most, nullptr);
    sound.samples.resize(sound.status > 0 ? static_cast<size_t>(sound.status) : 0);
    return sound;
}

struct Listener {
    size_t samples = 0, blocks = 0, finals = 0, stop_after = SIZE_MAX;
};

int listen(const float * pcm, size_t count, int is_final, void * data) {
    auto & listener = *static_cast<Listener *>(data);
    CHECK(count <= 2400 && (count == 0 || pcm != nullptr));
    CHECK(listener.finals == 0);
    if (is_final != 0) {
        ++listener.finals;
        return 1;  // what it answers does not count
    }
    listener.samples += count;
    return ++listener.blocks >= listener.stop_after ? 1 : 0;
}

int stream(const Bundle & bundle, const std::string & ipa, Listener & listener) {
    return eliza_inference_kokoro_synthesize_ipa_stream(bundle.get(), ipa.data(), ipa.size(), 1.0f, listen, &listener,
                                                        nullptr);
}

Bundle & spoken() {
    static Bundle bundle(models() / "voice");
    return bundle;
}

void the_same_words_sound_the_same() {
    const Sound first = say(spoken(), phrase), again = say(spoken(), phrase);
    CHECK(first.status > 0 && first.samples == again.samples);
    double square = 0;
    for (const float x : first.samples) {
        CHECK(std::isfinite(x) && std::fabs(x) < 1.0f);
        square += static_cast<double>(x) * static_cast<double>(x);
    }
    CHECK(std::sqrt(square / static_cast<double>(first.status)) > 0.01);
    CHECK(eliza_inference_kokoro_sample_rate(spoken().get()) == 24000);
    CHECK(eliza_inference_kokoro_g2p_kind(spoken().get()) == ELIZA_KOKORO_G2P_ASCII);
}

void speed_and_voice_change_the_sound() {
    const Sound normal = say(spoken(), phrase), fast = say(spoken(), phrase, 2.0f);
    CHECK(fast.status > 0 && fast.status < normal.status);
    Said said;
    CHECK(load(spoken(), voice_file(), style_file("af_bella"), said) == ELIZA_OK);
    CHECK(say(spoken(), phrase).samples != normal.samples);
    CHECK(load(spoken(), voice_file(), style_file(), said) == ELIZA_OK);
    CHECK(say(spoken(), phrase).samples == normal.samples);
}

void bad_requests_are_refused() {
    const int bad = ELIZA_ERR_INVALID_ARG;
    for (const float speed : {0.0f, -1.0f, 0.1f, 9.0f, std::nanf(""), std::numeric_limits<float>::infinity()}) {
        CHECK(say(spoken(), phrase, speed).status == bad);
    }
    for (const char * nothing : {"", "   ", "漢字", "\xff\xfe", "{}[]"}) {
        CHECK(say(spoken(), nothing).status == bad);
    }
    Said  said;
    float little[8];
    CHECK(eliza_inference_kokoro_synthesize_ipa(spoken().get(), phrase, strlen(phrase), 1.0f, little, 8, &said.text) ==
          bad);
    CHECK(said.has(std::to_string(say(spoken(), phrase).status).c_str()));
    CHECK(eliza_inference_kokoro_synthesize_ipa(nullptr, phrase, 3, 1.0f, little, 8, nullptr) == bad);
    CHECK(eliza_inference_kokoro_synthesize_ipa(spoken().get(), nullptr, 3, 1.0f, little, 8, nullptr) == bad);
    CHECK(eliza_inference_kokoro_synthesize_ipa(spoken().get(), phrase, 3, 1.0f, nullptr, 8, nullptr) == bad);
    CHECK(eliza_inference_kokoro_synthesize_ipa_stream(spoken().get(), phrase, 3, 1.0f, nullptr, nullptr, nullptr) ==
          bad);
    CHECK(eliza_inference_cancel_tts(nullptr, nullptr) == bad);
    CHECK(eliza_inference_tts_synthesize(spoken().get(), "hi", 2, "../af_heart", little, 8, nullptr) == bad);
    CHECK(eliza_inference_tts_synthesize(spoken().get(), "hi", 2, "nobody", little, 8, nullptr) == bad);
    const Bundle silent(models() / "sure");
    CHECK(say(silent, phrase).status == bad);  // no voice loaded
    CHECK(eliza_inference_tts_synthesize(silent.get(), "hi", 2, nullptr, little, 8, nullptr) ==
          ELIZA_ERR_BUNDLE_INVALID);
}

void long_texts_are_split_and_streams_come_in_blocks() {
    std::string text;
    for (int i = 0; i < 60; ++i) {
        text += "həlˈO wˈɜɹld, ";
    }
    const int spoken_samples = say(spoken(), text, 1.0f, 2 * room).status;
    CHECK(spoken_samples > static_cast<int>(room));  // far more than one pass of the model can say
    Listener listener;
    CHECK(stream(spoken(), "həlˈO, wˈɜɹld əɡˈɛn. ˈænd wˈʌns mˈɔɹ. ", listener) == ELIZA_OK);
    CHECK(listener.finals == 1 && listener.blocks > 3 && listener.samples > 24000 / 4);
    std::vector<float> sound(room);
    CHECK(eliza_inference_tts_synthesize(spoken().get(), "hello", 5, "af_bella", sound.data(), room, nullptr) > 0);
    CHECK(eliza_inference_tts_synthesize_stream(spoken().get(), "hello", 5, nullptr, listen, &(listener = {}),
                                                nullptr) == ELIZA_OK);
    CHECK(listener.finals == 1);
}

// Speech holds the voice while it tells; asking for it from there would wait for itself.
void a_listener_that_speaks_is_told_no() {
    const auto interrupt = [](const float *, size_t, int is_final, void * data) {
        if (is_final != 0) {
            return 0;  // the voice is free again
        }
        float      sound[8];
        const bool is_refused = eliza_inference_kokoro_synthesize(spoken().get(), "hello", 5, 1.0f, sound, 8,
                                                                  nullptr) == ELIZA_ERR_INVALID_ARG &&
                                eliza_inference_mmap_evict(spoken().get(), "tts", nullptr) == ELIZA_ERR_INVALID_ARG;
        *static_cast<int *>(data) += is_refused ? 1 : 1000;
        return 0;
    };
    int told = 0;
    CHECK(eliza_inference_kokoro_synthesize_ipa_stream(spoken().get(), phrase, std::strlen(phrase), 1.0f, interrupt,
                                                       &told, nullptr) == ELIZA_OK);
    CHECK(told > 0 && told < 1000);
}

void a_listener_may_stop_at_any_block() {
    for (const size_t after : {1, 2, 3}) {
        Listener listener;
        listener.stop_after = after;
        CHECK(stream(spoken(), phrase, listener) == ELIZA_ERR_CANCELLED && listener.blocks == after &&
              listener.finals == 1);
    }
}

void cancels_at_any_moment() {
    const Sound whole = say(spoken(), phrase);
    CHECK(eliza_inference_cancel_tts(spoken().get(), nullptr) == ELIZA_OK);  // nothing runs: nothing to stop
    CHECK(say(spoken(), phrase).samples == whole.samples);
    int stopped = 0;
    for (int i = 0; i < cycles; ++i) {
        std::thread other([i] {
            std::this_thread::sleep_for(std::chrono::microseconds(i * 37 % 20000));
            CHECK(eliza_inference_cancel_tts(spoken().get(), nullptr) == ELIZA_OK);
        });
        const Sound sound = say(spoken(), phrase);
        other.join();
        CHECK(sound.status == ELIZA_ERR_CANCELLED || sound.samples == whole.samples);
        stopped += sound.status == ELIZA_ERR_CANCELLED ? 1 : 0;
    }
    CHECK(stopped > 0);
    CHECK(say(spoken(), phrase).samples == whole.samples);
}

void voices_come_and_go() {
    for (int i = 0; i < cycles; ++i) {
        const Bundle bundle(models() / "voice");
        Said         said;
        CHECK(load(bundle, voice_file(), style_file(), said) == ELIZA_OK);
        if (i % 50 == 0) {
            CHECK(say(bundle, "a").status > 0);
        }
    }
}

std::string bytes_of(const fs::path & file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

int load_bytes(const std::string & model, const std::string & style, Said & said) {
    const fs::path folder = models() / "hostile-voice";
    fs::create_directories(folder);
    std::ofstream(folder / "voice.gguf", std::ios::binary) << model;
    std::ofstream(folder / "style.bin", std::ios::binary) << style;
    const Bundle bundle(models() / "sure");
    const int    status = load(bundle, folder / "voice.gguf", folder / "style.bin", said);
    if (status == ELIZA_OK) {
        CHECK(say(bundle, "a").status != 0);  // whatever it says, it must not crash
    }
    return status;
}

std::string replaced(std::string text, const std::string & what, const std::string & by) {
    const size_t at = text.find(what);
    CHECK(at != std::string::npos && what.size() == by.size());
    return text.replace(at, what.size(), by);
}

void broken_models_are_refused_by_name() {
    const std::string model = bytes_of(voice_file()), style = bytes_of(style_file());
    {
        Said said;
        CHECK(load_bytes(replaced(model, "bert.ffn_up.weight", "bert.ffn_xx.weight"), style, said) ==
              ELIZA_ERR_BUNDLE_INVALID);
        CHECK(said.has("bert.ffn_up.weight"));
    }
    {
        Said said;
        CHECK(load_bytes(replaced(model, "kokoro.hidden", "kokoro.hiddex"), style, said) == ELIZA_ERR_BUNDLE_INVALID);
        CHECK(said.has("kokoro.hidden"));
    }
    for (const size_t size : {size_t{0}, size_t{3}, size_t{24}, size_t{1000}, model.size() / 2, model.size() - 64}) {
        Said said;
        CHECK(load_bytes(model.substr(0, size), style, said) == ELIZA_ERR_BUNDLE_INVALID);
    }
    for (const std::string & wrong : {style.substr(4), style + "abcd", std::string()}) {
        Said said;
        CHECK(load_bytes(model, wrong, said) == ELIZA_ERR_BUNDLE_INVALID);
    }
    Said said, other;
    CHECK(load_bytes(model, std::string(style.size(), '\xff'), said) == ELIZA_ERR_BUNDLE_INVALID);  // not numbers
    CHECK(load(spoken(), models() / "sure" / "text" / "text.gguf", style_file(), other) == ELIZA_ERR_BUNDLE_INVALID);
    Said third, fourth;
    CHECK(load(spoken(), models() / "no.gguf", style_file(), third) == ELIZA_ERR_BUNDLE_INVALID);
    CHECK(load(spoken(), voice_file(), style_file(), fourth, 128) == ELIZA_ERR_INVALID_ARG);
}

// Every number of the header, one after the other, becomes something else: refused or spoken, never a crash.
void headers_may_hold_anything() {
    const std::string model = bytes_of(voice_file()), style = bytes_of(style_file());
    const size_t      header = model.find("generator.block.0.convs1.0.weight");
    CHECK(header != std::string::npos);
    uint32_t state = 3;
    for (int i = 0; i < 400; ++i) {
        std::string broken  = model;
        state               = state * 1664525u + 1013904223u;
        const size_t at     = i < 200 ? static_cast<size_t>(i) * 24 : 24 + state % header;
        broken[at % header] = static_cast<char>(state >> 24);
        Said      said;
        const int status = load_bytes(broken, style, said);
        CHECK(status == ELIZA_OK || status == ELIZA_ERR_BUNDLE_INVALID || status == ELIZA_ERR_OOM ||
              status == ELIZA_ERR_INVALID_ARG);
    }
}

}  // namespace

int main() {
    Said said;
    CHECK(load(spoken(), voice_file(), style_file(), said) == ELIZA_OK);
    the_same_words_sound_the_same();
    speed_and_voice_change_the_sound();
    bad_requests_are_refused();
    long_texts_are_split_and_streams_come_in_blocks();
    Said again;
    CHECK(load(spoken(), voice_file(), style_file(), again) == ELIZA_OK);
    a_listener_may_stop_at_any_block();
    a_listener_that_speaks_is_told_no();
    cancels_at_any_moment();
    broken_models_are_refused_by_name();
    Said after;
    CHECK(load(spoken(), voice_file(), style_file(), after) == ELIZA_OK);
    headers_may_hold_anything();
    voices_come_and_go();
    return 0;
}
