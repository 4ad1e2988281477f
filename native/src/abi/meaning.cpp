// What a text means and whether a turn has ended: two questions to the text model that write nothing.
#include "abi/guard.h"
#include "abi/regions.h"
#include "llm/embedder.h"
#include "llm/end_of_turn.h"

#include <algorithm>
#include <string_view>

namespace {

using eliza::Failure;
using eliza::require;

int embed(EliInferenceContext * ctx, const char * text, size_t text_len, int pooling, int dimensions, float * out,
          size_t out_capacity, int * out_dim) {
    require(ctx != nullptr && out_dim != nullptr, "ctx and out_dim must not be NULL");
    require(text != nullptr || text_len == 0, "text is NULL");
    require(out != nullptr || out_capacity == 0, "out is NULL");
    const std::lock_guard<std::mutex> lock(ctx->meaning_mutex);
    eliza::llm::Embedder &            embedder = eliza::require_embedder(*ctx);
    const int                         wanted   = dimensions == 0 ? embedder.width() : dimensions;
    *out_dim                                   = wanted;
    if (wanted > 0 && out_capacity < static_cast<size_t>(wanted)) {
        throw Failure(ELIZA_ERR_INVALID_ARG, "the vector has " + std::to_string(wanted) + " numbers");
    }
    const std::string_view said(text == nullptr ? "" : text, text_len);
    const auto             vector = eliza::llm::cut_embedding(embedder.embed(said, pooling), wanted);
    std::copy(vector.begin(), vector.end(), out);
    return ELIZA_OK;
}

}  // namespace

extern "C" {

int eliza_inference_embed_supported(void) {
    return 1;
}

int eliza_inference_embed(EliInferenceContext * ctx, const char * text, size_t text_len, int pooling, float * out,
                          size_t out_capacity, int * out_dim, char ** out_error) {
    return eliza::guarded(out_error,
                          [&] { return embed(ctx, text, text_len, pooling, 0, out, out_capacity, out_dim); });
}

int eliza_inference_embed_cut(EliInferenceContext * ctx, const char * text, size_t text_len, int pooling,
                              int dimensions, float * out, size_t out_capacity, int * out_dim, char ** out_error) {
    return eliza::guarded(out_error, [&] {
        require(dimensions > 0, "dimensions must be 1 or more");
        return embed(ctx, text, text_len, pooling, dimensions, out, out_capacity, out_dim);
    });
}

int eliza_inference_llm_eot_supported(void) {
    return 1;
}

int eliza_inference_llm_eot_score(EliInferenceContext * ctx, const int32_t * token_ids, size_t num_tokens,
                                  int32_t target_token, float * out_probability, int32_t * out_top_token,
                                  float * out_top_probability, char ** out_error) {
    return eliza::guarded(out_error, [&] {
        require(ctx != nullptr && token_ids != nullptr && out_probability != nullptr,
                "ctx, token_ids and out_probability must not be NULL");
        const std::lock_guard<std::mutex> lock(ctx->meaning_mutex);
        const eliza::llm::NextToken next = eliza::require_end_of_turn(*ctx).score(token_ids, num_tokens, target_token);
        *out_probability                 = next.probability;
        if (out_top_token != nullptr) {
            *out_top_token = next.top;
        }
        if (out_top_probability != nullptr) {
            *out_top_probability = next.top_probability;
        }
        return ELIZA_OK;
    });
}

}  // extern "C"
