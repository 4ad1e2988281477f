// Text to token ids and back.
#pragma once

#include "llama.h"

#include <string>
#include <string_view>
#include <vector>

namespace eliza::llm {

// Throws Failure(INVALID_ARG) for a text beyond 2 GiB.
std::vector<llama_token> tokenize(const llama_vocab * vocab, std::string_view text, bool add_special,
                                  bool parse_special);

// Throws Failure(INVALID_ARG) for ids outside the vocabulary.
std::string detokenize(const llama_vocab * vocab, const std::vector<llama_token> & tokens, bool remove_special,
                       bool unparse_special);

}  // namespace eliza::llm
