/*
 * libelizainference: the C ABI of Eliza-1's one native library, ABI version 14.
 *
 * Rules that hold for every call:
 *  - Plain C, blocking, UTF-8. A count or 0 means success, a negative ELIZA_ERR_* means failure.
 *  - `out_error` receives a malloc'ed message on failure; free it with eliza_inference_free_string.
 *    NULL is allowed and means "no message wanted". On success it is left untouched.
 *  - No C++ exception crosses this border and the library never logs by itself.
 *  - A context may be used from several threads; one stream or session handle belongs to one thread at
 *    a time, except for the *_cancel calls, which may come from any thread.
 *  - After a fork the child may call nothing that computes (ELIZA_ERR_FFI_FAULT); closing there does nothing. A child
 *    that was forked before the first eliza_inference_create is its own master.
 *  - A callback may ask the same context for anything but speech and the region "tts" (ELIZA_ERR_INVALID_ARG).
 *  - With GNU's OpenMP, set GOMP_SPINCOUNT=2000 before loading: its default makes a busy machine wait for itself.
 *  - Every thread that calls needs 256 KiB of stack or more.
 *  - The files of an open bundle are mapped. Deleting or replacing one (by rename) is safe; a file that is cut short in
 *    place takes the process with it, as with every mapped file.
 *  - A family that this build lacks answers its *_supported() with 0 and every other call with
 *    ELIZA_ERR_NOT_IMPLEMENTED.
 *
 * Environment: ELIZA_LLM_BACKEND (hard backend select), ELIZA_MTP_DISABLE=1 (developer only: no
 * speculation), ELIZA_THREADS (CPU threads; default: physical cores available to the process),
 * ELIZA_LOCAL_RAM_HEADROOM_MB (memory that contexts of 65536 tokens and more leave to others; default 0),
 * ELIZA_PROMPT_CACHE_MB (memory for the prompts of closed streams that had a key; default 256),
 * ELIZA_ASR_FORCE_LANGUAGE (what is heard: a code or an English name, default English; "" or "auto": found out).
 */
#ifndef ELIZA_INFERENCE_H
#define ELIZA_INFERENCE_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#if defined(ELIZA_BUILDING_LIBRARY)
#define ELIZA_API __declspec(dllexport)
#else
#define ELIZA_API __declspec(dllimport)
#endif
#else
#define ELIZA_API __attribute__((visibility("default")))
#endif

#define ELIZA_INFERENCE_ABI_VERSION 14

#define ELIZA_OK 0
#define ELIZA_ERR_NOT_IMPLEMENTED (-1) /* the feature is not in this build */
#define ELIZA_ERR_INVALID_ARG (-2)     /* a bad argument, or a buffer that is too small */
#define ELIZA_ERR_BUNDLE_INVALID (-3)  /* the bundle folder or one of its files is missing or unreadable */
#define ELIZA_ERR_FFI_FAULT (-4)       /* a system call or the runtime underneath failed */
#define ELIZA_ERR_OOM (-5)             /* memory ran out */
#define ELIZA_ERR_ABI_MISMATCH (-6)    /* loader and library disagree */
#define ELIZA_ERR_CANCELLED (-7)       /* the caller asked for cancellation */

#define ELIZA_POOLING_NONE 0
#define ELIZA_POOLING_MEAN 1
#define ELIZA_POOLING_CLS 2
#define ELIZA_POOLING_LAST 3

/* Why a text stream ended (additive, see eliza_inference_llm_stream_end_reason). */
#define ELIZA_END_NONE 0    /* it has not */
#define ELIZA_END_OF_TEXT 1 /* the model ended its turn */
#define ELIZA_END_MAX_TOKENS 2
#define ELIZA_END_CONTEXT_FULL 3 /* cut off: no room for another token */

#define ELIZA_KOKORO_G2P_ASCII 0 /* no phonemiser inside: phonemise outside and use the IPA calls */
#define ELIZA_KOKORO_G2P_ESPEAK 1

