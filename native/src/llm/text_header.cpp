#include "llm/text_header.h"

#include "llm/gguf_header.h"

#include <algorithm>

namespace eliza::llm {
namespace {

constexpr int64_t most_heads = 4096;
constexpr int64_t widest     = 1 << 20;

bool is_plain(ggml_type type) {
    return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 || type == GGML_TYPE_BF16;
}

// Vectors are added and multiplied in full precision only; matrices need a product.
void check_types(const GgufHeader & file) {
    file.for_each_tensor([&](const ggml_tensor & t) {
        const bool is_vector = ggml_n_dims(&t) == 1;
        if ((is_vector && t.type != GGML_TYPE_F32) || (!is_plain(t.type) && !ggml_is_quantized(t.type))) {
            file.refuse_type(t);
        }
    });
}

// Pairs of values are turned, and no more than a head has.
int64_t check_turned(const GgufHeader & file, const std::string & key, int64_t head, int64_t absent) {
    const int64_t turned = file.number(key, 2, head, absent);
    if (turned % 2 != 0) {
        file.refuse("says " + std::to_string(turned) + " for " + key);
    }
    return turned;
}

bool attends(const GgufHeader & file, size_t layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    return file.tensor(block + "attn_q.weight") != nullptr || file.tensor(block + "attn_qkv.weight") != nullptr;
}

int64_t of_layer(const std::vector<int64_t> & values, size_t layer) {
    return values.size() == 1 ? values[0] : layer < values.size() ? values[layer] : 0;
}

// Layers that do not attend, as in mixed architectures, may have no heads.
void check_heads(const GgufHeader & file, const std::string & prefix, int64_t layers) {
    const auto heads = file.numbers(prefix + "head_count");
    const auto given = file.numbers(prefix + "head_count_kv");
    const auto kept  = given.empty() ? heads : given;
    for (size_t layer = 0; layer < static_cast<size_t>(layers); ++layer) {
        const int64_t asking   = of_layer(heads, layer);
        const int64_t answered = of_layer(kept, layer);
        const bool    is_sound = asking >= 1 && asking <= most_heads && answered >= 1 && asking % answered == 0;
        if (attends(file, layer) && !is_sound) {
            file.refuse("has " + std::to_string(asking) + " heads over " + std::to_string(answered) + " in layer " +
                        std::to_string(layer));
        }
    }
}

void check_turns(const GgufHeader & file, const std::string & arch) {
    const auto    heads  = file.numbers(arch + ".attention.head_count");
    const int64_t width  = file.number(arch + ".embedding_length", 1, widest, widest);
    const int64_t most   = heads.empty() ? 0 : *std::max_element(heads.begin(), heads.end());
    const int64_t head   = file.number(arch + ".attention.key_length", 1, widest, most > 0 ? width / most : width);
    const int64_t window = file.number(arch + ".attention.key_length_swa", 1, widest, head);
    const int64_t turned = check_turned(file, arch + ".rope.dimension_count", head, head / 2 * 2);
    check_turned(file, arch + ".rope.dimension_count_swa", window, turned);
}

}  // namespace

void check_text_header(const std::filesystem::path & path) {
    const GgufHeader  file(path);
    const std::string arch   = file.text("general.architecture");
    const int64_t     layers = file.number(arch + ".block_count", 0, 65536, 0);
    check_types(file);
    file.check_epsilon(arch + ".attention.layer_norm_epsilon");
    file.check_epsilon(arch + ".attention.layer_norm_rms_epsilon");
    check_heads(file, arch + ".attention.", layers);
    check_turns(file, arch);
}

}  // namespace eliza::llm
