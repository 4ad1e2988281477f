#include "asr/mtmd_recognizer.h"

#include "abi/guard.h"
#include "asr/resample.h"
#include "asr/wanted_language.h"
#include "asr/windows.h"
#include "llm/text_stream.h"
#include "llm/tokens.h"
#include "sight/prompt.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace eliza::asr {
namespace {

constexpr size_t window_seconds   = 30;
constexpr size_t shortest_seconds = 10;  // the reciprocal: a tenth of a second holds no word
constexpr int    most_tokens      = 512;
constexpr int    usual_batch      = 512;
constexpr size_t longest_name     = 40;

constexpr const char * transcript_mark = "<asr_text>";  // Qwen3-ASR's: behind the language, before the words

// A name with a capital, or "" where the model finds out.
std::string language_name() {
    std::string language = wanted_language().value_or("");
    const bool  is_name  = std::all_of(language.begin(), language.end(), [](char c) {
        return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == ' ' || c == '-';
    });
    require(is_name && language.size() <= longest_name, "ELIZA_ASR_FORCE_LANGUAGE is not the name of a language");
    if (!language.empty()) {
        language[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(language[0])));
    }
    return language;
}

// A model made for recognition is led by its own mark, any other is asked.
sight::Wording wording_for(const llama_vocab * vocab, const std::string & language) {
    if (llm::tokenize(vocab, transcript_mark, /*add_special=*/false, /*parse_special=*/true).size() == 1) {
        require(!language.empty(), "this recognition model must be told the language: ELIZA_ASR_FORCE_LANGUAGE");
        return {/*has_system_turn=*/true, "", "language " + language, transcript_mark};
    }
    const std::string in = language.empty() ? "" : "in " + language + " ";
    return {/*has_system_turn=*/false, "Write down " + in + "what is said. Answer with these words alone.", "", ""};
}

std::string trimmed(const std::string & text) {
    const char * const space = " \t\r\n";
    const size_t       begin = text.find_first_not_of(space);
    return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

class MtmdRecognizer final : public Recognizer {
  public:
    explicit MtmdRecognizer(std::shared_ptr<sight::Projector> projector)
        : projector_(std::move(projector)), rate_hz_(mtmd_get_audio_sample_rate(projector_->get())),
          wording_(wording_for(projector_->model().vocab(), language_name())) {
        open_stream();
    }

    Heard transcribe(const float * samples, size_t count) override {
        Heard heard;
        for (const auto & [begin, end] : cut_windows(samples, count, window_seconds * sample_rate_hz)) {
            if (end - begin >= sample_rate_hz / shortest_seconds) {
                listen(samples + begin, end - begin, heard);
            }
        }
        return heard;
    }

    bool reads_with(const llm::TextModel * model) const noexcept override { return &projector_->model() == model; }

  private:
    // One stream serves all windows: it has room for the longest one and its words.
    void open_stream() {
        const mtmd::bitmap longest(
            mtmd_bitmap_init_from_audio(window_seconds * static_cast<size_t>(rate_hz_), nullptr));
        const sight::Prompt prompt(projector_, longest.ptr.get(), wording_);
        const int           trained = projector_->model().trained_context();
        llm::StreamSettings settings;
        settings.max_tokens   = most_tokens;
        settings.context_size = prompt.cells() + most_tokens;
        settings.batch_tokens = std::max(usual_batch, prompt.largest_piece());
        if (settings.context_size > trained) {
            throw Failure(ELIZA_ERR_BUNDLE_INVALID,
                          "30 seconds and their words need " + std::to_string(settings.context_size) +
                              " tokens, the recognition model holds " + std::to_string(trained));
        }
        stream_ = std::make_unique<llm::TextStream>(projector_->shared_model(), nullptr, settings, nullptr);
    }

    void listen(const float * samples, size_t count, Heard & heard) {
        const auto         sound = resample(samples, count, sample_rate_hz, rate_hz_);
        const mtmd::bitmap bitmap(mtmd_bitmap_init_from_audio(sound.size(), sound.data()));
        stream_->reset();
        stream_->begin_with(std::make_unique<sight::Prompt>(projector_, bitmap.ptr.get(), wording_));
        std::string text;
        while (stream_->end_reason() == ELIZA_END_NONE) {
            const llm::Step step = stream_->next();
            text += step.text;
            heard.tokens.insert(heard.tokens.end(), step.tokens.begin(), step.tokens.end());
        }
        text = trimmed(text);
        heard.text += (heard.text.empty() || text.empty() ? "" : " ") + text;
    }

    const std::shared_ptr<sight::Projector> projector_;
    const int                               rate_hz_;
    const sight::Wording                    wording_;
    std::unique_ptr<llm::TextStream>        stream_;
};

}  // namespace

std::unique_ptr<Recognizer> open_mtmd_recognizer(std::shared_ptr<llm::TextModel> model,
                                                 const std::filesystem::path &   projector) {
    auto loaded = std::make_shared<sight::Projector>(projector, std::move(model));
    if (!loaded->hears()) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID, "the projector '" + projector.u8string() + "' has no ear");
    }
    return std::make_unique<MtmdRecognizer>(std::move(loaded));
}

}  // namespace eliza::asr
