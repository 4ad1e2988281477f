#include "backend/gated.h"

#include <algorithm>
#include <filesystem>

namespace eliza::backend {

bool has_text_artifact(const char * bundle_dir, std::initializer_list<const char *> endings) {
    if (bundle_dir == nullptr) {
        return false;
    }
    std::error_code                           failed;
    const std::filesystem::directory_iterator entries(std::filesystem::u8path(bundle_dir) / "text", failed);
    return !failed && std::any_of(begin(entries), end(entries), [&](const auto & entry) {
        const std::string ending = entry.path().extension().u8string();
        return std::find(endings.begin(), endings.end(), ending) != endings.end();
    });
}

}  // namespace eliza::backend
