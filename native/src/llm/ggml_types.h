// ggml's value types by their names.
#pragma once

#include "ggml.h"

namespace eliza::llm {

// The type of that name. Throws Failure(INVALID_ARG) where this build's ggml has none.
ggml_type ggml_type_named(const char * name);

// Whether this build's ggml has a type of that name.
bool ggml_has_type(const char * name);

}  // namespace eliza::llm
