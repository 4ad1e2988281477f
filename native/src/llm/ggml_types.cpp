#include "llm/ggml_types.h"

#include "abi/guard.h"

#include <cstring>

namespace eliza::llm {
namespace {

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

}  // namespace eliza::llm
