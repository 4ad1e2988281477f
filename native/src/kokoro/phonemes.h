// The model's alphabet, and where a long text may be cut. Pure: no weights, no I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace eliza::kokoro {

struct Phrase {
    std::string          text;        // UTF-8
    size_t               characters;  // code points, the unknown ones too: they choose the style row
    std::vector<int32_t> tokens;      // the known ones
};

class Alphabet {
  public:
    explicit Alphabet(const std::vector<std::string> & phonemes);

    // Unknown characters are skipped, as the official pipeline does.
    Phrase read(std::string_view text) const;
    // Raw text reduced to what the alphabet can say; small letters stand in for capitals it lacks.
    std::string spell(std::string_view text) const;

  private:
    std::map<std::string, int32_t, std::less<>> tokens_;
};

// Pieces of at most `most` code points, without blanks at their ends; cut after a full stop, else a colon,
// else a comma, else a blank. `by_sentence` also cuts after every sentence that is long enough to stand alone.
std::vector<std::string> cut_text(std::string_view text, size_t most, bool by_sentence);
// Two halves, cut at the blank nearest to the middle.
std::vector<std::string> halve_text(std::string_view text);

}  // namespace eliza::kokoro
