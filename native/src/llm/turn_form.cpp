#include "llm/turn_form.h"

#include "llm/tokens.h"

#include <algorithm>
#include <array>

namespace eliza::llm {

llama_token control_token(const llama_vocab * vocab, const std::string & text) {
    const auto special = tokenize(vocab, text, /*add_special=*/false, /*parse_special=*/true);
    const auto plain   = tokenize(vocab, text, /*add_special=*/false, /*parse_special=*/false);
    return special.size() == 1 && plain.size() > 1 ? special.front() : LLAMA_TOKEN_NULL;
}

const TurnForm * find_turn_form(const llama_vocab * vocab) {
    static const std::array<TurnForm, 3> forms = {{{"<|turn>", "<turn|>", "model"},
                                                   {"<start_of_turn>", "<end_of_turn>", "model"},
                                                   {"<|im_start|>", "<|im_end|>", "assistant"}}};
    const auto                           found = std::find_if(forms.begin(), forms.end(), [&](const TurnForm & form) {
        return control_token(vocab, form.opens) != LLAMA_TOKEN_NULL &&
               control_token(vocab, form.closes) != LLAMA_TOKEN_NULL;
    });
    return found == forms.end() ? nullptr : &*found;
}

}  // namespace eliza::llm
