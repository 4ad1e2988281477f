// What this build can do on this host, as JSON: facts from the runtime, no wishes.
#include "abi/guard.h"
#include "eliza/inference.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "llm/kernel_proof.h"
#include "llm/kv_types.h"
#include "llm/runtime.h"
#include "llm/stream_settings.h"

#include <nlohmann/json.hpp>

namespace {

using nlohmann::json;

const char * kind_name(enum ggml_backend_dev_type type) {
    switch (type) {
    case GGML_BACKEND_DEVICE_TYPE_CPU:
        return "cpu";
    case GGML_BACKEND_DEVICE_TYPE_GPU:
        return "gpu";
    case GGML_BACKEND_DEVICE_TYPE_IGPU:
        return "igpu";
    default:
        return "accelerator";
    }
}

json describe_device(ggml_backend_dev_t device) {
    size_t free_bytes  = 0;
    size_t total_bytes = 0;
    ggml_backend_dev_memory(device, &free_bytes, &total_bytes);
    return {{"name", ggml_backend_dev_name(device)},
            {"description", ggml_backend_dev_description(device)},
            {"kind", kind_name(ggml_backend_dev_type(device))},
            {"memory_total_bytes", total_bytes},
            {"memory_free_bytes", free_bytes}};
}

json describe_backends() {
    json backends = json::array();
    for (size_t i = 0; i < ggml_backend_reg_count(); ++i) {
        ggml_backend_reg_t registered = ggml_backend_reg_get(i);
        json               devices    = json::array();
        for (size_t j = 0; j < ggml_backend_reg_dev_count(registered); ++j) {
            devices.push_back(describe_device(ggml_backend_reg_dev_get(registered, j)));
        }
        backends.push_back({{"name", ggml_backend_reg_name(registered)}, {"devices", std::move(devices)}});
    }
    return backends;
}

// The flags that the CPU code was compiled for and found at start; the backend answers "1" or nothing.
json describe_cpu() {
    json features = json::array();
    for (size_t i = 0; i < ggml_backend_reg_count(); ++i) {
        ggml_backend_reg_t registered = ggml_backend_reg_get(i);
        const auto         ask        = reinterpret_cast<ggml_backend_get_features_t>(
            ggml_backend_reg_get_proc_address(registered, "ggml_backend_get_features"));
        if (ask == nullptr || std::string(ggml_backend_reg_name(registered)) != "CPU") {
            continue;
        }
        for (const ggml_backend_feature * feature = ask(registered); feature->name != nullptr; ++feature) {
            if (std::string(feature->value) == "1") {
                features.push_back(feature->name);
            }
        }
    }
    return features;
}

json describe_kernels() {
    json ready = json::array();
    for (const eliza::llm::KernelProof & proof : eliza::llm::kernel_proofs()) {
        if (proof.is_ready) {
            ready.push_back(proof.kernel);
        }
    }
    return ready;
}

json describe_missing_kernels() {
    json missing = json::object();
    for (const eliza::llm::KernelProof & proof : eliza::llm::kernel_proofs()) {
        if (!proof.is_ready) {
            missing[proof.kernel] = proof.reason;
        }
    }
    return missing;
}

json describe_families() {
    return {{"llm_stream", eliza_inference_llm_stream_supported() != 0},
            {"llm_mtp", eliza_inference_llm_mtp_supported() != 0},
            {"llm_kv_quant", eliza_inference_llm_kv_quant_supported() != 0},
            {"tokenize", eliza_inference_tokenize_supported() != 0},
            {"embed", eliza_inference_embed_supported() != 0},
            {"llm_eot", eliza_inference_llm_eot_supported() != 0},
            {"tts_stream", eliza_inference_tts_stream_supported() != 0},
            {"kokoro", eliza_inference_kokoro_supported() != 0},
            {"vad", eliza_inference_vad_supported() != 0},
            {"asr_stream", eliza_inference_asr_stream_supported() != 0},
            {"asr_timestamps", eliza_inference_asr_timestamps_supported() != 0},
            {"wakeword", eliza_inference_wakeword_supported() != 0},
            {"speaker", eliza_inference_speaker_supported() != 0},
            {"diariz", eliza_inference_diariz_supported() != 0},
            {"vision", eliza_inference_vision_supported() != 0},
            {"vision_stream", eliza_inference_vision_stream_supported() != 0}};
}

std::string describe() {
    eliza::llm::start_runtime();
    const json report = {{"version", ELIZA_VERSION},
                         {"abi", ELIZA_INFERENCE_ABI_VERSION},
                         {"llama_commit", ELIZA_LLAMA_COMMIT},
                         {"ggml_version", ELIZA_GGML_VERSION},
                         {"backends", describe_backends()},
                         {"kernels", describe_kernels()},
                         {"kernels_missing", describe_missing_kernels()},
                         {"kv_types", eliza::llm::kv_type_names()},
                         {"families", describe_families()},
                         {"cpu_features", describe_cpu()},
                         {"mtp_disabled", eliza::llm::speculation_disabled()}};
    return report.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

extern "C" char * eliza_inference_capabilities_json(void) {
    char * text = nullptr;
    eliza::guarded(nullptr, [&] {
        eliza::set_error(&text, describe().c_str());
        return ELIZA_OK;
    });
    return text;
}
