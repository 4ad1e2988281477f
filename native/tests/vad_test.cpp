// Voice activity through the C border, with a seeded model that the test itself writes: refusals before
// successes, then state, sharing and a thousand openings (run under the sanitizers in CI).
#include "eliza/inference.h"
#include "ggml.h"
#include "gguf.h"
#include "vad/model.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace fs = std::filesystem;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::fprintf(stderr, "%s:%d: CHECK(%s)\n", __FILE__, __LINE__, #condition);                                \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (false)

namespace {

using Window = std::vector<float>;

struct Tensor {
    const char *         name;
    std::vector<int64_t> shape;
};

const std::vector<Tensor> tensors = {
    {"stft.weight", {256, 1, 258}},
    {"encoder.0.weight", {3, 129, 128}},
    {"encoder.0.bias", {128}},
    {"encoder.1.weight", {3, 128, 64}},
    {"encoder.1.bias", {64}},
    {"encoder.2.weight", {3, 64, 64}},
    {"encoder.2.bias", {64}},
    {"encoder.3.weight", {3, 64, 128}},
    {"encoder.3.bias", {128}},
    {"lstm.input.weight", {128, 512}},
    {"lstm.input.bias", {512}},
    {"lstm.hidden.weight", {128, 512}},
    {"lstm.hidden.bias", {512}},
    {"head.weight", {1, 128, 1}},
    {"head.bias", {1}},
};

// What a written model differs in from a right one.
struct Fault {
    std::string architecture = "silero-vad";
    uint32_t    sample_rate  = 16000;
    std::string left_out;
    std::string reshaped;
    std::string halved;  // f16 instead of f32
};

void write_model(const fs::path & file, const Fault & fault = {}) {
    fs::create_directories(file.parent_path());
    gguf_context * gguf = gguf_init_empty();
    ggml_context * ctx  = ggml_init({8u << 20, nullptr, false});
    gguf_set_val_str(gguf, "general.architecture", fault.architecture.c_str());
    gguf_set_val_u32(gguf, "silero-vad.sample_rate", fault.sample_rate);
    gguf_set_val_u32(gguf, "silero-vad.window_samples", 512);
    gguf_set_val_u32(gguf, "silero-vad.context_samples", 64);
    std::mt19937                          random(7);
    std::uniform_real_distribution<float> values(-0.1f, 0.1f);
    for (const Tensor & tensor : tensors) {
        if (fault.left_out == tensor.name) {
            continue;
        }
        std::vector<int64_t> shape = tensor.shape;
        shape.back() += fault.reshaped == tensor.name ? 1 : 0;
        const ggml_type type = fault.halved == tensor.name ? GGML_TYPE_F16 : GGML_TYPE_F32;
        ggml_tensor *   t    = ggml_new_tensor(ctx, type, static_cast<int>(shape.size()), shape.data());
        ggml_set_name(t, tensor.name);
        if (type == GGML_TYPE_F32) {
            for (int64_t i = 0; i < ggml_nelements(t); ++i) {
                ggml_get_data_f32(t)[i] = values(random);
            }
        } else {
            ggml_set_zero(t);
        }
        gguf_add_tensor(gguf, t);
    }
    CHECK(gguf_write_to_file(gguf, file.string().c_str(), false));
    gguf_free(gguf);
    ggml_free(ctx);
}

std::vector<char> read_bytes(const fs::path & file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void write_bytes(const fs::path & file, const std::vector<char> & bytes) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// A folder of its own, gone at the end.
struct Bundle {
    Bundle() {
        root = fs::temp_directory_path() / ("eliza-vad-test-" + std::to_string(std::random_device{}()));
        fs::create_directories(root);
        char * error = nullptr;
        ctx          = eliza_inference_create(root.string().c_str(), &error);
        CHECK(ctx != nullptr && error == nullptr);
    }
    ~Bundle() {
        eliza_inference_destroy(ctx);
        fs::remove_all(root);
    }
    Bundle(const Bundle &)             = delete;
    Bundle & operator=(const Bundle &) = delete;

    fs::path model() const { return root / "vad" / "silero-vad-v5.gguf"; }

    EliVad * open() const {
        char *   error = nullptr;
        EliVad * vad   = eliza_inference_vad_open(ctx, 16000, &error);
        CHECK(vad != nullptr && error == nullptr);
        return vad;
    }

    // The message of a refusal to open; it must be one.
    std::string refusal(int rate = 16000) const {
        char * error = nullptr;
        CHECK(eliza_inference_vad_open(ctx, rate, &error) == nullptr);
        CHECK(error != nullptr);
        const std::string message(error);
        eliza_inference_free_string(error);
        return message;
    }

    fs::path              root;
    EliInferenceContext * ctx = nullptr;
};

bool says(const std::string & message, const char * part) {
    return message.find(part) != std::string::npos;
}

Window noise(unsigned seed) {
    std::mt19937                          random(seed);
    std::uniform_real_distribution<float> values(-0.5f, 0.5f);
    Window                                window(512);
    for (float & sample : window) {
        sample = values(random);
    }
    return window;
}

float heard(EliVad * vad, const Window & window) {
    float  probability = -1.0f;
    char * error       = nullptr;
    CHECK(eliza_inference_vad_process(vad, window.data(), window.size(), &probability, &error) == ELIZA_OK);
    CHECK(error == nullptr && probability >= 0.0f && probability <= 1.0f);
    return probability;
}

void a_bundle_without_exactly_one_model_is_refused() {
    const Bundle bundle;
    CHECK(says(bundle.refusal(), "it holds 0"));
    write_model(bundle.model());
    write_model(bundle.root / "vad" / "second.gguf");
    CHECK(says(bundle.refusal(), "it holds 2"));
}

void a_wrong_rate_or_no_context_is_refused() {
    const Bundle bundle;
    write_model(bundle.model());
    for (const int rate : {0, -1, 8000, 15999, 44100, std::numeric_limits<int>::max()}) {
        CHECK(says(bundle.refusal(rate), "16000"));
    }
    CHECK(eliza_inference_vad_open(nullptr, 16000, nullptr) == nullptr);
    eliza_inference_vad_close(nullptr);
}

void every_other_model_is_refused() {
    const Bundle bundle;
    Fault        other;
    other.architecture = "gemma4";
    write_model(bundle.model(), other);
    CHECK(says(bundle.refusal(), "another architecture"));
    Fault slow;
    slow.sample_rate = 8000;
    write_model(bundle.model(), slow);
    CHECK(says(bundle.refusal(), "sample_rate"));
    for (const Tensor & tensor : tensors) {
        Fault missing;
        missing.left_out = tensor.name;
        write_model(bundle.model(), missing);
        CHECK(says(bundle.refusal(), "other tensors"));
        Fault bent;
        bent.reshaped = tensor.name;
        write_model(bundle.model(), bent);
        CHECK(says(bundle.refusal(), tensor.name));
        Fault halved;
        halved.halved = tensor.name;
        write_model(bundle.model(), halved);
        CHECK(says(bundle.refusal(), tensor.name));
    }
}

void a_file_cut_short_anywhere_is_refused() {
    const Bundle bundle;
    write_model(bundle.model());
    const std::vector<char> whole = read_bytes(bundle.model());
    for (size_t size = 0; size < whole.size(); size += size < 2048 ? 37 : 99991) {
        write_bytes(bundle.model(), {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
        bundle.refusal();
    }
}

void damaged_headers_never_crash() {
    const Bundle bundle;
    write_model(bundle.model());
    const std::vector<char> whole = read_bytes(bundle.model());
    std::mt19937            random(11);
    int                     refused = 0;
    for (int round = 0; round < 400; ++round) {
        std::vector<char> damaged = whole;
        for (int i = 0; i < 3; ++i) {
            damaged[random() % 1536] = static_cast<char>(random());
        }
        write_bytes(bundle.model(), damaged);
        char * error = nullptr;
        if (EliVad * vad = eliza_inference_vad_open(bundle.ctx, 16000, &error)) {
            eliza_inference_vad_close(vad);
            continue;
        }
        CHECK(error != nullptr);
        eliza_inference_free_string(error);
        ++refused;
    }
    CHECK(refused > 200);
}

void wrong_windows_are_refused_and_change_nothing() {
    const Bundle bundle;
    write_model(bundle.model());
    EliVad *     vad    = bundle.open();
    const Window window = noise(1);
    const float  first  = heard(vad, window);
    const float  second = heard(vad, window);
    CHECK(first != second);
    CHECK(eliza_inference_vad_reset(vad, nullptr) == ELIZA_OK);
    CHECK(heard(vad, window) == first);

    float out = 0.0f;
    for (const size_t n : {size_t{0}, size_t{511}, size_t{513}, std::numeric_limits<size_t>::max()}) {
        CHECK(eliza_inference_vad_process(vad, window.data(), n, &out, nullptr) == ELIZA_ERR_INVALID_ARG);
    }
    CHECK(eliza_inference_vad_process(nullptr, window.data(), 512, &out, nullptr) == ELIZA_ERR_INVALID_ARG);
    CHECK(eliza_inference_vad_process(vad, nullptr, 512, &out, nullptr) == ELIZA_ERR_INVALID_ARG);
    CHECK(eliza_inference_vad_process(vad, window.data(), 512, nullptr, nullptr) == ELIZA_ERR_INVALID_ARG);
    CHECK(eliza_inference_vad_reset(nullptr, nullptr) == ELIZA_ERR_INVALID_ARG);
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        Window broken = window;
        broken[300]   = bad;
        CHECK(eliza_inference_vad_process(vad, broken.data(), 512, &out, nullptr) == ELIZA_ERR_INVALID_ARG);
    }
    CHECK(heard(vad, window) == second);
    eliza_inference_vad_close(vad);
}

void extreme_samples_stay_probabilities() {
    const Bundle bundle;
    write_model(bundle.model());
    EliVad * vad = bundle.open();
    for (const float level : {0.0f, 1.0f, -1.0f, 1e6f, 1e-30f}) {
        heard(vad, Window(512, level));
    }
    float        out  = -1.0f;
    const Window huge = Window(512, std::numeric_limits<float>::max());
    const int    rc   = eliza_inference_vad_process(vad, huge.data(), huge.size(), &out, nullptr);
    CHECK(rc == ELIZA_ERR_INVALID_ARG || (rc == ELIZA_OK && std::isfinite(out)));
    CHECK(eliza_inference_vad_reset(vad, nullptr) == ELIZA_OK);
    CHECK(std::isfinite(heard(vad, noise(3))));
    eliza_inference_vad_close(vad);
}

void two_handles_share_weights_but_no_state() {
    const Bundle bundle;
    write_model(bundle.model());
    EliVad * a = bundle.open();
    EliVad * b = bundle.open();
    CHECK(eliza::vad::load_weights(bundle.model()) == eliza::vad::load_weights(bundle.model()));
    std::vector<float> alone;
    for (unsigned seed = 0; seed < 4; ++seed) {
        alone.push_back(heard(a, noise(seed)));
    }
    eliza_inference_vad_reset(a, nullptr);
    for (unsigned seed = 0; seed < 4; ++seed) {
        CHECK(heard(a, noise(seed)) == alone[seed]);
        heard(b, noise(99 + seed));
    }
    eliza_inference_vad_close(a);
    CHECK(heard(b, noise(5)) >= 0.0f);
    eliza_inference_vad_close(b);
}

void a_thousand_openings_leave_nothing_behind() {
    const Bundle bundle;
    write_model(bundle.model());
    for (unsigned round = 0; round < 1000; ++round) {
        EliVad * vad = bundle.open();
        if (round % 50 == 0) {
            heard(vad, noise(round));
        }
        eliza_inference_vad_close(vad);
    }
}

}  // namespace

int main() {
    CHECK(eliza_inference_vad_supported() == 1);
    a_bundle_without_exactly_one_model_is_refused();
    a_wrong_rate_or_no_context_is_refused();
    every_other_model_is_refused();
    a_file_cut_short_anywhere_is_refused();
    damaged_headers_never_crash();
    wrong_windows_are_refused_and_change_nothing();
    extreme_samples_stay_probabilities();
    two_handles_share_weights_but_no_state();
    a_thousand_openings_leave_nothing_behind();
    return 0;
}
