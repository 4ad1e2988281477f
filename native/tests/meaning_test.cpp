// Vectors and end-of-turn scores through the C border: refusals first, then the same figures as llama.cpp itself
// gives when it is asked directly.
#include "llama-cpp.h"
#include "streams.h"

#include <algorithm>
#include <cmath>

using namespace tests;

namespace {

constexpr int width = 64;  // of the tiny model
// A chance near one half moves by up to 8e-4 here when the same tokens come in other batches: the cache is f16.
constexpr double close_enough = 2e-3;

struct Vector {
    int                status = 0;
    int                dim    = -1;
    std::vector<float> values;
};

Vector embed(const Bundle & bundle, const std::string & text, int pooling, int dimensions = 0, size_t room = width) {
    Vector result;
    result.values.resize(room);
    result.status = dimensions == 0
                        ? eliza_inference_embed(bundle.get(), text.data(), text.size(), pooling, result.values.data(),
                                                room, &result.dim, nullptr)
                        : eliza_inference_embed_cut(bundle.get(), text.data(), text.size(), pooling, dimensions,
                                                    result.values.data(), room, &result.dim, nullptr);
    return result;
}

double length_of(const std::vector<float> & vector, size_t count) {
    double sum = 0.0;
    for (size_t i = 0; i < count; ++i) {
        sum += static_cast<double>(vector[i]) * vector[i];
    }
    return std::sqrt(sum);
}

double farthest(const std::vector<float> & a, const std::vector<float> & b) {
    double most = 0.0;
    for (size_t i = 0; i < a.size(); ++i) {
        most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]));
    }
    return most;
}

void bad_questions_are_refused(const Bundle & noise) {
    CHECK(embed(noise, "word", ELIZA_POOLING_NONE).status == ELIZA_ERR_INVALID_ARG);
    CHECK(embed(noise, "word", 4).status == ELIZA_ERR_INVALID_ARG);
    const Vector tight = embed(noise, "word", ELIZA_POOLING_LAST, 0, width - 1);
    CHECK(tight.status == ELIZA_ERR_INVALID_ARG && tight.dim == width);
    CHECK(embed(noise, "word", ELIZA_POOLING_LAST, width + 1, 2 * width).status == ELIZA_ERR_INVALID_ARG);
    CHECK(embed(noise, "word", ELIZA_POOLING_LAST, -3).status == ELIZA_ERR_INVALID_ARG);
    CHECK(embed(noise, std::string(40000, 'x'), ELIZA_POOLING_MEAN).status == ELIZA_ERR_INVALID_ARG);
    int dim = 0;
    CHECK(eliza_inference_embed(noise.get(), nullptr, 3, ELIZA_POOLING_MEAN, nullptr, 0, &dim, nullptr) ==
          ELIZA_ERR_INVALID_ARG);
    CHECK(eliza_inference_embed(nullptr, "x", 1, ELIZA_POOLING_MEAN, nullptr, 0, &dim, nullptr) ==
          ELIZA_ERR_INVALID_ARG);
}

// llama.cpp pools by itself when a context is made for it.
std::vector<float> pooled_by_llama(const Bundle & bundle, llama_model * model, const std::string & text,
                                   enum llama_pooling_type pooling) {
    std::vector<int>     tokens = bundle.tokens(text);
    llama_context_params params = llama_context_default_params();
    params.n_ctx                = 1024;
    params.n_batch              = 1024;
    params.n_ubatch             = 1024;
    params.embeddings           = true;
    params.pooling_type         = pooling;
    const llama_context_ptr context(llama_init_from_model(model, params));
    CHECK(context != nullptr);
    CHECK(llama_decode(context.get(), llama_batch_get_one(tokens.data(), static_cast<int32_t>(tokens.size()))) == 0);
    const float *      row = llama_get_embeddings_seq(context.get(), 0);
    std::vector<float> vector(row, row + width);
    const double       length = length_of(vector, width);
    for (float & x : vector) {
        x = static_cast<float>(x / length);
    }
    return vector;
}

