// Text to tokens and back: the text model's vocabulary is all they need.
#include "llm/tokens.h"

#include "abi/guard.h"
#include "abi/regions.h"
#include "llm/text_model.h"

#include <algorithm>

namespace {

constexpr int    all_layers  = -1;
constexpr size_t most_tokens = size_t{1} << 30;

int * malloced_copy(const std::vector<llama_token> & tokens) {
    // malloc(0) may be NULL, and the caller frees also when the count is 0.
    auto * copy = static_cast<int *>(std::malloc(std::max<size_t>(tokens.size(), 1) * sizeof(int)));
    if (copy == nullptr) {
        throw std::bad_alloc();
    }
    std::copy(tokens.begin(), tokens.end(), copy);
    return copy;
}

}  // namespace

extern "C" {

int eliza_inference_tokenize_supported(void) {
    return 1;
}

int eliza_inference_tokenize(EliInferenceContext * ctx, const char * text, size_t text_len, int add_special,
                             int parse_special, int ** out_tokens, size_t * out_num_tokens, char ** out_error) {
    return eliza::guarded(out_error, [&] {
        eliza::require(ctx != nullptr && out_tokens != nullptr && out_num_tokens != nullptr,
                       "ctx, out_tokens and out_num_tokens must not be NULL");
        eliza::require(text != nullptr || text_len == 0, "text is NULL");
        const auto model = eliza::require_text_model(*ctx, all_layers);
        const auto tokens =
            eliza::llm::tokenize(model->vocab(), std::string_view(text == nullptr ? "" : text, text_len),
                                 add_special != 0, parse_special != 0);
        *out_tokens     = malloced_copy(tokens);
        *out_num_tokens = tokens.size();
        return ELIZA_OK;
    });
}

int eliza_inference_detokenize(EliInferenceContext * ctx, const int * tokens, size_t num_tokens, int remove_special,
                               int unparse_special, char * out_text, size_t max_bytes, char ** out_error) {
    return eliza::guarded(out_error, [&] {
        eliza::require(ctx != nullptr && out_text != nullptr, "ctx and out_text must not be NULL");
        eliza::require(tokens != nullptr || num_tokens == 0, "tokens is NULL");
        eliza::require(num_tokens <= most_tokens, "too many tokens");
        const auto        model = eliza::require_text_model(*ctx, all_layers);
        const std::string text  = eliza::llm::detokenize(model->vocab(), {tokens, tokens + num_tokens},
                                                         remove_special != 0, unparse_special != 0);
        if (text.size() + 1 > max_bytes) {
            throw eliza::Failure(ELIZA_ERR_INVALID_ARG,
                                 "the text needs " + std::to_string(text.size() + 1) + " bytes of room");
        }
        std::copy(text.begin(), text.end(), out_text);
        out_text[text.size()] = '\0';
        return static_cast<int>(text.size());
    });
}

}  // extern "C"
