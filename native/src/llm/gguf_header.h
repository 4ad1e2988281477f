// A GGUF header with its tensors' shapes, for checks that must be made before a runtime computes with the file.
#pragma once

#include "abi/guard.h"
#include "ggml-cpp.h"
#include "gguf.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace eliza::llm {

// Every question refuses a file whose answer has the wrong type: Failure(BUNDLE_INVALID).
class GgufHeader {
  public:
    explicit GgufHeader(const std::filesystem::path & path);

    [[noreturn]] void refuse(const std::string & why, int status = ELIZA_ERR_BUNDLE_INVALID) const;

    bool        flag(const std::string & key) const;
    std::string text(const std::string & key) const;

    // A number between `least` and `most`; `absent` when there is none.
    int64_t number(const std::string & key, int64_t least, int64_t most, int64_t absent = -1) const;

    // What keeps a norm from dividing by nothing: finite and not negative, where there is one.
    void check_epsilon(const std::string & key) const;

    // One number for all layers, or one per layer; empty when there is none.
    std::vector<int64_t> numbers(const std::string & key) const;

    const ggml_tensor * tensor(const std::string & name) const { return ggml_get_tensor(tensors_.get(), name.c_str()); }

    template <typename Look> void for_each_tensor(Look && look) const {
        for (const ggml_tensor * t = ggml_get_first_tensor(tensors_.get()); t != nullptr;
             t                     = ggml_get_next_tensor(tensors_.get(), const_cast<ggml_tensor *>(t))) {
            look(*t);
        }
    }

    [[noreturn]] void refuse_type(const ggml_tensor & tensor) const;

  private:
    int64_t find(const std::string & key, gguf_type type) const;

    std::string      name_;
    gguf_context_ptr gguf_;
    ggml_context_ptr tensors_;
};

}  // namespace eliza::llm
