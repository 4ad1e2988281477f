#include "whisper/recognizer.h"

#include "asr/windows.h"
#include "whisper/greedy.h"
#include "whisper/mel.h"
#include "whisper/session.h"
#include "whisper/silence.h"

#include <algorithm>
#include <limits>

namespace eliza::whisper {
namespace {

constexpr size_t shortest_samples   = 1600;   // 0.1 s: no word is shorter
constexpr size_t most_tokens        = 224;    // of one window, as the official decoder has it
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
        for (const auto & [begin, end] : asr::cut_windows(samples, count, window_samples)) {
            const std::vector<int> tokens = window(samples + begin, end - begin);
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
        return decode(static_cast<double>(count) / asr::sample_rate_hz);
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

    std::vector<int> decode(double seconds) {
        const std::vector<int> prompt = {words().start, spoken_language(), words().transcribe, words().no_timestamps};
        const size_t           size   = words().tokens.size();
        std::vector<float>     logits = session_.say(prompt, 0);
        const float            silent = probability_of(logits.data(), size, words().no_speech);
        logits.erase(logits.begin(), logits.end() - static_cast<std::ptrdiff_t>(size));
        silence(logits, words().suppressed_first);
        const Sentence sentence = say_on(std::move(logits), prompt.size(), least_looped(seconds));
        return silent > silent_probability && sentence.mean < unsure_mean ? std::vector<int>() : sentence.tokens;
    }

    struct Sentence {
        std::vector<int> tokens;
        float            mean;  // of their log probabilities, the end included
    };

    // Follows the likeliest tokens, from the logits after `prompt` tokens to the end, a loop, or where room ends.
    Sentence say_on(std::vector<float> logits, size_t prompt, size_t loop) {
        const size_t     room = std::min(most_tokens, static_cast<size_t>(model_->hyper.text_context) - prompt);
        std::vector<int> said;
        float            sum = 0.0f;
        for (size_t count = 1;; ++count) {
            silence(logits, words().suppressed);
            const Choice next = likeliest(logits.data(), words().tokens.size());
            sum += next.log_probability;
            if (next.token == words().end) {
                return {said, sum / static_cast<float>(count)};
            }
            said.push_back(next.token);
            const size_t extra = looped_tail(said, loop);
            said.resize(said.size() - extra);
            if (extra > 0 || said.size() == room) {
                return {said, sum / static_cast<float>(count)};
            }
            logits = session_.say({next.token}, static_cast<int64_t>(prompt + said.size()) - 1);
        }
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
