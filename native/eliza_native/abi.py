"""The C ABI as Python sees it: declarations by symbol family, struct layouts, constants, version rules.

Says what a library may look like, and opens none. Declarations follow `include/eliza/inference.h`; a
test compares the two. Keeps section 1 of the interop facts (ABI 14, 88-byte stream config, 40-byte event).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from cffi import FFI

ABI_VERSION: Final = 14

OK: Final = 0
ERR_NOT_IMPLEMENTED: Final = -1
ERR_INVALID_ARG: Final = -2
ERR_BUNDLE_INVALID: Final = -3
ERR_FFI_FAULT: Final = -4
ERR_OOM: Final = -5
ERR_ABI_MISMATCH: Final = -6
ERR_CANCELLED: Final = -7


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Symbols that arrived together.

    Attributes:
        since: the ABI version that brought them.
        declarations: their C declarations.
        supported: the symbol that says whether this build carries them; None = always.
    """

    since: int
    declarations: str
    supported: str | None = None


TYPES: Final = """
typedef struct EliInferenceContext EliInferenceContext;
typedef struct EliLlmStream EliLlmStream;
typedef struct EliVad EliVad;
typedef struct EliAsrStream EliAsrStream;

typedef struct {
    int32_t max_tokens; float temperature; float top_p; int32_t top_k; float repeat_penalty; int32_t slot_id;
    const char *prompt_cache_key; int32_t draft_min; int32_t draft_max; const char *mtp_drafter_path;
    const char *gbnf_grammar; int32_t disable_thinking; int32_t n_gpu_layers; const char *cache_type_k;
    const char *cache_type_v; int32_t context_size; int32_t reserved;
} eliza_llm_stream_config_t;

typedef struct {
    const int *accepted_token_ids; size_t n_accepted; int rejected_from; int rejected_to;
    const int *corrected_token_ids; size_t n_corrected;
} EliVerifierEvent;

typedef void (*eliza_verifier_callback)(const EliVerifierEvent *event, void *user_data);
typedef int (*eliza_tts_chunk_callback)(const float *pcm, size_t num_samples, int is_final, void *user_data);
"""

LAYOUTS: Final = MappingProxyType(
    {
        "eliza_llm_stream_config_t": (
            88,
            MappingProxyType(
                {
                    "max_tokens": 0,
                    "temperature": 4,
                    "top_p": 8,
                    "top_k": 12,
                    "repeat_penalty": 16,
                    "slot_id": 20,
                    "prompt_cache_key": 24,
                    "draft_min": 32,
                    "draft_max": 36,
                    "mtp_drafter_path": 40,
                    "gbnf_grammar": 48,
                    "disable_thinking": 56,
                    "n_gpu_layers": 60,
                    "cache_type_k": 64,
                    "cache_type_v": 72,
                    "context_size": 80,
                    "reserved": 84,
                }
            ),
        ),
        "EliVerifierEvent": (
            40,
            MappingProxyType(
                {
                    "accepted_token_ids": 0,
                    "n_accepted": 8,
                    "rejected_from": 16,
                    "rejected_to": 20,
                    "corrected_token_ids": 24,
                    "n_corrected": 32,
                }
            ),
        ),
    }
)
"""Struct name to (size, field offsets), in bytes, on every platform that Eliza-1 runs on."""

