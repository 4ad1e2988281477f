#include "bundle/bundle_dir.h"

#include "abi/guard.h"

#include <algorithm>
#include <string>
#include <vector>

namespace eliza::bundle {

namespace fs = std::filesystem;

std::vector<fs::path> gguf_files(const fs::path & folder) {
    std::error_code              failed;
    std::vector<fs::path>        found;
    const fs::directory_iterator files(folder, failed);
    if (failed) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID, "cannot list '" + folder.u8string() + "': " + failed.message());
    }
    for (const fs::directory_entry & entry : files) {
        if (entry.path().extension() == ".gguf" && entry.is_regular_file(failed)) {
            found.push_back(entry.path());
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

namespace {

fs::path the_one_gguf(const fs::path & folder) {
    const std::vector<fs::path> found = gguf_files(folder);
    if (found.size() == 1) {
        return found.front();
    }
    std::string names;
    for (const fs::path & file : found) {
        names += (names.empty() ? ": " : ", ") + file.filename().u8string();
    }
    throw Failure(ELIZA_ERR_BUNDLE_INVALID, "'" + folder.u8string() + "' must hold exactly one GGUF file, it holds " +
                                                std::to_string(found.size()) + names);
}

}  // namespace

fs::path find_text_model(const fs::path & bundle_dir) {
    return the_one_gguf(bundle_dir / "text");
}

fs::path find_drafter(const fs::path & bundle_dir) {
    return the_one_gguf(bundle_dir / "mtp");
}

fs::path find_projector(const fs::path & bundle_dir) {
    return the_one_gguf(bundle_dir / "vision");
}

std::optional<fs::path> find_embedding_model(const fs::path & bundle_dir) {
    std::error_code failed;
    if (!fs::is_directory(bundle_dir / "embedding", failed)) {
        return std::nullopt;
    }
    return the_one_gguf(bundle_dir / "embedding");
}

}  // namespace eliza::bundle
