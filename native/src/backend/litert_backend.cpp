// LiteRT-LM behind the seam. This build carries the place and not yet the runtime, and says so.
#include "backend/gated.h"

#include "abi/guard.h"

namespace eliza::backend {
namespace {

class LiteRtFactory final : public LlmBackendFactory {
  public:
    const char * name() const override { return "litert-lm"; }
    // No runtime is linked in, so there is none on any host; the engine's own work brings the question to the host.
    bool available() const override { return false; }
    bool can_serve(const char * bundle_dir) const override { return has_text_artifact(bundle_dir, {".litertlm"}); }
    // An NPU beats every other runtime of the phones that have one.
    int                 preference_rank() const override { return 20; }
    LlmBackendSession * open(EliInferenceContext *, const eliza_llm_stream_config_t *, char ** out_error) override {
        set_error(out_error, "litert-lm is not linked into this build");
        return nullptr;
    }
};

}  // namespace

LlmBackendFactory & litert_factory() {
    static LiteRtFactory factory;
    return factory;
}

}  // namespace eliza::backend
