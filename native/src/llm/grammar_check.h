// What a grammar may be before the runtime parses it.
#pragma once

#include <string_view>

namespace eliza::llm {

// The runtime's parser calls itself for every bracket, and counts repetitions in numbers without a sign: deep or
// reversed ones would end or fill the process. Throws Failure(INVALID_ARG).
void check_grammar(std::string_view grammar);

}  // namespace eliza::llm
