#include "abi/assert_shield.h"

#include "abi/guard.h"
#include "ggml.h"

#include <cstdio>
#include <mutex>

namespace eliza {
namespace {

thread_local int shields = 0;

// "/where/it/was/built/clip.cpp:12: what" without the folders.
std::string without_folders(const std::string & message) {
    const size_t colon = message.find(": ");
    const size_t slash = message.rfind('/', colon);
    return slash == std::string::npos ? message : message.substr(slash + 1);
}

// An allocation whose result is only asserted.
bool is_about_memory(const std::string & message) {
    for (const char * word : {"mem_buffer", "alloc", "buffer != NULL"}) {
        if (message.find(word) != std::string::npos) {
            return true;
        }
    }
    return false;
}

void on_abort(const char * message) {
    if (shields > 0) {
        const int status = is_about_memory(message) ? ELIZA_ERR_OOM : ELIZA_ERR_FFI_FAULT;
        throw Failure(status, "the runtime refused: " + without_folders(message));
    }
    std::fprintf(stderr, "%s\n", message);  // the process ends behind this line
}

}  // namespace

AssertShield::AssertShield() {
    static std::once_flag once;
    std::call_once(once, [] { ggml_set_abort_callback(on_abort); });
    ++shields;
}

AssertShield::~AssertShield() {
    --shields;
}

}  // namespace eliza
