// A bundle and a stream for tests, with the C calls underneath and everything freed at the end.
#pragma once

#include "check.h"
#include "eliza/inference.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace tests {

namespace fs = std::filesystem;

inline fs::path models() {
    const char * folder = std::getenv("ELIZA_TEST_MODELS");
    if (folder == nullptr) {
        fprintf(stderr,
                "ELIZA_TEST_MODELS must name the folder that tests/support/tiny_models.py has filled; run ctest\n");
        exit(1);
    }
    return fs::u8path(folder);
}

// What the sure model always says.
inline std::string words() {
    std::ifstream in(models() / "words.txt", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Said {
    char * text                    = nullptr;
    Said()                         = default;
    Said(const Said &)             = delete;
    Said & operator=(const Said &) = delete;
    ~Said() { eliza_inference_free_string(text); }
    bool has(const char * part) const { return text != nullptr && std::strstr(text, part) != nullptr; }
};

class Bundle {
  public:
    explicit Bundle(const fs::path & folder) {
        Said said;
        context_ = eliza_inference_create(folder.u8string().c_str(), &said.text);
        if (context_ == nullptr) {
            fprintf(stderr, "%s\n", said.text);
        }
        CHECK(context_ != nullptr);
    }
    Bundle(const Bundle &)             = delete;
    Bundle & operator=(const Bundle &) = delete;
    ~Bundle() { eliza_inference_destroy(context_); }

    EliInferenceContext * get() const { return context_; }

    std::vector<int> tokens(const std::string & text) const {
        int *  ids   = nullptr;
        size_t count = 0;
        CHECK(eliza_inference_tokenize(context_, text.data(), text.size(), 1, 1, &ids, &count, nullptr) == ELIZA_OK);
        std::vector<int> copy(ids, ids + count);
        eliza_inference_free_tokens(ids);
        return copy;
    }

  private:
    EliInferenceContext * context_;
};

// Zero-filled but for what every test wants: no pinning, a small context.
inline eliza_llm_stream_config_t config() {
    eliza_llm_stream_config_t settings = {};
    settings.slot_id                   = -1;
    settings.context_size              = 256;
    return settings;
}

struct Answer {
    std::vector<int> tokens;
    std::string      text;
    int              steps    = 0;
    int              drafted  = 0;
    int              accepted = 0;
    int              status   = 0;  // of the last next
};

class Stream {
  public:
    Stream(const Bundle & bundle, const eliza_llm_stream_config_t & settings) {
        Said said;
        stream_ = eliza_inference_llm_stream_open(bundle.get(), &settings, &said.text);
        if (stream_ == nullptr) {
            fprintf(stderr, "%s\n", said.text);
        }
        CHECK(stream_ != nullptr);
    }
    Stream(const Stream &)             = delete;
    Stream & operator=(const Stream &) = delete;
    ~Stream() { eliza_inference_llm_stream_close(stream_); }

    EliLlmStream * get() const { return stream_; }

    int prefill(const std::vector<int> & ids) {
        return eliza_inference_llm_stream_prefill(stream_, ids.data(), ids.size(), nullptr);
    }

    int step(Answer & answer, size_t tokens_cap = 64, size_t text_cap = 4096) {
        std::vector<int32_t> ids(tokens_cap + 1);
        std::vector<char>    text(text_cap + 1);
        size_t               count    = 0;
        int32_t              drafted  = 0;
        int32_t              accepted = 0;
        answer.status = eliza_inference_llm_stream_next(stream_, ids.data(), tokens_cap, &count, text.data(), text_cap,
                                                        &drafted, &accepted, nullptr);
        if (answer.status >= 0) {
            answer.tokens.insert(answer.tokens.end(), ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count));
            answer.text += text.data();
            answer.drafted += drafted;
            answer.accepted += accepted;
            ++answer.steps;
        }
        return answer.status;
    }

    Answer all() {
        Answer answer;
        while (step(answer) == 0) {
        }
        return answer;
    }

  private:
    EliLlmStream * stream_;
};

}  // namespace tests
