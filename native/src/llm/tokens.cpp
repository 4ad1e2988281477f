#include "llm/tokens.h"

#include "abi/guard.h"

#include <algorithm>
#include <limits>

namespace eliza::llm {
namespace {

constexpr size_t largest_text = std::numeric_limits<int32_t>::max() / 2;

}  // namespace

std::vector<llama_token> tokenize(const llama_vocab * vocab, std::string_view text, bool add_special,
                                  bool parse_special) {
    require(text.size() <= largest_text, "the text is too long");
    const auto               size = static_cast<int32_t>(text.size());
    std::vector<llama_token> tokens(text.size() + 8);
    int32_t count = llama_tokenize(vocab, text.data(), size, tokens.data(), static_cast<int32_t>(tokens.size()),
                                   add_special, parse_special);
    if (count < 0) {
        require(count != std::numeric_limits<int32_t>::min(), "the text makes too many tokens");
        tokens.resize(static_cast<size_t>(-count));
        count = llama_tokenize(vocab, text.data(), size, tokens.data(), static_cast<int32_t>(tokens.size()),
                               add_special, parse_special);
    }
    if (count < 0) {
        throw Failure(ELIZA_ERR_FFI_FAULT, "the tokenizer gave different lengths for one text");
    }
    tokens.resize(static_cast<size_t>(count));
    return tokens;
}

std::string detokenize(const llama_vocab * vocab, const std::vector<llama_token> & tokens, bool remove_special,
                       bool unparse_special) {
    const int size = llama_vocab_n_tokens(vocab);
    require(std::all_of(tokens.begin(), tokens.end(), [&](llama_token id) { return id >= 0 && id < size; }),
            "a token id lies outside the vocabulary");
    require(tokens.size() <= largest_text, "too many tokens");
    const auto  count = static_cast<int32_t>(tokens.size());
    std::string text(tokens.size() * 8 + 16, '\0');
    int32_t     written = llama_detokenize(vocab, tokens.data(), count, text.data(), static_cast<int32_t>(text.size()),
                                           remove_special, unparse_special);
    if (written < 0) {
        text.resize(static_cast<size_t>(-written));
        written = llama_detokenize(vocab, tokens.data(), count, text.data(), static_cast<int32_t>(text.size()),
                                   remove_special, unparse_special);
    }
    if (written < 0) {
        throw Failure(ELIZA_ERR_FFI_FAULT, "the tokenizer gave different lengths for one text");
    }
    text.resize(static_cast<size_t>(written));
    return text;
}

}  // namespace eliza::llm
