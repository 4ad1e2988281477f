#include "llm/text_model.h"

#include "abi/guard.h"
#include "llm/gguf_facts.h"
#include "llm/runtime.h"

namespace eliza::llm {

llama_model_ptr load_weights(const std::filesystem::path & path, int n_gpu_layers) {
    llama_model_params params = llama_model_default_params();
    params.n_gpu_layers       = n_gpu_layers;
    params.load_mode          = LLAMA_LOAD_MODE_MMAP;
    forget_runtime_errors();
    llama_model_ptr model(llama_model_load_from_file(path.u8string().c_str(), params));
    if (model == nullptr) {
        const int status = runtime_ran_out_of_memory() ? ELIZA_ERR_OOM : ELIZA_ERR_BUNDLE_INVALID;
        throw Failure(status, explain("cannot load '" + path.u8string() + "'"));
    }
    return model;
}

TextModel::TextModel(const std::filesystem::path & path, int n_gpu_layers) {
    start_runtime();
    architecture_ = read_gguf_facts(path).architecture;
    model_        = load_weights(path, n_gpu_layers);
    if (vocab_size() <= 0 || !llama_model_has_decoder(model_.get()) || llama_model_has_encoder(model_.get()) ||
        architecture_ == "gemma4-assistant") {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID,
                      "'" + path.u8string() + "' (" + architecture_ + ") is not a text generation model");
    }
}

}  // namespace eliza::llm
