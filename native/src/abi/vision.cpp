// Sight's C calls: check the picture, find the projector, let the bundle's text model answer.
#include "abi/guard.h"
#include "abi/llm_stream.h"
#include "abi/regions.h"
#include "backend/llama_backend.h"
#include "bundle/bundle_dir.h"
#include "llm/text_stream.h"
#include "sight/picture.h"
#include "sight/prompt.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace {

namespace fs = std::filesystem;
using eliza::Failure;
using eliza::require;
using eliza::llm::TextStream;

constexpr const char * default_prompt     = "Describe this image.";
constexpr size_t       longest_prompt     = 64 * 1024;
constexpr int          most_answer_tokens = 1024;
constexpr int          least_context      = 2048;
constexpr int          usual_batch        = 512;

struct Question {
    const uint8_t * image_bytes;
    size_t          num_bytes;
    const char *    mmproj_path;
    const char *    prompt;
};

fs::path projector_path(const EliInferenceContext & ctx, const char * named) {
    if (named == nullptr || *named == '\0') {
        return eliza::bundle::find_projector(ctx.bundle_dir);
    }
    return ctx.bundle_dir / fs::u8path(named);  // an absolute path replaces the folder
}

std::string wanted_prompt(const char * prompt) {
    if (prompt == nullptr || *prompt == '\0') {
        return default_prompt;
    }
    require(std::strlen(prompt) <= longest_prompt, "the prompt is longer than 64 KiB");
    return prompt;
}

// Room for the picture, an answer and a turn or two after it.
eliza::llm::StreamSettings stream_settings(const eliza::sight::Prompt & prompt, int trained) {
    if (prompt.cells() >= trained) {
        throw Failure(ELIZA_ERR_INVALID_ARG, "the image and its prompt need " + std::to_string(prompt.cells()) +
                                                 " tokens, the model holds " + std::to_string(trained));
    }
    eliza::llm::StreamSettings settings;
    settings.max_tokens   = most_answer_tokens;
    settings.context_size = std::min(trained, std::max(least_context, prompt.cells() + most_answer_tokens));
    settings.batch_tokens = std::max(usual_batch, prompt.largest_piece());
    return settings;
}

std::unique_ptr<TextStream> open_description(EliInferenceContext & ctx, const Question & question) {
    const std::string  wanted    = wanted_prompt(question.prompt);
    const mtmd::bitmap picture   = eliza::sight::decode_picture(question.image_bytes, question.num_bytes);
    const auto         projector = eliza::require_projector(ctx, projector_path(ctx, question.mmproj_path));
    if (!projector->sees()) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID, "the projector '" + projector->path().u8string() + "' has no eye");
    }
    auto       prompt   = std::make_unique<eliza::sight::Prompt>(projector, picture.ptr.get(),
                                                                 eliza::sight::Wording{false, wanted, "", ""});
    auto       model    = projector->shared_model();
    const auto settings = stream_settings(*prompt, model->trained_context());
    auto       tell     = [&ctx](const EliVerifierEvent & event) { eliza::tell_verified(ctx, event); };
    auto       stream   = std::make_unique<TextStream>(std::move(model), nullptr, settings, tell);
    stream->begin_with(std::move(prompt));
    return stream;
}

std::string whole_answer(TextStream & stream) {
    std::string text;
    while (stream.end_reason() == ELIZA_END_NONE) {
        text += stream.next().text;
    }
    return text;
}

int deliver(const std::string & text, char * out, size_t max_bytes) {
    if (text.size() + 1 > max_bytes || text.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
        throw Failure(ELIZA_ERR_INVALID_ARG, "the text needs " + std::to_string(text.size() + 1) + " bytes of room");
    }
    std::copy(text.begin(), text.end(), out);
    out[text.size()] = '\0';
    return static_cast<int>(text.size());
}

}  // namespace

extern "C" {

int eliza_inference_vision_supported(void) {
    return 1;
}

int eliza_inference_describe_image(EliInferenceContext * ctx, const uint8_t * image_bytes, size_t num_bytes,
                                   const char * mmproj_path, const char * prompt, char * out_text, size_t max_bytes,
                                   char ** out_error) {
    return eliza::guarded(out_error, [&] {
        require(ctx != nullptr && out_text != nullptr && max_bytes > 0,
                "ctx must not be NULL and out_text must have room for at least its end");
        const auto stream = open_description(*ctx, {image_bytes, num_bytes, mmproj_path, prompt});
        return deliver(whole_answer(*stream), out_text, max_bytes);
    });
}

int eliza_inference_vision_stream_supported(void) {
    return 1;
}

EliLlmStream * eliza_inference_describe_image_stream_open(EliInferenceContext * ctx, const uint8_t * image_bytes,
                                                          size_t num_bytes, const char * mmproj_path,
                                                          const char * prompt, char ** out_error) {
    return eliza::guarded_handle<EliLlmStream>(out_error, [&] {
        require(ctx != nullptr, "ctx is NULL");
        auto stream = open_description(*ctx, {image_bytes, num_bytes, mmproj_path, prompt});
        return new EliLlmStream{eliza::backend::session_of(std::move(stream))};
    });
}

}  // extern "C"
