"""The symbols of the C ABI by family: which came together, and how a build says that it carries them.

Only declarations; opens nothing. They follow `include/eliza/inference.h`, and a test compares the two. What a build
lacks is known symbol by symbol, never by a cascade (facts, section 1.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


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
"""Family name to its symbols."""