FAMILIES: Final = MappingProxyType(
    {
        "lifecycle": Family(
            since=1,
            declarations="""
        const char *eliza_inference_abi_version(void);
        EliInferenceContext *eliza_inference_create(const char *bundle_dir, char **out_error);
        void eliza_inference_destroy(EliInferenceContext *ctx);
        int eliza_inference_mmap_acquire(EliInferenceContext *ctx, const char *region, char **out_error);
        int eliza_inference_mmap_evict(EliInferenceContext *ctx, const char *region, char **out_error);
        void eliza_inference_free_string(char *text);
    """,
        ),
        "report": Family(
            since=14,
            declarations="""
        char *eliza_inference_capabilities_json(void);
        int eliza_inference_last_status(void);
    """,
        ),
        "llm_stream": Family(
            since=4,
            supported="eliza_inference_llm_stream_supported",
            declarations="""
        int eliza_inference_llm_stream_supported(void);
        EliLlmStream *eliza_inference_llm_stream_open(EliInferenceContext *ctx,
            const eliza_llm_stream_config_t *config, char **out_error);
        int eliza_inference_llm_stream_prefill(EliLlmStream *stream, const int32_t *token_ids, size_t num_tokens,
            char **out_error);
        int eliza_inference_llm_stream_next(EliLlmStream *stream, int32_t *tokens_out, size_t tokens_cap,
            size_t *num_tokens_out, char *text_out, size_t text_cap, int32_t *drafter_drafted_out,
            int32_t *drafter_accepted_out, char **out_error);
        int eliza_inference_llm_stream_cancel(EliLlmStream *stream);
        int eliza_inference_llm_stream_reset(EliLlmStream *stream);
        int eliza_inference_llm_stream_reset_keep(EliLlmStream *stream, int32_t n_keep);
        void eliza_inference_llm_stream_close(EliLlmStream *stream);
    """,
        ),
        "llm_end_reason": Family(
            since=14,
            declarations="""
        int eliza_inference_llm_stream_end_reason(EliLlmStream *stream);
    """,
        ),
        "llm_slots": Family(
            since=4,
            declarations="""
        int eliza_inference_llm_stream_save_slot(EliLlmStream *stream, const char *filename, char **out_error);
        int eliza_inference_llm_stream_restore_slot(EliLlmStream *stream, const char *filename, char **out_error);
    """,
        ),
        "llm_reuse": Family(
            since=14,
            declarations="""
        int eliza_inference_llm_stream_tokens_reused(EliLlmStream *stream);
    """,
        ),
        "llm_mtp": Family(
            since=8,
            supported="eliza_inference_llm_mtp_supported",
            declarations="""
        int eliza_inference_llm_mtp_supported(void);
    """,
        ),
        "llm_kv_quant": Family(
            since=8,
            supported="eliza_inference_llm_kv_quant_supported",
            declarations="""
        int eliza_inference_llm_kv_quant_supported(void);
    """,
        ),
        "verifier": Family(
            since=2,
            declarations="""
        int eliza_inference_set_verifier_callback(EliInferenceContext *ctx, eliza_verifier_callback callback,
            void *user_data, char **out_error);
    """,
        ),
        "tokenize": Family(
            since=9,
            supported="eliza_inference_tokenize_supported",
            declarations="""
        int eliza_inference_tokenize_supported(void);
        int eliza_inference_tokenize(EliInferenceContext *ctx, const char *text, size_t text_len, int add_special,
            int parse_special, int **out_tokens, size_t *out_num_tokens, char **out_error);
        int eliza_inference_detokenize(EliInferenceContext *ctx, const int *tokens, size_t num_tokens,
            int remove_special, int unparse_special, char *out_text, size_t max_bytes, char **out_error);
        void eliza_inference_free_tokens(int *tokens);
    """,
        ),
        "tts_stream": Family(
            since=2,
            supported="eliza_inference_tts_stream_supported",
            declarations="""
        int eliza_inference_tts_stream_supported(void);
        int eliza_inference_cancel_tts(EliInferenceContext *ctx, char **out_error);
    """,
        ),
        "kokoro": Family(
            since=10,
            supported="eliza_inference_kokoro_supported",
            declarations="""
        int eliza_inference_kokoro_supported(void);
        int eliza_inference_kokoro_load(EliInferenceContext *ctx, const char *gguf_path, const char *voice_bin_path,
            int style_dim, char **out_error);
        int eliza_inference_kokoro_sample_rate(EliInferenceContext *ctx);
    """,
        ),
        "kokoro_ipa": Family(
            since=14,
            supported="eliza_inference_kokoro_supported",
            declarations="""
        int eliza_inference_kokoro_g2p_kind(EliInferenceContext *ctx);
        int eliza_inference_kokoro_synthesize_ipa(EliInferenceContext *ctx, const char *ipa, size_t ipa_len,
            float speed, float *out_pcm, size_t max_samples, char **out_error);
        int eliza_inference_kokoro_synthesize_ipa_stream(EliInferenceContext *ctx, const char *ipa, size_t ipa_len,
            float speed, eliza_tts_chunk_callback on_chunk, void *user_data, char **out_error);
    """,
        ),
        "vad": Family(
            since=3,
            supported="eliza_inference_vad_supported",
            declarations="""
        int eliza_inference_vad_supported(void);
        EliVad *eliza_inference_vad_open(EliInferenceContext *ctx, int sample_rate, char **out_error);
        int eliza_inference_vad_process(EliVad *vad, const float *pcm, size_t num_samples, float *out_probability,
            char **out_error);
        int eliza_inference_vad_reset(EliVad *vad, char **out_error);
        void eliza_inference_vad_close(EliVad *vad);
    """,
        ),
        "embed": Family(
            since=9,
            supported="eliza_inference_embed_supported",
            declarations="""
        int eliza_inference_embed_supported(void);
        int eliza_inference_embed(EliInferenceContext *ctx, const char *text, size_t text_len, int pooling,
            float *out, size_t out_capacity, int *out_dim, char **out_error);
    """,
        ),
        "embed_cut": Family(
            since=14,
            supported="eliza_inference_embed_supported",
            declarations="""
        int eliza_inference_embed_cut(EliInferenceContext *ctx, const char *text, size_t text_len, int pooling,
            int dimensions, float *out, size_t out_capacity, int *out_dim, char **out_error);
    """,
        ),
        "llm_eot": Family(
            since=11,
            supported="eliza_inference_llm_eot_supported",
            declarations="""
        int eliza_inference_llm_eot_supported(void);
        int eliza_inference_llm_eot_score(EliInferenceContext *ctx, const int32_t *token_ids, size_t num_tokens,
            int32_t target_token, float *out_probability, int32_t *out_top_token, float *out_top_probability,
            char **out_error);
    """,
        ),
        "asr": Family(
            since=1,
            declarations="""
        int eliza_inference_asr_transcribe(EliInferenceContext *ctx, const float *pcm, size_t num_samples,
            int sample_rate, char *out_text, size_t max_bytes, char **out_error);
    """,
        ),
        "asr_stream": Family(
            since=2,
            supported="eliza_inference_asr_stream_supported",
            declarations="""
        int eliza_inference_asr_stream_supported(void);
        EliAsrStream *eliza_inference_asr_stream_open(EliInferenceContext *ctx, int sample_rate, char **out_error);
        int eliza_inference_asr_stream_feed(EliAsrStream *stream, const float *pcm, size_t num_samples,
            char **out_error);
        int eliza_inference_asr_stream_partial(EliAsrStream *stream, char *out_text, size_t max_bytes,
            int *out_tokens, size_t *io_num_tokens, char **out_error);
        int eliza_inference_asr_stream_finish(EliAsrStream *stream, char *out_text, size_t max_bytes,
            int *out_tokens, size_t *io_num_tokens, char **out_error);
        void eliza_inference_asr_stream_close(EliAsrStream *stream);
    """,
        ),
        "asr_timestamps": Family(
            since=12,
            supported="eliza_inference_asr_timestamps_supported",
            declarations="""
        int eliza_inference_asr_timestamps_supported(void);
        int eliza_inference_asr_transcribe_timed(EliInferenceContext *ctx, const float *pcm, size_t num_samples,
            int sample_rate, char *out_text, size_t max_bytes, int *out_start_ms, int *out_end_ms,
            size_t *io_num_words, char **out_error);
    """,
        ),
        "wakeword": Family(
            since=5,
            supported="eliza_inference_wakeword_supported",
            declarations="""
        int eliza_inference_wakeword_supported(void);
    """,
        ),
        "speaker": Family(
            since=6,
            supported="eliza_inference_speaker_supported",
            declarations="""
        int eliza_inference_speaker_supported(void);
    """,
        ),
        "diariz": Family(
            since=6,
            supported="eliza_inference_diariz_supported",
            declarations="""
        int eliza_inference_diariz_supported(void);
    """,
        ),
        "vision": Family(
            since=9,
            supported="eliza_inference_vision_supported",
            declarations="""
        int eliza_inference_vision_supported(void);
        int eliza_inference_describe_image(EliInferenceContext *ctx, const uint8_t *image_bytes, size_t num_bytes,
            const char *mmproj_path, const char *prompt, char *out_text, size_t max_bytes, char **out_error);
    """,
        ),
        "vision_stream": Family(
            since=13,
            supported="eliza_inference_vision_stream_supported",
            declarations="""
        int eliza_inference_vision_stream_supported(void);
        EliLlmStream *eliza_inference_describe_image_stream_open(EliInferenceContext *ctx,
            const uint8_t *image_bytes, size_t num_bytes, const char *mmproj_path, const char *prompt,
            char **out_error);
    """,
        ),
        "encode_reference": Family(
            since=4,
            declarations="""
        int eliza_inference_encode_reference(EliInferenceContext *ctx, const float *pcm, size_t num_samples,
            int sample_rate, int *out_k, int *out_ref_t, int **out_tokens, char **out_error);
    """,
        ),
    }
)
"""Family name to its symbols; what a build lacks is known symbol by symbol, never by a cascade."""

