// Voice presets: every fault has its name, both versions are read, and a bundle speaks with what its preset says.
#include "bundle/voice_preset.h"

#include "abi/guard.h"
#include "streams.h"

#include <cmath>

#if !defined(_WIN32)
#include <sys/stat.h>
#endif

using namespace tests;
using eliza::bundle::parse_voice_preset;
using eliza::bundle::VoicePreset;

namespace {

std::string le32(uint32_t value) {
    return std::string(reinterpret_cast<const char *>(&value), 4);
}

std::string le16(uint16_t value) {
    return std::string(reinterpret_cast<const char *>(&value), 2);
}

std::string floats(const std::vector<float> & values) {
    return std::string(reinterpret_cast<const char *>(values.data()), values.size() * 4);
}

std::string phrase(const std::string & text, uint32_t rate, const std::vector<float> & pcm) {
    return le16(static_cast<uint16_t>(text.size())) + text + le32(rate) + le32(static_cast<uint32_t>(4 * pcm.size())) +
           floats(pcm);
}

// Sections in the header's order; the rest are absent.
std::string preset(uint32_t version, const std::vector<std::string> & sections) {
    const size_t stored = version == 1 ? 2 : 6;
    std::string  header = "ELZ1" + le32(version);
    std::string  body;
    const size_t at = version == 1 ? 24 : 64;
    for (size_t i = 0; i < stored; ++i) {
        const std::string section = i < sections.size() ? sections[i] : "";
        header += le32(section.empty() ? 0 : static_cast<uint32_t>(at + body.size()));
        header += le32(static_cast<uint32_t>(section.size()));
        body += section;
    }
    return header + (version == 1 ? "" : std::string(8, '\0')) + body;
}

bool fails_with(const std::string & bytes, const char * fault) {
    try {
        parse_voice_preset(bytes);
    } catch (const eliza::Failure & failure) {
        if (failure.status() == ELIZA_ERR_BUNDLE_INVALID && std::string(failure.what()).rfind(fault, 0) == 0) {
            return true;
        }
        fprintf(stderr, "wanted %s, got %s\n", fault, failure.what());
    }
    return false;
}

std::string with(std::string bytes, size_t at, const std::string & patch) {
    return bytes.replace(at, patch.size(), patch);
}

void every_fault_has_its_name() {
    const std::string one  = "\1\0\0\0"; /* ends at the first NUL */
    const std::string good = preset(2, {floats({1, 2}), le32(1) + phrase("sure", 24000, {0, 1})});
    CHECK(fails_with("", "truncated-header") && fails_with("ELZ", "truncated-header"));
    CHECK(fails_with("ELZ2" + good.substr(4), "bad-magic"));
    CHECK(fails_with(with(good, 4, le32(3)), "bad-version"));
    CHECK(fails_with(good.substr(0, 40), "truncated-header"));
    CHECK(fails_with(good.substr(0, good.size() - 1), "truncated-section"));
    CHECK(fails_with(with(good, 12, le32(0xFFFFFFFF)), "truncated-section"));
    CHECK(fails_with(with(good, 8, le32(63)), "bad-section-bounds"));               // over the header
    CHECK(fails_with(with(good, 16, le32(68)), "bad-section-bounds"));              // over the other section
    CHECK(fails_with(with(good, 60, std::string("\1", 1)), "bad-section-bounds"));  // reserved
    CHECK(fails_with(preset(2, {"abc"}), "bad-embedding-length"));
    CHECK(fails_with(preset(1, {floats({std::nanf("")})}), "bad-embedding-length"));
    CHECK(fails_with(preset(2, {"", one}), "bad-phrase-record"));
    CHECK(fails_with(preset(2, {"", le32(2) + phrase("a", 24000, {})}), "bad-phrase-record"));
    CHECK(fails_with(preset(2, {"", le32(0xFFFFFFFF)}), "bad-phrase-record"));
    CHECK(fails_with(preset(2, {"", le32(1) + phrase("a", 0, {0})}), "bad-phrase-record"));
    CHECK(fails_with(preset(2, {"", le32(1) + phrase("a", 24000, {}) + "x"}), "bad-phrase-record"));
    CHECK(fails_with(preset(2, {"", le32(1) + phrase("\xFF", 24000, {})}), "bad-utf8"));
    CHECK(fails_with(preset(2, {"", "", le32(7) + le32(1) + std::string(28, '\0')}), "bad-ref-tokens"));
    CHECK(fails_with(preset(2, {"", "", le32(8) + le32(0xFFFFFFFF)}), "bad-ref-tokens"));
    CHECK(fails_with(preset(2, {"", "", "", std::string("a\0b", 3)}), "bad-utf8"));
    for (const char * bad : {"\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80"}) {
        CHECK(fails_with(preset(2, {"", "", "", "", bad}), "bad-utf8"));
    }
    CHECK(fails_with(preset(2, {"", "", "", "", "", "[1]"}), "bad-metadata"));
    CHECK(fails_with(preset(2, {"", "", "", "", "", "{"}), "bad-metadata"));
    CHECK(fails_with(preset(2, {"", "", "", "", "", std::string(100000, '[')}), "bad-metadata"));
}

void both_versions_are_read() {
    const std::string phrases = le32(2) + phrase("That's  fine!", 24000, {0.5f}) + phrase("okay", 8000, {0, 1});
    for (const uint32_t version : {1u, 2u}) {
        const VoicePreset read = parse_voice_preset(preset(version, {floats({1, 2, 3}), phrases}));
        CHECK(read.version == static_cast<int>(version) && read.embedding == std::vector<float>({1, 2, 3}));
        CHECK(read.phrases.at("thats fine").samples == std::vector<float>({0.5f}));
        CHECK(read.phrases.at("okay").rate_hz == 8000);
    }
    const VoicePreset whole = parse_voice_preset(
        preset(2, {"", "", le32(8) + le32(1) + std::string(32, '\1'), "said", "warmly", "{\"voice\": \"af_heart\"}"}));
    CHECK(whole.ref_tokens.size() == 8 && whole.ref_tokens[7] == 0x01010101);
    CHECK(whole.ref_text == "said" && whole.instruct == "warmly" && whole.voice == "af_heart");
    CHECK(parse_voice_preset(preset(1, {})).embedding.empty());
    CHECK(parse_voice_preset(preset(2, {"", "", "", "", "", "{\"voice\": 3}"})).voice.empty());
}

// A bundle of its own for each test, with the presets that it writes.
struct Home {
    fs::path folder = fs::temp_directory_path() / ("eliza-preset-test-" + std::to_string(std::rand()));
    Home() {
        fs::copy(models() / "voice", folder, fs::copy_options::recursive);
        fs::create_directory(folder / "cache");
    }
    Home(const Home &)             = delete;
    Home & operator=(const Home &) = delete;
    ~Home() { fs::remove_all(folder); }
    void put(const char * id, const std::string & bytes) const {
        std::ofstream(folder / "cache" / ("voice-preset-" + std::string(id) + ".bin"), std::ios::binary) << bytes;
    }
};

struct Sound {
    int                status = 0;
    std::vector<float> pcm;
};

Sound say(const Bundle & bundle, const char * text, const char * id) {
    Sound sound;
    sound.pcm.resize(400000);
    sound.status = eliza_inference_tts_synthesize(bundle.get(), text, std::strlen(text), id, sound.pcm.data(),
                                                  sound.pcm.size(), nullptr);
    sound.pcm.resize(sound.status > 0 ? static_cast<size_t>(sound.status) : 0);
    return sound;
}

void a_preset_names_its_voice() {
    const Home home;
    home.put("calm", preset(2, {"", "", "", "", "", "{\"voice\": \"af_bella\"}"}));
    home.put("lost", preset(2, {"", "", "", "", "", "{\"voice\": \"nobody\"}"}));
    home.put("away", preset(2, {"", "", "", "", "", "{\"voice\": \"../../text/secret\"}"}));
    home.put("torn", "ELZ1");
    const Bundle bundle(home.folder);
    const Sound  calm = say(bundle, "hello", "calm");
    CHECK(calm.status > 0 && calm.pcm == say(bundle, "hello", "af_bella").pcm);
    CHECK(calm.pcm != say(bundle, "hello", "af_heart").pcm);
    CHECK(say(bundle, "hello", "lost").status == ELIZA_ERR_BUNDLE_INVALID);
    CHECK(say(bundle, "hello", "away").status == ELIZA_ERR_BUNDLE_INVALID);
    CHECK(say(bundle, "hello", "torn").status == ELIZA_ERR_BUNDLE_INVALID);
    CHECK(say(bundle, "hello", "nobody").status == ELIZA_ERR_INVALID_ARG);
    CHECK(say(bundle, "hello", "../cache/x").status == ELIZA_ERR_INVALID_ARG);
    CHECK(say(bundle, "hello", "calm").pcm == calm.pcm);
}

void the_default_preset_decides_for_nobody_in_particular() {
    const Home home;
    home.put("default", preset(2, {"", "", "", "", "", "{\"voice\": \"af_bella\"}"}));
    const Bundle bundle(home.folder);
    CHECK(say(bundle, "hello", nullptr).pcm == say(bundle, "hello", "af_bella").pcm);
}

std::vector<float> table(const Home & home, const char * voice) {
    std::ifstream      in(home.folder / "tts" / "kokoro" / "voices" / (std::string(voice) + ".bin"), std::ios::binary);
    const std::string  bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    std::vector<float> values(bytes.size() / 4);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

void a_preset_may_hold_the_table_itself() {
    const Home home;
    home.put("inside", preset(1, {floats(table(home, "af_bella"))}));
    home.put("odd", preset(1, {floats({1, 2, 3})}));
    const Bundle bundle(home.folder);
    CHECK(say(bundle, "hello", "inside").pcm == say(bundle, "hello", "af_bella").pcm);
    CHECK(say(bundle, "hello", "odd").status == ELIZA_ERR_BUNDLE_INVALID);
    CHECK(say(bundle, "hello", "inside").status > 0);
}

void a_pipe_is_no_preset() {
#if !defined(_WIN32)
    const Home home;
    CHECK(mkfifo((home.folder / "cache" / "voice-preset-default.bin").c_str(), 0600) == 0);
    CHECK(say(Bundle(home.folder), "hello", nullptr).status == ELIZA_ERR_BUNDLE_INVALID);
#endif
}

void ready_phrases_need_no_synthesis() {
    const Home home;
    home.put("default", preset(2, {"", le32(1) + phrase("One moment.", 24000, std::vector<float>(5000, 0.25f))}));
    const Bundle bundle(home.folder);
    fs::remove_all(home.folder / "tts");  // nothing is left that could speak
    CHECK(say(bundle, "one  moment", nullptr).pcm == std::vector<float>(5000, 0.25f));
    CHECK(say(bundle, "two moments", nullptr).status == ELIZA_ERR_BUNDLE_INVALID);
    const auto count = [](const float *, size_t samples, int is_final, void * total) {
        *static_cast<size_t *>(total) += samples + (is_final != 0 ? 1000000 : 0);
        return 0;
    };
    size_t total = 0;
    CHECK(eliza_inference_tts_synthesize_stream(bundle.get(), "One moment.", 11, nullptr, count, &total, nullptr) ==
          ELIZA_OK);
    CHECK(total == 1005000);
}

}  // namespace

int main() {
    every_fault_has_its_name();
    both_versions_are_read();
    a_preset_names_its_voice();
    the_default_preset_decides_for_nobody_in_particular();
    a_preset_may_hold_the_table_itself();
    a_pipe_is_no_preset();
    ready_phrases_need_no_synthesis();
    return 0;
}
