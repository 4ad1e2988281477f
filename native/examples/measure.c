/* How quickly a bundle loads, reads and writes, as JSON on one line:
 *
 *     measure BUNDLE_DIR PROMPT_TOKENS ANSWER_TOKENS
 *
 * Reads a prompt of made-up ids and then decodes one token at a time, each phase in a context just large enough, as
 * llama.cpp's own bench does. Memory is the most that the process ever held. */
#include "eliza/inference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void stop_if(int failed, const char * what, char * error) {
    if (failed) {
        fprintf(stderr, "measure: %s: %s\n", what, error != NULL ? error : "no reason given");
        exit(1);
    }
}

static EliLlmStream * open_stream(EliInferenceContext * ctx, int tokens) {
    char *                    error  = NULL;
    eliza_llm_stream_config_t config = {0};
    config.slot_id                   = -1;
    config.context_size              = tokens;
    EliLlmStream * stream            = eliza_inference_llm_stream_open(ctx, &config, &error);
    stop_if(stream == NULL, "open", error);
    return stream;
}

static void prefill(EliLlmStream * stream, int count) {
    char *    error = NULL;
    int32_t * ids   = malloc((size_t)count * sizeof *ids);
    for (int i = 0; i < count; ++i) {
        ids[i] = 100 + i;
    }
    stop_if(eliza_inference_llm_stream_prefill(stream, ids, (size_t)count, &error) != ELIZA_OK, "prefill", error);
    free(ids);
}

/* Whether the turn has ended. */
static int step(EliLlmStream * stream) {
    char *    error = NULL;
    int32_t   ids[32], drafted, accepted;
    size_t    count;
    char      text[4096];
    const int status =
        eliza_inference_llm_stream_next(stream, ids, 32, &count, text, sizeof text, &drafted, &accepted, &error);
    stop_if(status < 0, "next", error);
    return status == 1;
}

static double prompt_s(EliInferenceContext * ctx, int tokens) {
    EliLlmStream * stream = open_stream(ctx, tokens);
    prefill(stream, tokens); /* pages the weights in */
    eliza_inference_llm_stream_reset(stream);
    const double begin = now_s();
    prefill(stream, tokens);
    const double took = now_s() - begin;
    eliza_inference_llm_stream_close(stream);
    return took;
}

/* The first step of a turn takes its token from the prompt's scores; the others decode one each. */
static double answer_s(EliInferenceContext * ctx, int tokens) {
    EliLlmStream * stream = open_stream(ctx, tokens + 8);
    double         took   = 0;
    for (int steps = 0; steps < tokens;) {
        eliza_inference_llm_stream_reset(stream);
        prefill(stream, 1);
        int          ended = step(stream);
        const double begin = now_s();
        for (; steps < tokens && !ended; ++steps) {
            ended = step(stream);
        }
        took += now_s() - begin;
    }
    eliza_inference_llm_stream_close(stream);
    return took;
}

int main(int count, char ** words) {
    if (count != 4 || atoi(words[2]) < 1 || atoi(words[3]) < 1) {
        fprintf(stderr, "usage: measure BUNDLE_DIR PROMPT_TOKENS ANSWER_TOKENS\n");
        return 2;
    }
    char *                error = NULL;
    const double          begin = now_s();
    EliInferenceContext * ctx   = eliza_inference_create(words[1], &error);
    stop_if(ctx == NULL, "create", error);
    stop_if(eliza_inference_mmap_acquire(ctx, "text", &error) != ELIZA_OK, "load", error);
    const double  loaded = now_s() - begin;
    const double  prompt = atoi(words[2]) / prompt_s(ctx, atoi(words[2]));
    const double  answer = atoi(words[3]) / answer_s(ctx, atoi(words[3]));
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("{\"load_s\": %.4f, \"prefill\": %.2f, \"generate\": %.2f, \"peak_kib\": %ld}\n", loaded, prompt, answer,
           used.ru_maxrss);
    eliza_inference_destroy(ctx);
    return 0;
}
