// The C stream config, checked and in our own types.
#pragma once

#include "eliza/inference.h"
#include "ggml.h"

#include <filesystem>
#include <optional>
#include <string>

namespace eliza::llm {

struct SamplerSettings {
    float       temperature    = 0.0f;  // 0 = greedy
    float       top_p          = 1.0f;  // 1 = off
    int         top_k          = 0;     // 0 = off
    float       repeat_penalty = 1.0f;  // 1 = off
    std::string grammar;                // empty = free text
};

struct DraftSettings {
    std::filesystem::path path;
    int                   min_tokens = 0;
    int                   max_tokens = 0;
};

struct StreamSettings {
    SamplerSettings              sampler;
    std::optional<DraftSettings> draft;
    int                          max_tokens   = 0;    // 0 = up to the context
    int                          context_size = 0;    // tokens, 0 = what the model was trained for
    int                          batch_tokens = 512;  // most that are decoded in one piece
    int                          n_gpu_layers = -1;
    std::string                  cache_key;  // empty: what it reads is not kept for others
    ggml_type                    type_k = GGML_TYPE_F16;
    ggml_type                    type_v = GGML_TYPE_F16;
};

// Throws Failure(INVALID_ARG) for values out of their range. Under ELIZA_MTP_DISABLE=1 the draft
// settings are checked and then left out.
StreamSettings check_settings(const eliza_llm_stream_config_t & config);

// ELIZA_MTP_DISABLE=1: the developer's wish for no speculation.
bool speculation_disabled();

}  // namespace eliza::llm
