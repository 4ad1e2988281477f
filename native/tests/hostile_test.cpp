// Whatever comes over the border, an error goes back: NULL, wrong lengths, broken files, odd paths.
#include "streams.h"

#include <cmath>
#include <limits>

using namespace tests;

namespace {

void null_is_an_error_everywhere() {
    const Bundle         bundle(models() / "sure");
    auto *               ctx      = bundle.get();
    const auto           settings = config();
    int *                ids      = nullptr;
    size_t               count    = 0;
    char                 text[8];
    const int            bad       = ELIZA_ERR_INVALID_ARG;
    EliLlmStream * const no_stream = nullptr;
    CHECK(eliza_inference_create(nullptr, nullptr) == nullptr && eliza_inference_last_status() == bad);
    CHECK(eliza_inference_mmap_acquire(nullptr, "text", nullptr) == bad);
    CHECK(eliza_inference_mmap_acquire(ctx, nullptr, nullptr) == bad);
    CHECK(eliza_inference_mmap_evict(ctx, nullptr, nullptr) == bad);
    CHECK(eliza_inference_llm_stream_open(nullptr, &settings, nullptr) == nullptr);
    CHECK(eliza_inference_llm_stream_open(ctx, nullptr, nullptr) == nullptr);
    CHECK(eliza_inference_llm_stream_prefill(no_stream, nullptr, 0, nullptr) == bad);
    CHECK(eliza_inference_llm_stream_next(no_stream, nullptr, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr) ==
          bad);
    CHECK(eliza_inference_llm_stream_reset(no_stream) == bad);
    CHECK(eliza_inference_llm_stream_reset_keep(no_stream, 0) == bad);
    CHECK(eliza_inference_llm_stream_save_slot(no_stream, "x", nullptr) == bad);
    CHECK(eliza_inference_set_verifier_callback(nullptr, nullptr, nullptr, nullptr) == bad);
    CHECK(eliza_inference_tokenize(nullptr, "a", 1, 1, 1, &ids, &count, nullptr) == bad);
    CHECK(eliza_inference_tokenize(ctx, nullptr, 1, 1, 1, &ids, &count, nullptr) == bad);
    CHECK(eliza_inference_tokenize(ctx, "a", 1, 1, 1, nullptr, &count, nullptr) == bad);
    CHECK(eliza_inference_detokenize(ctx, nullptr, 1, 0, 0, text, sizeof(text), nullptr) == bad);
    CHECK(eliza_inference_detokenize(ctx, nullptr, 0, 0, 0, nullptr, 0, nullptr) == bad);
    eliza_inference_llm_stream_close(nullptr);
    eliza_inference_destroy(nullptr);
}

void a_stream_survives_null_buffers() {
    const Bundle bundle(models() / "sure");
    Stream       stream(bundle, config());
    int32_t      ids[4];
    size_t       count = 0;
    char         text[64];
    const int    bad = ELIZA_ERR_INVALID_ARG;
    CHECK(eliza_inference_llm_stream_prefill(stream.get(), nullptr, 3, nullptr) == bad);
    CHECK(stream.prefill(bundle.tokens("hi")) == ELIZA_OK);
    CHECK(eliza_inference_llm_stream_next(stream.get(), nullptr, 4, &count, text, 64, nullptr, nullptr, nullptr) ==
          bad);
    CHECK(eliza_inference_llm_stream_next(stream.get(), ids, 4, nullptr, text, 64, nullptr, nullptr, nullptr) == bad);
    CHECK(eliza_inference_llm_stream_next(stream.get(), ids, 4, &count, nullptr, 64, nullptr, nullptr, nullptr) == bad);
    CHECK(eliza_inference_llm_stream_next(stream.get(), ids, 4, &count, text, 0, nullptr, nullptr, nullptr) == bad);
    CHECK(eliza_inference_llm_stream_next(stream.get(), ids, 4, &count, text, 64, nullptr, nullptr, nullptr) == 0);
    CHECK(count == 1 && std::string(text) == "Hello,");
    Said said;
    CHECK(eliza_inference_llm_stream_restore_slot(stream.get(), "/no/such/slot", &said.text) == bad);
    CHECK(said.text != nullptr);
}

void refuse_settings(const Bundle & bundle, eliza_llm_stream_config_t settings) {
    Said said;
    CHECK(eliza_inference_llm_stream_open(bundle.get(), &settings, &said.text) == nullptr);
    CHECK(eliza_inference_last_status() == ELIZA_ERR_INVALID_ARG && said.text != nullptr);
}

template <typename Change> void refuse_change(const Bundle & bundle, Change && change) {
    auto settings = config();
    change(settings);
    refuse_settings(bundle, settings);
}

void absurd_sizes_are_refused_before_anything_is_read() {
    const Bundle  bundle(models() / "sure");
    const Stream  stream(bundle, config());
    const int     bad = ELIZA_ERR_INVALID_ARG;
    const int32_t id  = 5;
    char          text[16];
    float         pcm[4];
    for (const size_t count : {SIZE_MAX, SIZE_MAX / 4 + 1, SIZE_MAX / 8, size_t{1} << 31}) {
        CHECK(eliza_inference_detokenize(bundle.get(), &id, count, 0, 0, text, sizeof(text), nullptr) == bad);
        CHECK(eliza_inference_llm_stream_prefill(stream.get(), &id, count, nullptr) == bad);
        CHECK(eliza_inference_tts_synthesize(bundle.get(), "a", count, nullptr, pcm, 4, nullptr) == bad);
    }
    CHECK(eliza_inference_llm_stream_prefill(stream.get(), &id, 1, nullptr) >= 0);
    CHECK(eliza_inference_llm_stream_prefill(stream.get(), &id, SIZE_MAX, nullptr) == bad);
}

// Hosts of the reference say "off" in these ways, and leave the padding as it was.
void settings_that_say_off_are_understood() {
    const Bundle bundle(models() / "sure");
    auto         settings     = config();
    settings.temperature      = -1.0f;
    settings.top_p            = 1.5f;
    settings.top_k            = -1;
    settings.repeat_penalty   = -1.0f;
    settings.max_tokens       = -1;
    settings.reserved         = 7;
    settings.cache_type_k     = "F16";
    settings.cache_type_v     = "";
    settings.mtp_drafter_path = "";
    const Stream stream(bundle, settings);
    CHECK(eliza_inference_llm_stream_cancel(nullptr) == ELIZA_OK);
}

void settings_out_of_range_are_refused() {
    const Bundle bundle(models() / "sure");
    using Config = eliza_llm_stream_config_t;
    refuse_change(bundle, [](Config & c) { c.temperature = std::nanf(""); });
    refuse_change(bundle, [](Config & c) { c.top_p = std::nanf(""); });
    refuse_change(bundle, [](Config & c) { c.repeat_penalty = std::numeric_limits<float>::infinity(); });
    refuse_change(bundle, [](Config & c) { c.context_size = -1; });
    refuse_change(bundle, [](Config & c) { c.context_size = 1; });
    refuse_change(bundle, [](Config & c) { c.context_size = 1 << 30; });
    refuse_change(bundle, [](Config & c) { c.n_gpu_layers = -2; });
    refuse_change(bundle, [](Config & c) { c.cache_type_k = "turbo3_0"; });
    refuse_change(bundle, [](Config & c) { c.gbnf_grammar = "root ::= ("; });
    refuse_change(bundle, [](Config & c) { c.gbnf_grammar = "other ::= \"a\""; });
    refuse_change(bundle, [](Config & c) { c.mtp_drafter_path = "x"; });
    refuse_change(bundle, [](Config & c) {
        c.mtp_drafter_path = "x";
        c.draft_max        = 3;
        c.draft_min        = 400;
    });
    setenv("ELIZA_THREADS", "many", 1);
    refuse_change(bundle, [](Config &) {});
    setenv("ELIZA_THREADS", "1", 1);
    setenv("ELIZA_LLM_BACKEND", "npu", 1);
    refuse_change(bundle, [](Config &) {});
    unsetenv("ELIZA_LLM_BACKEND");
}

void an_unknown_cache_type_names_the_known() {
    const Bundle bundle(models() / "sure");
    auto         settings = config();
    Said         said;
    settings.cache_type_k = "nonsense";
    CHECK(eliza_inference_llm_stream_open(bundle.get(), &settings, &said.text) == nullptr);
    CHECK(said.has("nonsense") && said.has("f16") && said.has("q8_0"));
}

std::string bytes_of(const fs::path & file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void expect_invalid(const fs::path & folder, const std::string & bytes) {
    std::ofstream(folder / "text" / "model.gguf", std::ios::binary) << bytes;
    const Bundle bundle(folder);
    const auto   settings = config();
    Said         said;
    CHECK(eliza_inference_llm_stream_open(bundle.get(), &settings, &said.text) == nullptr);
    CHECK(eliza_inference_last_status() == ELIZA_ERR_BUNDLE_INVALID && said.text != nullptr);
}

void broken_files_are_errors(const fs::path & scratch) {
    const fs::path    folder = scratch / "broken";
    const std::string whole  = bytes_of(models() / "sure" / "text" / "text.gguf");
    fs::create_directories(folder / "text");
    for (size_t part = 0; part < 40; ++part) {
        expect_invalid(folder, whole.substr(0, whole.size() * part / 40));
    }
    expect_invalid(folder, whole.substr(0, whole.size() - 40));
    expect_invalid(folder, std::string(5000, '\0'));
    expect_invalid(folder, bytes_of(models() / "mmproj.gguf"));
    expect_invalid(folder, bytes_of(models() / "sure" / "mtp" / "drafter-2b.gguf"));
    std::string renamed = whole;
    renamed.replace(renamed.find("gemma4"), 6, "gemmaX");
    expect_invalid(folder, renamed);
}

void folders_without_one_model_are_errors(const fs::path & scratch) {
    Said said;
    CHECK(eliza_inference_create((scratch / "nowhere").u8string().c_str(), &said.text) == nullptr);
    CHECK(eliza_inference_last_status() == ELIZA_ERR_BUNDLE_INVALID && said.has("nowhere"));
    fs::create_directories(scratch / "empty");
    fs::create_directories(scratch / "two" / "text");
    const fs::path model = models() / "sure" / "text" / "text.gguf";
    fs::copy_file(model, scratch / "two" / "text" / "a.gguf");
    fs::copy_file(model, scratch / "two" / "text" / "b.gguf");
    for (const char * name : {"empty", "two"}) {
        const Bundle bundle(scratch / name);
        int *        ids   = nullptr;
        size_t       count = 0;
        Said         why;
        CHECK(eliza_inference_tokenize(bundle.get(), "a", 1, 1, 1, &ids, &count, &why.text) ==
              ELIZA_ERR_BUNDLE_INVALID);
        CHECK(ids == nullptr && why.has("text"));
    }
}

void odd_paths_work(const fs::path & scratch) {
    const fs::path folder = scratch / fs::u8path("B\xC3\xBCndel \xE2\x82\xAC 'quoted' %20");
    fs::copy(models() / "sure", folder, fs::copy_options::recursive);
    const Bundle      bundle(folder);
    const std::string drafter  = (folder / "mtp" / "drafter-2b.gguf").u8string();
    auto              settings = config();
    settings.mtp_drafter_path  = drafter.c_str();
    settings.draft_max         = 3;
    Stream stream(bundle, settings);
    CHECK(stream.prefill(bundle.tokens("hi")) == ELIZA_OK);
    CHECK(stream.all().accepted > 0);
}

void regions_load_and_free() {
    const Bundle bundle(models() / "sure");
    auto *       ctx = bundle.get();
    for (const char * unknown : {"", "TEXT", "weights"}) {
        CHECK(eliza_inference_mmap_acquire(ctx, unknown, nullptr) == ELIZA_ERR_INVALID_ARG);
        CHECK(eliza_inference_mmap_evict(ctx, unknown, nullptr) == ELIZA_ERR_INVALID_ARG);
    }
    for (const char * later : {"wakeword"}) {
        CHECK(eliza_inference_mmap_acquire(ctx, later, nullptr) == ELIZA_ERR_NOT_IMPLEMENTED);
    }
    for (const char * name : {"text", "mtp", "dflash"}) {
        CHECK(eliza_inference_mmap_acquire(ctx, name, nullptr) == ELIZA_OK);
    }
    Stream running(bundle, config());
    CHECK(running.prefill(bundle.tokens("hi")) == ELIZA_OK);
    CHECK(eliza_inference_mmap_evict(ctx, "text", nullptr) == ELIZA_OK);
    const auto settings = config();
    CHECK(eliza_inference_llm_stream_open(ctx, &settings, nullptr) == nullptr);
    CHECK(!running.all().text.empty());  // what is in use stays
    CHECK(eliza_inference_mmap_acquire(ctx, "text", nullptr) == ELIZA_OK);
    const Stream again(bundle, config());
}

void a_region_that_cannot_be_loaded_stays_evicted() {
    const Bundle bundle(models() / "voice");  // it has no text model
    int *        ids   = nullptr;
    size_t       count = 0;
    Said         said;
    CHECK(eliza_inference_mmap_evict(bundle.get(), "text", nullptr) == ELIZA_OK);
    CHECK(eliza_inference_mmap_acquire(bundle.get(), "text", nullptr) == ELIZA_ERR_BUNDLE_INVALID);
    CHECK(eliza_inference_tokenize(bundle.get(), "a", 1, 1, 1, &ids, &count, &said.text) == ELIZA_ERR_INVALID_ARG);
    CHECK(std::string(said.text).find("is evicted") != std::string::npos);
}

}  // namespace

int main() {
    const fs::path scratch = models().parent_path() / "hostile";
    fs::remove_all(scratch);
    fs::create_directories(scratch);
    null_is_an_error_everywhere();
    a_stream_survives_null_buffers();
    absurd_sizes_are_refused_before_anything_is_read();
    settings_that_say_off_are_understood();
    settings_out_of_range_are_refused();
    an_unknown_cache_type_names_the_known();
    broken_files_are_errors(scratch);
    folders_without_one_model_are_errors(scratch);
    odd_paths_work(scratch);
    regions_load_and_free();
    a_region_that_cannot_be_loaded_stays_evicted();
    fs::remove_all(scratch);
    return 0;
}
