#include "bundle/voice_preset.h"

#include "abi/guard.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>

#include <nlohmann/json.hpp>

namespace eliza::bundle {
namespace {

constexpr size_t           largest_bytes = size_t{64} << 20;
constexpr uint32_t         codebooks     = 8;
constexpr std::string_view magic         = "ELZ1";

enum Section { embedding, phrases, ref_tokens, ref_text, instruct, metadata, section_count };

[[noreturn]] void refuse(const char * fault) {
    throw Failure(ELIZA_ERR_BUNDLE_INVALID, std::string(fault) + ": the voice preset cannot be read");
}

// Takes little-endian values off the front of a section; what is not there is `fault`.
class Reader {
  public:
    Reader(std::string_view bytes, const char * fault) : left_(bytes), fault_(fault) {}

    template <typename T> T take() {
        T value;
        std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
        return value;
    }

    std::string_view bytes(size_t count) {
        if (count > left_.size()) {
            refuse(fault_);
        }
        const std::string_view taken = left_.substr(0, count);
        left_.remove_prefix(count);
        return taken;
    }

    size_t left() const { return left_.size(); }

  private:
    std::string_view left_;
    const char *     fault_;
};

template <typename T> std::vector<T> values_of(std::string_view bytes, const char * fault) {
    if (bytes.size() % sizeof(T) != 0) {
        refuse(fault);
    }
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) {
        std::memcpy(values.data(), bytes.data(), bytes.size());
    }
    return values;
}

std::vector<float> numbers_of(std::string_view bytes, const char * fault) {
    std::vector<float> values = values_of<float>(bytes, fault);
    if (!std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); })) {
        refuse(fault);
    }
    return values;
}

bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Bytes of the character that starts here; 0: none does (Unicode 15, table 3-7).
size_t character_bytes(std::string_view text) {
    const auto at   = [&](size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
    const auto lead = at(0);
    if (lead < 0x80) {
        return lead == 0 ? 0 : 1;
    }
    const size_t count  = lead >= 0xC2 && lead <= 0xDF   ? 2
                          : lead >= 0xE0 && lead <= 0xEF ? 3
                          : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                         : 0;
    const bool   is_bad = (lead == 0xE0 && at(1) < 0xA0) || (lead == 0xED && at(1) > 0x9F) ||
                          (lead == 0xF0 && at(1) < 0x90) || (lead == 0xF4 && at(1) > 0x8F);
    if (count == 0 || count > text.size() || is_bad) {
        return 0;
    }
    return std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(count), is_continuation) ? count
                                                                                                             : 0;
}

std::string text_of(std::string_view bytes) {
    for (size_t at = 0; at < bytes.size();) {
        const size_t count = character_bytes(bytes.substr(at));
        if (count == 0) {
            refuse("bad-utf8");
        }
        at += count;
    }
    return std::string(bytes);
}

std::map<std::string, ReadyPhrase> phrases_of(std::string_view bytes) {
    std::map<std::string, ReadyPhrase> found;
    if (bytes.empty()) {
        return found;
    }
    constexpr const char * fault = "bad-phrase-record";
    Reader                 reader(bytes, fault);
    const auto             count = reader.take<uint32_t>();
    for (uint32_t i = 0; i < count; ++i) {
        const auto text_bytes = reader.take<uint16_t>();
        const auto text       = text_of(reader.bytes(text_bytes));
        const auto rate       = reader.take<uint32_t>();
        const auto pcm_bytes  = reader.take<uint32_t>();
        if (rate < 4000 || rate > 384000) {
            refuse(fault);
        }
        found[phrase_key(text)] = {static_cast<int>(rate), numbers_of(reader.bytes(pcm_bytes), fault)};
    }
    if (reader.left() != 0) {
        refuse(fault);
    }
    return found;
}

std::vector<int32_t> ref_tokens_of(std::string_view bytes) {
    if (bytes.empty()) {
        return {};
    }
    Reader     reader(bytes, "bad-ref-tokens");
    const auto rows  = reader.take<uint32_t>();
    const auto steps = reader.take<uint32_t>();
    if (rows != codebooks || reader.left() != uint64_t{4} * codebooks * steps) {
        refuse("bad-ref-tokens");
    }
    return values_of<int32_t>(reader.bytes(reader.left()), "bad-ref-tokens");
}

