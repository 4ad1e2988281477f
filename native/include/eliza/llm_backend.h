/*
 * The seam below the text stream: one C pipe, several in-process runtimes (contract/ffi-seam.md).
 *
 * A runtime offers a factory; the selector picks one per stream. Sessions mirror the C calls without the
 * handle, with the same statuses and the same ownership of error strings. llama.cpp answers when no
 * factory is picked. Not part of the C ABI: for code that is linked into the library.
 */
#ifndef ELIZA_LLM_BACKEND_H
#define ELIZA_LLM_BACKEND_H

#include "eliza/inference.h"

/* One generation. Calls come from one thread at a time, cancel() from any. */
class LlmBackendSession {
  public:
    virtual ~LlmBackendSession() = default;

    virtual int prefill(const int32_t * token_ids, size_t num_tokens, char ** out_error) = 0;
    /* 0 = more, 1 = final, negative = ELIZA_ERR_*. The drafter counts may be NULL. */
    virtual int next(int32_t * tokens_out, size_t tokens_cap, size_t * num_tokens_out, char * text_out, size_t text_cap,
                     int32_t * drafter_drafted_out, int32_t * drafter_accepted_out, char ** out_error) = 0;
    virtual int cancel()                                                                               = 0;
    virtual int reset()                                                                                = 0;
    /* A runtime that cannot keep a prefix resets wholly and returns 0; never an error. */
    virtual int reset_keep(int32_t n_keep) = 0;
    virtual int save_slot(const char * /*filename*/, char ** /*out_error*/) { return ELIZA_ERR_INVALID_ARG; }
    virtual int restore_slot(const char * /*filename*/, char ** /*out_error*/) { return ELIZA_ERR_INVALID_ARG; }
    virtual int end_reason() const { return ELIZA_END_NONE; }
    /* Tokens of the last prompt that need not be read again. */
    virtual int tokens_reused() const { return 0; }
};

/* One per linked-in runtime, alive as long as the process. */
class LlmBackendFactory {
  public:
    virtual ~LlmBackendFactory() = default;

    virtual const char * name() const = 0;
    /* Compiled in, and its parts are present on this host. Cheap: loads nothing. */
    virtual bool available() const = 0;
    /* The bundle carries this runtime's artifact. Cheap: looks at the folder only. */
    virtual bool can_serve(const char * bundle_dir) const = 0;
    /* The highest wins; llama.cpp is 0. */
    virtual int preference_rank() const = 0;
    /* The caller owns the session. NULL and *out_error on failure. */
    virtual LlmBackendSession * open(EliInferenceContext * ctx, const eliza_llm_stream_config_t * config,
                                     char ** out_error) = 0;
};

/* Adds a factory to the table; one that is already there is not added again. */
void llm_backend_register(LlmBackendFactory * factory);
/* Registers the factories that this build compiled in, once. */
void llm_backend_register_builtins();
/* A factory; NULL without *out_error = use llama.cpp; NULL with *out_error = refuse the stream. */
LlmBackendFactory * llm_backend_select(const char * bundle_dir, const eliza_llm_stream_config_t * config,
                                       char ** out_error);
/* The folder that the context was opened on; lives as long as the context. */
const char * llm_backend_context_bundle_dir(const EliInferenceContext * ctx);

#endif /* ELIZA_LLM_BACKEND_H */
