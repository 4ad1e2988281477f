/* The header is C, its structs are laid out as other languages believe, and its version is what it says. */
#include "check.h"
#include "eliza/inference.h"

#include <stddef.h>
#include <string.h>

#define AT(type, field, offset) CHECK(offsetof(type, field) == (offset))

static void stream_config_is_88_bytes(void) {
    CHECK(sizeof(eliza_llm_stream_config_t) == 88);
    AT(eliza_llm_stream_config_t, max_tokens, 0);
    AT(eliza_llm_stream_config_t, temperature, 4);
    AT(eliza_llm_stream_config_t, top_p, 8);
    AT(eliza_llm_stream_config_t, top_k, 12);
    AT(eliza_llm_stream_config_t, repeat_penalty, 16);
    AT(eliza_llm_stream_config_t, slot_id, 20);
    AT(eliza_llm_stream_config_t, prompt_cache_key, 24);
    AT(eliza_llm_stream_config_t, draft_min, 32);
    AT(eliza_llm_stream_config_t, draft_max, 36);
    AT(eliza_llm_stream_config_t, mtp_drafter_path, 40);
    AT(eliza_llm_stream_config_t, gbnf_grammar, 48);
    AT(eliza_llm_stream_config_t, disable_thinking, 56);
    AT(eliza_llm_stream_config_t, n_gpu_layers, 60);
    AT(eliza_llm_stream_config_t, cache_type_k, 64);
    AT(eliza_llm_stream_config_t, cache_type_v, 72);
    AT(eliza_llm_stream_config_t, context_size, 80);
}

static void verifier_event_is_40_bytes(void) {
    CHECK(sizeof(EliVerifierEvent) == 40);
    AT(EliVerifierEvent, accepted_token_ids, 0);
    AT(EliVerifierEvent, n_accepted, 8);
    AT(EliVerifierEvent, rejected_from, 16);
    AT(EliVerifierEvent, rejected_to, 20);
    AT(EliVerifierEvent, corrected_token_ids, 24);
    AT(EliVerifierEvent, n_corrected, 32);
}

static void capabilities_are_a_document(void) {
    char * text = eliza_inference_capabilities_json();
    CHECK(text != NULL && text[0] == '{');
    CHECK(strstr(text, "\"kernels\":[\"mtp\"") != NULL);
    CHECK(strstr(text, "\"devices\":[{") != NULL);
    eliza_inference_free_string(text);
}

int main(void) {
    stream_config_is_88_bytes();
    verifier_event_is_40_bytes();
    CHECK(strcmp(eliza_inference_abi_version(), "14") == 0);
    capabilities_are_a_document();
    eliza_inference_free_string(NULL);
    eliza_inference_free_tokens(NULL);
    return 0;
}
