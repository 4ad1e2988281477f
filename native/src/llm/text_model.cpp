#include "llm/text_model.h"

#include "abi/guard.h"
#include "ggml-backend.h"
#include "llm/checksum.h"
#include "llm/cpu_backend.h"
#include "llm/gguf_facts.h"
#include "llm/runtime.h"
#include "llm/text_header.h"

#include <array>
#include <fstream>
#include <vector>

namespace eliza::llm {
namespace {

constexpr uint64_t marked_pages = 64;
constexpr uint64_t page_bytes   = 4096;

bool has_gpu() {
    return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU) != nullptr ||
           ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_IGPU) != nullptr;
}

std::string mark_file(const std::filesystem::path & path) {
    std::error_code failed;
    const uint64_t  size = std::filesystem::file_size(path, failed);
    std::ifstream   file(path, std::ios::binary);
    if (failed || !file) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID, "'" + path.u8string() + "' is gone");
    }
    std::vector<char> pages;
    std::vector<char> page(page_bytes);
    for (uint64_t i = 0; i < marked_pages; ++i) {
        file.clear();
        file.seekg(static_cast<std::streamoff>(size / marked_pages * i));
        file.read(page.data(), static_cast<std::streamsize>(page.size()));
        pages.insert(pages.end(), page.begin(), page.begin() + static_cast<std::ptrdiff_t>(file.gcount()));
    }
    return std::to_string(size) + ':' + std::to_string(checksum(pages.data(), pages.size()));
}

}  // namespace

llama_model_ptr load_weights(const std::filesystem::path & path, int n_gpu_layers) {
    require_cpu();
    check_text_header(path);
    llama_model_params params = llama_model_default_params();
    params.n_gpu_layers       = n_gpu_layers;
    params.load_mode          = LLAMA_LOAD_MODE_MMAP;
    // Per-layer embeddings are looked up, not computed with: on a GPU they would only fill its memory (contract 3).
    const std::array<llama_model_tensor_buft_override, 2> on_host = {
        {{"per_layer_token_embd", ggml_backend_cpu_buffer_type()}, {nullptr, nullptr}}};
    params.tensor_buft_overrides = has_gpu() ? on_host.data() : nullptr;
    forget_runtime_errors();
    llama_model_ptr model(llama_model_load_from_file(path.u8string().c_str(), params));
    if (model == nullptr) {
        const int status = runtime_ran_out_of_memory() ? ELIZA_ERR_OOM : ELIZA_ERR_BUNDLE_INVALID;
        throw Failure(status, explain("cannot load '" + path.u8string() + "'"));
    }
    return model;
}

TextModel::TextModel(const std::filesystem::path & path, int n_gpu_layers) : path_(path) {
    start_runtime();
    architecture_ = read_gguf_facts(path).architecture;
    model_        = load_weights(path, n_gpu_layers);
    if (vocab_size() <= 0 || !llama_model_has_decoder(model_.get()) || llama_model_has_encoder(model_.get()) ||
        architecture_ == "gemma4-assistant") {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID,
                      "'" + path.u8string() + "' (" + architecture_ + ") is not a text generation model");
    }
    if (llama_vocab_get_add_bos(vocab()) && llama_vocab_bos(vocab()) == LLAMA_TOKEN_NULL) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID, "'" + path.u8string() + "' begins with a token that it lacks");
    }
}

const std::string & TextModel::mark() {
    std::call_once(is_marked_, [this] { mark_ = mark_file(path_); });
    return mark_;
}

}  // namespace eliza::llm
