// Names of the types that a key/value cache may have.
#pragma once

#include "ggml.h"

#include <string>
#include <vector>

namespace eliza::llm {

// The accepted names: ggml's own, then those of the TurboQuant family that this build has and that are proven.
std::vector<std::string> kv_type_names();

// NULL and "" mean f16; upper and lower case are one. Throws Failure(INVALID_ARG) that names the accepted ones.
ggml_type kv_type(const char * name);

}  // namespace eliza::llm