void vectors_are_those_of_llama_itself(const Bundle & noise) {
    const std::string     file = (models() / "noise" / "text" / "text.gguf").u8string();
    const llama_model_ptr model(llama_model_load_from_file(file.c_str(), llama_model_default_params()));
    CHECK(model != nullptr);
    const std::string longer(700, 'q');  // more than one batch here, one batch there
    for (const std::string & text : {std::string("a"), std::string("The kettle is on."), longer}) {
        const Vector last = embed(noise, text, ELIZA_POOLING_LAST);
        const Vector mean = embed(noise, text, ELIZA_POOLING_MEAN);
        const Vector cls  = embed(noise, text, ELIZA_POOLING_CLS);
        CHECK(last.status == ELIZA_OK && last.dim == width && std::abs(length_of(last.values, width) - 1.0) < 1e-5);
        CHECK(farthest(last.values, pooled_by_llama(noise, model.get(), text, LLAMA_POOLING_TYPE_LAST)) < 1e-4);
        CHECK(farthest(mean.values, pooled_by_llama(noise, model.get(), text, LLAMA_POOLING_TYPE_MEAN)) < 1e-4);
        CHECK(farthest(cls.values, pooled_by_llama(noise, model.get(), text, LLAMA_POOLING_TYPE_CLS)) < 1e-4);
    }
}

void a_cut_vector_is_the_beginning_of_the_whole(const Bundle & noise) {
    const Vector whole = embed(noise, "one text", ELIZA_POOLING_MEAN);
    const Vector cut   = embed(noise, "one text", ELIZA_POOLING_MEAN, 16, 16);
    CHECK(cut.status == ELIZA_OK && cut.dim == 16 && std::abs(length_of(cut.values, 16) - 1.0) < 1e-5);
    const double scale = length_of(whole.values, 16);
    for (size_t i = 0; i < 16; ++i) {
        CHECK(std::abs(cut.values[i] - whole.values[i] / scale) < 1e-5);
    }
    CHECK(farthest(embed(noise, "one text", ELIZA_POOLING_MEAN, width).values, whole.values) < 1e-6);
}

fs::path copied(const char * from, const char * name) {
    const fs::path to = fs::temp_directory_path() / ("eliza-meaning-test-" + std::to_string(std::rand()) + name);
    fs::copy(models() / from, to, fs::copy_options::recursive);
    return to;
}

void a_model_of_its_own_comes_first() {
    const fs::path folder = copied("noise", "own");
    fs::create_directory(folder / "embedding");
    {
        const Bundle bundle(folder);
        CHECK(embed(bundle, "word", ELIZA_POOLING_LAST).status == ELIZA_ERR_BUNDLE_INVALID);  // an empty folder
        fs::copy(models() / "sure" / "text" / "text.gguf", folder / "embedding" / "own.gguf");
        const Bundle sure(models() / "sure");
        const Bundle noise(models() / "noise");
        const Vector own = embed(bundle, "word", ELIZA_POOLING_MEAN);
        CHECK(own.status == ELIZA_OK);
        CHECK(farthest(own.values, embed(sure, "word", ELIZA_POOLING_MEAN).values) < 1e-6);
        CHECK(farthest(own.values, embed(noise, "word", ELIZA_POOLING_MEAN).values) > 1e-2);
        // and does not need the text model
        CHECK(eliza_inference_mmap_evict(bundle.get(), "text", nullptr) == ELIZA_OK);
        CHECK(embed(bundle, "word", ELIZA_POOLING_MEAN).status == ELIZA_OK);
        CHECK(eliza_inference_mmap_evict(bundle.get(), "embedding", nullptr) == ELIZA_OK);
        CHECK(embed(bundle, "word", ELIZA_POOLING_MEAN).status == ELIZA_ERR_INVALID_ARG);
        CHECK(eliza_inference_mmap_acquire(bundle.get(), "embedding", nullptr) == ELIZA_OK);
        CHECK(embed(bundle, "word", ELIZA_POOLING_MEAN).status == ELIZA_OK);
    }
    fs::remove_all(folder);
}

