#include "llm/stream_settings.h"

#include "abi/guard.h"
#include "llm/kv_types.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace eliza::llm {
namespace {

// One verification batch must stay small; far beyond any drafter's worth.
constexpr int    largest_draft = 128;
constexpr size_t longest_key   = 1024;

// Out of its range a setting is off, as hosts of the reference have it.
SamplerSettings check_sampler(const eliza_llm_stream_config_t & config) {
    require(std::isfinite(config.temperature), "temperature is not a number");
    require(std::isfinite(config.top_p), "top_p is not a number");
    require(std::isfinite(config.repeat_penalty), "repeat_penalty is not a number");
    SamplerSettings settings;
    settings.temperature    = std::max(config.temperature, 0.0f);
    settings.top_p          = config.top_p > 0.0f ? std::min(config.top_p, 1.0f) : 1.0f;
    settings.top_k          = std::max(config.top_k, 0);
    settings.repeat_penalty = config.repeat_penalty > 0.0f ? config.repeat_penalty : 1.0f;
    settings.grammar        = config.gbnf_grammar == nullptr ? "" : config.gbnf_grammar;
    return settings;
}

std::optional<DraftSettings> check_draft(const eliza_llm_stream_config_t & config) {
    if (config.mtp_drafter_path == nullptr || *config.mtp_drafter_path == '\0') {
        return std::nullopt;
    }
    require(config.draft_max > 0 && config.draft_max <= largest_draft, "draft_max must lie in [1, 128] with a drafter");
    require(config.draft_min >= 0 && config.draft_min <= largest_draft, "draft_min must lie in [0, 128]");
    return DraftSettings{std::filesystem::u8path(config.mtp_drafter_path), config.draft_min,
                         std::max(config.draft_min, config.draft_max)};
}

// A stream is found again by its key, its pinned slot, or both.
std::string check_cache_key(const eliza_llm_stream_config_t & config) {
    require(config.slot_id >= -1, "slot_id must be -1 (no pinning) or more");
    std::string key = config.prompt_cache_key == nullptr ? "" : config.prompt_cache_key;
    require(key.size() <= longest_key, "prompt_cache_key is longer than 1024 bytes");
    if (config.slot_id >= 0) {
        key += '\n' + std::to_string(config.slot_id);  // no key holds what a key cannot be confused with
    }
    return key;
}

}  // namespace

bool speculation_disabled() {
    const char * flag = std::getenv("ELIZA_MTP_DISABLE");
    return flag != nullptr && std::strcmp(flag, "1") == 0;
}

StreamSettings check_settings(const eliza_llm_stream_config_t & config) {
    require(config.context_size >= 0, "context_size must be 0 or more");
    require(config.n_gpu_layers >= -1, "n_gpu_layers must be -1 (all) or more");
    StreamSettings settings;
    settings.sampler      = check_sampler(config);
    settings.draft        = check_draft(config);
    settings.max_tokens   = std::max(config.max_tokens, 0);
    settings.context_size = config.context_size;
    settings.n_gpu_layers = config.n_gpu_layers;
    settings.cache_key    = check_cache_key(config);
    settings.type_k       = kv_type(config.cache_type_k);
    settings.type_v       = kv_type(config.cache_type_v);
    if (speculation_disabled()) {
        settings.draft.reset();
    }
    return settings;
}

}  // namespace eliza::llm
