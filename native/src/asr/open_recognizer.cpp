#include "abi/guard.h"
#include "asr/find_models.h"
#include "asr/mtmd_recognizer.h"
#include "asr/recognizer.h"
#include "llm/gguf_facts.h"
#include "llm/runtime.h"
#include "llm/text_model.h"
#include "whisper/recognizer.h"

namespace eliza::asr {

std::unique_ptr<Recognizer> open_recognizer(const std::filesystem::path & bundle_dir, const ShareTextModel & share) {
    llm::start_runtime();
    const ModelFiles files = find_models(bundle_dir);
    if (files.model.empty()) {
        return open_mtmd_recognizer(share(), files.projector);
    }
    const std::string architecture = llm::read_gguf_facts(files.model).architecture;
    if (architecture == "whisper") {
        return whisper::open_recognizer(files.model);
    }
    if (!files.projector.empty()) {
        constexpr int all_layers = -1;
        return open_mtmd_recognizer(std::make_shared<llm::TextModel>(files.model, all_layers), files.projector);
    }
    throw Failure(ELIZA_ERR_NOT_IMPLEMENTED,
                  "no engine of this build recognises speech with '" + architecture + "' models");
}

}  // namespace eliza::asr
