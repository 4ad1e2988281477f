// Where a long context goes, and that one which fits nowhere is refused before it is allocated.
#include "llm/state_place.h"

#include "abi/guard.h"
#include "llm/host_memory.h"
#include "streams.h"

using namespace tests;
using eliza::llm::place_state;
using eliza::llm::StateNeed;
using eliza::llm::StatePlace;

namespace {

constexpr uint64_t gib = uint64_t{1} << 30;

bool is_refused(const StateNeed & need) {
    try {
        place_state(need);
    } catch (const eliza::Failure & failure) {
        return failure.status() == ELIZA_ERR_OOM && std::string(failure.what()).rfind("kv-spill-unsupported", 0) == 0;
    }
    return false;
}

void a_gpu_with_room_keeps_it() {
    CHECK(place_state({4 * gib, gib, 5 * gib, 8 * gib, 16 * gib}) == StatePlace::device);
}

void a_short_gpu_spills_to_the_host() {
    CHECK(place_state({8 * gib, gib, 9 * gib, 4 * gib, 16 * gib}) == StatePlace::host);
    CHECK(place_state({8 * gib, gib, 9 * gib, 4 * gib, 9 * gib}) == StatePlace::host);
}

void what_fits_nowhere_is_refused() {
    CHECK(is_refused({8 * gib, gib, 9 * gib, 4 * gib, 9 * gib - 1}));
    CHECK(is_refused({0, 9 * gib, 9 * gib, 0, 8 * gib}));       // no GPU: the host is the device
    CHECK(is_refused({gib, 9 * gib, 10 * gib, 4 * gib, gib}));  // the part beside the GPU's does not fit
}

void a_system_that_does_not_tell_is_believed() {
    CHECK(place_state({0, 9 * gib, 9 * gib, 0, {}}) == StatePlace::device);
    CHECK(place_state({8 * gib, gib, 9 * gib, 4 * gib, {}}) == StatePlace::host);
}

void meminfo_is_read() {
    CHECK(eliza::llm::available_in_meminfo("MemTotal: 10 kB\nMemAvailable:    2048 kB\nSwapFree: 1 kB\n") == 2 << 20);
    CHECK(eliza::llm::available_in_meminfo("") == 0);
    CHECK(eliza::llm::available_in_meminfo("MemAvailable: lots\n") == 0);
#if defined(__linux__)
    CHECK(eliza::llm::host_memory_available().value_or(0) > (1 << 20));
#endif
}

// The noise bundle with another number of tokens that it says it was trained for.
struct LongBundle {
    fs::path folder = fs::temp_directory_path() / ("eliza-long-test-" + std::to_string(std::rand()));
    explicit LongBundle(uint32_t tokens) {
        fs::create_directories(folder / "text");
        std::ifstream     in(models() / "noise" / "text" / "text.gguf", std::ios::binary);
        std::string       bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
        const std::string key = "gemma4.context_length";
        const size_t      at  = bytes.find(key);
        CHECK(at != std::string::npos);
        std::memcpy(&bytes[at + key.size() + 4], &tokens, sizeof tokens);  // behind the value's type
        std::ofstream(folder / "text" / "text.gguf", std::ios::binary) << bytes;
    }
    LongBundle(const LongBundle &)             = delete;
    LongBundle & operator=(const LongBundle &) = delete;
    ~LongBundle() { fs::remove_all(folder); }
};

void a_long_context_that_fits_answers() {
    const LongBundle home(131072);
    const Bundle     bundle(home.folder);
    auto             settings = config();
    settings.context_size     = 131072;
    settings.max_tokens       = 4;
    Stream stream(bundle, settings);
    CHECK(stream.prefill({11, 12, 13}) == ELIZA_OK);
    CHECK(stream.all().status == 1);
}

void a_context_beyond_the_host_is_refused_by_name() {
    const LongBundle home(131072);
    const Bundle     bundle(home.folder);
    auto             settings = config();
    settings.context_size     = 131072;
    CHECK(setenv("ELIZA_LOCAL_RAM_HEADROOM_MB", "1000000000", 1) == 0);  // all that this host has is spoken for
    Said said;
    CHECK(eliza_inference_llm_stream_open(bundle.get(), &settings, &said.text) == nullptr);
    CHECK(eliza_inference_last_status() == ELIZA_ERR_OOM && said.has("kv-spill-unsupported"));
    settings.context_size = 65535;  // below the line nothing is foretold
    CHECK(Stream(bundle, settings).prefill({11}) == ELIZA_OK);
    settings.context_size = 131072;
    CHECK(setenv("ELIZA_LOCAL_RAM_HEADROOM_MB", "plenty", 1) == 0);
    CHECK(eliza_inference_llm_stream_open(bundle.get(), &settings, nullptr) == nullptr);
    CHECK(eliza_inference_last_status() == ELIZA_ERR_INVALID_ARG);
    CHECK(unsetenv("ELIZA_LOCAL_RAM_HEADROOM_MB") == 0);
}

void measuring_agrees_with_what_is_known() {
    const LongBundle     home(131072);
    llama_context_params params = llama_context_default_params();
    params.n_ctx                = 131072;
    params.n_seq_max            = 1;
    const StateNeed need        = eliza::llm::measure_state(home.folder / "text" / "text.gguf", 0, params);
    // two full layers, two heads of 32 numbers, keys and values in f16: 512 bytes a token
    CHECK(need.on_device == 0 && need.on_host >= uint64_t{131072} * 512 && need.on_host < 2 * gib);
    CHECK(need.spilled == need.on_host);
}

}  // namespace

int main() {
    a_gpu_with_room_keeps_it();
    a_short_gpu_spills_to_the_host();
    what_fits_nowhere_is_refused();
    a_system_that_does_not_tell_is_believed();
    meminfo_is_read();
    a_long_context_that_fits_answers();
    a_context_beyond_the_host_is_refused_by_name();
    measuring_agrees_with_what_is_known();
    return 0;
}
