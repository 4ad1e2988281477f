/* A host program in C: it streams an answer, then speaks it and interrupts itself, and every failure ends it.
 *
 * talk BUNDLE [QUESTION]
 *
 * Exit code 0 when the answer had text and the speech stopped where it was told to. */
#include "eliza/inference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_IDS = 512, MOST_TEXT = 4096, MOST_STEPS = 128, SAMPLES_BEFORE_STOP = 4800 };

/* Ends the program when `status` is a failure. Error strings are the library's: freed once, by its own function. */
static void require(int status, const char * what, char * error) {
    if (status < 0) {
        fprintf(stderr, "%s failed: %d %s\n", what, status, error != NULL ? error : "");
        eliza_inference_free_string(error);
        exit(1);
    }
}

static void append(char * answer, const char * piece) {
    strncat(answer, piece, MOST_TEXT - strlen(answer) - 1);
}

/* Streams one answer to stdout and into `answer`. */
static void write_answer(EliInferenceContext * ctx, const char * question, char * answer) {
    int *                     ids   = NULL;
    size_t                    count = 0;
    char *                    error = NULL;
    eliza_llm_stream_config_t config;
    memset(&config, 0, sizeof config); /* the caller zero-fills it: unknown fields stay off */
    config.slot_id = -1;
    require(eliza_inference_tokenize(ctx, question, strlen(question), 1, 1, &ids, &count, &error), "tokenize", error);
    EliLlmStream * stream = eliza_inference_llm_stream_open(ctx, &config, &error);
    require(stream == NULL ? ELIZA_ERR_FFI_FAULT : 0, "open", error);
    require(eliza_inference_llm_stream_prefill(stream, ids, count, &error), "prefill", error);
    eliza_inference_free_tokens(ids);
    for (int step = 0, more = 0; step < MOST_STEPS && more == 0; ++step) {
        int32_t tokens[MOST_IDS];
        char    text[MOST_TEXT];
        size_t  made = 0;
        more = eliza_inference_llm_stream_next(stream, tokens, MOST_IDS, &made, text, sizeof text, NULL, NULL, &error);
        require(more, "next", error);
        append(answer, text);
        printf("%s", text);
        fflush(stdout);
    }
    printf("\n");
    eliza_inference_llm_stream_close(stream);
}

/* Takes sound as it is made; a person who begins to speak is played by a counter. */
static int listen(const float * pcm, size_t count, int is_final, void * heard) {
    size_t * samples = heard;
    (void)pcm;
    (void)is_final;
    *samples += count;
    return *samples >= SAMPLES_BEFORE_STOP; /* not 0: stop at the next kernel boundary */
}

int main(int count, char ** words) {
    char   answer[MOST_TEXT] = "";
    char * error             = NULL;
    size_t heard             = 0;
    if (count < 2) {
        fprintf(stderr, "usage: talk BUNDLE [QUESTION]\n");
        return 2;
    }
    EliInferenceContext * ctx = eliza_inference_create(words[1], &error);
    require(ctx == NULL ? ELIZA_ERR_FFI_FAULT : 0, "create", error);
    write_answer(ctx, count > 2 ? words[2] : "Hello", answer);
    const int status = eliza_inference_tts_synthesize_stream(ctx, answer, strlen(answer), NULL, listen, &heard, &error);
    const int was_stopped = status == ELIZA_ERR_CANCELLED;
    require(was_stopped ? 0 : status, "speak", error);
    eliza_inference_free_string(error);
    printf("%zu samples of speech, %s\n", heard, was_stopped ? "then interrupted" : "to the end");
    eliza_inference_destroy(ctx);
    return answer[0] != '\0' && was_stopped ? 0 : 1;
}
