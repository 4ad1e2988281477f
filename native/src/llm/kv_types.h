// Names of the types that a key/value cache may have.
#pragma once

#include "ggml.h"

#include <string>
#include <vector>

namespace eliza::llm {

// The accepted names that this build's ggml really has, plain ones first.
std::vector<std::string> kv_type_names();

// NULL means f16. Throws Failure(INVALID_ARG) that names the accepted ones.
ggml_type kv_type(const char * name);

// The type of that name, which must be there.
ggml_type ggml_type_named(const char * name);

// Whether this build's ggml has a type of that name.
bool ggml_has_type(const char * name);

}  // namespace eliza::llm
