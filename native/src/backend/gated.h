// The runtimes that a build may bring besides llama.cpp, each behind an option of its own.
#pragma once

#include "eliza/llm_backend.h"

#include <initializer_list>

namespace eliza::backend {

#ifdef ELIZA_ENABLE_LITERT
LlmBackendFactory & litert_factory();
#endif
#ifdef ELIZA_ENABLE_MLX
LlmBackendFactory & mlx_factory();
#endif

// Whether <bundle>/text holds an entry, file or folder, with one of these endings. False when it cannot be listed.
bool has_text_artifact(const char * bundle_dir, std::initializer_list<const char *> endings);

}  // namespace eliza::backend
