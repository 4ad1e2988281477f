// MLX and Core ML behind the seam. This build carries the place and not yet the runtime, and says so.
#include "backend/gated.h"

#include "abi/guard.h"

namespace eliza::backend {
namespace {

class MlxFactory final : public LlmBackendFactory {
  public:
    const char * name() const override { return "mlx-coreml"; }
    // No runtime is linked in, so there is none on any host; the engine's own work brings the question to the host.
    bool available() const override { return false; }
    bool can_serve(const char * bundle_dir) const override {
        return has_text_artifact(bundle_dir, {".mlpackage", ".mlmodelc"});
    }
    // Above llama.cpp on Apple machines, below an NPU.
    int                 preference_rank() const override { return 10; }
    LlmBackendSession * open(EliInferenceContext *, const eliza_llm_stream_config_t *, char ** out_error) override {
        set_error(out_error, "mlx-coreml is not linked into this build");
        return nullptr;
    }
};

}  // namespace

LlmBackendFactory & mlx_factory() {
    static MlxFactory factory;
    return factory;
}

}  // namespace eliza::backend
