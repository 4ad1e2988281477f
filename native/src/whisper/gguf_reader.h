// Typed reads from a GGUF header; what is missing, of another type or out of range is refused by name.
#pragma once

#include "ggml-cpp.h"
#include "gguf.h"

#include <cstdint>
#include <string>
#include <vector>

namespace eliza::whisper {

// All throw Failure(BUNDLE_INVALID).
class GgufReader {
  public:
    explicit GgufReader(const gguf_context * gguf) : gguf_(gguf) {}

    std::string              text(const std::string & key) const;
    int                      number(const std::string & key, int least, int most) const;
    std::vector<int>         numbers(const std::string & key, size_t most_items, int least, int most) const;
    std::vector<std::string> texts(const std::string & key, size_t most_items) const;

  private:
    int64_t find(const std::string & key, gguf_type type) const;
    int64_t find_array(const std::string & key, gguf_type type, size_t most_items) const;

    const gguf_context * gguf_;
};

}  // namespace eliza::whisper
