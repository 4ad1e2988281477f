#include "llm/runtime.h"

#include "ggml-backend.h"
#include "llama.h"
#include "log.h"
#include "mtmd-helper.h"

#include <mutex>

namespace eliza::llm {
namespace {

constexpr size_t max_kept_chars = 600;

thread_local std::string kept_errors;

void keep_errors(ggml_log_level level, const char * text, void * /*user_data*/) {
    if (level != GGML_LOG_LEVEL_ERROR || text == nullptr || kept_errors.size() >= max_kept_chars) {
        return;
    }
    std::string line(text);
    while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) {
        line.pop_back();
    }
    if (line.empty()) {
        return;
    }
    if (!kept_errors.empty()) {
        kept_errors += "; ";
    }
    kept_errors.append(line, 0, max_kept_chars);
}

}  // namespace

void start_runtime() {
    static std::once_flag once;
    std::call_once(once, [] {
        llama_log_set(keep_errors, nullptr);
        mtmd_helper_log_set(keep_errors, nullptr);
        // common's logger would start a printing thread of its own; below every level it never starts.
        common_log_set_verbosity_thold(-1);
        llama_backend_init();
    });
}

void forget_runtime_errors() noexcept {
    kept_errors.clear();
}

std::string explain(const std::string & what) {
    return kept_errors.empty() ? what : what + " (" + kept_errors + ")";
}

bool runtime_ran_out_of_memory() noexcept {
    return kept_errors.find("failed to allocate") != std::string::npos ||
           kept_errors.find("unable to allocate") != std::string::npos;
}

}  // namespace eliza::llm
