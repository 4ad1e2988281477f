// Recognition by a text model with an ear: a projector turns sound into its embeddings, it writes down the words.
#pragma once

#include "asr/recognizer.h"

#include <filesystem>
#include <memory>

namespace eliza::asr {

// The language is ELIZA_ASR_FORCE_LANGUAGE or English. Throws Failure: BUNDLE_INVALID for files that do not belong
// together or hear nothing, NOT_IMPLEMENTED for a projector that is not served, INVALID_ARG for a language that is no
// name, OOM.
std::unique_ptr<Recognizer> open_mtmd_recognizer(std::shared_ptr<llm::TextModel> model,
                                                 const std::filesystem::path &   projector);

}  // namespace eliza::asr
