// A text stream handle: whoever opens one fills in the session.
#pragma once

#include "eliza/llm_backend.h"

#include <memory>

struct EliLlmStream {
    std::unique_ptr<LlmBackendSession> session;
};
