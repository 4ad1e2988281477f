#include "llm/draft_model.h"

#include "abi/guard.h"
#include "llm/gguf_facts.h"
#include "llm/runtime.h"

#include <array>
#include <cstring>

namespace eliza::llm {
namespace {

constexpr const char * mtp_architecture        = "gemma4-assistant";
constexpr const char * mtp_target_architecture = "gemma4";

std::string metadata(const llama_model * model, const std::string & key) {
    std::array<char, 256> value{};
    return llama_model_meta_val_str(model, key.c_str(), value.data(), value.size()) < 0 ? "" : value.data();
}

bool same_text(const llama_vocab * a, const llama_vocab * b, int id) {
    return std::strcmp(llama_vocab_get_text(a, id), llama_vocab_get_text(b, id)) == 0;
}

}  // namespace

DraftModel::DraftModel(const std::filesystem::path & path, int n_gpu_layers) : path_(path) {
    start_runtime();
    const GgufFacts facts = read_gguf_facts(path);
    architecture_         = facts.architecture;
    if (architecture_ == "eagle3" || architecture_ == "dflash" || facts.has_next_token_head) {
        refuse("drafters of this kind are not supported by this build");
    }
    kind_ =
        architecture_ == mtp_architecture ? COMMON_SPECULATIVE_TYPE_DRAFT_MTP : COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE;
    model_ = load_weights(path, n_gpu_layers);
    if (llama_model_has_encoder(model_.get()) || !llama_model_has_decoder(model_.get())) {
        refuse("it is not a text generation model");
    }
}

void DraftModel::refuse(const std::string & reason) const {
    throw Failure(ELIZA_ERR_BUNDLE_INVALID,
                  "the drafter '" + path_.u8string() + "' (" + architecture_ + ") cannot be used: " + reason);
}

void DraftModel::require_fits(const TextModel & target) const {
    if (kind_ == COMMON_SPECULATIVE_TYPE_DRAFT_MTP) {
        require_same_attention(target);
    }
    require_same_vocabulary(target);
    if (llama_model_is_recurrent(target.get()) || llama_model_is_hybrid(target.get())) {
        refuse("the text model's memory cannot take rejected tokens back");
    }
}

void DraftModel::require_same_vocabulary(const TextModel & target) const {
    const llama_vocab * mine   = llama_model_get_vocab(model_.get());
    const llama_vocab * theirs = target.vocab();
    const int           size   = llama_vocab_n_tokens(mine);
    if (llama_vocab_type(mine) != llama_vocab_type(theirs) || size != target.vocab_size()) {
        refuse("its vocabulary is not the text model's");
    }
    for (int id = 0; id < size; ++id) {
        if (!same_text(mine, theirs, id)) {
            refuse("its token " + std::to_string(id) + " is not the text model's");
        }
    }
}

// An MTP drafter attends into the target's own cache, so the shapes must agree.
void DraftModel::require_same_attention(const TextModel & target) const {
    if (target.architecture() != mtp_target_architecture) {
        refuse("it drafts for " + std::string(mtp_target_architecture) + ", the text model is " +
               target.architecture());
    }
    if (llama_model_n_embd_out(model_.get()) != llama_model_n_embd_out(target.get())) {
        refuse("its output width is not the text model's");
    }
    for (const char * key : {"attention.key_length", "attention.key_length_swa"}) {
        const std::string mine = metadata(model_.get(), std::string(mtp_architecture) + "." + key);
        if (mine != metadata(target.get(), std::string(mtp_target_architecture) + "." + key)) {
            refuse("its " + std::string(key) + " is not the text model's");
        }
    }
    const int kv_heads = llama_model_n_head_kv(target.get());
    if (kv_heads <= 0 || llama_model_n_head(model_.get()) % kv_heads != 0) {
        refuse("its attention heads do not share the text model's");
    }
}

}  // namespace eliza::llm
