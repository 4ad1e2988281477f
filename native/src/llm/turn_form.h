// How a model's vocabulary marks the turns of a chat.
#pragma once

#include "llama.h"

#include <string>

namespace eliza::llm {

struct TurnForm {
    std::string opens;
    std::string closes;
    std::string model_role;
};

// The form whose marks are control tokens of this vocabulary, the same table as the text path uses
// (agent/eliza_agent/runtime/chat.py); NULL when there is none. A file's own template is a program and is not run.
const TurnForm * find_turn_form(const llama_vocab * vocab);

// The one token that `text` is when control tokens are read, or LLAMA_TOKEN_NULL.
llama_token control_token(const llama_vocab * vocab, const std::string & text);

}  // namespace eliza::llm
