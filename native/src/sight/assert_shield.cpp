#include "sight/assert_shield.h"

#include "abi/guard.h"
#include "ggml.h"

#include <cstdio>
#include <mutex>

namespace eliza::sight {
namespace {

thread_local int shields = 0;

// "/where/it/was/built/clip.cpp:12: what" without the folders.
std::string without_folders(const std::string & message) {
    const size_t colon = message.find(": ");
    const size_t slash = message.rfind('/', colon);
    return slash == std::string::npos ? message : message.substr(slash + 1);
}

void on_abort(const char * message) {
    if (shields > 0) {
        throw Failure(ELIZA_ERR_FFI_FAULT, "the runtime refused: " + without_folders(message));
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

}  // namespace eliza::sight
