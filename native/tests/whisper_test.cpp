// Recognition through the C border with tiny seeded models: refusals before successes, then what is heard, silence,
// long recordings and streams.
#include "abi/guard.h"
#include "check.h"
#include "eliza/inference.h"
#include "ggml-cpp.h"
#include "gguf.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

using Sound = std::vector<float>;

const std::string heard_by_tiny = "eliza hears the caf\xC3\xA9.";

fs::path models() {
    return fs::path(std::getenv("ELIZA_TEST_MODELS"));
}

fs::path model_of(const fs::path & bundle) {
    return bundle / "asr" / "eliza-1-asr.gguf";
}

Sound noise(double seconds, unsigned seed, float level = 0.3f) {
    std::mt19937                          random(seed);
    std::uniform_real_distribution<float> values(-level, level);
    Sound                                 sound(static_cast<size_t>(seconds * 16000));
    for (float & sample : sound) {
        sample = values(random);
    }
    return sound;
}

struct Answer {
    int         status;
    std::string text;  // or what the refusal says
};

struct Context {
    explicit Context(const fs::path & bundle) {
        char * error = nullptr;
        ctx          = eliza_inference_create(bundle.u8string().c_str(), &error);
        CHECK(ctx != nullptr && error == nullptr);
    }
    ~Context() { eliza_inference_destroy(ctx); }
    Context(const Context &)             = delete;
    Context & operator=(const Context &) = delete;

    Answer hear(const Sound & sound, int rate = 16000) const {
        std::vector<char> out(1 << 16);
        char *            error = nullptr;
        const int         status =
            eliza_inference_asr_transcribe(ctx, sound.data(), sound.size(), rate, out.data(), out.size(), &error);
        return answer(status, out.data(), error);
    }

    static Answer answer(int status, const char * text, char * error) {
        CHECK((status < 0) == (error != nullptr));
        Answer all{status, error != nullptr ? error : text};
        eliza_inference_free_string(error);
        CHECK(status < 0 || all.text.size() == static_cast<size_t>(status));
        return all;
    }

    EliInferenceContext * ctx = nullptr;
};

// A bundle of its own, gone at the end, whose model the test writes.
struct Bundle {
    Bundle() : root(fs::temp_directory_path() / ("eliza-whisper-test-" + std::to_string(std::random_device{}()))) {
        fs::create_directories(root / "asr");
    }
    ~Bundle() { fs::remove_all(root); }
    Bundle(const Bundle &)             = delete;
    Bundle & operator=(const Bundle &) = delete;

    // Opening the model must be refused as one that is invalid; returns why.
    std::string refusal() const {
        const Context context(root);
        const Answer  answer = context.hear(noise(0.5, 1));
        CHECK(answer.status == ELIZA_ERR_BUNDLE_INVALID);
        return answer.text;
    }

    fs::path root;
};

bool says(const std::string & message, const std::string & part) {
    return message.find(part) != std::string::npos;
}

