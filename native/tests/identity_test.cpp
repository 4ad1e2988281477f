// The seam is inert: what a stream says, plain and with a drafter, is what llama.cpp says when it is called directly,
// token by token, on a model that listens to every token.
#include "llama-cpp.h"
#include "streams.h"

#include <algorithm>

using namespace tests;

namespace {

constexpr int answer_tokens  = 48;
constexpr int context_tokens = 512;

std::vector<int> some_prompt(int seed, int count) {
    std::vector<int> ids(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
        ids[static_cast<size_t>(i)] = 11 + (i * 37 + seed * 101) % 250;
    }
    return ids;
}

// The plain loop of llama.cpp's own examples: decode, take the likeliest, decode that.
std::vector<int> said_by_llama(llama_model * model, const std::vector<int> & prompt) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx                = context_tokens;
    params.n_threads            = 1;
    params.n_threads_batch      = 1;
    params.swa_full             = false;
    const llama_context_ptr context(llama_init_from_model(model, params));
    CHECK(context != nullptr);
    const llama_vocab * vocab = llama_model_get_vocab(model);
    const int           size  = llama_vocab_n_tokens(vocab);
    std::vector<int>    batch = prompt;
    std::vector<int>    said;
    while (said.size() < answer_tokens) {
        CHECK(llama_decode(context.get(), llama_batch_get_one(batch.data(), static_cast<int32_t>(batch.size()))) == 0);
        const float * logits = llama_get_logits_ith(context.get(), -1);
        const auto    token  = static_cast<int>(std::max_element(logits, logits + size) - logits);
        if (llama_vocab_is_eog(vocab, token)) {
            break;
        }
        said.push_back(token);
        batch = {token};
    }
    return said;
}

std::vector<int> said_by_us(const Bundle & bundle, const std::vector<int> & prompt, const char * drafter, int window) {
    auto settings             = config();
    settings.context_size     = context_tokens;
    settings.max_tokens       = answer_tokens;
    settings.mtp_drafter_path = drafter;
    settings.draft_max        = window;
    Stream stream(bundle, settings);
    CHECK(stream.prefill(prompt) == ELIZA_OK);
    return stream.all().tokens;
}

void every_road_says_the_same(const char * name) {
    const fs::path        folder = models() / name;
    const Bundle          bundle(folder);
    const std::string     file    = (folder / "text" / "text.gguf").u8string();
    const std::string     drafter = (folder / "mtp" / "drafter-2b.gguf").u8string();
    const llama_model_ptr model(llama_model_load_from_file(file.c_str(), llama_model_default_params()));
    CHECK(model != nullptr);
    size_t compared = 0;
    for (int seed = 0; seed < 12; ++seed) {
        const auto prompt   = some_prompt(seed, 3 + seed * 17);
        const auto expected = said_by_llama(model.get(), prompt);
        CHECK(said_by_us(bundle, prompt, nullptr, 0) == expected);
        for (const int window : {1, 2, 4}) {
            CHECK(said_by_us(bundle, prompt, drafter.c_str(), window) == expected);
        }
        compared += expected.size();
    }
    CHECK(compared > 100);
}

}  // namespace

int main() {
    every_road_says_the_same("sure");
    every_road_says_the_same("noise");
    return 0;
}
