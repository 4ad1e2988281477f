// What a text model's or drafter's header must say before the runtime computes with it.
#pragma once

#include <filesystem>

namespace eliza::llm {

// The runtime divides by these sizes, steps by them, or asserts them in the middle of a computation, on whichever
// thread that is. Throws Failure(BUNDLE_INVALID).
void check_text_header(const std::filesystem::path & path);

}  // namespace eliza::llm
