// The shared library as a host loads it: closed and opened again in one process, and met by a fork.
#include "../check.h"
#include "eliza/inference.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

namespace {

// The functions of one loading, by their header's types.
struct Loaded {
    void * handle;
    explicit Loaded(const char * path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
        if (handle == nullptr) {
            fprintf(stderr, "%s\n", dlerror());
        }
        CHECK(handle != nullptr);
    }
    template <typename Function> Function * find(Function *, const char * name) const {
        void * symbol = dlsym(handle, name);
        CHECK(symbol != nullptr);
        return reinterpret_cast<Function *>(symbol);
    }
};

#define FIND(loaded, name) (loaded).find(static_cast<decltype(&name)>(nullptr), #name)

// One whole answer, so that every thread pool has been awake.
size_t answer(const Loaded & library, EliInferenceContext * ctx) {
    eliza_llm_stream_config_t config = {};
    config.slot_id                   = -1;
    config.context_size              = 128;
    EliLlmStream * stream            = FIND(library, eliza_inference_llm_stream_open)(ctx, &config, nullptr);
    CHECK(stream != nullptr);
    const int32_t ids[] = {11, 12, 13};
    CHECK(FIND(library, eliza_inference_llm_stream_prefill)(stream, ids, 3, nullptr) == ELIZA_OK);
    const auto next  = FIND(library, eliza_inference_llm_stream_next);
    size_t     total = 0;
    int        more  = 0;
    while (more == 0) {
        int32_t tokens[32];
        char    text[512];
        size_t  count = 0;
        more          = next(stream, tokens, 32, &count, text, sizeof text, nullptr, nullptr, nullptr);
        total += std::strlen(text);
    }
    CHECK(more == 1);
    FIND(library, eliza_inference_llm_stream_close)(stream);
    return total;
}

EliInferenceContext * create(const Loaded & library, const std::string & bundle) {
    EliInferenceContext * ctx = FIND(library, eliza_inference_create)(bundle.c_str(), nullptr);
    CHECK(ctx != nullptr);
    return ctx;
}

void open_answer_close(const char * path, const std::string & bundle) {
    const Loaded          library(path);
    EliInferenceContext * ctx = create(library, bundle);
    CHECK(answer(library, ctx) > 0);
    FIND(library, eliza_inference_destroy)(ctx);
    CHECK(dlclose(library.handle) == 0);
}

int result_of(pid_t child) {
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

// The child must neither hang nor crash: it is told, and may let go of what it inherited.
void a_child_of_a_running_engine_is_refused(const Loaded & library, EliInferenceContext * ctx, EliLlmStream * stream) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);  // a hang is a failure too
        char *     error = nullptr;
        const int  id    = 11;
        const int  said  = FIND(library, eliza_inference_llm_stream_prefill)(stream, &id, 1, &error);
        const bool told  = said == ELIZA_ERR_FFI_FAULT && error != nullptr && std::strstr(error, "forked") != nullptr;
        FIND(library, eliza_inference_free_string)(error);
        FIND(library, eliza_inference_llm_stream_close)(stream);
        FIND(library, eliza_inference_destroy)(ctx);
        _exit(told ? 0 : 1);
    }
    CHECK(result_of(child) == 0);
}

void a_child_forked_before_the_first_use_is_its_own_master(const Loaded & library, const std::string & bundle) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        EliInferenceContext * ctx = create(library, bundle);
        const bool            ok  = answer(library, ctx) > 0;
        FIND(library, eliza_inference_destroy)(ctx);
        _exit(ok ? 0 : 1);
    }
    CHECK(result_of(child) == 0);
}

}  // namespace

int main(int count, char ** words) {
    CHECK(count == 3);
    const std::string bundle = std::string(words[2]) + "/sure";
    {
        const Loaded library(words[1]);
        a_child_forked_before_the_first_use_is_its_own_master(library, bundle);
        CHECK(dlclose(library.handle) == 0);
    }
    for (int i = 0; i < 5; ++i) {
        open_answer_close(words[1], bundle);
    }
    const Loaded              library(words[1]);
    EliInferenceContext *     ctx    = create(library, bundle);
    const size_t              before = answer(library, ctx);
    eliza_llm_stream_config_t config = {};
    config.slot_id                   = -1;
    config.context_size              = 128;
    EliLlmStream * stream            = FIND(library, eliza_inference_llm_stream_open)(ctx, &config, nullptr);
    CHECK(stream != nullptr);
    a_child_of_a_running_engine_is_refused(library, ctx, stream);
    FIND(library, eliza_inference_llm_stream_close)(stream);
    CHECK(answer(library, ctx) == before);  // the parent goes on
    FIND(library, eliza_inference_destroy)(ctx);
    CHECK(dlclose(library.handle) == 0);
    return 0;
}
