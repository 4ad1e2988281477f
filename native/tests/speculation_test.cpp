// With a drafter the answer is the one without, token by token; counts and verifier events tell what happened.
#include "streams.h"

#include <algorithm>

using namespace tests;

namespace {

struct Event {
    std::vector<int> accepted;
    int              rejected_from;
    int              rejected_to;
    std::vector<int> corrected;
};

void keep_event(const EliVerifierEvent * event, void * user_data) {
    static_cast<std::vector<Event> *>(user_data)->push_back(
        {{event->accepted_token_ids, event->accepted_token_ids + event->n_accepted},
         event->rejected_from,
         event->rejected_to,
         {event->corrected_token_ids, event->corrected_token_ids + event->n_corrected}});
}

eliza_llm_stream_config_t drafting(const std::string & drafter, int window) {
    auto settings             = config();
    settings.mtp_drafter_path = drafter.c_str();
    settings.draft_max        = window;
    settings.max_tokens       = 60;
    return settings;
}

Answer answer_of(const Bundle & bundle, const eliza_llm_stream_config_t & settings, const std::vector<int> & prompt) {
    Stream stream(bundle, settings);
    CHECK(stream.prefill(prompt) == ELIZA_OK);
    return stream.all();
}

std::vector<int> prompt_of(int seed) {
    std::vector<int> ids;
    for (int i = 0; i < 5 + seed; ++i) {
        ids.push_back(11 + (i * 53 + seed * 29) % 250);
    }
    return ids;
}

void the_answer_is_the_same(const fs::path & folder, bool drafter_agrees) {
    const Bundle      bundle(folder);
    const std::string drafters[] = {(folder / "mtp" / "drafter-2b.gguf").u8string(),
                                    (folder / "text" / "text.gguf").u8string()};  // an ordinary model drafts too
    int               rejected   = 0;
    for (const std::string & drafter : drafters) {
        for (int seed = 0; seed < 6; ++seed) {
            auto plain            = config();
            plain.max_tokens      = 60;
            const Answer expected = answer_of(bundle, plain, prompt_of(seed));
            for (const int window : {1, 2, 5, 16}) {
                const Answer found = answer_of(bundle, drafting(drafter, window), prompt_of(seed));
                CHECK(found.tokens == expected.tokens && found.text == expected.text);
                CHECK(expected.drafted == 0 && found.drafted > 0);
                CHECK(found.accepted <= found.drafted && found.accepted < static_cast<int>(found.tokens.size()));
                rejected += found.drafted - found.accepted;
            }
        }
    }
    CHECK(drafter_agrees || rejected > 0);
}

void events_tell_the_answer_again(const fs::path & folder) {
    const Bundle       bundle(folder);
    const std::string  drafter = (folder / "mtp" / "drafter-2b.gguf").u8string();
    std::vector<Event> events;
    CHECK(eliza_inference_set_verifier_callback(bundle.get(), keep_event, &events, nullptr) == ELIZA_OK);
    const Answer     answer = answer_of(bundle, drafting(drafter, 4), prompt_of(1));
    std::vector<int> told;
    int              rejected = 0;
    for (const Event & event : events) {
        const int begin = static_cast<int>(told.size());
        told.insert(told.end(), event.accepted.begin(), event.accepted.end());
        told.insert(told.end(), event.corrected.begin(), event.corrected.end());
        if (event.rejected_from < 0) {
            CHECK(event.rejected_from == -1 && event.rejected_to == -1 && event.corrected.empty());
            continue;
        }
        CHECK(event.rejected_from == begin + static_cast<int>(event.accepted.size()));
        CHECK(event.rejected_to > event.rejected_from && event.rejected_to <= begin + 4);
        CHECK(event.corrected.size() <= 1);
        rejected += event.rejected_to - event.rejected_from;
    }
    CHECK(told == answer.tokens && static_cast<int>(events.size()) == answer.steps);
    CHECK(rejected == answer.drafted - answer.accepted);
    CHECK(eliza_inference_set_verifier_callback(bundle.get(), nullptr, nullptr, nullptr) == ELIZA_OK);
    answer_of(bundle, drafting(drafter, 4), prompt_of(1));
    CHECK(static_cast<int>(events.size()) == answer.steps);
}

void limits_hold_with_a_drafter(const fs::path & folder) {
    const Bundle      bundle(folder);
    const std::string drafter = (folder / "mtp" / "drafter-2b.gguf").u8string();
    for (int most = 1; most < 8; ++most) {
        auto settings       = drafting(drafter, 5);
        settings.max_tokens = most;
        CHECK(static_cast<int>(answer_of(bundle, settings, prompt_of(0)).tokens.size()) == most);
    }
    for (int room = 9; room < 14; ++room) {
        auto settings         = drafting(drafter, 5);
        settings.context_size = room;
        CHECK(static_cast<int>(answer_of(bundle, settings, prompt_of(0)).tokens.size()) <= room - 5 + 1);
    }
}

void reset_and_keep_work_with_a_drafter(const fs::path & folder) {
    const Bundle      bundle(folder);
    const std::string drafters[] = {(folder / "mtp" / "drafter-2b.gguf").u8string(),
                                    (folder / "text" / "text.gguf").u8string()};
    for (const std::string & drafter : drafters) {
        const std::vector<int> prompt   = prompt_of(30);
        const Answer           expected = answer_of(bundle, drafting(drafter, 3), prompt);
        Stream                 stream(bundle, drafting(drafter, 3));
        for (int round = 0; round < 3; ++round) {
            CHECK(stream.prefill(prompt_of(7)) == ELIZA_OK);
            stream.all();
            CHECK(eliza_inference_llm_stream_reset(stream.get()) == ELIZA_OK);
            CHECK(stream.prefill({prompt.begin(), prompt.begin() + 20}) == ELIZA_OK);
            stream.all();
            const int kept = eliza_inference_llm_stream_reset_keep(stream.get(), 20);
            CHECK(kept == 20 || kept == 0);
            CHECK(stream.prefill({prompt.begin() + kept, prompt.end()}) == ELIZA_OK);
            CHECK(stream.all().tokens == expected.tokens);
            CHECK(eliza_inference_llm_stream_reset(stream.get()) == ELIZA_OK);
        }
    }
}

void sampling_with_a_drafter_runs(const fs::path & folder) {
    const Bundle      bundle(folder);
    const std::string drafter  = (folder / "mtp" / "drafter-2b.gguf").u8string();
    auto              settings = drafting(drafter, 4);
    settings.temperature       = 1.0f;
    settings.gbnf_grammar      = "root ::= [a-z ]+";
    settings.repeat_penalty    = 1.2f;
    const Answer answer        = answer_of(bundle, settings, prompt_of(2));
    CHECK(answer.status == 1);
    CHECK(
        std::all_of(answer.text.begin(), answer.text.end(), [](char c) { return c == ' ' || (c >= 'a' && c <= 'z'); }));
}

void the_developer_may_switch_it_off(const fs::path & folder) {
    const Bundle      bundle(folder);
    const std::string drafter = (folder / "mtp" / "drafter-2b.gguf").u8string();
    setenv("ELIZA_MTP_DISABLE", "1", 1);
    CHECK(answer_of(bundle, drafting(drafter, 4), prompt_of(0)).drafted == 0);
    char * told = eliza_inference_capabilities_json();
    CHECK(std::strstr(told, "\"mtp_disabled\":true") != nullptr);
    eliza_inference_free_string(told);
    unsetenv("ELIZA_MTP_DISABLE");
    CHECK(answer_of(bundle, drafting(drafter, 4), prompt_of(0)).drafted > 0);
}

void refused(const Bundle & bundle, const fs::path & drafter, const char * reason) {
    const std::string path = drafter.u8string();
    Said              said;
    const auto        settings = drafting(path, 4);
    CHECK(eliza_inference_llm_stream_open(bundle.get(), &settings, &said.text) == nullptr);
    CHECK(eliza_inference_last_status() == ELIZA_ERR_BUNDLE_INVALID);
    if (!said.has(reason)) {
        fprintf(stderr, "'%s' lacks '%s'\n", said.text, reason);
    }
    CHECK(said.has(reason));
}

void a_drafter_that_does_not_fit_is_an_error() {
    const Bundle bundle(models() / "sure");
    refused(bundle, models() / "absent.gguf", "cannot read");
    refused(bundle, models() / "mmproj.gguf", "cannot");
    refused(bundle, models() / "foreign.gguf", "is not the text model's");
    const std::string drafter  = (models() / "sure" / "mtp" / "drafter-2b.gguf").u8string();
    auto              settings = drafting(drafter, 0);
    CHECK(eliza_inference_llm_stream_open(bundle.get(), &settings, nullptr) == nullptr);
    CHECK(eliza_inference_last_status() == ELIZA_ERR_INVALID_ARG);
}

}  // namespace

int main() {
    a_drafter_that_does_not_fit_is_an_error();
    the_answer_is_the_same(models() / "sure", true);
    the_answer_is_the_same(models() / "noise", false);
    events_tell_the_answer_again(models() / "sure");
    events_tell_the_answer_again(models() / "noise");
    limits_hold_with_a_drafter(models() / "sure");
    limits_hold_with_a_drafter(models() / "noise");
    reset_and_keep_work_with_a_drafter(models() / "noise");
    sampling_with_a_drafter_runs(models() / "noise");
    the_developer_may_switch_it_off(models() / "sure");
    return 0;
}
