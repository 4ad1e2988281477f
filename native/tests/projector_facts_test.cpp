// Headers of kinds that no tiny model has: what the runtime would only meet while it computes is met here.
#include "sight/projector_facts.h"

#include "abi/guard.h"
#include "check.h"
#include "ggml-cpp.h"
#include "gguf.h"
#include "llm/runtime.h"
#include "sight/projector_needs.h"
#include "streams.h"

using namespace tests;

namespace {

// A projector with one layer and tensors of no worth, changed before it is written.
class Draft {
  public:
    explicit Draft(const char * kind) : gguf_(gguf_init_empty()), tensors_(ggml_init({1 << 22, nullptr, false})) {
        gguf_set_val_str(gguf_.get(), "general.architecture", "clip");
        gguf_set_val_bool(gguf_.get(), "clip.has_vision_encoder", true);
        gguf_set_val_str(gguf_.get(), "clip.projector_type", kind);
        number("block_count", 1).number("attention.head_count", 2).number("embedding_length", 8);
        number("feed_forward_length", 16).number("projection_dim", 8);
        number("image_size", 56).number("patch_size", 14);
        for (const char * part : {"q", "k", "v"}) {
            tensor(std::string("v.blk.0.attn_") + part + ".weight", 8, 8);
            tensor(std::string("v.blk.0.attn_") + part + ".bias", 8);
        }
        tensor("v.patch_embd.weight", 8, 8);
        tensor("v.patch_embd.weight.1", 8, 8);
    }

    Draft & number(const std::string & key, uint32_t value) {
        gguf_set_val_u32(gguf_.get(), ("clip.vision." + key).c_str(), value);
        return *this;
    }

    Draft & tensor(const std::string & name, int64_t width, int64_t height = 1, ggml_type type = GGML_TYPE_F32) {
        ggml_tensor * added = ggml_new_tensor_2d(tensors_.get(), type, width, height);
        ggml_set_name(added, name.c_str());
        gguf_add_tensor(gguf_.get(), added);
        return *this;
    }

    int status(std::string * said = nullptr) const {
        const fs::path file = models().parent_path() / "draft.gguf";
        CHECK(gguf_write_to_file(gguf_.get(), file.u8string().c_str(), false));
        const int got = eliza::guarded(nullptr, [&] {
            try {
                return eliza::sight::read_projector_facts(file).width;
            } catch (const eliza::Failure & failure) {
                if (said != nullptr) {
                    *said = failure.what();
                }
                throw;
            }
        });
        fs::remove(file);
        return got;
    }

    void refused(const char * reason) const {
        std::string said;
        CHECK(status(&said) == ELIZA_ERR_BUNDLE_INVALID && said.find(reason) != std::string::npos);
    }

  private:
    gguf_context_ptr gguf_;
    ggml_context_ptr tensors_;
};

void a_whole_header_is_believed() {
    CHECK(Draft("qwen2vl_merger").status() == 8);
    CHECK(Draft("qwen2.5vl_merger").number("spatial_merge_size", 2).number("window_size", 112).status() == 8);
    CHECK(Draft("gemma3").tensor("v.position_embd.weight", 8, 16).status() == 8);
}

void patches_that_are_not_merged_two_by_two_are_refused() {
    Draft("qwen2vl_merger").number("spatial_merge_size", 1).refused("spatial_merge_size");
    Draft("qwen2vl_merger").number("spatial_merge_size", 4).refused("spatial_merge_size");
    Draft("qwen2.5vl_merger").number("window_size", 27).refused("window_size");
    Draft("qwen2.5vl_merger").number("patch_size", 57).refused("window_size");
}

void a_short_table_of_positions_is_refused() {
    Draft("gemma3").tensor("v.position_embd.weight", 8, 15).refused("table of positions");
    Draft("gemma3").refused("v.position_embd.weight");
    Draft("gemma4v").tensor("v.position_embd.weight", 8, 719).refused("table of positions");
}

void heads_must_divide_the_width() {
    Draft("qwen2vl_merger").number("attention.head_count", 3).refused("heads");
    Draft("qwen2vl_merger").number("attention.head_count", 0).refused("head_count");
    Draft("qwen2vl_merger").number("attention.head_count_kv", 0).refused("head_count_kv");
}

void types_that_nothing_computes_are_refused() {
    Draft("qwen2vl_merger").tensor("v.post_ln.weight", 8, 1, GGML_TYPE_F16).refused("type f16");
    Draft("qwen2vl_merger").tensor("v.extra.weight", 8, 8, GGML_TYPE_I32).refused("type i32");
    CHECK(Draft("qwen2vl_merger").tensor("v.extra.weight", 32, 8, GGML_TYPE_Q4_0).status() == 8);
}

void every_layer_is_asked_for_its_attention() {
    const auto none = [](const std::string &) { return false; };
    const auto all  = [](const std::string &) { return true; };
    CHECK(eliza::sight::first_missing_tensor("gemma4a", 2, none) == "mm.a.input_projection.weight");
    CHECK(eliza::sight::first_missing_tensor("qwen3vl_merger", 2, all).empty());
    const auto without = [](const char * absent) {
        return
            [absent](const std::string & name) { return name != absent && name.find("attn_qkv") == std::string::npos; };
    };
    CHECK(eliza::sight::first_missing_tensor("gemma4v", 3, without("v.blk.2.attn_k.weight")) ==
          "v.blk.2.attn_k.weight");
    CHECK(eliza::sight::first_missing_tensor("gemma4v", 2, without("v.blk.2.attn_k.weight")).empty());
    CHECK(eliza::sight::first_missing_tensor("qwen3vl_merger", 1, without("")) == "v.blk.0.attn_qkv.weight");
    CHECK(eliza::sight::first_missing_tensor("qwen3a", 1, without("a.blk.0.attn_v.weight")) == "a.blk.0.attn_v.weight");
    const auto half_deep = [](const std::string & name) { return name.find(".fc2.") == std::string::npos; };
    CHECK(eliza::sight::first_missing_tensor("qwen3vl_merger", 1, half_deep) == "v.deepstack.0.fc2.weight");
}

}  // namespace

int main() {
    eliza::llm::start_runtime();
    a_whole_header_is_believed();
    patches_that_are_not_merged_two_by_two_are_refused();
    a_short_table_of_positions_is_refused();
    heads_must_divide_the_width();
    types_that_nothing_computes_are_refused();
    every_layer_is_asked_for_its_attention();
    return 0;
}
