#include "llm/kv_types.h"

#include "abi/guard.h"

#include <array>
#include <cstring>

namespace eliza::llm {
namespace {

// The last five exist only in a ggml that carries the TurboQuant family.
constexpr std::array<const char *, 14> candidates = {"f16",    "f32",      "bf16",     "q8_0",    "q5_1",
                                                     "q5_0",   "q4_1",     "q4_0",     "iq4_nl",  "tbq3_0",
                                                     "tbq4_0", "qjl1_256", "q4_polar", "tbq3_tcq"};

int find_type(const char * name) {
    for (int type = 0; type < GGML_TYPE_COUNT; ++type) {
        const char * known = ggml_type_name(static_cast<ggml_type>(type));
        if (known != nullptr && std::strcmp(known, name) == 0) {
            return type;
        }
    }
    return -1;
}

}  // namespace

ggml_type ggml_type_named(const char * name) {
    const int type = find_type(name);
    if (type < 0) {
        throw Failure(ELIZA_ERR_INVALID_ARG, std::string("ggml has no type '") + name + "'");
    }
    return static_cast<ggml_type>(type);
}

bool ggml_has_type(const char * name) {
    return find_type(name) >= 0;
}

std::vector<std::string> kv_type_names() {
    std::vector<std::string> names;
    for (const char * name : candidates) {
        if (ggml_has_type(name)) {
            names.emplace_back(name);
        }
    }
    return names;
}

ggml_type kv_type(const char * name) {
    if (name == nullptr) {
        return GGML_TYPE_F16;
    }
    std::string accepted;
    for (const std::string & known : kv_type_names()) {
        if (known == name) {
            return static_cast<ggml_type>(find_type(name));
        }
        accepted += accepted.empty() ? known : ", " + known;
    }
    throw Failure(ELIZA_ERR_INVALID_ARG,
                  "cache type '" + std::string(name) + "' is not in this build; accepted: " + accepted);
}

}  // namespace eliza::llm