std::vector<char> read_bytes(const fs::path & file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void write_bytes(const fs::path & file, const std::vector<char> & bytes) {
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// The tiny model, taken apart so that a test can bend it.
struct Opened {
    Opened() {
        gguf_init_params params{false, &raw};
        gguf.reset(gguf_init_from_file(model_of(models() / "hearing").u8string().c_str(), params));
        tensors.reset(raw);
        CHECK(gguf != nullptr && raw != nullptr);
    }

    ggml_context *   raw = nullptr;
    gguf_context_ptr gguf;
    ggml_context_ptr tensors;
};

using Bend = std::function<ggml_tensor *(ggml_context *, ggml_tensor *)>;  // returns what to write instead, or none

void write_bent(const fs::path & file, const Opened & opened, const Bend & bend) {
    const gguf_context_ptr out(gguf_init_empty());
    gguf_set_kv(out.get(), opened.gguf.get());
    const ggml_context_ptr spare(ggml_init({16u << 20, nullptr, false}));
    for (int64_t i = 0; i < gguf_get_n_tensors(opened.gguf.get()); ++i) {
        ggml_tensor * tensor = ggml_get_tensor(opened.raw, gguf_get_tensor_name(opened.gguf.get(), i));
        if (ggml_tensor * written = bend(spare.get(), tensor)) {
            ggml_set_name(written, tensor->name);
            gguf_add_tensor(out.get(), written);
        }
    }
    CHECK(gguf_write_to_file(out.get(), file.u8string().c_str(), false));
}

ggml_tensor * blank(ggml_context * ctx, ggml_type type, int64_t ne0, int64_t ne1) {
    return ggml_set_zero(ggml_new_tensor_2d(ctx, type, ne0, ne1));
}

void a_bundle_without_one_model_is_refused() {
    const Bundle bundle;
    CHECK(says(bundle.refusal(), "models: none"));
    fs::copy_file(model_of(models() / "hearing"), bundle.root / "asr" / "a.gguf");
    fs::copy_file(model_of(models() / "hearing"), bundle.root / "asr" / "b.gguf");
    CHECK(says(bundle.refusal(), "a.gguf, b.gguf"));
}

void a_file_cut_short_anywhere_is_refused() {
    const Bundle            bundle;
    const std::vector<char> whole = read_bytes(model_of(models() / "hearing"));
    for (size_t size = 0; size < whole.size(); size += size < 4096 ? 61 : 19997) {
        write_bytes(model_of(bundle.root), {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
        bundle.refusal();
    }
    write_bytes(model_of(bundle.root), {whole.begin(), whole.end() - 64});
    CHECK(says(bundle.refusal(), "truncated"));
}

void absurd_sizes_are_refused_by_name() {
    const Bundle bundle;
    const Opened opened;
    const Bend   as_is = [](ggml_context *, ggml_tensor * tensor) { return tensor; };
    for (int64_t id = 0; id < gguf_get_n_kv(opened.gguf.get()); ++id) {
        const std::string key = gguf_get_key(opened.gguf.get(), id);
        if (gguf_get_kv_type(opened.gguf.get(), id) != GGUF_TYPE_UINT32 || key.rfind("whisper.", 0) != 0) {
            continue;
        }
        for (const uint32_t value : {0u, 33u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu}) {
            const Opened bent;
            gguf_set_val_u32(bent.gguf.get(), key.c_str(), value);
            write_bent(model_of(bundle.root), bent, as_is);
            CHECK(!bundle.refusal().empty());
        }
        const Opened bent;
        gguf_set_val_str(bent.gguf.get(), key.c_str(), "many");
        write_bent(model_of(bundle.root), bent, as_is);
        CHECK(says(bundle.refusal(), key));
    }
}

void absurd_lists_are_refused_by_name() {
    const Bundle  bundle;
    const Bend    as_is    = [](ggml_context *, ggml_tensor * tensor) { return tensor; };
    const int32_t beyond[] = {-1, 1 << 30};
    for (const char * key : {"whisper.language.tokens", "whisper.suppressed", "whisper.suppressed_first"}) {
        for (const int32_t & id : beyond) {
            const Opened bent;
            gguf_set_arr_data(bent.gguf.get(), key, GGUF_TYPE_INT32, &id, 1);
            write_bent(model_of(bundle.root), bent, as_is);
            CHECK(says(bundle.refusal(), key));
        }
    }
    for (const char * spelled : {"\xC3", "\xE2\x82\xAC", "\x01", "\xFF\xFF"}) {
        const Opened              bent;
        std::vector<const char *> tokens(16, "x");
        tokens[3] = spelled;
        gguf_set_arr_str(bent.gguf.get(), "tokenizer.ggml.tokens", tokens.data(), tokens.size());
        write_bent(model_of(bundle.root), bent, as_is);
        CHECK(says(bundle.refusal(), "stands for no byte"));
    }
    const Opened bent;
    const char * one = "en";
    gguf_set_arr_str(bent.gguf.get(), "whisper.language.codes", &one, 1);
    write_bent(model_of(bundle.root), bent, as_is);
    CHECK(says(bundle.refusal(), "languages"));
}

void every_bent_tensor_is_refused_by_name() {
    const Bundle bundle;
    const Opened opened;
    for (int64_t i = 0; i < gguf_get_n_tensors(opened.gguf.get()); ++i) {
        const std::string name = gguf_get_tensor_name(opened.gguf.get(), i);
        const auto        only = [&](const Bend & bend) {
            write_bent(model_of(bundle.root), opened, [&](ggml_context * ctx, ggml_tensor * tensor) {
                return name == tensor->name ? bend(ctx, tensor) : tensor;
            });
            CHECK(says(bundle.refusal(), "'" + name + "'"));
        };
        only([](ggml_context *, ggml_tensor *) { return static_cast<ggml_tensor *>(nullptr); });
        only([](ggml_context * ctx, ggml_tensor * t) { return blank(ctx, t->type, t->ne[0], t->ne[1] + 1); });
        only([](ggml_context * ctx, ggml_tensor * t) { return blank(ctx, t->type, t->ne[0] + 32, t->ne[1]); });
        only([](ggml_context * ctx, ggml_tensor * t) { return blank(ctx, GGML_TYPE_I32, t->ne[0], t->ne[1]); });
    }
}

void a_tensor_too_many_is_refused() {
    const Bundle bundle;
    const Opened opened;
    write_bent(model_of(bundle.root), opened, [](ggml_context *, ggml_tensor * tensor) { return tensor; });
    CHECK(Context(bundle.root).hear(noise(0.5, 1)).text == heard_by_tiny);

    const gguf_context_ptr out(gguf_init_empty());
    gguf_set_kv(out.get(), opened.gguf.get());
    for (ggml_tensor * t = ggml_get_first_tensor(opened.raw); t != nullptr; t = ggml_get_next_tensor(opened.raw, t)) {
        if (gguf_find_tensor(opened.gguf.get(), t->name) >= 0) {
            gguf_add_tensor(out.get(), t);
        }
    }
    const ggml_context_ptr spare(ggml_init({1u << 20, nullptr, false}));
    ggml_tensor *          more = blank(spare.get(), GGML_TYPE_F32, 4, 1);
    ggml_set_name(more, "more");
    gguf_add_tensor(out.get(), more);
    CHECK(gguf_write_to_file(out.get(), model_of(bundle.root).u8string().c_str(), false));
    CHECK(says(bundle.refusal(), "does not know"));
}

void damaged_headers_and_weights_never_crash() {
    const Bundle            bundle;
    const std::vector<char> whole = read_bytes(model_of(models() / "hearing"));
    std::mt19937            random(11);
    int                     refused = 0;
    for (int round = 0; round < 200; ++round) {
        std::vector<char> damaged = whole;
        for (int i = 0; i < 3; ++i) {
            damaged[random() % 6000] = static_cast<char>(random());
        }
        if (round % 4 == 0) {  // weights that are no numbers
            std::fill(damaged.end() - 2000, damaged.end(), static_cast<char>(0xFF));
        }
        write_bytes(model_of(bundle.root), damaged);
        refused += Context(bundle.root).hear(noise(0.3, 2)).status < 0 ? 1 : 0;
    }
    CHECK(refused > 80 && refused < 200);
}

void a_language_is_forced_by_code_or_name_or_left_open() {
    for (const char * known : {"en", "English", "ENGLISH", "de", "german", "", "0", "false", "None", "auto"}) {
        setenv("ELIZA_ASR_FORCE_LANGUAGE", known, 1);
        CHECK(Context(models() / "hearing").hear(noise(1, 1)).text == heard_by_tiny);
    }
    setenv("ELIZA_ASR_FORCE_LANGUAGE", "klingon", 1);
    const Answer refused = Context(models() / "hearing").hear(noise(1, 1));
    CHECK(refused.status == ELIZA_ERR_INVALID_ARG && says(refused.text, "klingon"));
    unsetenv("ELIZA_ASR_FORCE_LANGUAGE");
}

void wrong_sound_is_refused_and_changes_nothing() {
    const Context context(models() / "muddled");
    const Sound   sound = noise(2, 5);
    const Answer  first = context.hear(sound);
    CHECK(first.status > 0);
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        Sound broken = sound;
        broken[700]  = bad;
        CHECK(context.hear(broken).status == ELIZA_ERR_INVALID_ARG);
    }
    for (const int rate : {0, -1, 3999, 384001}) {
        CHECK(context.hear(sound, rate).status == ELIZA_ERR_INVALID_ARG);
    }
    char   small[4];
    char * error = nullptr;
    CHECK(eliza_inference_asr_transcribe(context.ctx, sound.data(), sound.size(), 16000, small, sizeof(small),
                                         &error) == ELIZA_ERR_INVALID_ARG);
    CHECK(says(error, "needs " + std::to_string(first.text.size() + 1) + " bytes"));
    eliza_inference_free_string(error);
    CHECK(context.hear(sound).text == first.text);
}

void huge_samples_are_survived() {
    const Context context(models() / "muddled");
    for (const float level : {1e-30f, 1e4f, 1e20f, 1e38f}) {
        CHECK(context.hear(noise(0.5, 3, level)).status >= 0);
        CHECK(context.hear(Sound(8000, level)).status >= 0);
    }
    CHECK(context.hear(noise(2, 5)).status > 0);
}

void what_is_heard_depends_on_the_sound_alone() {
    const Context first(models() / "muddled"), second(models() / "muddled");
    const Answer  one = first.hear(noise(2, 5)), other = first.hear(noise(2, 6));
    CHECK(one.text != other.text);
    CHECK(first.hear(noise(2, 5)).text == one.text);
    CHECK(second.hear(noise(2, 5)).text == one.text);
    for (const char * bundle : {"hearing", "packed"}) {
        CHECK(Context(models() / bundle).hear(noise(2, 5)).text == heard_by_tiny);
    }
}

void silence_has_no_text() {
    const Context context(models() / "hearing");
    CHECK(context.hear({}).text.empty());
    CHECK(context.hear(Sound(1)).text.empty());
    CHECK(context.hear(Sound(16000 * 40)).text.empty());
    CHECK(context.hear(noise(3, 1, 1e-4f)).text.empty());
    CHECK(context.hear(noise(0.09, 1)).text.empty());
    CHECK(context.hear(noise(0.11, 1)).text == heard_by_tiny);
    CHECK(Context(models() / "unsure").hear(noise(3, 1)).text.empty());  // the model's own word for it
}

void a_repeating_model_is_stopped() {
    CHECK(Context(models() / "stuck").hear(noise(1, 1)).text == "eliza hears the");
}

void a_long_recording_is_heard_in_parts() {
    const Context context(models() / "hearing");
    CHECK(context.hear(noise(30, 1)).text == heard_by_tiny);
    CHECK(context.hear(noise(70, 1)).text == heard_by_tiny + " " + heard_by_tiny + " " + heard_by_tiny);
}

void a_stream_hears_what_a_recording_hears() {
    const Context  context(models() / "muddled");
    const Sound    sound  = noise(2, 5);
    EliAsrStream * stream = eliza_inference_asr_stream_open(context.ctx, 16000, nullptr);
    CHECK(stream != nullptr);
    char   text[4096];
    size_t count = 0;
    CHECK(eliza_inference_asr_stream_partial(stream, text, sizeof(text), nullptr, nullptr, nullptr) == 0);
    for (size_t at = 0; at < sound.size(); at += 8000) {
        CHECK(eliza_inference_asr_stream_feed(stream, sound.data() + at, 8000, nullptr) == 8000);
    }
    CHECK(eliza_inference_asr_stream_finish(stream, text, sizeof(text), nullptr, &count, nullptr) > 0);
    CHECK(text == context.hear(sound).text && count > 0);
    eliza_inference_asr_stream_close(stream);
}

void an_evicted_recogniser_comes_back() {
    const Context context(models() / "hearing");
    CHECK(eliza_inference_mmap_acquire(context.ctx, "asr", nullptr) == ELIZA_OK);
    CHECK(eliza_inference_mmap_evict(context.ctx, "asr", nullptr) == ELIZA_OK);
    CHECK(context.hear(noise(1, 1)).status == ELIZA_ERR_INVALID_ARG);
    CHECK(eliza_inference_mmap_acquire(context.ctx, "asr", nullptr) == ELIZA_OK);
    CHECK(context.hear(noise(1, 1)).text == heard_by_tiny);
}

}  // namespace

int main() {
    CHECK(eliza_inference_asr_stream_supported() == 1);
    unsetenv("ELIZA_ASR_FORCE_LANGUAGE");
    setenv("ELIZA_THREADS", "1", 1);  // tiny models have no work for two
    a_bundle_without_one_model_is_refused();
    a_file_cut_short_anywhere_is_refused();
    absurd_sizes_are_refused_by_name();
    absurd_lists_are_refused_by_name();
    every_bent_tensor_is_refused_by_name();
    a_tensor_too_many_is_refused();
    damaged_headers_and_weights_never_crash();
    a_language_is_forced_by_code_or_name_or_left_open();
    wrong_sound_is_refused_and_changes_nothing();
    huge_samples_are_survived();
    what_is_heard_depends_on_the_sound_alone();
    silence_has_no_text();
    a_repeating_model_is_stopped();
    a_long_recording_is_heard_in_parts();
    a_stream_hears_what_a_recording_hears();
    an_evicted_recogniser_comes_back();
    return 0;
}
