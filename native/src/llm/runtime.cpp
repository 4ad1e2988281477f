#include "llm/runtime.h"

#include "ggml-backend.h"
#include "llama.h"
#include "log.h"
#include "mtmd-helper.h"

#include <filesystem>
#include <mutex>

#if defined(ELIZA_DYNAMIC_BACKENDS)
#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif
#endif

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

#if defined(ELIZA_DYNAMIC_BACKENDS)
// The folder that this library was loaded from; its backends lie there too, and nowhere else are any looked for.
std::filesystem::path own_folder() {
#if defined(_WIN32)
    HMODULE            module = nullptr;
    std::wstring       name(32768, L'\0');
    constexpr unsigned flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    if (GetModuleHandleExW(flags, reinterpret_cast<LPCWSTR>(&own_folder), &module) == 0) {
        return {};
    }
    name.resize(GetModuleFileNameW(module, name.data(), static_cast<DWORD>(name.size())));
    return std::filesystem::path(name).parent_path();
#else
    Dl_info found = {};
    return dladdr(reinterpret_cast<void *>(&own_folder), &found) != 0
               ? std::filesystem::path(found.dli_fname).parent_path()
               : std::filesystem::path();
#endif
}

void load_backends() {
    ggml_backend_load_all_from_path(own_folder().u8string().c_str());
}
#else
void load_backends() {}  // they are part of this file
#endif

}  // namespace

void start_runtime() {
    static std::once_flag once;
    std::call_once(once, [] {
        llama_log_set(keep_errors, nullptr);
        mtmd_helper_log_set(keep_errors, nullptr);
        // common's logger would start a printing thread of its own; below every level it never starts.
        common_log_set_verbosity_thold(-1);
        load_backends();
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
    for (const char * word :
         {"failed to allocate", "unable to allocate", "bad_alloc", "Cannot allocate memory", "mem_buffer"}) {
        if (kept_errors.find(word) != std::string::npos) {
            return true;
        }
    }
    return false;
}

}  // namespace eliza::llm
