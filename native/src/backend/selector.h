// Which runtime serves a stream: a decision over facts, apart from the environment and the table.
#pragma once

#include "eliza/llm_backend.h"

#include <string>
#include <vector>

namespace eliza::backend {

struct Selection {
    LlmBackendFactory * factory = nullptr;  // null without a refusal: llama.cpp
    std::string         refusal;            // not empty: the stream must not open
};

// `wanted` is the value of ELIZA_LLM_BACKEND, empty when it is not set. A named runtime is taken or the
// stream refused; otherwise the highest rank above llama.cpp's 0 that is available and can serve.
Selection select(const std::vector<LlmBackendFactory *> & factories, const std::string & wanted,
                 const char * bundle_dir);

// The process's table.
const std::vector<LlmBackendFactory *> & registered();

}  // namespace eliza::backend
