// Whole characters only: bytes go in as tokens bring them, complete UTF-8 comes out.
#pragma once

#include <string>
#include <string_view>

namespace eliza::llm {

class Utf8Assembler {
  public:
    // Appends `bytes` and returns all text that is complete now. Bytes that can never become UTF-8 turn
    // into U+FFFD, one per faulty byte.
    std::string push(std::string_view bytes);

    // Ends the text: what is still incomplete turns into U+FFFD.
    std::string flush();

    void clear() noexcept { waiting_.clear(); }

  private:
    std::string waiting_;
};

}  // namespace eliza::llm
