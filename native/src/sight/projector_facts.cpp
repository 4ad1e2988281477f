#include "sight/projector_facts.h"

#include "llm/gguf_facts.h"
#include "llm/gguf_header.h"
#include "sight/projector_needs.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace eliza::sight {
namespace {

// A 50:1 picture of the most tokens that any kind gives one (1120) has this many columns, with room to spare.
constexpr int64_t most_columns = 240;

constexpr int64_t largest_patch = 128;  // pixels a side, after merging

constexpr std::array vision_kinds = {"gemma3",         "gemma4v",          "gemma4uv",
                                     "qwen2vl_merger", "qwen2.5vl_merger", "qwen3vl_merger"};
constexpr std::array audio_kinds  = {"gemma4a", "gemma4ua", "qwen3a"};

using Header = llm::GgufHeader;

// Only the computation would notice a type that it has no code for, and that is too late.
void check_types(const Header & file) {
    file.for_each_tensor([&](const ggml_tensor & t) {
        const bool is_plain = t.type == GGML_TYPE_F32 || t.type == GGML_TYPE_F16 || t.type == GGML_TYPE_BF16;
        const bool is_whole = ggml_n_dims(&t) == 2 && ggml_is_quantized(t.type);
        const bool is_small = ggml_n_dims(&t) == 1 || std::strstr(t.name, ".conv_dw.") != nullptr;
        if ((is_small && t.type != GGML_TYPE_F32) || (!is_plain && !is_whole)) {
            file.refuse_type(t);
        }
    });
}

template <size_t Count>
void check_kind(const Header & file, const std::string & kind, const std::array<const char *, Count> & known) {
    if (std::none_of(known.begin(), known.end(), [&](const char * one) { return kind == one; })) {
        file.refuse("is a projector of kind '" + kind + "', which this build does not serve",
                    ELIZA_ERR_NOT_IMPLEMENTED);
    }
}

std::string kind_of(const Header & file, const std::string & sense) {
    const std::string shared = file.text("clip.projector_type");
    return shared.empty() ? file.text("clip." + sense + ".projector_type") : shared;
}

// The sizes that every kind has; divisions by them happen before the runtime looks at them.
int check_sizes(const Header & file, const std::string & sense, const std::string & kind) {
    const std::string prefix = "clip." + sense + ".";
    const int64_t     layers = file.number(prefix + "block_count", 0, 512);
    const int64_t     heads  = file.number(prefix + "attention.head_count", layers > 0 ? 1 : 0, 1024);
    const int64_t     width  = file.number(prefix + "embedding_length", 1, 65536);
    const int64_t     shared = file.number(prefix + "attention.head_count_kv", layers > 0 ? 1 : 0, 1024, heads);
    file.number(prefix + "feed_forward_length", 0, 1 << 20);
    file.check_epsilon(prefix + "attention.layer_norm_epsilon");
    if (layers > 0 && (width % heads != 0 || heads % shared != 0)) {
        file.refuse("does not divide its width by its heads");
    }
    const std::string missing = first_missing_tensor(
        kind, static_cast<int>(layers), [&](const std::string & name) { return file.tensor(name) != nullptr; });
    if (!missing.empty()) {
        file.refuse("lacks the tensor " + missing);
    }
    return static_cast<int>(file.number(prefix + "projection_dim", 1, 65536));
}

// A position beyond the table's end would be met by the computation only.
void check_positions(const Header & file, const std::string & kind, int64_t image, int64_t patch, int64_t merge) {
    const ggml_tensor * table = file.tensor("v.position_embd.weight");
    const bool          grows = kind == "gemma4v" || kind == "gemma4uv";
    if (table == nullptr) {
        return;  // the kinds that need one were asked for it
    }
    const int64_t columns = kind == "gemma4v" ? most_columns * merge : most_columns;
    const int64_t wanted  = grows ? columns : (image / patch) * (image / patch);
    if (table->ne[1] < wanted || (grows && table->ne[2] < 2)) {
        file.refuse("has a table of positions that is too small for its pictures");
    }
}

// The runtime lays these kinds' positions out for patches merged two by two, in windows of at least one such merger.
void check_qwen_patches(const Header & file, int64_t patch) {
    file.number("clip.vision.spatial_merge_size", 2, 2, 2);
    file.number("clip.vision.window_size", 2 * patch, 4096, 112);
}

// The pixels of a patch times the most tokens of a picture must stay a number, and a sensible one.
void check_patches(const Header & file, const std::string & kind) {
    const int64_t image = file.number("clip.vision.image_size", 1, 8192);
    const int64_t patch = file.number("clip.vision.patch_size", 1, largest_patch);
    const int64_t merge = file.number("clip.vision.projector.scale_factor", 1, largest_patch / patch, 1);
    if (kind.rfind("qwen", 0) == 0) {
        check_qwen_patches(file, patch);
    }
    // gemma4v merges three by three unless the file says otherwise
    check_positions(file, kind, image, patch, std::max<int64_t>(merge, 3));
}

int check_eye(const Header & file, const std::string & kind) {
    check_kind(file, kind, vision_kinds);
    const int width = check_sizes(file, "vision", kind);
    check_patches(file, kind);
    return width;
}

int check_ear(const Header & file, const std::string & kind) {
    check_kind(file, kind, audio_kinds);
    file.number("clip.audio.num_mel_bins", 1, 4096);
    return check_sizes(file, "audio", kind);
}

}  // namespace

ProjectorFacts read_projector_facts(const std::filesystem::path & path) {
    const std::string architecture = llm::read_gguf_facts(path).architecture;
    const Header      file(path);
    if (architecture != "clip") {
        file.refuse("is a model of the architecture '" + architecture + "', not a projector");
    }
    check_types(file);
    ProjectorFacts facts;
    if (file.flag("clip.has_vision_encoder")) {
        facts.vision = kind_of(file, "vision");
        facts.width  = check_eye(file, facts.vision);
    }
    if (file.flag("clip.has_audio_encoder")) {
        facts.audio     = kind_of(file, "audio");
        const int width = check_ear(file, facts.audio);
        if (!facts.vision.empty() && width != facts.width) {
            file.refuse("sees and hears in different widths");
        }
        facts.width = width;
    }
    if (facts.width == 0) {
        file.refuse("has neither an eye nor an ear");
    }
    return facts;
}

}  // namespace eliza::sight
