#include "llm/state_place.h"

#include "abi/guard.h"
#include "ggml-backend.h"
#include "llama-cpp.h"
#include "llama-ext.h"
#include "llm/host_memory.h"
#include "llm/runtime.h"

#include <string>

namespace eliza::llm {
namespace {

std::string mib(uint64_t bytes) {
    return std::to_string(bytes >> 20) + " MiB";
}

bool fits_host(const StateNeed & need, uint64_t bytes) {
    return !need.host_available || bytes <= *need.host_available;
}

struct Split {
    uint64_t device = 0;
    uint64_t host   = 0;
};

Split dry_run(llama_model * model, llama_context_params params, bool is_offloaded) {
    params.offload_kqv = is_offloaded;
    const llama_context_ptr context(llama_init_from_model(model, params));
    if (context == nullptr) {
        throw Failure(ELIZA_ERR_FFI_FAULT, explain("the runtime cannot say how much memory a context needs"));
    }
    Split split;
    for (const auto & [type, bytes] : llama_get_memory_breakdown(context.get())) {
        (ggml_backend_buft_is_host(type) ? split.host : split.device) += bytes.context + bytes.compute;
    }
    return split;
}

uint64_t free_on_devices(const llama_model * model) {
    uint64_t sum = 0;
    for (int i = 0; i < llama_model_n_devices(model); ++i) {
        size_t free_bytes  = 0;
        size_t total_bytes = 0;
        ggml_backend_dev_memory(llama_model_get_device(model, i), &free_bytes, &total_bytes);
        sum += free_bytes;
    }
    return sum;
}

}  // namespace

StatePlace place_state(const StateNeed & need) {
    if (need.on_device <= need.device_free && fits_host(need, need.on_host)) {
        return StatePlace::device;
    }
    if (need.on_device > 0 && fits_host(need, need.spilled)) {
        return StatePlace::host;
    }
    throw Failure(ELIZA_ERR_OOM, "kv-spill-unsupported: the context needs " + mib(need.on_device) + " of device and " +
                                     mib(need.on_host) + " of host memory, or " + mib(need.spilled) +
                                     " of host memory alone; free are " + mib(need.device_free) + " and " +
                                     mib(need.host_available.value_or(0)) + ", and it can go nowhere else");
}

StateNeed measure_state(const std::filesystem::path & model, int n_gpu_layers, llama_context_params params) {
    llama_model_params header = llama_model_default_params();
    header.n_gpu_layers       = n_gpu_layers;
    header.load_mode          = LLAMA_LOAD_MODE_NONE;
    header.no_alloc           = true;
    forget_runtime_errors();
    const llama_model_ptr ghost(llama_model_load_from_file(model.u8string().c_str(), header));
    if (ghost == nullptr) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID, explain("cannot read '" + model.u8string() + "' again"));
    }
    const Split beside = dry_run(ghost.get(), params, true);
    const Split apart  = dry_run(ghost.get(), params, false);
    return {beside.device, beside.host, apart.host, free_on_devices(ghost.get()), host_memory_available()};
}

}  // namespace eliza::llm
