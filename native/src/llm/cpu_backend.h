// The CPU as ggml knows it, found by the registry and never by name of a function: a build with dynamic backends loads
// the code for this very processor at start, and has none to link to.
#pragma once

#include "ggml-backend.h"
#include "ggml-cpp.h"

#include <string>
#include <vector>

namespace eliza::llm {

class CpuBackend {
  public:
    // Throws Failure: OOM, FFI_FAULT when no CPU code was found.
    CpuBackend();

    void set_threads(int count) const;
    // `callback` is asked before every node; null ends that. Non-zero stops the computation.
    void set_abort(ggml_abort_callback callback, void * data) const;

    ggml_backend_t get() const noexcept { return backend_.get(); }

  private:
    ggml_backend_ptr backend_;
};

// Throws Failure(FFI_FAULT) when the library came without code for this processor.
void require_cpu();

// The instruction sets that the CPU code uses here, as ggml spells them ("AVX2", "AVX512_BF16", "NEON").
std::vector<std::string> cpu_features();
bool                     has_cpu_feature(const char * name);

}  // namespace eliza::llm
