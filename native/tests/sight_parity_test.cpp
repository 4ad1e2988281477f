// Our road from a picture to tokens against the runtime's own: mtmd's evaluation and the largest logit.
#include "llm/runtime.h"
#include "llm/text_model.h"
#include "mtmd-helper.h"
#include "pictures.h"
#include "streams.h"

#include <algorithm>

using namespace tests;

namespace {

constexpr int context_tokens = 2048;
constexpr int batch_tokens   = 1200;  // any picture in one piece

// The prompt as a chat of the model's own form, with mtmd's marker for the picture.
std::string chat(const std::string & said) {
    return "<|turn>user\n" + std::string(mtmd_default_marker()) + said + "<turn|>\n<|turn>model\n";
}

struct Reference {
    eliza::llm::TextModel model{models() / "noise" / "text" / "text.gguf", 0};
    mtmd::context_ptr     projector;

    Reference() {
        mtmd_context_params params = mtmd_context_params_default();
        params.print_timings       = false;
        params.n_threads           = 1;
        projector.reset(mtmd_init_from_file((models() / "mmproj.gguf").u8string().c_str(), model.get(), params));
        CHECK(projector != nullptr);
    }

    llama_context_ptr fresh_context() const {
        llama_context_params params = llama_context_default_params();
        params.n_ctx                = context_tokens;
        params.n_batch = params.n_ubatch = batch_tokens;
        params.n_threads = params.n_threads_batch = 1;
        return llama_context_ptr(llama_init_from_model(model.get(), params));
    }

    llama_token best(llama_context * context) const {
        const float * logits = llama_get_logits_ith(context, -1);
        return static_cast<llama_token>(std::max_element(logits, logits + model.vocab_size()) - logits);
    }

    std::vector<llama_token> answer(const std::string & image, const std::string & said, size_t most) const {
        const mtmd::bitmap picture(
            mtmd_helper_bitmap_init_from_buf(projector.get(), reinterpret_cast<const unsigned char *>(image.data()),
                                             image.size(), false, mtmd_helper_init_opt_default())
                .bitmap);
        const mtmd::input_chunks_ptr chunks(mtmd_input_chunks_init());
        const std::string            text    = chat(said);
        const mtmd_input_text        input   = {text.data(), text.size(), true, true};
        const mtmd_bitmap *          bitmaps = picture.ptr.get();
        CHECK(mtmd_tokenize(projector.get(), chunks.get(), &input, &bitmaps, 1) == 0);
        const auto context  = fresh_context();
        llama_pos  position = 0;
        CHECK(mtmd_helper_eval_chunks(projector.get(), context.get(), chunks.get(), 0, 0, batch_tokens, true,
                                      &position) == 0);
        CHECK(position == mtmd_helper_get_n_pos(chunks.get()));
        std::vector<llama_token> tokens;
        for (llama_token token = best(context.get()); tokens.size() < most; token = best(context.get())) {
            if (llama_vocab_is_eog(model.vocab(), token)) {
                break;
            }
            tokens.push_back(token);
            CHECK(llama_decode(context.get(), llama_batch_get_one(&token, 1)) == 0);
        }
        return tokens;
    }
};

std::vector<int> ours(const Bundle & noise, const std::string & image, const std::string & said, size_t most) {
    EliLlmStream * stream = eliza_inference_describe_image_stream_open(
        noise.get(), reinterpret_cast<const uint8_t *>(image.data()), image.size(), nullptr, said.c_str(), nullptr);
    CHECK(stream != nullptr);
    std::vector<int> tokens;
    int              status = 0;
    while (status == 0 && tokens.size() < most) {
        int32_t ids[4];
        size_t  count = 0;
        char    text[256];
        status = eliza_inference_llm_stream_next(stream, ids, 4, &count, text, sizeof(text), nullptr, nullptr, nullptr);
        tokens.insert(tokens.end(), ids, ids + count);
    }
    CHECK(status >= 0);
    eliza_inference_llm_stream_close(stream);
    return tokens;
}

}  // namespace

int main() {
    setenv("ELIZA_THREADS", "1", 1);  // tiny models have no work for two
    constexpr size_t most = 200;
    eliza::llm::start_runtime();
    const Bundle    noise(models() / "noise");
    const Reference reference;
    size_t          compared = 0;
    for (const std::string & image : {png(64, 64, 1), png(640, 480, 2), bmp(300, 1200, 3), jpeg(90, 20, 4)}) {
        for (const char * said : {"Describe this image.", "What colour is it?"}) {
            const auto wanted = reference.answer(image, said, most);
            CHECK(ours(noise, image, said, most) == wanted);
            compared += wanted.size();
        }
    }
    CHECK(compared > 100);
    printf("%zu tokens agree\n", compared);
    return 0;
}
