#include "asr/find_models.h"

#include "abi/guard.h"
#include "bundle/bundle_dir.h"

#include <algorithm>

namespace eliza::asr {
namespace {

namespace fs = std::filesystem;

std::string lower_name(const fs::path & file) {
    std::string name = file.filename().u8string();
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(c < 0x80 ? std::tolower(c) : c); });
    return name;
}

bool says(const fs::path & file, const char * word) {
    return lower_name(file).find(word) != std::string::npos;
}

std::string listed(const std::vector<fs::path> & files) {
    std::string names;
    for (const fs::path & file : files) {
        names += (names.empty() ? "" : ", ") + file.filename().u8string();
    }
    return names.empty() ? "none" : names;
}

const fs::path * named(const std::vector<fs::path> & files, const char * name) {
    const auto found = std::find_if(files.begin(), files.end(),
                                    [&](const fs::path & file) { return file.filename() == fs::path(name); });
    return found == files.end() ? nullptr : &*found;
}

}  // namespace

ModelFiles choose_models(const std::vector<fs::path> & gguf_files) {
    const fs::path * model     = named(gguf_files, "eliza-1-asr.gguf");
    const fs::path * projector = named(gguf_files, "eliza-1-asr-mmproj.gguf");
    if (model != nullptr && projector != nullptr) {
        return {*model, *projector};
    }
    std::vector<fs::path> models;
    std::vector<fs::path> projectors;
    for (const fs::path & file : gguf_files) {
        if (says(file, "mmproj")) {
            projectors.push_back(file);
        } else if (!says(file, "tokenizer") && !says(file, "support") && !says(file, "vocab")) {
            models.push_back(file);
        }
    }
    if (models.empty() && projectors.size() == 1) {
        return {fs::path(), projectors.front()};
    }
    if (models.size() != 1 || projectors.size() > 1) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID,
                      "asr/ must hold one recognition model and at most one projector; models: " + listed(models) +
                          "; projectors: " + listed(projectors));
    }
    return {models.front(), projectors.empty() ? fs::path() : projectors.front()};
}

ModelFiles find_models(const fs::path & bundle_dir) {
    return choose_models(bundle::gguf_files(bundle_dir / "asr"));
}

}  // namespace eliza::asr
