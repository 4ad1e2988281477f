// The text stream through the C border, on tiny models whose words are known: refusals and ends first, then
// answers, memory and settings.
#include "streams.h"

#include <algorithm>
#include <cmath>

using namespace tests;

namespace {

void a_step_before_a_prompt_is_refused(const Bundle & bundle) {
    Stream stream(bundle, config());
    Answer answer;
    CHECK(stream.step(answer) == ELIZA_ERR_INVALID_ARG);
    CHECK(stream.prefill({}) == ELIZA_OK);
    CHECK(stream.step(answer) == ELIZA_ERR_INVALID_ARG);
}

void foreign_ids_and_long_prompts_leave_the_stream_as_it_was(const Bundle & bundle) {
    Stream stream(bundle, config());
    CHECK(stream.prefill({5, -1}) == ELIZA_ERR_INVALID_ARG);
    CHECK(stream.prefill({1 << 30}) == ELIZA_ERR_INVALID_ARG);
    CHECK(stream.prefill(std::vector<int>(257, 5)) == ELIZA_ERR_INVALID_ARG);
    CHECK(stream.prefill(bundle.tokens("hi")) == ELIZA_OK);
    CHECK(stream.all().text == words());
}

void the_turn_ends_by_itself(const Bundle & bundle) {
    Stream stream(bundle, config());
    CHECK(stream.prefill(bundle.tokens("hi")) == ELIZA_OK);
    Answer answer = stream.all();
    CHECK(answer.status == 1 && answer.text == words());
    CHECK(eliza_inference_llm_stream_end_reason(stream.get()) == ELIZA_END_OF_TEXT);
    CHECK(stream.step(answer) == 1 && answer.text == words());  // stays ended
}

void max_tokens_ends_it(const Bundle & bundle) {
    auto settings       = config();
    settings.max_tokens = 3;
    Stream stream(bundle, settings);
    CHECK(stream.prefill(bundle.tokens("hi")) == ELIZA_OK);
    CHECK(stream.all().tokens.size() == 3);
    CHECK(eliza_inference_llm_stream_end_reason(stream.get()) == ELIZA_END_MAX_TOKENS);
    CHECK(stream.prefill(bundle.tokens("more")) == ELIZA_OK);  // the next turn
    CHECK(stream.all().tokens.size() == 3);
}

void a_full_context_ends_it(const Bundle & bundle) {
    auto settings         = config();
    settings.context_size = 10;
    Stream stream(bundle, settings);
    CHECK(stream.prefill(std::vector<int>(7, 5)) == ELIZA_OK);
    // room for three more, and the last of them needs no decoding before it is handed out
    CHECK(stream.all().tokens.size() == 4);
    CHECK(eliza_inference_llm_stream_end_reason(stream.get()) == ELIZA_END_CONTEXT_FULL);
    CHECK(stream.prefill({5}) == ELIZA_ERR_INVALID_ARG);
}

void a_result_without_room_waits(const Bundle & bundle) {
    Stream stream(bundle, config());
    CHECK(stream.prefill(bundle.tokens("hi")) == ELIZA_OK);
    Answer answer;
    CHECK(stream.step(answer, 64, 6) == ELIZA_ERR_INVALID_ARG);  // "Hello," and its end need seven
    CHECK(stream.step(answer, 0, 64) == ELIZA_ERR_INVALID_ARG);
    CHECK(stream.prefill({5}) == ELIZA_ERR_INVALID_ARG);
    CHECK(stream.step(answer, 1, 7) == 0 && answer.text == "Hello,");
    while (stream.step(answer) == 0) {
    }
    CHECK(answer.text == words());
}

void reset_starts_over(const Bundle & bundle) {
    Stream stream(bundle, config());
    CHECK(stream.prefill(bundle.tokens("hi there")) == ELIZA_OK);
    Answer answer;
    CHECK(stream.step(answer) == 0);
    CHECK(eliza_inference_llm_stream_reset(stream.get()) == ELIZA_OK);
    CHECK(stream.step(answer) == ELIZA_ERR_INVALID_ARG);
    CHECK(stream.prefill(bundle.tokens("hi there")) == ELIZA_OK);
    CHECK(stream.all().text == words());
}

std::vector<int> many_tokens(int count, int seed) {
    std::vector<int> ids(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
        ids[static_cast<size_t>(i)] = 11 + (i * 37 + seed * 101) % 250;
    }
    return ids;
}

// The same prompt by two roads must give the same answer, on a model that listens to every token.
void kept_tokens_count_as_if_prefilled(const Bundle & noise) {
    auto settings           = config();
    settings.max_tokens     = 24;
    std::vector<int> prompt = many_tokens(60, 1);
    Stream           fresh(noise, settings);
    CHECK(fresh.prefill(prompt) == ELIZA_OK);
    const Answer expected = fresh.all();

    Stream           stream(noise, settings);
    std::vector<int> other = many_tokens(20, 2);
    other.insert(other.begin(), prompt.begin(), prompt.begin() + 40);
    CHECK(stream.prefill(other) == ELIZA_OK);
    stream.all();
    const int kept = eliza_inference_llm_stream_reset_keep(stream.get(), 40);
    CHECK(kept == 40 || kept == 0);
    CHECK(stream.prefill({prompt.begin() + kept, prompt.end()}) == ELIZA_OK);
    CHECK(stream.all().tokens == expected.tokens);
}

void a_window_that_moved_on_keeps_nothing(const Bundle & noise) {
    auto settings         = config();
    settings.context_size = 2048;
    settings.max_tokens   = 4;
    Stream stream(noise, settings);
    CHECK(stream.prefill(many_tokens(1600, 3)) == ELIZA_OK);
    CHECK(eliza_inference_llm_stream_reset_keep(stream.get(), 100) == 0);
    CHECK(eliza_inference_llm_stream_reset_keep(stream.get(), 100) == 0);  // and an empty stream has nothing
    CHECK(eliza_inference_llm_stream_reset_keep(stream.get(), -5) == 0);
    CHECK(stream.prefill(many_tokens(3, 3)) == ELIZA_OK);
    CHECK(stream.all().tokens.size() == 4);
}

void a_prompt_in_pieces_is_one_prompt(const Bundle & noise) {
    auto settings                 = config();
    settings.max_tokens           = 16;
    const std::vector<int> prompt = many_tokens(90, 4);
    Stream                 whole(noise, settings);
    Stream                 pieces(noise, settings);
    CHECK(whole.prefill(prompt) == ELIZA_OK);
    CHECK(pieces.prefill({prompt.begin(), prompt.begin() + 31}) == ELIZA_OK);
    CHECK(pieces.prefill({prompt.begin() + 31, prompt.end()}) == ELIZA_OK);
    CHECK(whole.all().tokens == pieces.all().tokens);
}

void a_grammar_rules_the_answer(const Bundle & bundle) {
    for (const float temperature : {0.0f, 1.0f}) {
        auto settings         = config();
        settings.temperature  = temperature;
        settings.gbnf_grammar = "root ::= \"yes\" | \"no\"";
        Stream stream(bundle, settings);
        for (int turn = 0; turn < 2; ++turn) {
            CHECK(stream.prefill(bundle.tokens("well?")) == ELIZA_OK);
            const std::string text = stream.all().text;
            CHECK(text == "yes" || text == "no");
        }
    }
}

void hot_settings_stay_in_the_vocabulary(const Bundle & noise) {
    auto settings           = config();
    settings.temperature    = 1.5f;
    settings.top_k          = 40;
    settings.top_p          = 0.9f;
    settings.repeat_penalty = 1.3f;
    settings.max_tokens     = 40;
    Stream stream(noise, settings);
    CHECK(stream.prefill(noise.tokens("hi")) == ELIZA_OK);
    CHECK(stream.all().status == 1);
}

void quantised_caches_answer_too(const Bundle & bundle) {
    auto settings         = config();
    settings.cache_type_k = "f32";
    settings.cache_type_v = "bf16";
    Stream stream(bundle, settings);
    CHECK(stream.prefill(bundle.tokens("hi")) == ELIZA_OK);
    CHECK(stream.all().text == words());
}

void streams_share_one_model_and_no_memory(const Bundle & bundle) {
    Stream one(bundle, config());
    Stream two(bundle, config());
    CHECK(one.prefill(bundle.tokens("hi")) == ELIZA_OK);
    CHECK(two.prefill(bundle.tokens("a longer prompt, then")) == ELIZA_OK);
    Answer first;
    Answer second;
    while (first.status == 0 || second.status == 0) {
        one.step(first);
        two.step(second);
    }
    CHECK(first.text == words() && second.text == words());
}

}  // namespace

int main() {
    const Bundle bundle(models() / "sure");
    const Bundle noise(models() / "noise");
    a_step_before_a_prompt_is_refused(bundle);
    foreign_ids_and_long_prompts_leave_the_stream_as_it_was(bundle);
    the_turn_ends_by_itself(bundle);
    max_tokens_ends_it(bundle);
    a_full_context_ends_it(bundle);
    a_result_without_room_waits(bundle);
    reset_starts_over(bundle);
    kept_tokens_count_as_if_prefilled(noise);
    a_window_that_moved_on_keeps_nothing(noise);
    a_prompt_in_pieces_is_one_prompt(noise);
    a_grammar_rules_the_answer(bundle);
    hot_settings_stay_in_the_vocabulary(noise);
    quantised_caches_answer_too(bundle);
    streams_share_one_model_and_no_memory(bundle);
    return 0;
}
