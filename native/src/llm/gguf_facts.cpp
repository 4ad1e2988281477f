#include "llm/gguf_facts.h"

#include "abi/guard.h"
#include "ggml-cpp.h"
#include "gguf.h"
#include "llm/runtime.h"

namespace eliza::llm {
namespace {

std::string string_value(const gguf_context * gguf, const char * key) {
    const int64_t id = gguf_find_key(gguf, key);
    if (id < 0 || gguf_get_kv_type(gguf, id) != GGUF_TYPE_STRING) {
        return "";
    }
    return gguf_get_val_str(gguf, id);
}

// llama.cpp maps the file and would fault on first touch of what is not there.
bool data_is_complete(const gguf_context * gguf, uint64_t size_bytes) {
    uint64_t end = gguf_get_data_offset(gguf);
    for (int64_t i = 0; i < gguf_get_n_tensors(gguf); ++i) {
        const uint64_t tensor_end =
            gguf_get_data_offset(gguf) + gguf_get_tensor_offset(gguf, i) + gguf_get_tensor_size(gguf, i);
        end = tensor_end > end ? tensor_end : end;
    }
    return end <= size_bytes;
}

bool has_tensor_ending(const gguf_context * gguf, const std::string & ending) {
    for (int64_t i = 0; i < gguf_get_n_tensors(gguf); ++i) {
        const std::string name = gguf_get_tensor_name(gguf, i);
        if (name.size() >= ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0) {
            return true;
        }
    }
    return false;
}

}  // namespace

GgufFacts read_gguf_facts(const std::filesystem::path & path) {
    const std::string name = path.u8string();
    std::error_code   failed;
    const auto        size_bytes = std::filesystem::file_size(path, failed);
    if (failed) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID, "cannot read '" + name + "': " + failed.message());
    }
    forget_runtime_errors();
    const gguf_init_params params = {/*.no_alloc =*/true, /*.ctx =*/nullptr};
    const gguf_context_ptr gguf(gguf_init_from_file(name.c_str(), params));
    if (gguf == nullptr) {
        const int status = runtime_ran_out_of_memory() ? ELIZA_ERR_OOM : ELIZA_ERR_BUNDLE_INVALID;
        throw Failure(status, explain("'" + name + "' is not a readable GGUF file"));
    }
    if (!data_is_complete(gguf.get(), size_bytes)) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID, "'" + name + "' is truncated: its tensors end beyond the file");
    }
    GgufFacts facts;
    facts.architecture = string_value(gguf.get(), "general.architecture");
    if (facts.architecture.empty()) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID, "'" + name + "' names no architecture");
    }
    facts.has_next_token_head = has_tensor_ending(gguf.get(), ".nextn.eh_proj.weight");
    return facts;
}

}  // namespace eliza::llm
