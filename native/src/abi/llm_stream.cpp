// The text stream's C calls: pick a runtime, then pass on.
#include "abi/llm_stream.h"

#include "abi/context.h"
#include "abi/guard.h"
#include "backend/llama_backend.h"

namespace {

std::unique_ptr<LlmBackendSession> open_session(EliInferenceContext & ctx, const eliza_llm_stream_config_t & config) {
    char *              message = nullptr;
    LlmBackendFactory * factory = llm_backend_select(ctx.bundle_dir_utf8.c_str(), &config, &message);
    if (factory == nullptr && message == nullptr) {
        return eliza::backend::open_llama_session(ctx, config);
    }
    std::unique_ptr<LlmBackendSession> session;
    if (factory != nullptr) {
        session.reset(factory->open(&ctx, &config, &message));
    }
    const std::string reason = message == nullptr ? "the runtime opened no session" : message;
    eliza_inference_free_string(message);
    if (session == nullptr) {
        const int status = factory == nullptr ? ELIZA_ERR_INVALID_ARG : ELIZA_ERR_FFI_FAULT;
        throw eliza::Failure(status, reason);
    }
    return session;
}

// Every call on a handle: NULL is an error, everything else is the session's.
template <typename Call> int on_session(EliLlmStream * stream, char ** out_error, Call && call) noexcept {
    return eliza::guarded(out_error, [&] {
        eliza::require(stream != nullptr, "stream is NULL");
        return call(*stream->session);
    });
}

// A runtime without slots answers INVALID_ARG and says nothing (seam, section 2.1).
int with_reason(int status, char ** out_error, const char * reason) noexcept {
    if (status == ELIZA_ERR_INVALID_ARG && out_error != nullptr && *out_error == nullptr) {
        eliza::set_error(out_error, reason);
    }
    return status;
}

}  // namespace

extern "C" {

int eliza_inference_llm_stream_supported(void) {
    return 1;
}

int eliza_inference_llm_mtp_supported(void) {
    return 1;
}

int eliza_inference_llm_kv_quant_supported(void) {
    return 1;
}

EliLlmStream * eliza_inference_llm_stream_open(EliInferenceContext * ctx, const eliza_llm_stream_config_t * config,
                                               char ** out_error) {
    return eliza::guarded_handle<EliLlmStream>(out_error, [&] {
        eliza::require(ctx != nullptr && config != nullptr, "ctx and config must not be NULL");
        return new EliLlmStream{open_session(*ctx, *config)};
    });
}

int eliza_inference_llm_stream_prefill(EliLlmStream * stream, const int32_t * token_ids, size_t num_tokens,
                                       char ** out_error) {
    return on_session(stream, out_error,
                      [&](LlmBackendSession & session) { return session.prefill(token_ids, num_tokens, out_error); });
}

int eliza_inference_llm_stream_next(EliLlmStream * stream, int32_t * tokens_out, size_t tokens_cap,
                                    size_t * num_tokens_out, char * text_out, size_t text_cap,
                                    int32_t * drafter_drafted_out, int32_t * drafter_accepted_out, char ** out_error) {
    return on_session(stream, out_error, [&](LlmBackendSession & session) {
        return session.next(tokens_out, tokens_cap, num_tokens_out, text_out, text_cap, drafter_drafted_out,
                            drafter_accepted_out, out_error);
    });
}

int eliza_inference_llm_stream_cancel(EliLlmStream * stream) {
    if (stream == nullptr) {
        return ELIZA_OK;  // nothing is left to stop
    }
    return on_session(stream, nullptr, [](LlmBackendSession & session) { return session.cancel(); });
}

int eliza_inference_llm_stream_end_reason(EliLlmStream * stream) {
    return on_session(stream, nullptr, [](LlmBackendSession & session) { return session.end_reason(); });
}

int eliza_inference_llm_stream_tokens_reused(EliLlmStream * stream) {
    return on_session(stream, nullptr, [](LlmBackendSession & session) { return session.tokens_reused(); });
}

int eliza_inference_llm_stream_save_slot(EliLlmStream * stream, const char * filename, char ** out_error) {
    return on_session(stream, out_error, [&](LlmBackendSession & session) {
        return with_reason(session.save_slot(filename, out_error), out_error, "this runtime saves no slots");
    });
}

int eliza_inference_llm_stream_restore_slot(EliLlmStream * stream, const char * filename, char ** out_error) {
    return on_session(stream, out_error, [&](LlmBackendSession & session) {
        return with_reason(session.restore_slot(filename, out_error), out_error, "this runtime restores no slots");
    });
}

int eliza_inference_llm_stream_reset(EliLlmStream * stream) {
    return on_session(stream, nullptr, [](LlmBackendSession & session) { return session.reset(); });
}

int eliza_inference_llm_stream_reset_keep(EliLlmStream * stream, int32_t n_keep) {
    return on_session(stream, nullptr, [&](LlmBackendSession & session) { return session.reset_keep(n_keep); });
}

void eliza_inference_llm_stream_close(EliLlmStream * stream) {
    if (!eliza::is_forked_child()) {
        delete stream;
    }
}

}  // extern "C"