#ifdef __cplusplus
extern "C" {
#endif

typedef struct EliInferenceContext EliInferenceContext;
typedef struct EliLlmStream        EliLlmStream;
typedef struct EliAsrStream        EliAsrStream;
typedef struct EliVad              EliVad;
typedef struct EliWakeWord         EliWakeWord;
typedef struct EliSpeaker          EliSpeaker;
typedef struct EliDiariz           EliDiariz;

/* --- lifecycle and memory ---------------------------------------------------------------------- */

/* Decimal ABI version, owned by the library. */
ELIZA_API const char * eliza_inference_abi_version(void);
/* Opens a bundle folder; loads no weights. NULL on failure. */
ELIZA_API EliInferenceContext * eliza_inference_create(const char * bundle_dir, char ** out_error);
/* Frees the context. Every stream and session of it must be closed before. NULL is allowed. */
ELIZA_API void eliza_inference_destroy(EliInferenceContext * ctx);
/* Regions: "text", "vision", "mtp" ("dflash" is its older name), "tts", "asr", "vad", "embedding",
 * "wakeword". Acquire loads what a region names, so that the first use is quick; evict frees it until it is acquired
 * again. "vision" (additive) is the projector; it goes with "text", which it is bound to. */
ELIZA_API int  eliza_inference_mmap_acquire(EliInferenceContext * ctx, const char * region, char ** out_error);
ELIZA_API int  eliza_inference_mmap_evict(EliInferenceContext * ctx, const char * region, char ** out_error);
ELIZA_API void eliza_inference_free_string(char * text);
ELIZA_API void eliza_inference_free_tokens(int * tokens);
/* Additive: the status of this thread's last call that returned NULL for a handle, else ELIZA_OK. */
ELIZA_API int eliza_inference_last_status(void);
/* Additive: JSON with `version`, `abi`, `llama_commit`, `ggml_version`, `backends` (name, devices with
 * memory), `kernels` (manifest names that are ready: found, run in a graph and proven), `kernels_missing`
 * (the other names with the reason), `families`, `cpu_features`,
 * `kv_types` (accepted cache types) and `mtp_disabled` (ELIZA_MTP_DISABLE=1 is set).
 * Free with eliza_inference_free_string; NULL when memory ran out. */
ELIZA_API char * eliza_inference_capabilities_json(void);

/* --- text stream: open, prefill, next*, close ---------------------------------------------------- */

typedef struct eliza_llm_stream_config_t {
    int32_t      max_tokens;       /*  0: most tokens of one turn; 0 = up to the context */
    float        temperature;      /*  4: 0 = greedy */
    float        top_p;            /*  8: 0 or 1 = off */
    int32_t      top_k;            /* 12: 0 = off */
    float        repeat_penalty;   /* 16: 0 or 1 = off */
    int32_t      slot_id;          /* 20: -1 = no pinning */
    const char * prompt_cache_key; /* 24: NULL = none. With a key or a slot_id, the first prompt of a stream starts
                                    * from what the last closed stream of this context with the same pair had read */
    int32_t      draft_min;        /* 32 */
    int32_t      draft_max;        /* 36: the draft window of the speculative driver */
    const char * mtp_drafter_path; /* 40: NULL = no speculation; else draft_max > 0 is required */
    const char * gbnf_grammar;     /* 48: NULL = free text; the grammar sampler goes first */
    int32_t      disable_thinking; /* 56: no effect in v1 */
    int32_t      n_gpu_layers;     /* 60: -1 = all, 0 = CPU; the first stream of a context decides */
    const char * cache_type_k;     /* 64: NULL = f16 */
    const char * cache_type_v;     /* 72: NULL = f16 */
    int32_t      context_size;     /* 80: tokens, 0 = what the model was trained for */
    int32_t      reserved;         /* 84: padding, never read */
} eliza_llm_stream_config_t;       /* 88 bytes; the caller zero-fills it */

ELIZA_API int eliza_inference_llm_stream_supported(void);
ELIZA_API int eliza_inference_llm_mtp_supported(void);
ELIZA_API int eliza_inference_llm_kv_quant_supported(void);
/* Loads the bundle's text model on first use and shares it. NULL on failure. */
ELIZA_API EliLlmStream * eliza_inference_llm_stream_open(EliInferenceContext *             ctx,
                                                         const eliza_llm_stream_config_t * config, char ** out_error);
/* Appends prompt tokens; ids are copied. */
ELIZA_API int eliza_inference_llm_stream_prefill(EliLlmStream * stream, const int32_t * token_ids, size_t num_tokens,
                                                 char ** out_error);
/* One step: 0 = more follows, 1 = that was the last, negative = failure. A step may carry no token; the
 * token that ends the turn is never handed out. A result that does not fit its buffer is
 * ELIZA_ERR_INVALID_ARG and stays: call again with more room. After ELIZA_ERR_CANCELLED reset the stream.
 * `text_out` is NUL-terminated and always whole UTF-8; a character split over tokens comes with the token
 * that completes it. drafted/accepted count this step's proposals and those that were kept. */
ELIZA_API int eliza_inference_llm_stream_next(EliLlmStream * stream, int32_t * tokens_out, size_t tokens_cap,
                                              size_t * num_tokens_out, char * text_out, size_t text_cap,
                                              int32_t * drafter_drafted_out, int32_t * drafter_accepted_out,
                                              char ** out_error);
/* Any thread. The running next or prefill returns ELIZA_ERR_CANCELLED at the next kernel boundary. */
ELIZA_API int eliza_inference_llm_stream_cancel(EliLlmStream * stream);
/* Additive: ELIZA_END_*, what the last `next` that returned 1 ended for. */
ELIZA_API int eliza_inference_llm_stream_end_reason(EliLlmStream * stream);
/* Additive: how many tokens of the last prompt were taken from an earlier stream with the same key or slot. */
ELIZA_API int eliza_inference_llm_stream_tokens_reused(EliLlmStream * stream);
/* Writes what the stream has read to a file (whole or not at all, owner-only), and goes on from such a file in a
 * stream with the same model, build and cache types; anything else is ELIZA_ERR_INVALID_ARG. Sampler settings and
 * random state are the stream's own. */
ELIZA_API int eliza_inference_llm_stream_save_slot(EliLlmStream * stream, const char * filename, char ** out_error);
ELIZA_API int eliza_inference_llm_stream_restore_slot(EliLlmStream * stream, const char * filename, char ** out_error);
/* Clears KV, sampler, counters, drafter state and a pending cancel. */
ELIZA_API int eliza_inference_llm_stream_reset(EliLlmStream * stream);
/* Keeps the first n_keep tokens where the cache can; returns how many were kept (0 = full reset). */
ELIZA_API int  eliza_inference_llm_stream_reset_keep(EliLlmStream * stream, int32_t n_keep);
ELIZA_API void eliza_inference_llm_stream_close(EliLlmStream * stream);

/* --- verifier events ------------------------------------------------------------------------------ */

typedef struct EliVerifierEvent {
    const int * accepted_token_ids;  /*  0 */
    size_t      n_accepted;          /*  8 */
    int         rejected_from;       /* 16: half-open span [from, to) over generated tokens, both -1 = none */
    int         rejected_to;         /* 20 */
    const int * corrected_token_ids; /* 24 */
    size_t      n_corrected;         /* 32 */
} EliVerifierEvent;                  /* 40 bytes; arrays live only during the call */

typedef void (*eliza_verifier_callback)(const EliVerifierEvent * event, void * user_data);
/* One per context, NULL clears; runs on the generating thread between decode steps, once per step, with
 * or without a drafter: accepted ++ corrected are the step's tokens in order. */
ELIZA_API int eliza_inference_set_verifier_callback(EliInferenceContext * ctx, eliza_verifier_callback callback,
                                                    void * user_data, char ** out_error);

/* --- tokens, embeddings, end of turn ---------------------------------------------------------------- */

ELIZA_API int eliza_inference_tokenize_supported(void);
/* Free *out_tokens with eliza_inference_free_tokens, also when the count is 0. */
ELIZA_API int eliza_inference_tokenize(EliInferenceContext * ctx, const char * text, size_t text_len, int add_special,
                                       int parse_special, int ** out_tokens, size_t * out_num_tokens,
                                       char ** out_error);
/* Returns bytes written without the NUL; a buffer that is too small is ELIZA_ERR_INVALID_ARG. */
ELIZA_API int eliza_inference_detokenize(EliInferenceContext * ctx, const int * tokens, size_t num_tokens,
                                         int remove_special, int unparse_special, char * out_text, size_t max_bytes,
                                         char ** out_error);
ELIZA_API int eliza_inference_embed_supported(void);
/* A vector of length one: pooling is MEAN, CLS or LAST. The model of <bundle>/embedding where there is one, else the
 * text model. Too small a buffer is ELIZA_ERR_INVALID_ARG with *out_dim set to what is needed. */
ELIZA_API int eliza_inference_embed(EliInferenceContext * ctx, const char * text, size_t text_len, int pooling,
                                    float * out, size_t out_capacity, int * out_dim, char ** out_error);
/* Additive: the first `dimensions` numbers only, brought back to length one, for models trained that way. */
ELIZA_API int eliza_inference_embed_cut(EliInferenceContext * ctx, const char * text, size_t text_len, int pooling,
                                        int dimensions, float * out, size_t out_capacity, int * out_dim,
                                        char ** out_error);
ELIZA_API int eliza_inference_llm_eot_supported(void);
/* The chance in [0, 1] that target_token comes next after the ids (the last 1024 of them), and which token is the
 * likeliest. Asking again about a longer text reads only what is new. */
ELIZA_API int eliza_inference_llm_eot_score(EliInferenceContext * ctx, const int32_t * token_ids, size_t num_tokens,
                                            int32_t target_token, float * out_probability, int32_t * out_top_token,
                                            float * out_top_probability, char ** out_error);

/* --- speech: the tier's voice, 24 kHz mono float ------------------------------------------------------ */

/* Non-zero cancels. A last call with is_final = 1 and no samples always comes once a synthesis began, after a cancel
 * and a failure too; what it answers does not count. */
typedef int (*eliza_tts_chunk_callback)(const float * pcm, size_t num_samples, int is_final, void * user_data);

ELIZA_API int eliza_inference_tts_synthesize(EliInferenceContext * ctx, const char * text, size_t text_len,
                                             const char * speaker_preset_id, float * out_pcm, size_t max_samples,
                                             char ** out_error);
ELIZA_API int eliza_inference_tts_stream_supported(void);
ELIZA_API int eliza_inference_tts_synthesize_stream(EliInferenceContext * ctx, const char * text, size_t text_len,
                                                    const char * speaker_preset_id, eliza_tts_chunk_callback on_chunk,
                                                    void * user_data, char ** out_error);
/* Any thread. Stops the running synthesis of this context at its next kernel boundary; 0 also if none runs. */
ELIZA_API int eliza_inference_cancel_tts(EliInferenceContext * ctx, char ** out_error);
ELIZA_API int eliza_inference_encode_reference(EliInferenceContext * ctx, const float * pcm, size_t num_samples,
                                               int sample_rate, int * out_k, int * out_ref_t, int ** out_tokens,
                                               char ** out_error);

/* --- Kokoro ------------------------------------------------------------------------------------------- */

ELIZA_API int eliza_inference_kokoro_supported(void);
/* voice_bin: raw little-endian f32 table, rows of style_dim (256 for v1.0), one row per phoneme count.
 * Replaces the model and voice loaded before. */
ELIZA_API int eliza_inference_kokoro_load(EliInferenceContext * ctx, const char * gguf_path,
                                          const char * voice_bin_path, int style_dim, char ** out_error);
/* Raw text, only as good as eliza_inference_kokoro_g2p_kind says. Returns samples written. */
ELIZA_API int eliza_inference_kokoro_synthesize(EliInferenceContext * ctx, const char * text, size_t text_len,
                                                float speed, float * out_pcm, size_t max_samples, char ** out_error);
ELIZA_API int eliza_inference_kokoro_sample_rate(EliInferenceContext * ctx);
ELIZA_API int eliza_inference_kokoro_g2p_kind(EliInferenceContext * ctx);
/* IPA in the model's phoneme alphabet. Returns samples written; too small a buffer is
 * ELIZA_ERR_INVALID_ARG with the needed count in the message. */
ELIZA_API int eliza_inference_kokoro_synthesize_ipa(EliInferenceContext * ctx, const char * ipa, size_t ipa_len,
                                                    float speed, float * out_pcm, size_t max_samples,
                                                    char ** out_error);
/* Additive: the same in chunks. 0, ELIZA_ERR_CANCELLED or another failure. */
ELIZA_API int eliza_inference_kokoro_synthesize_ipa_stream(EliInferenceContext * ctx, const char * ipa, size_t ipa_len,
                                                           float speed, eliza_tts_chunk_callback on_chunk,
                                                           void * user_data, char ** out_error);

/* --- hearing ------------------------------------------------------------------------------------------ */

ELIZA_API int eliza_inference_vad_supported(void);
/* sample_rate must be 16000; the model is found in <bundle>/vad/. */
ELIZA_API EliVad * eliza_inference_vad_open(EliInferenceContext * ctx, int sample_rate, char ** out_error);
/* num_samples must be 512; probability in [0, 1]. */
ELIZA_API int  eliza_inference_vad_process(EliVad * vad, const float * pcm, size_t num_samples, float * out_probability,
                                           char ** out_error);
ELIZA_API int  eliza_inference_vad_reset(EliVad * vad, char ** out_error);
ELIZA_API void eliza_inference_vad_close(EliVad * vad);

ELIZA_API int eliza_inference_asr_transcribe(EliInferenceContext * ctx, const float * pcm, size_t num_samples,
                                             int sample_rate, char * out_text, size_t max_bytes, char ** out_error);
ELIZA_API int eliza_inference_asr_timestamps_supported(void);
ELIZA_API int eliza_inference_asr_transcribe_timed(EliInferenceContext * ctx, const float * pcm, size_t num_samples,
                                                   int sample_rate, char * out_text, size_t max_bytes,
                                                   int * out_start_ms, int * out_end_ms, size_t * io_num_words,
                                                   char ** out_error);
ELIZA_API int eliza_inference_asr_stream_supported(void);
ELIZA_API EliAsrStream * eliza_inference_asr_stream_open(EliInferenceContext * ctx, int sample_rate, char ** out_error);
ELIZA_API int            eliza_inference_asr_stream_feed(EliAsrStream * stream, const float * pcm, size_t num_samples,
                                                         char ** out_error);
ELIZA_API int  eliza_inference_asr_stream_partial(EliAsrStream * stream, char * out_text, size_t max_bytes,
                                                  int * out_tokens, size_t * io_num_tokens, char ** out_error);
ELIZA_API int  eliza_inference_asr_stream_finish(EliAsrStream * stream, char * out_text, size_t max_bytes,
                                                 int * out_tokens, size_t * io_num_tokens, char ** out_error);
ELIZA_API void eliza_inference_asr_stream_close(EliAsrStream * stream);

ELIZA_API int           eliza_inference_wakeword_supported(void);
ELIZA_API EliWakeWord * eliza_inference_wakeword_open(EliInferenceContext * ctx, int sample_rate,
                                                      const char * head_name, char ** out_error);
ELIZA_API int           eliza_inference_wakeword_score(EliWakeWord * wake, const float * pcm, size_t num_samples,
                                                       float * out_probability, char ** out_error);
ELIZA_API int           eliza_inference_wakeword_reset(EliWakeWord * wake, char ** out_error);
ELIZA_API void          eliza_inference_wakeword_close(EliWakeWord * wake);

ELIZA_API int          eliza_inference_speaker_supported(void);
ELIZA_API EliSpeaker * eliza_inference_speaker_open(EliInferenceContext * ctx, const char * gguf_path,
                                                    char ** out_error);
ELIZA_API int          eliza_inference_speaker_embed(EliSpeaker * speaker, const float * pcm, size_t num_samples,
                                                     float * out_embedding, char ** out_error);
ELIZA_API void         eliza_inference_speaker_free(float * embedding);
ELIZA_API void         eliza_inference_speaker_close(EliSpeaker * speaker);

ELIZA_API int         eliza_inference_diariz_supported(void);
ELIZA_API EliDiariz * eliza_inference_diariz_open(EliInferenceContext * ctx, const char * gguf_path, char ** out_error);
ELIZA_API int         eliza_inference_diariz_segment(EliDiariz * diariz, const float * pcm, size_t num_samples,
                                                     int8_t * out_labels, size_t * io_num_labels, char ** out_error);
ELIZA_API void        eliza_inference_diariz_close(EliDiariz * diariz);

/* --- sight ---------------------------------------------------------------------------------------------- */

ELIZA_API int eliza_inference_vision_supported(void);
/* image_bytes: a whole JPEG, PNG or BMP of at most 64 MiB, 64 megapixels and 32768 pixels a side.
 * mmproj_path: the projector, absolute or relative to the bundle; NULL or "" = the one GGUF of its vision
 * folder. prompt: NULL or "" = "Describe this image."; never read as control tokens. The text model answers
 * greedily, with at most 1024 tokens. Returns bytes written without the NUL; a buffer that is too small is
 * ELIZA_ERR_INVALID_ARG with the needed size in the message, so is a picture that is broken, too large or
 * more than the model's context holds. A projector that does not fit is ELIZA_ERR_BUNDLE_INVALID. */
ELIZA_API int eliza_inference_describe_image(EliInferenceContext * ctx, const uint8_t * image_bytes, size_t num_bytes,
                                             const char * mmproj_path, const char * prompt, char * out_text,
                                             size_t max_bytes, char ** out_error);
ELIZA_API int eliza_inference_vision_stream_supported(void);
/* The same as a text stream, never speculative: the first next or prefill looks at the picture, and cancel
 * stops that too. reset forgets the picture; reset_keep keeps nothing while one is in the context. */
ELIZA_API EliLlmStream * eliza_inference_describe_image_stream_open(EliInferenceContext * ctx,
                                                                    const uint8_t * image_bytes, size_t num_bytes,
                                                                    const char * mmproj_path, const char * prompt,
                                                                    char ** out_error);

#ifdef __cplusplus
}
#endif

#endif /* ELIZA_INFERENCE_H */
