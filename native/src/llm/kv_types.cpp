#include "llm/kv_types.h"

#include "abi/guard.h"
#include "llm/ggml_types.h"
#include "llm/kernel_proof.h"

#include <algorithm>
#include <cctype>

namespace eliza::llm {

std::vector<std::string> kv_type_names() {
    std::vector<std::string> names = {"f16", "f32", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl"};
    // A type that is there but unproven is left out: a graph might call a function that does not exist.
    for (const KernelProof & proof : kernel_proofs()) {
        if (proof.is_ready && !proof.type.empty()) {
            names.push_back(proof.type);
        }
    }
    return names;
}

ggml_type kv_type(const char * name) {
    std::string wanted = name == nullptr || *name == '\0' ? "f16" : name;
    std::transform(wanted.begin(), wanted.end(), wanted.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto names = kv_type_names();
    if (std::find(names.begin(), names.end(), wanted) != names.end()) {
        return ggml_type_named(wanted.c_str());
    }
    std::string accepted;
    for (const std::string & known : names) {
        accepted += accepted.empty() ? known : ", " + known;
    }
    throw Failure(ELIZA_ERR_INVALID_ARG,
                  "cache type '" + std::string(name) + "' is not in this build; accepted: " + accepted);
}

}  // namespace eliza::llm
