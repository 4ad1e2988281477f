#include "kokoro/phonemes.h"

#include <algorithm>

namespace eliza::kokoro {
namespace {

constexpr size_t shortest_sentence = 12;  // code points; less has no melody of its own

using Characters = std::vector<std::string_view>;

size_t sequence_length(unsigned char lead) {
    if (lead >= 0xf0 && lead < 0xf8) {
        return 4;
    }
    if (lead >= 0xe0) {
        return lead < 0xf0 ? 3 : 1;
    }
    return lead >= 0xc0 ? 2 : 1;
}

// A broken sequence counts byte by byte: each byte is one unknown character.
Characters split_characters(std::string_view text) {
    Characters out;
    for (size_t i = 0; i < text.size();) {
        const size_t wanted = sequence_length(static_cast<unsigned char>(text[i]));
        size_t       length = 1;
        while (length < wanted && i + length < text.size() &&
               (static_cast<unsigned char>(text[i + length]) & 0xc0) == 0x80) {
            ++length;
        }
        length = length == wanted ? wanted : 1;
        out.push_back(text.substr(i, length));
        i += length;
    }
    return out;
}

bool is_blank(std::string_view c) {
    return c == " " || c == "\n" || c == "\t" || c == "\r";
}

bool one_of(std::string_view c, std::string_view set) {
    return set.find(c) != std::string_view::npos;
}

struct Range {
    size_t from, to;
};

std::string text_of(const Characters & all, Range range) {
    while (range.from < range.to && is_blank(all[range.from])) {
        ++range.from;
    }
    while (range.to > range.from && is_blank(all[range.to - 1])) {
        --range.to;
    }
    std::string out;
    for (size_t i = range.from; i < range.to; ++i) {
        out.append(all[i]);
    }
    return out;
}

bool ends_sentence(const Characters & all, size_t at) {
    return one_of(all[at], "!.?…\n") && (at + 1 == all.size() || is_blank(all[at + 1]) || one_of(all[at + 1], ")”\""));
}

// Where to cut [from, limit): just after the last of the best kind of mark.
size_t best_cut(const Characters & all, size_t from, size_t limit) {
    for (const char * marks : {"!.?…", ":;", ",—", " \n\t"}) {
        for (size_t i = limit; i > from + 1; --i) {
            if (one_of(all[i - 1], marks)) {
                return i;
            }
        }
    }
    return limit;
}

size_t sentence_end(const Characters & all, size_t from) {
    for (size_t i = from; i < all.size(); ++i) {
        if (i + 1 - from >= shortest_sentence && ends_sentence(all, i)) {
            while (i + 1 < all.size() && one_of(all[i + 1], ")”\"")) {
                ++i;
            }
            return i + 1;
        }
    }
    return all.size();
}

}  // namespace

Alphabet::Alphabet(const std::vector<std::string> & phonemes) {
    for (size_t i = 0; i < phonemes.size(); ++i) {
        if (!phonemes[i].empty()) {
            tokens_.emplace(phonemes[i], static_cast<int32_t>(i));
        }
    }
}

Phrase Alphabet::read(std::string_view text) const {
    const Characters all = split_characters(text);
    Phrase           out{std::string(text), all.size(), {}};
    for (const std::string_view c : all) {
        const auto found = tokens_.find(c);
        if (found != tokens_.end()) {
            out.tokens.push_back(found->second);
        }
    }
    return out;
}

std::string Alphabet::spell(std::string_view text) const {
    std::string out;
    for (std::string_view c : split_characters(text)) {
        std::string one(is_blank(c) ? " " : c);
        // capitals of this alphabet are diphthongs, never letters
        if (one.size() == 1 && one[0] >= 'A' && one[0] <= 'Z') {
            one[0] = static_cast<char>(one[0] - 'A' + 'a');
        }
        if (one == "g" && tokens_.find("g") == tokens_.end()) {
            one = "ɡ";
        }
        out += tokens_.find(one) != tokens_.end() ? one : std::string();
    }
    return out;
}

std::vector<std::string> cut_text(std::string_view text, size_t most, bool by_sentence) {
    const Characters         all = split_characters(text);
    std::vector<std::string> pieces;
    for (size_t from = 0; from < all.size();) {
        while (from < all.size() && is_blank(all[from])) {
            ++from;
        }
        size_t to = by_sentence ? sentence_end(all, from) : all.size();
        if (to - from > most) {
            to = best_cut(all, from, from + most);
        }
        std::string piece = text_of(all, {from, to});
        if (!piece.empty()) {
            pieces.push_back(std::move(piece));
        }
        from = to;
    }
    return pieces;
}

std::vector<std::string> halve_text(std::string_view text) {
    const Characters all    = split_characters(text);
    const size_t     middle = all.size() / 2;
    size_t           cut    = middle;
    for (size_t away = 0; away < middle; ++away) {
        if (is_blank(all[middle - away]) || is_blank(all[std::min(all.size() - 1, middle + away)])) {
            cut = is_blank(all[middle - away]) ? middle - away : middle + away;
            break;
        }
    }
    return {text_of(all, {0, cut}), text_of(all, {cut, all.size()})};
}

}  // namespace eliza::kokoro
