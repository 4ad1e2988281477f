// Which files of <bundle>/asr are the recognition model and its projector.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace eliza::asr {

struct ModelFiles {
    std::filesystem::path model;      // empty: the projector belongs to the text model
    std::filesystem::path projector;  // empty: the model needs none, or there is none
};

// By name alone: eliza-1-asr.gguf with eliza-1-asr-mmproj.gguf where both are there, else the one file whose name
// says mmproj and the one other file that is no tokenizer, support or vocabulary file (facts 1.3). Published bundles
// have a projector alone (facts 3.1). Throws Failure(BUNDLE_INVALID) with the names when that does not settle it.
ModelFiles choose_models(const std::vector<std::filesystem::path> & gguf_files);

// The same for a folder. Throws Failure(BUNDLE_INVALID) also when it cannot be listed.
ModelFiles find_models(const std::filesystem::path & bundle_dir);

}  // namespace eliza::asr
