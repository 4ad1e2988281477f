// What a stream remembers beyond itself: slot files, prompts of earlier streams by key, and going back further than
// a sliding window. Refusals first; every road to the same prompt must give the same answer.
#include "llm/prompt_cache.h"
#include "streams.h"

using namespace tests;

namespace {

std::vector<int> many_tokens(int count, int seed) {
    std::vector<int> ids(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
        ids[static_cast<size_t>(i)] = 11 + (i * 37 + seed * 101) % 250;
    }
    return ids;
}

eliza_llm_stream_config_t roomy() {
    auto settings         = config();
    settings.context_size = 2048;
    settings.max_tokens   = 24;
    return settings;
}

std::string slot_file(const char * name) {
    return (fs::temp_directory_path() / ("eliza-slots-test-" + std::to_string(std::rand()) + name)).u8string();
}

struct Removed {
    std::string path;
    ~Removed() { fs::remove(fs::u8path(path)); }
};

int save(Stream & stream, const std::string & path) {
    return eliza_inference_llm_stream_save_slot(stream.get(), path.c_str(), nullptr);
}

int restore(Stream & stream, const std::string & path, Said * said = nullptr) {
    return eliza_inference_llm_stream_restore_slot(stream.get(), path.c_str(), said == nullptr ? nullptr : &said->text);
}

std::vector<char> bytes_of(const std::string & path) {
    std::ifstream in(fs::u8path(path), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write(const std::string & path, const std::vector<char> & bytes) {
    std::ofstream(fs::u8path(path), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

int reused(Stream & stream) {
    return eliza_inference_llm_stream_tokens_reused(stream.get());
}

Answer answer_to(const Bundle & bundle, const eliza_llm_stream_config_t & settings, const std::vector<int> & prompt,
                 int * kept = nullptr) {
    Stream stream(bundle, settings);
    CHECK(stream.prefill(prompt) == ELIZA_OK);
    if (kept != nullptr) {
        *kept = reused(stream);
    }
    return stream.all();
}

// The model answers noise, sometimes at once with the end; this finds a prompt with a longer answer.
std::vector<int> talkative_prompt(const Bundle & noise, const eliza_llm_stream_config_t & settings) {
    for (int seed = 0; seed < 100; ++seed) {
        if (answer_to(noise, settings, many_tokens(300, seed)).tokens.size() >= 16) {
            return many_tokens(300, seed);
        }
    }
    CHECK(!"no prompt has a long answer");
    return {};
}

void an_empty_stream_has_nothing_to_save(const Bundle & noise) {
    Stream        stream(noise, roomy());
    const Removed file = {slot_file("empty")};
    CHECK(save(stream, file.path) == ELIZA_ERR_INVALID_ARG);
    CHECK(!fs::exists(fs::u8path(file.path)));
    CHECK(eliza_inference_llm_stream_save_slot(stream.get(), nullptr, nullptr) == ELIZA_ERR_INVALID_ARG);
    CHECK(eliza_inference_llm_stream_save_slot(stream.get(), "", nullptr) == ELIZA_ERR_INVALID_ARG);
}

void a_folder_that_is_not_there_is_a_fault(const Bundle & noise) {
    Stream stream(noise, roomy());
    CHECK(stream.prefill(many_tokens(30, 1)) == ELIZA_OK);
    CHECK(save(stream, "/nonexistent-folder/slot") == ELIZA_ERR_FFI_FAULT);
    CHECK(restore(stream, "/nonexistent-folder/slot") == ELIZA_ERR_INVALID_ARG);
    CHECK(stream.all().status == 1);  // neither hurt the stream
}

// A stream that was saved in the middle of its answer goes on as if it had never stopped.
void a_restored_stream_goes_on(const Bundle & noise, const eliza_llm_stream_config_t & settings) {
    const std::vector<int> prompt   = talkative_prompt(noise, settings);
    const Answer           expected = answer_to(noise, settings, prompt);

    const Removed file = {slot_file("middle")};
    Answer        begun;
    {
        Stream stream(noise, settings);
        CHECK(stream.prefill(prompt) == ELIZA_OK);
        while (begun.tokens.size() < 5) {
            CHECK(stream.step(begun) == 0);
        }
        CHECK(save(stream, file.path) == ELIZA_OK);
    }
    Stream stream(noise, settings);
    CHECK(restore(stream, file.path) == ELIZA_OK);
    while (begun.tokens.size() < expected.tokens.size() && stream.step(begun) == 0) {
    }
    begun.tokens.resize(expected.tokens.size());
    CHECK(begun.tokens == expected.tokens);
}

void a_prompt_saved_before_its_first_step_answers_too(const Bundle & noise) {
    Stream stream(noise, roomy());
    CHECK(stream.prefill(many_tokens(200, 3)) == ELIZA_OK);
    const Removed file = {slot_file("prompt")};
    CHECK(save(stream, file.path) == ELIZA_OK);
    const Answer expected = stream.all();
    CHECK(restore(stream, file.path) == ELIZA_OK);  // over an answer that is done
    CHECK(stream.all().tokens == expected.tokens);
}

void a_slot_file_is_the_owners_alone(const Bundle & noise) {
#if !defined(_WIN32)
    Stream stream(noise, roomy());
    CHECK(stream.prefill(many_tokens(30, 1)) == ELIZA_OK);
    const Removed file = {slot_file("rights")};
    CHECK(save(stream, file.path) == ELIZA_OK);
    CHECK(save(stream, file.path) == ELIZA_OK);  // over the old one
    CHECK(fs::status(fs::u8path(file.path)).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    CHECK(!fs::exists(fs::u8path(file.path + ".part")));
#else
    (void)noise;
#endif
}

void damaged_files_are_refused(const Bundle & noise) {
    Stream stream(noise, roomy());
    CHECK(stream.prefill(many_tokens(40, 4)) == ELIZA_OK);
    const Removed file = {slot_file("damaged")};
    CHECK(save(stream, file.path) == ELIZA_OK);
    const std::vector<char> good = bytes_of(file.path);
    for (size_t at = 0; at < good.size(); at += at < 200 ? 1 : 997) {
        std::vector<char> bad = good;
        bad[at]               = static_cast<char>(bad[at] ^ 0x41);
        write(file.path, bad);
        CHECK(restore(stream, file.path) == ELIZA_ERR_INVALID_ARG);
    }
    for (const size_t size : {size_t{0}, size_t{7}, size_t{71}, size_t{72}, good.size() / 2, good.size() - 1}) {
        write(file.path, {good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)});
        CHECK(restore(stream, file.path) == ELIZA_ERR_INVALID_ARG);
    }
    std::vector<char> longer = good;
    longer.push_back(0);
    write(file.path, longer);
    CHECK(restore(stream, file.path) == ELIZA_ERR_INVALID_ARG);
    write(file.path, good);
    CHECK(restore(stream, file.path) == ELIZA_OK);
}

void a_slot_of_another_model_or_type_is_refused(const Bundle & noise, const Bundle & sure) {
    const Removed file = {slot_file("foreign")};
    {
        Stream stream(noise, roomy());
        CHECK(stream.prefill(many_tokens(40, 5)) == ELIZA_OK);
        CHECK(save(stream, file.path) == ELIZA_OK);
    }
    Said   said;
    Stream other(sure, roomy());
    CHECK(restore(other, file.path, &said) == ELIZA_ERR_INVALID_ARG && said.has("another model"));
    auto wide         = roomy();
    wide.cache_type_k = "f32";
    Stream typed(noise, wide);
    CHECK(restore(typed, file.path) == ELIZA_ERR_INVALID_ARG);
    auto tight         = roomy();
    tight.context_size = 16;
    Stream narrow(noise, tight);
    CHECK(restore(narrow, file.path) == ELIZA_ERR_INVALID_ARG);
    CHECK(narrow.prefill(many_tokens(5, 1)) == ELIZA_OK);
}

void the_same_key_reads_a_prompt_once(const Bundle & noise) {
    const std::vector<int> prompt   = many_tokens(300, 6);
    const Answer           expected = answer_to(noise, roomy(), prompt);
    auto                   keyed    = roomy();
    keyed.prompt_cache_key          = "kitchen";
    int kept                        = -1;
    CHECK(answer_to(noise, keyed, prompt, &kept).tokens == expected.tokens && kept == 0);
    CHECK(answer_to(noise, keyed, prompt, &kept).tokens == expected.tokens);
    CHECK(kept == 299);  // the last one is read for its logits
    keyed.slot_id = 2;
    CHECK(answer_to(noise, keyed, prompt, &kept).tokens == expected.tokens && kept == 0);
    keyed.prompt_cache_key = "hall";
    keyed.slot_id          = -1;
    CHECK(answer_to(noise, keyed, prompt, &kept).tokens == expected.tokens && kept == 0);
    CHECK(answer_to(noise, roomy(), prompt, &kept).tokens == expected.tokens && kept == 0);
}

void a_longer_talk_reads_only_what_is_new(const Bundle & noise) {
    auto keyed             = roomy();
    keyed.slot_id          = 0;
    std::vector<int> talk  = many_tokens(200, 7);
    const Answer     first = answer_to(noise, keyed, talk);
    talk.insert(talk.end(), first.tokens.begin(), first.tokens.end());
    const std::vector<int> more = many_tokens(30, 8);
    talk.insert(talk.end(), more.begin(), more.end());
    const Answer expected = answer_to(noise, roomy(), talk);
    int          kept     = 0;
    CHECK(answer_to(noise, keyed, talk, &kept).tokens == expected.tokens);
    CHECK(kept >= 199 + static_cast<int>(first.tokens.size()));  // all but the last token of the answer
}

void another_prompt_under_the_key_starts_over(const Bundle & noise) {
    auto keyed             = roomy();
    keyed.prompt_cache_key = "study";
    answer_to(noise, keyed, many_tokens(100, 9));
    const std::vector<int> other    = many_tokens(100, 10);
    const Answer           expected = answer_to(noise, roomy(), other);
    int                    kept     = -1;
    CHECK(answer_to(noise, keyed, other, &kept).tokens == expected.tokens && kept == 0);
}

void eviction_forgets_the_prompts() {
    const Bundle noise(models() / "noise");
    auto         keyed     = roomy();
    keyed.prompt_cache_key = "attic";
    {
        Stream open(noise, keyed);
        CHECK(open.prefill(many_tokens(100, 11)) == ELIZA_OK);
        CHECK(eliza_inference_mmap_evict(noise.get(), "text", nullptr) == ELIZA_OK);
    }  // closed while the region is evicted: nothing of it may stay
    CHECK(eliza_inference_mmap_acquire(noise.get(), "text", nullptr) == ELIZA_OK);
    int kept = -1;
    answer_to(noise, keyed, many_tokens(100, 11), &kept);
    CHECK(kept == 0);
}

void bad_keys_and_slots_are_refused(const Bundle & noise) {
    auto settings    = roomy();
    settings.slot_id = -2;
    CHECK(eliza_inference_llm_stream_open(noise.get(), &settings, nullptr) == nullptr);
    const std::string endless(1025, 'k');
    settings                  = roomy();
    settings.prompt_cache_key = endless.c_str();
    CHECK(eliza_inference_llm_stream_open(noise.get(), &settings, nullptr) == nullptr);
    CHECK(eliza_inference_last_status() == ELIZA_ERR_INVALID_ARG);
}

eliza::llm::Slot slot_of(size_t bytes) {
    eliza::llm::Slot slot;
    slot.state.resize(bytes);
    return slot;
}

void the_prompt_cache_keeps_to_its_bytes() {
    eliza::llm::PromptCache cache(100);
    cache.park("a", slot_of(40));
    cache.park("b", slot_of(40));
    CHECK(cache.find("a") != nullptr);  // now the younger of the two
    cache.park("c", slot_of(40));
    CHECK(cache.find("b") == nullptr && cache.find("a") != nullptr && cache.size_bytes() == 80);
    cache.park("a", slot_of(60));
    CHECK(cache.find("c") != nullptr && cache.size_bytes() == 100);
    cache.park("d", slot_of(101));
    CHECK(cache.find("d") == nullptr && cache.size_bytes() == 100);
    cache.shut();
    cache.park("e", slot_of(1));
    CHECK(cache.size_bytes() == 0);
    cache.open();
    cache.park("e", slot_of(1));
    CHECK(cache.find("e") != nullptr);
}

// The window has moved on by hundreds of tokens, the copy taken at the end of the first prompt has not.
void a_stream_goes_back_to_the_end_of_an_earlier_prompt(const Bundle & noise) {
    auto settings                 = roomy();
    settings.max_tokens           = 4;
    const std::vector<int> first  = many_tokens(400, 12);
    std::vector<int>       second = first;
    const std::vector<int> other  = many_tokens(90, 13);
    second.insert(second.end(), other.begin(), other.end());
    const Answer expected = answer_to(noise, settings, second);

    Stream stream(noise, settings);
    CHECK(stream.prefill(first) == ELIZA_OK);
    stream.all();
    CHECK(stream.prefill(many_tokens(1200, 14)) == ELIZA_OK);
    CHECK(eliza_inference_llm_stream_reset_keep(stream.get(), 450) == 400);
    CHECK(stream.prefill(other) == ELIZA_OK);
    CHECK(stream.all().tokens == expected.tokens);
}

}  // namespace

int main() {
    const Bundle noise(models() / "noise");
    const Bundle sure(models() / "sure");
    an_empty_stream_has_nothing_to_save(noise);
    a_folder_that_is_not_there_is_a_fault(noise);
    a_restored_stream_goes_on(noise, roomy());
    auto              speculative = roomy();
    const std::string drafter     = (models() / "noise" / "mtp" / "drafter-2b.gguf").u8string();
    speculative.mtp_drafter_path  = drafter.c_str();
    speculative.draft_max         = 3;
    a_restored_stream_goes_on(noise, speculative);
    a_prompt_saved_before_its_first_step_answers_too(noise);
    a_slot_file_is_the_owners_alone(noise);
    damaged_files_are_refused(noise);
    a_slot_of_another_model_or_type_is_refused(noise, sure);
    the_same_key_reads_a_prompt_once(noise);
    a_longer_talk_reads_only_what_is_new(noise);
    another_prompt_under_the_key_starts_over(noise);
    eviction_forgets_the_prompts();
    bad_keys_and_slots_are_refused(noise);
    the_prompt_cache_keeps_to_its_bytes();
    a_stream_goes_back_to_the_end_of_an_earlier_prompt(noise);
    return 0;
}
