#include "llm/grammar_check.h"

#include "abi/guard.h"

#include <algorithm>
#include <cctype>

namespace eliza::llm {
namespace {

constexpr size_t largest_bytes  = 64 << 10;
constexpr int    deepest        = 64;
constexpr int    most_repeats   = 256;  // every ? * + or {…} adds a state for all tokens to be walked through
constexpr long   largest_number = 2000;

// Walks over a grammar and leaves out what is text: literals, character classes and remarks.
class Walk {
  public:
    explicit Walk(std::string_view text) : text_(text) {}

    void run() {
        while (at_ < text_.size()) {
            step(text_[at_]);
        }
    }

  private:
    void step(char c) {
        ++at_;
        switch (c) {
        case '"':
            return skip_to('"');
        case '[':
            return skip_to(']');
        case '#':
            at_ = std::min(text_.find('\n', at_), text_.size());
            return;
        case '(':
            require(++depth_ <= deepest, "the grammar's brackets are more than 64 deep");
            return;
        case ')':
            --depth_;
            return;
        case '{':
            check_bounds();
            return count_repeat();
        case '?':
        case '*':
        case '+':
            return count_repeat();
        default:
            return;
        }
    }

    void skip_to(char end) {
        while (at_ < text_.size() && text_[at_] != end) {
            at_ += text_[at_] == '\\' ? 2 : 1;
        }
        ++at_;
    }

    void count_repeat() { require(++repeats_ <= most_repeats, "the grammar has more than 256 repetitions"); }

    void check_bounds() {
        const long least = number(0);
        long       most  = least;
        skip_spaces();
        if (at_ < text_.size() && text_[at_] == ',') {
            ++at_;
            most = number(largest_number);
        }
        require(least <= most && most <= largest_number, "the grammar repeats from more to less, or over 2000 times");
    }

    void skip_spaces() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
            ++at_;
        }
    }

    long number(long absent) {
        skip_spaces();
        const size_t begin = at_;
        long         value = 0;
        while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
            value = std::min(value * 10 + (text_[at_] - '0'), largest_number + 1);
            ++at_;
        }
        return at_ == begin ? absent : value;
    }

    std::string_view text_;
    size_t           at_      = 0;
    int              depth_   = 0;
    int              repeats_ = 0;
};

}  // namespace

void check_grammar(std::string_view grammar) {
    require(grammar.size() <= largest_bytes, "the grammar has more than 65536 bytes");
    Walk(grammar).run();
}

}  // namespace eliza::llm