// Of the metadata only the voice is of use here; the rest is the host's.
std::string voice_of(std::string_view bytes) {
    if (bytes.empty()) {
        return "";
    }
    const auto json = nlohmann::json::parse(bytes.begin(), bytes.end(), nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) {
        refuse("bad-metadata");
    }
    const auto voice = json.find("voice");
    return voice != json.end() && voice->is_string() ? voice->get<std::string>() : "";
}

struct Bounds {
    uint32_t start;
    uint32_t length;
};

// Inside the file, behind the header, and none over another.
void check_bounds(std::array<Bounds, section_count> bounds, size_t header_bytes, size_t file_bytes) {
    std::sort(bounds.begin(), bounds.end(), [](Bounds a, Bounds b) { return a.start < b.start; });
    uint64_t end = header_bytes;
    for (const Bounds & each : bounds) {
        if (each.length == 0) {
            continue;
        }
        if (each.start < end) {
            refuse("bad-section-bounds");
        }
        end = uint64_t{each.start} + each.length;
        if (end > file_bytes) {
            refuse("truncated-section");
        }
    }
}

std::array<std::string_view, section_count> sections_of(std::string_view bytes, uint32_t version) {
    const size_t                      stored = version == 1 ? 2 : static_cast<size_t>(section_count);
    Reader                            reader(bytes.substr(8), "truncated-header");
    std::array<Bounds, section_count> bounds = {};
    for (size_t i = 0; i < stored; ++i) {
        bounds[i].start  = reader.take<uint32_t>();
        bounds[i].length = reader.take<uint32_t>();
    }
    if (version == 2 && reader.take<uint64_t>() != 0) {
        refuse("bad-section-bounds");
    }
    check_bounds(bounds, bytes.size() - reader.left(), bytes.size());
    std::array<std::string_view, section_count> sections;
    for (size_t i = 0; i < stored; ++i) {
        sections[i] = bounds[i].length == 0 ? std::string_view() : bytes.substr(bounds[i].start, bounds[i].length);
    }
    return sections;
}

}  // namespace

VoicePreset parse_voice_preset(std::string_view bytes) {
    Reader reader(bytes, "truncated-header");
    if (reader.bytes(magic.size()) != magic) {
        refuse("bad-magic");
    }
    const auto version = reader.take<uint32_t>();
    if (version != 1 && version != 2) {
        refuse("bad-version");
    }
    const auto  sections = sections_of(bytes, version);
    VoicePreset preset;
    preset.version    = static_cast<int>(version);
    preset.embedding  = numbers_of(sections[embedding], "bad-embedding-length");
    preset.phrases    = phrases_of(sections[phrases]);
    preset.ref_tokens = ref_tokens_of(sections[ref_tokens]);
    preset.ref_text   = text_of(sections[ref_text]);
    preset.instruct   = text_of(sections[instruct]);
    preset.voice      = voice_of(sections[metadata]);
    return preset;
}

VoicePreset read_voice_preset(const std::filesystem::path & file) {
    std::error_code failed;
    // Only opening a pipe would wait for somebody to write.
    const auto    size = std::filesystem::is_regular_file(file, failed) ? std::filesystem::file_size(file, failed) : 0;
    std::ifstream stream;
    if (!failed && size > 0) {
        stream.open(file, std::ios::binary);
    }
    if (!stream.is_open() || size > largest_bytes) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID, "the voice preset '" + file.filename().u8string() + "' cannot be read");
    }
    std::string bytes(size, '\0');
    stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<size_t>(stream.gcount()));
    return parse_voice_preset(bytes);
}

std::string phrase_key(std::string_view text) {
    std::string key;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\'') {
            continue;  // "that's" is one word
        }
        const bool is_word = byte >= 0x80 || std::isalnum(byte) != 0;
        if (is_word) {
            key += byte < 0x80 ? static_cast<char>(std::tolower(byte)) : c;
        } else if (!key.empty() && key.back() != ' ') {
            key += ' ';
        }
    }
    if (!key.empty() && key.back() == ' ') {
        key.pop_back();
    }
    return key;
}

}  // namespace eliza::bundle
