#include "llm/cpu_backend.h"

#include "abi/guard.h"
#include "llm/runtime.h"

#include <algorithm>

namespace eliza::llm {
namespace {

ggml_backend_dev_t find_cpu() {
    start_runtime();
    return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
}

ggml_backend_reg_t cpu_registry() {
    require_cpu();
    return ggml_backend_dev_backend_reg(find_cpu());
}

template <typename Function> Function ask(const char * name) {
    const auto function = reinterpret_cast<Function>(ggml_backend_reg_get_proc_address(cpu_registry(), name));
    if (function == nullptr) {
        throw Failure(ELIZA_ERR_FFI_FAULT, std::string("the CPU code has no ") + name);
    }
    return function;
}

}  // namespace

CpuBackend::CpuBackend() : backend_(ggml_backend_dev_init(ggml_backend_reg_dev_get(cpu_registry(), 0), nullptr)) {
    if (backend_ == nullptr) {
        throw Failure(ELIZA_ERR_OOM, "the CPU backend could not be started");
    }
}

void CpuBackend::set_threads(int count) const {
    static const auto set = ask<ggml_backend_set_n_threads_t>("ggml_backend_set_n_threads");
    set(backend_.get(), count);
}

void CpuBackend::set_abort(ggml_abort_callback callback, void * data) const {
    static const auto set = ask<ggml_backend_set_abort_callback_t>("ggml_backend_set_abort_callback");
    set(backend_.get(), callback, data);
}

void require_cpu() {
    if (find_cpu() == nullptr) {
        throw Failure(ELIZA_ERR_FFI_FAULT, "the library has no code for this processor");
    }
}

std::vector<std::string> cpu_features() {
    std::vector<std::string> names;
    if (find_cpu() == nullptr) {
        return names;
    }
    const auto features = ask<ggml_backend_get_features_t>("ggml_backend_get_features");
    for (const ggml_backend_feature * each = features(cpu_registry()); each->name != nullptr; ++each) {
        if (std::string(each->value) == "1") {  // absent ones are not listed, others carry a number
            names.emplace_back(each->name);
        }
    }
    return names;
}

bool has_cpu_feature(const char * name) {
    const std::vector<std::string> names = cpu_features();
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace eliza::llm
