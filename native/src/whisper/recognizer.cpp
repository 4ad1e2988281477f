#include "whisper/recognizer.h"

#include "whisper/greedy.h"
#include "whisper/mel.h"
#include "whisper/session.h"
#include "whisper/windows.h"

#include <algorithm>
#include <limits>

namespace eliza::whisper {
namespace {

constexpr size_t shortest_samples   = 1600;   // 0.1 s: no word is shorter
constexpr int    most_tokens        = 224;    // of one window, as the official decoder has it
constexpr float  silent_probability = 0.6f;   // the official decoder's two bounds for "nobody spoke":
constexpr float  unsure_mean        = -1.0f;  // the model says so, and what it would say is not likely either

std::string trimmed(const std::string & text) {
    const size_t begin = text.find_first_not_of(' ');
    const size_t end   = text.find_last_not_of(' ');
    return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

void silence(std::vector<float> & logits, const std::vector<int> & tokens) {
    for (const int token : tokens) {
        logits[static_cast<size_t>(token)] = -std::numeric_limits<float>::infinity();
    }
}

class Recognizer : public asr::Recognizer {
  public:
    explicit Recognizer(std::unique_ptr<const Model> model)
        : model_(std::move(model)), language_(forced_language(model_->vocabulary)), session_(*model_) {}

    asr::Heard transcribe(const float * samples, size_t count) override {
        asr::Heard heard;
        for (const Span part : part_recording(samples, count)) {
            const std::vector<int> tokens = window(samples + part.begin, part.end - part.begin);
            const std::string      text   = trimmed(words().spell(tokens));
            heard.text += (heard.text.empty() || text.empty() ? "" : " ") + text;
            heard.tokens.insert(heard.tokens.end(), tokens.begin(), tokens.end());
        }
        return heard;
    }

  private:
    const Vocabulary & words() const { return model_->vocabulary; }

    std::vector<int> window(const float * samples, size_t count) {
        if (count < shortest_samples || is_silence(samples, count)) {
            return {};
        }
        session_.hear(samples, count);
        return decode();
    }

    int spoken_language() {
        if (language_ != any_language) {
            return language_;
        }
        const std::vector<float> & logits = session_.say({words().start}, 0);
        const auto &               known  = words().languages;
        return std::max_element(known.begin(), known.end(),
                                [&](const Language & a, const Language & b) {
                                    return logits[static_cast<size_t>(a.token)] < logits[static_cast<size_t>(b.token)];
                                })
            ->token;
    }

    std::vector<int> decode() {
        const std::vector<int> prompt = {words().start, spoken_language(), words().transcribe, words().no_timestamps};
        const size_t           size   = words().tokens.size();
        std::vector<float>     logits = session_.say(prompt, 0);
        const float            silent = probability_of(logits.data(), size, words().no_speech);
        logits.erase(logits.begin(), logits.end() - static_cast<std::ptrdiff_t>(size));
        silence(logits, words().suppressed_first);

        std::vector<int> said;
        float            sum  = 0.0f;
        const auto       room = static_cast<size_t>(model_->hyper.text_context) - prompt.size();
        while (true) {
            silence(logits, words().suppressed);
            const Choice next = likeliest(logits.data(), size);
            sum += next.log_probability;
            if (next.token == words().end) {
                break;
            }
            said.push_back(next.token);
            if (const size_t extra = looped_tail(said)) {
                said.resize(said.size() - extra);
                break;
            }
            if (said.size() == std::min<size_t>(most_tokens, room)) {
                break;
            }
            logits = session_.say({next.token}, static_cast<int64_t>(prompt.size() + said.size()) - 1);
        }
        const float mean = sum / static_cast<float>(said.size() + 1);
        return silent > silent_probability && mean < unsure_mean ? std::vector<int>() : said;
    }

    std::unique_ptr<const Model> model_;
    int                          language_;
    Session                      session_;
};

}  // namespace

std::unique_ptr<asr::Recognizer> open_recognizer(const std::filesystem::path & file) {
    return std::make_unique<Recognizer>(load_model(file));
}

}  // namespace eliza::whisper
