// What a projector file says about itself, checked before the runtime believes it.
#pragma once

#include <filesystem>
#include <string>

namespace eliza::sight {

// No picture may be more than this many times as wide as it is high, or the reverse: position tables end.
constexpr int most_aspect = 50;

struct ProjectorFacts {
    std::string vision;     // the kind of its eye, empty without one
    std::string audio;      // the kind of its ear
    int         width = 0;  // of what it hands to the text model
};

// Reads the header only. Throws Failure: BUNDLE_INVALID for a file that is no projector, is truncated, lacks a size
// or has one that no graph can be built of; NOT_IMPLEMENTED for a kind that Eliza-1's models do not use.
ProjectorFacts read_projector_facts(const std::filesystem::path & path);

}  // namespace eliza::sight