void an_evicted_text_model_gives_no_vector() {
    const Bundle noise(models() / "noise");
    CHECK(embed(noise, "word", ELIZA_POOLING_MEAN).status == ELIZA_OK);
    CHECK(eliza_inference_mmap_evict(noise.get(), "text", nullptr) == ELIZA_OK);
    CHECK(embed(noise, "word", ELIZA_POOLING_MEAN).status == ELIZA_ERR_INVALID_ARG);
    const int id          = 5;
    float     probability = 0.0f;
    CHECK(eliza_inference_llm_eot_score(noise.get(), &id, 1, 1, &probability, nullptr, nullptr, nullptr) ==
          ELIZA_ERR_INVALID_ARG);
    CHECK(eliza_inference_mmap_acquire(noise.get(), "text", nullptr) == ELIZA_OK);
    CHECK(embed(noise, "word", ELIZA_POOLING_MEAN).status == ELIZA_OK);
}

struct Score {
    int     status = 0;
    float   target = -1.0f;
    int32_t top    = -1;
    float   best   = -1.0f;
};

Score score(const Bundle & bundle, const std::vector<int> & ids, int target) {
    Score result;
    result.status = eliza_inference_llm_eot_score(bundle.get(), ids.data(), ids.size(), target, &result.target,
                                                  &result.top, &result.best, nullptr);
    return result;
}

void scores_of_nothing_are_refused(const Bundle & noise) {
    CHECK(score(noise, {}, 1).status == ELIZA_ERR_INVALID_ARG);
    CHECK(score(noise, {5}, -1).status == ELIZA_ERR_INVALID_ARG);
    CHECK(score(noise, {5}, 1 << 30).status == ELIZA_ERR_INVALID_ARG);
    CHECK(score(noise, {1 << 30}, 1).status == ELIZA_ERR_INVALID_ARG);
    CHECK(score(noise, {5}, 1).status == ELIZA_OK);  // none of that hurt it
}

// Every token's chance, from llama.cpp itself.
std::vector<double> chances(llama_model * model, std::vector<int> ids) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx                = 2048;
    params.n_batch              = 2048;
    params.n_ubatch             = 2048;
    const llama_context_ptr context(llama_init_from_model(model, params));
    CHECK(llama_decode(context.get(), llama_batch_get_one(ids.data(), static_cast<int32_t>(ids.size()))) == 0);
    const float *       logits = llama_get_logits_ith(context.get(), -1);
    const int           count  = llama_vocab_n_tokens(llama_model_get_vocab(model));
    std::vector<double> chance(logits, logits + count);
    double              sum = 0.0;
    for (double & x : chance) {
        sum += x = std::exp(x);
    }
    for (double & x : chance) {
        x /= sum;
    }
    return chance;
}

void scores_are_those_of_llama_itself(const Bundle & noise) {
    const std::string     file = (models() / "noise" / "text" / "text.gguf").u8string();
    const llama_model_ptr model(llama_model_load_from_file(file.c_str(), llama_model_default_params()));
    std::vector<int>      growing;
    for (int i = 0; i < 40; ++i) {  // grows, and now and then takes words back, as recognised speech does
        growing.push_back(11 + i * 7 % 200);
        if (i % 9 == 8) {
            growing.resize(growing.size() - 4);
        }
        const Score result = score(noise, growing, 20);
        const auto  chance = chances(model.get(), growing);
        const auto  top    = std::max_element(chance.begin(), chance.end());
        CHECK(result.status == ELIZA_OK);
        CHECK(std::abs(result.target - chance[20]) < close_enough);
        CHECK(result.top == top - chance.begin() && std::abs(result.best - *top) < close_enough);
    }
}

void only_the_end_of_a_long_talk_counts(const Bundle & noise) {
    std::vector<int> talk(3000);
    for (size_t i = 0; i < talk.size(); ++i) {
        talk[i] = 11 + static_cast<int>(i * 13 % 200);
    }
    const Score whole = score(noise, talk, 20);
    const Score tail  = score(noise, {talk.end() - 1024, talk.end()}, 20);
    CHECK(whole.status == ELIZA_OK && whole.top == tail.top && std::abs(whole.target - tail.target) < 1e-5);
}

}  // namespace

int main() {
    const Bundle noise(models() / "noise");
    bad_questions_are_refused(noise);
    vectors_are_those_of_llama_itself(noise);
    a_cut_vector_is_the_beginning_of_the_whole(noise);
    a_model_of_its_own_comes_first();
    an_evicted_text_model_gives_no_vector();
    scores_of_nothing_are_refused(noise);
    scores_are_those_of_llama_itself(noise);
    only_the_end_of_a_long_talk_counts(noise);
    return 0;
}
