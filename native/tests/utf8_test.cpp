// Only whole characters leave the assembler, whatever the cut; what can never be a character is replaced.
#include "llm/utf8.h"

#include "check.h"

#include <string>

using eliza::llm::Utf8Assembler;

namespace {

const std::string replacement = "\xEF\xBF\xBD";

std::string pieces_of(const std::string & text, size_t size) {
    Utf8Assembler assembler;
    std::string   out;
    for (size_t at = 0; at < text.size(); at += size) {
        out += assembler.push(text.substr(at, size));
    }
    return out + assembler.flush();
}

void any_cut_gives_the_same_text() {
    const std::string text = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80z\xF4\x8F\xBF\xBF\xED\x9F\xBF";
    for (size_t size = 1; size <= text.size(); ++size) {
        CHECK(pieces_of(text, size) == text);
    }
}

void a_character_comes_with_its_last_byte() {
    Utf8Assembler assembler;
    CHECK(assembler.push("\xE2").empty());
    CHECK(assembler.push("\x82").empty());
    CHECK(assembler.push("\xAC") == "\xE2\x82\xAC");
}

void what_is_no_character_is_replaced() {
    CHECK(pieces_of("\xFF"
                    "a",
                    1) == replacement + "a");
    CHECK(pieces_of("\xC0\x80", 2) == replacement + replacement);                    // overlong
    CHECK(pieces_of("\xED\xA0\x80", 3) == replacement + replacement + replacement);  // a surrogate
    CHECK(pieces_of("\xF4\x90\x80\x80", 1).find('\xF4') == std::string::npos);       // beyond U+10FFFF
    CHECK(pieces_of("\xE2\x82"
                    "a",
                    1) == replacement + replacement + "a");                 // cut short by another
    CHECK(pieces_of("ok\xF0\x9F", 4) == "ok" + replacement + replacement);  // cut short by the end
}

void clear_forgets() {
    Utf8Assembler assembler;
    assembler.push("\xE2\x82");
    assembler.clear();
    CHECK(assembler.push("\xC3\xA4") == "\xC3\xA4");
}

}  // namespace

int main() {
    any_cut_gives_the_same_text();
    a_character_comes_with_its_last_byte();
    what_is_no_character_is_replaced();
    clear_forgets();
    return 0;
}
