// A thousand openings and a thousand cancels leak nothing and hang nowhere; run under the sanitizers in CI.
#include "streams.h"

#include <atomic>
#include <chrono>
#include <thread>

using namespace tests;

namespace {

constexpr int cycles = 1000;

std::vector<int> long_prompt(size_t size) {
    std::vector<int> ids(size);
    for (size_t i = 0; i < size; ++i) {
        ids[i] = 11 + static_cast<int>(i * 37 % 250);
    }
    return ids;
}

void streams_open_and_close(const fs::path & folder) {
    const Bundle      bundle(folder);
    const auto        prompt  = bundle.tokens("hi");
    const std::string drafter = (folder / "mtp" / "drafter-2b.gguf").u8string();
    for (int i = 0; i < cycles; ++i) {
        auto settings         = config();
        settings.context_size = 64;
        if (i % 2 == 1) {
            settings.mtp_drafter_path = drafter.c_str();
            settings.draft_max        = 3;
        }
        Stream stream(bundle, settings);
        CHECK(stream.prefill(prompt) == ELIZA_OK);
        Answer answer;
        CHECK(stream.step(answer) == 0);
        CHECK(stream.step(answer) == 0);
    }
}

void contexts_open_and_close(const fs::path & folder) {
    for (int i = 0; i < cycles; ++i) {
        const Bundle bundle(folder);
    }
    for (int i = 0; i < 50; ++i) {
        const Bundle bundle(folder);
        Stream       stream(bundle, config());
        CHECK(stream.prefill(bundle.tokens("hi")) == ELIZA_OK);
    }
}

void a_cancel_before_a_call_ends_it_at_once(const Bundle & bundle) {
    Stream stream(bundle, config());
    CHECK(stream.prefill(bundle.tokens("hi")) == ELIZA_OK);
    CHECK(eliza_inference_llm_stream_cancel(stream.get()) == ELIZA_OK);
    Answer answer;
    CHECK(stream.step(answer) == ELIZA_ERR_CANCELLED);
    CHECK(stream.prefill({5}) == ELIZA_ERR_CANCELLED);  // until it is reset
    CHECK(eliza_inference_llm_stream_reset_keep(stream.get(), 2) == 2);
    CHECK(stream.prefill({5}) == ELIZA_OK);
    CHECK(stream.step(answer) == 0);
}

// Cancels at ever other moments of a turn, from another thread, and the stream answers the same afterwards.
void cancels_at_any_moment(const Bundle & bundle, const eliza_llm_stream_config_t & settings) {
    const auto prompt = long_prompt(200);
    Stream     fresh(bundle, settings);
    CHECK(fresh.prefill(prompt) == ELIZA_OK);
    const auto expected = fresh.all().tokens;
    Stream     stream(bundle, settings);
    int        cancelled = 0;
    for (int i = 0; i < cycles; ++i) {
        std::thread other([&] {
            std::this_thread::sleep_for(std::chrono::microseconds(i * 7 % 4000));
            CHECK(eliza_inference_llm_stream_cancel(stream.get()) == ELIZA_OK);
        });
        Answer      answer;
        answer.status = stream.prefill(prompt);
        while (answer.status == 0) {
            stream.step(answer);
        }
        CHECK(answer.status == 1 || answer.status == ELIZA_ERR_CANCELLED);
        cancelled += answer.status == ELIZA_ERR_CANCELLED ? 1 : 0;
        other.join();
        if (i % 3 == 0) {
            CHECK(eliza_inference_llm_stream_reset(stream.get()) == ELIZA_OK);
        } else if (eliza_inference_llm_stream_reset_keep(stream.get(), 50) == 50) {
            CHECK(stream.prefill({prompt.begin() + 50, prompt.end()}) == ELIZA_OK);
            CHECK(stream.all().tokens == expected);
            CHECK(eliza_inference_llm_stream_reset(stream.get()) == ELIZA_OK);
        }
    }
    CHECK(cancelled > cycles / 10);
    CHECK(stream.prefill(prompt) == ELIZA_OK);
    CHECK(stream.all().tokens == expected);
}

void threads_do_not_meet(const fs::path & folder) {
    const Bundle             bundle(folder);
    std::vector<std::thread> threads;
    std::atomic<int>         right{0};
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            Stream stream(bundle, config());
            CHECK(stream.prefill(bundle.tokens("hi")) == ELIZA_OK);
            right += stream.all().text.empty() ? 0 : 1;
        });
    }
    for (std::thread & thread : threads) {
        thread.join();
    }
    CHECK(right == 4);
}

}  // namespace

int main() {
    const fs::path    folder  = models() / "noise";
    const std::string drafter = (folder / "mtp" / "drafter-2b.gguf").u8string();
    const Bundle      bundle(folder);
    auto              settings = config();
    settings.max_tokens        = 40;
    streams_open_and_close(folder);
    contexts_open_and_close(folder);
    a_cancel_before_a_call_ends_it_at_once(bundle);
    cancels_at_any_moment(bundle, settings);
    settings.mtp_drafter_path = drafter.c_str();
    settings.draft_max        = 4;
    cancels_at_any_moment(bundle, settings);
    threads_do_not_meet(folder);
    return 0;
}
