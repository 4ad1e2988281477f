// Which runtime serves a stream: the whole table, with factories that say what the test wants.
#include "backend/selector.h"

#include "check.h"

#include <cstdlib>
#include <filesystem>
#include <string>

using eliza::backend::select;
using eliza::backend::Selection;

namespace {

class SaidFactory final : public LlmBackendFactory {
  public:
    SaidFactory(const char * name, bool is_available, bool serves, int rank)
        : name_(name), is_available_(is_available), serves_(serves), rank_(rank) {}

    const char *        name() const override { return name_; }
    bool                available() const override { return is_available_; }
    bool                can_serve(const char * bundle_dir) const override { return serves_ && bundle_dir != nullptr; }
    int                 preference_rank() const override { return rank_; }
    LlmBackendSession * open(EliInferenceContext *, const eliza_llm_stream_config_t *, char **) override {
        return nullptr;
    }

  private:
    const char * name_;
    bool         is_available_;
    bool         serves_;
    int          rank_;
};

SaidFactory good("litert-lm", true, true, 10);
SaidFactory better("mlx-coreml", true, true, 20);
SaidFactory absent("absent", false, true, 30);
SaidFactory unserved("unserved", true, false, 40);
SaidFactory modest("modest", true, true, 0);

const std::vector<LlmBackendFactory *> all = {&good, &better, &absent, &unserved, &modest};

bool is_llama(const Selection & selection) {
    return selection.factory == nullptr && selection.refusal.empty();
}

bool is_refused(const Selection & selection, const std::string & name) {
    return selection.factory == nullptr && selection.refusal.find("'" + name + "'") != std::string::npos;
}

void a_name_that_cannot_be_honoured_is_refused() {
    CHECK(is_refused(select(all, "absent", "b"), "absent"));
    CHECK(is_refused(select(all, "unserved", "b"), "unserved"));
    CHECK(is_refused(select(all, "npu", "b"), "npu"));
    CHECK(is_refused(select({}, "litert-lm", "b"), "litert-lm"));
    CHECK(is_refused(select(all, " llama.cpp", "b"), " llama.cpp"));
}

void a_name_that_can_be_honoured_wins_over_rank() {
    CHECK(select(all, "litert-lm", "b").factory == &good);
    CHECK(select(all, "LiteRT-LM", "b").factory == &good);
    CHECK(select(all, "modest", "b").factory == &modest);
    for (const char * name : {"llama.cpp", "llamacpp", "LLAMA.CPP"}) {
        CHECK(is_llama(select(all, name, "b")));
    }
}

void without_a_name_the_highest_usable_rank_wins() {
    CHECK(select(all, "", "b").factory == &better);
    CHECK(select({&good, &absent, &unserved}, "", "b").factory == &good);
    CHECK(is_llama(select({&absent, &unserved}, "", "b")));
    CHECK(is_llama(select({&modest}, "", "b")));  // rank 0 is llama.cpp's own
    CHECK(is_llama(select({}, "", "b")));
}

void registering_twice_is_once() {
    const size_t before = eliza::backend::registered().size();
    llm_backend_register(&modest);
    llm_backend_register(&modest);
    llm_backend_register(nullptr);
    CHECK(eliza::backend::registered().size() == before + 1);
}

void the_environment_names_it() {
    char * message = nullptr;
    setenv("ELIZA_LLM_BACKEND", "mlx-coreml", 1);
    CHECK(llm_backend_select("b", nullptr, &message) == nullptr && message != nullptr);
    eliza_inference_free_string(message);
    message = nullptr;
    setenv("ELIZA_LLM_BACKEND", "modest", 1);
    CHECK(llm_backend_select("b", nullptr, &message) == &modest && message == nullptr);
    unsetenv("ELIZA_LLM_BACKEND");
    CHECK(llm_backend_select("b", nullptr, &message) == nullptr && message == nullptr);
}

LlmBackendFactory * registered_as(const std::string & name) {
    LlmBackendFactory * found = nullptr;
    for (LlmBackendFactory * factory : eliza::backend::registered()) {
        CHECK(found == nullptr || factory->name() != name);
        found = factory->name() == name ? factory : found;
    }
    return found;
}

// A runtime whose gate is on is in the table, recognises its artifact, says that this host cannot run it, and leaves
// the stream to llama.cpp; naming it is an error, and so is opening it all the same.
void a_gated_runtime_tells_the_truth(const char * name, const char * artifact, bool is_on) {
    llm_backend_register_builtins();
    llm_backend_register_builtins();
    LlmBackendFactory * factory = registered_as(name);
    CHECK((factory != nullptr) == is_on);
    if (!is_on) {
        return;
    }
    const auto folder = std::filesystem::temp_directory_path() / ("eliza-seam-" + std::string(name));
    std::filesystem::remove_all(folder);
    CHECK(!factory->available() && !factory->can_serve(folder.u8string().c_str()) && !factory->can_serve(nullptr));
    std::filesystem::create_directories(folder / "text" / artifact);
    CHECK(factory->can_serve(folder.u8string().c_str()) && factory->preference_rank() > 0);
    char * message = nullptr;
    CHECK(llm_backend_select(folder.u8string().c_str(), nullptr, &message) == nullptr && message == nullptr);
    setenv("ELIZA_LLM_BACKEND", name, 1);
    CHECK(llm_backend_select(folder.u8string().c_str(), nullptr, &message) == nullptr);
    CHECK(message != nullptr && std::string(message).find("not available") != std::string::npos);
    unsetenv("ELIZA_LLM_BACKEND");
    eliza_inference_free_string(message);
    message = nullptr;
    CHECK(factory->open(nullptr, nullptr, &message) == nullptr && message != nullptr);
    eliza_inference_free_string(message);
    std::filesystem::remove_all(folder);
}

void gated_runtimes_tell_the_truth() {
#ifdef ELIZA_ENABLE_LITERT
    a_gated_runtime_tells_the_truth("litert-lm", "gemma.litertlm", true);
#else
    a_gated_runtime_tells_the_truth("litert-lm", "", false);
#endif
#ifdef ELIZA_ENABLE_MLX
    a_gated_runtime_tells_the_truth("mlx-coreml", "text.mlpackage", true);
#else
    a_gated_runtime_tells_the_truth("mlx-coreml", "", false);
#endif
}

}  // namespace

int main() {
    gated_runtimes_tell_the_truth();
    a_name_that_cannot_be_honoured_is_refused();
    a_name_that_can_be_honoured_wins_over_rank();
    without_a_name_the_highest_usable_rank_wins();
    registering_twice_is_once();
    the_environment_names_it();
    return 0;
}
