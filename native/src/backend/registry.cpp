#include "backend/gated.h"
#include "backend/selector.h"

#include <algorithm>
#include <mutex>

namespace {

std::vector<LlmBackendFactory *> & table() {
    static std::vector<LlmBackendFactory *> factories;
    return factories;
}

}  // namespace

namespace eliza::backend {

const std::vector<LlmBackendFactory *> & registered() {
    return table();
}

}  // namespace eliza::backend

// Registration happens before the first stream (call_once below) or in tests; it is not a running change.
void llm_backend_register(LlmBackendFactory * factory) {
    if (factory != nullptr && std::find(table().begin(), table().end(), factory) == table().end()) {
        table().push_back(factory);
    }
}

void llm_backend_register_builtins() {
    static std::once_flag once;
    // llama.cpp needs no entry: it answers when nobody else is picked.
    std::call_once(once, [] {
#ifdef ELIZA_ENABLE_LITERT
        llm_backend_register(&eliza::backend::litert_factory());
#endif
#ifdef ELIZA_ENABLE_MLX
        llm_backend_register(&eliza::backend::mlx_factory());
#endif
    });
}
