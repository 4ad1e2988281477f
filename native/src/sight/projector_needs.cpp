#include "sight/projector_needs.h"

#include <algorithm>
#include <array>
#include <vector>

namespace eliza::sight {
namespace {

enum class Attention {
    none,      // the kind has no layers, or its layers ask by themselves
    any,       // three tensors, or one that is all three
    separate,  // three, with their biases
    fused,     // one, with its bias
};

struct Needs {
    const char *             kind;
    std::vector<std::string> tensors;
    const char *             prefix;
    Attention                attention;
};

const std::array<Needs, 9> & all_needs() {
    static const std::array<Needs, 9> needs = {{
        {"gemma3", {"v.patch_embd.weight", "v.position_embd.weight"}, "v", Attention::any},
        {"gemma4v", {"v.patch_embd.weight", "v.position_embd.weight"}, "v", Attention::any},
        {"gemma4uv", {"v.patch_embd.weight", "v.patch_embd.bias", "v.position_embd.weight"}, "v", Attention::none},
        {"qwen2vl_merger", {"v.patch_embd.weight", "v.patch_embd.weight.1"}, "v", Attention::separate},
        {"qwen2.5vl_merger", {"v.patch_embd.weight", "v.patch_embd.weight.1"}, "v", Attention::separate},
        {"qwen3vl_merger",
         {"v.patch_embd.weight", "v.patch_embd.weight.1", "v.patch_embd.bias", "v.position_embd.weight"},
         "v",
         Attention::fused},
        {"gemma4a", {"mm.a.input_projection.weight"}, "a", Attention::none},
        {"gemma4ua", {}, "a", Attention::none},
        {"qwen3a", {"a.position_embd.weight"}, "a", Attention::any},
    }};
    return needs;
}

std::vector<std::string> layer_tensors(Attention attention, bool is_fused) {
    switch (attention) {
    case Attention::none:
        return {};
    case Attention::any:
        return is_fused ? std::vector<std::string>{"attn_qkv.weight"}
                        : std::vector<std::string>{"attn_q.weight", "attn_k.weight", "attn_v.weight"};
    case Attention::separate:
        return {"attn_q.weight", "attn_k.weight", "attn_v.weight", "attn_q.bias", "attn_k.bias", "attn_v.bias"};
    case Attention::fused:
        return {"attn_qkv.weight", "attn_qkv.bias"};
    }
    return {};
}

std::string missing_in_layer(const Needs & needs, int layer, const HasTensor & has) {
    const std::string block = needs.prefix + std::string(".blk.") + std::to_string(layer) + ".";
    for (const std::string & name : layer_tensors(needs.attention, has(block + "attn_qkv.weight"))) {
        if (!has(block + name)) {
            return block + name;
        }
    }
    const std::string deep = "v.deepstack." + std::to_string(layer);
    return has(deep + ".fc1.weight") && !has(deep + ".fc2.weight") ? deep + ".fc2.weight" : "";
}

}  // namespace

std::string first_missing_tensor(const std::string & kind, int layers, const HasTensor & has) {
    const auto needs =
        std::find_if(all_needs().begin(), all_needs().end(), [&](const Needs & one) { return kind == one.kind; });
    if (needs == all_needs().end()) {
        return "";
    }
    const auto absent = std::find_if(needs->tensors.begin(), needs->tensors.end(),
                                     [&](const std::string & name) { return !has(name); });
    if (absent != needs->tensors.end()) {
        return *absent;
    }
    std::string missing;
    for (int layer = 0; layer < layers && missing.empty(); ++layer) {
        missing = missing_in_layer(*needs, layer, has);
    }
    return missing;
}

}  // namespace eliza::sight
