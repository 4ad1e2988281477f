#include "backend/selector.h"

#include "abi/guard.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace eliza::backend {
namespace {

std::string lowered(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

Selection refuse(const std::string & reason) {
    return {nullptr, "ELIZA_LLM_BACKEND " + reason};
}

Selection select_named(const std::vector<LlmBackendFactory *> & factories, const std::string & wanted,
                       const char * bundle_dir) {
    const std::string name = lowered(wanted);
    if (name == "llama.cpp" || name == "llamacpp") {
        return {};
    }
    for (LlmBackendFactory * factory : factories) {
        if (lowered(factory->name()) != name) {
            continue;
        }
        if (!factory->available()) {
            return refuse("names '" + wanted + "', which is not available on this host");
        }
        if (!factory->can_serve(bundle_dir)) {
            return refuse("names '" + wanted + "', which finds nothing to run in this bundle");
        }
        return {factory, ""};
    }
    return refuse("names '" + wanted + "', which is not in this build");
}

}  // namespace

Selection select(const std::vector<LlmBackendFactory *> & factories, const std::string & wanted,
                 const char * bundle_dir) {
    if (!wanted.empty()) {
        return select_named(factories, wanted, bundle_dir);
    }
    LlmBackendFactory * best      = nullptr;
    int                 best_rank = 0;
    for (LlmBackendFactory * factory : factories) {
        const int rank = factory->preference_rank();
        if (rank > best_rank && factory->available() && factory->can_serve(bundle_dir)) {
            best      = factory;
            best_rank = rank;
        }
    }
    return {best, ""};
}

}  // namespace eliza::backend

LlmBackendFactory * llm_backend_select(const char * bundle_dir, const eliza_llm_stream_config_t * /*config*/,
                                       char **      out_error) {
    llm_backend_register_builtins();
    const char *                    wanted = std::getenv("ELIZA_LLM_BACKEND");
    const eliza::backend::Selection selection =
        eliza::backend::select(eliza::backend::registered(), wanted == nullptr ? "" : wanted, bundle_dir);
    if (!selection.refusal.empty()) {
        eliza::set_error(out_error, selection.refusal.c_str());
    }
    return selection.factory;
}
