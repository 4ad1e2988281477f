// Everything at once: what the C border allows from several threads must be free of races. Run under the thread
// sanitizer in CI, where a race is an error; elsewhere this only shows that nothing crashes or hangs.
#include "streams.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

using namespace tests;

namespace {

constexpr int rounds = 30;

void together(const std::vector<std::function<void()>> & jobs) {
    std::vector<std::thread> threads;
    for (const auto & job : jobs) {
        threads.emplace_back(job);
    }
    for (std::thread & thread : threads) {
        thread.join();
    }
}

void pause(int microseconds) {
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

void cancel_meets_a_step(const Bundle & bundle, const eliza_llm_stream_config_t & settings) {
    Stream stream(bundle, settings);
    for (int i = 0; i < rounds; ++i) {
        together({[&] {
                      Answer answer;
                      answer.status = stream.prefill(std::vector<int>(60, 11));
                      while (answer.status == 0) {
                          stream.step(answer);
                      }
                      CHECK(answer.status == 1 || answer.status == ELIZA_ERR_CANCELLED);
                  },
                  [&] {
                      pause(i * 131 % 2500);
                      eliza_inference_llm_stream_cancel(stream.get());
                  }});
        CHECK(eliza_inference_llm_stream_reset(stream.get()) == ELIZA_OK);
    }
}

void two_bundles_share_nothing(const fs::path & folder) {
    const auto answer = [&] {
        const Bundle bundle(folder);
        for (int i = 0; i < rounds / 3; ++i) {
            Stream stream(bundle, config());
            CHECK(stream.prefill(bundle.tokens("hi")) == ELIZA_OK);
            CHECK(stream.all().status == 1);
        }
    };
    together({answer, answer});
}

void keys_and_regions_meet_streams(const Bundle & bundle) {
    std::atomic<bool> is_done{false};
    const auto        talk = [&](const char * key) {
        auto settings             = config();
        settings.prompt_cache_key = key;
        settings.max_tokens       = 8;
        for (int i = 0; i < rounds; ++i) {
            EliLlmStream * stream = eliza_inference_llm_stream_open(bundle.get(), &settings, nullptr);
            if (stream == nullptr) {  // the region was just evicted
                continue;
            }
            const std::vector<int> ids(40, 12);
            eliza_inference_llm_stream_prefill(stream, ids.data(), ids.size(), nullptr);
            eliza_inference_llm_stream_close(stream);
        }
    };
    std::thread owner([&] {
        while (!is_done) {
            eliza_inference_mmap_evict(bundle.get(), "text", nullptr);
            eliza_inference_mmap_acquire(bundle.get(), "text", nullptr);
            pause(500);
        }
    });
    together({[&] { talk("one"); }, [&] { talk("one"); }, [&] { talk("two"); }});
    is_done = true;
    owner.join();
}

void readers_meet_a_stream(const Bundle & bundle) {
    const auto embed = [&] {
        for (int i = 0; i < rounds; ++i) {
            float vector[64] = {};
            int   dim        = 0;
            CHECK(eliza_inference_embed(bundle.get(), "word", 4, ELIZA_POOLING_MEAN, vector, 64, &dim, nullptr) == 0);
        }
    };
    const auto judge = [&] {
        for (int i = 0; i < rounds; ++i) {
            const int id          = 11 + i;
            float     probability = 0.0f;
            CHECK(eliza_inference_llm_eot_score(bundle.get(), &id, 1, 1, &probability, nullptr, nullptr, nullptr) == 0);
        }
    };
    const auto generate = [&] {
        Stream stream(bundle, config());
        for (int i = 0; i < rounds / 3; ++i) {
            CHECK(stream.prefill(std::vector<int>(20, 13)) == ELIZA_OK);
            stream.all();
            CHECK(eliza_inference_llm_stream_reset(stream.get()) == ELIZA_OK);
        }
    };
    const auto look = [] { eliza_inference_free_string(eliza_inference_capabilities_json()); };
    together({embed, judge, generate, look, look});
}

void cancel_meets_speech(const Bundle & bundle) {
    for (int i = 0; i < rounds; ++i) {
        together({[&] {
                      const auto heard = [](const float *, size_t, int, void *) { return 0; };
                      const int status = eliza_inference_tts_synthesize_stream(bundle.get(), "hello there", 11, nullptr,
                                                                               heard, nullptr, nullptr);
                      const bool is_evicted = i % 5 == 0 && status == ELIZA_ERR_INVALID_ARG;
                      CHECK(status == ELIZA_OK || status == ELIZA_ERR_CANCELLED || is_evicted);
                  },
                  [&] {
                      pause(i * 397 % 9000);
                      CHECK(eliza_inference_cancel_tts(bundle.get(), nullptr) == ELIZA_OK);
                  },
                  [&] {
                      pause(i * 211 % 3000);
                      if (i % 5 == 0) {
                          eliza_inference_mmap_evict(bundle.get(), "tts", nullptr);
                          eliza_inference_mmap_acquire(bundle.get(), "tts", nullptr);
                      }
                  }});
    }
}

void the_callback_changes_while_it_is_called(const Bundle & bundle) {
    std::atomic<int>  calls{0};
    std::atomic<bool> is_done{false};
    const auto        count = [](const EliVerifierEvent *, void * total) { ++*static_cast<std::atomic<int> *>(total); };
    std::thread       other([&] {
        while (!is_done) {
            eliza_inference_set_verifier_callback(bundle.get(), count, &calls, nullptr);
            eliza_inference_set_verifier_callback(bundle.get(), nullptr, nullptr, nullptr);
        }
    });
    for (int i = 0; i < rounds; ++i) {
        Stream stream(bundle, config());
        CHECK(stream.prefill(bundle.tokens("hi")) == ELIZA_OK);
        stream.all();
    }
    is_done = true;
    other.join();
}

}  // namespace

int main() {
    setenv("ELIZA_THREADS", "2", 1);
    const fs::path    folder  = models() / "whole";
    const std::string drafter = (models() / "whole" / "mtp" / "drafter-2b.gguf").u8string();
    const Bundle      bundle(folder);
    auto              settings = config();
    cancel_meets_a_step(bundle, settings);
    settings.mtp_drafter_path = drafter.c_str();
    settings.draft_max        = 3;
    cancel_meets_a_step(bundle, settings);
    two_bundles_share_nothing(folder);
    keys_and_regions_meet_streams(bundle);
    readers_meet_a_stream(bundle);
    cancel_meets_speech(bundle);
    the_callback_changes_while_it_is_called(bundle);
    return 0;
}
