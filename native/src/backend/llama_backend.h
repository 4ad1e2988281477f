// The reference runtime under the seam.
#pragma once

#include "eliza/llm_backend.h"

#include <memory>

namespace eliza::llm {
class TextStream;
}

namespace eliza::backend {

// Loads what the context has not loaded yet. Throws Failure: INVALID_ARG, BUNDLE_INVALID, OOM, FFI_FAULT.
std::unique_ptr<LlmBackendSession> open_llama_session(EliInferenceContext &             ctx,
                                                      const eliza_llm_stream_config_t & config);

// A stream that is already open, as a session.
std::unique_ptr<LlmBackendSession> session_of(std::unique_ptr<llm::TextStream> stream);

}  // namespace eliza::backend
