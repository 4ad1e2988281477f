// Finds a bundle's artifacts by the folder each kind lives in.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace eliza::bundle {

// The .gguf files of a folder, sorted by name. Throws Failure(BUNDLE_INVALID) when it cannot be listed.
std::vector<std::filesystem::path> gguf_files(const std::filesystem::path & folder);

// The one GGUF of <bundle>/text. Throws Failure(BUNDLE_INVALID) when there is none or more than one.
std::filesystem::path find_text_model(const std::filesystem::path & bundle_dir);

// The one GGUF of <bundle>/mtp. Throws Failure(BUNDLE_INVALID) likewise.
std::filesystem::path find_drafter(const std::filesystem::path & bundle_dir);

// The one GGUF of <bundle>/vision. Throws Failure(BUNDLE_INVALID) likewise.
std::filesystem::path find_projector(const std::filesystem::path & bundle_dir);

// The one GGUF of <bundle>/embedding; nothing where the bundle has no such folder, and then its text model gives the
// vectors. Throws Failure(BUNDLE_INVALID) when the folder holds none or more than one.
std::optional<std::filesystem::path> find_embedding_model(const std::filesystem::path & bundle_dir);

}  // namespace eliza::bundle