REQUIRED: Final = ("lifecycle",)
"""Without these a file is no Eliza-1 library at all."""

_V14: Final = "eliza_inference_kokoro_synthesize_ipa"
_V13: Final = "eliza_inference_vision_stream_supported"
_TIMED: Final = "eliza_inference_asr_timestamps_supported"
_EOT: Final = "eliza_inference_llm_eot_supported"
_KOKORO: Final = "eliza_inference_kokoro_supported"
_V9: Final = "eliza_inference_tokenize_supported"
_SPEAKER: Final = "eliza_inference_speaker_supported"
_DIARIZ: Final = "eliza_inference_diariz_supported"
_WAKE: Final = "eliza_inference_wakeword_supported"
_REFERENCE: Final = "eliza_inference_encode_reference"

ACCEPTED: Final = MappingProxyType(
    {
        15: (),
        14: (),
        13: (_V14,),
        12: (_V14, _V13),
        11: (_TIMED,),
        10: (_EOT, _TIMED),
        9: (_KOKORO, _EOT),
        8: (_KOKORO, _V9),
        7: (),
        6: (),
        5: (_SPEAKER, _DIARIZ),
        4: (_SPEAKER, _DIARIZ, _WAKE),
        3: (_SPEAKER, _DIARIZ, _WAKE, _REFERENCE),
    }
)
"""Library version to the symbols that must be absent for it to be believed (facts, section 1.2)."""


def make_ffi() -> FFI:
    """Return an FFI that knows every type and symbol above; opens nothing."""
    ffi = FFI()
    ffi.cdef(TYPES + "".join(family.declarations for family in FAMILIES.values()))
    return ffi
