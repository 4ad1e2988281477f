#include "sight/projector.h"

#include "abi/guard.h"
#include "llm/runtime.h"
#include "llm/threads.h"

namespace eliza::sight {
namespace {

// After so many graph nodes the runtime asks whether to go on: often enough to stop within milliseconds, seldom
// enough to cost nothing.
constexpr int nodes_between_questions = 16;

}  // namespace

Projector::Projector(const std::filesystem::path & path, std::shared_ptr<llm::TextModel> model)
    : path_(path), model_(std::move(model)) {
    const ProjectorFacts facts = read_projector_facts(path);
    const int            width = llama_model_n_embd(model_->get());
    if (facts.width != width) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID, "the projector '" + path.u8string() +
                                                    "' is made for a model of width " + std::to_string(facts.width) +
                                                    ", this one has " + std::to_string(width));
    }
    load();
}

void Projector::load() {
    mtmd_context_params params = mtmd_context_params_default();
    params.print_timings       = false;
    params.n_threads           = llm::cpu_threads();
    params.cb_eval             = on_node;
    params.cb_eval_user_data   = this;
    llm::forget_runtime_errors();
    {
        context_.reset(mtmd_init_from_file(path_.u8string().c_str(), model_->get(), params));
    }
    if (context_ == nullptr) {
        const int status = llm::runtime_ran_out_of_memory() ? ELIZA_ERR_OOM : ELIZA_ERR_BUNDLE_INVALID;
        throw Failure(status, llm::explain("cannot load the projector '" + path_.u8string() + "'"));
    }
}

// The runtime's question before a node (is a stop wanted after it?) and after those that were answered with yes.
bool Projector::on_node(ggml_tensor * /*node*/, bool ask, void * self) {
    auto *     projector = static_cast<Projector *>(self);
    const auto flag      = projector->cancelled_;
    const bool is_over   = flag != nullptr && flag->load(std::memory_order_relaxed);
    if (!ask) {
        return !is_over;
    }
    return is_over || ++projector->asked_ % nodes_between_questions == 0;
}

float * Projector::encode_locked(const mtmd_input_chunk * chunk, const std::atomic<bool> & cancelled) {
    llm::forget_runtime_errors();
    cancelled_       = &cancelled;
    const int status = mtmd_encode_chunk(get(), chunk);
    cancelled_       = nullptr;
    if (cancelled.load(std::memory_order_relaxed)) {
        throw Failure(ELIZA_ERR_CANCELLED, "cancelled while looking or listening");
    }
    if (status != 0) {
        const int failure = llm::runtime_ran_out_of_memory() ? ELIZA_ERR_OOM : ELIZA_ERR_FFI_FAULT;
        throw Failure(failure, llm::explain("the projector failed"));
    }
    return mtmd_get_output_embd(get());
}

}  // namespace eliza::sight
