// The border: exceptions stop here, statuses and error strings are made here.
#pragma once

#include "abi/assert_shield.h"
#include "abi/process.h"
#include "eliza/inference.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace eliza {

// A failure that already knows its ABI status.
class Failure : public std::runtime_error {
  public:
    Failure(int status, const std::string & message) : std::runtime_error(message), status_(status) {}
    int status() const noexcept { return status_; }

  private:
    int status_;
};

// Writes a malloc'ed copy of `message` to `out_error`, where the caller wants one.
inline void set_error(char ** out_error, const char * message) noexcept {
    if (out_error == nullptr) {
        return;
    }
    const size_t size = std::strlen(message) + 1;
    *out_error        = static_cast<char *>(std::malloc(size));
    if (*out_error != nullptr) {
        std::memcpy(*out_error, message, size);
    }
}

// Runs `body` (returning int) and turns everything thrown into a status and a message.
template <typename Body> int guarded(char ** out_error, Body && body) noexcept {
    try {
        const AssertShield shield;
        if (is_forked_child()) {
            throw Failure(ELIZA_ERR_FFI_FAULT, "the process was forked after the library had started; start a new "
                                               "program, or open the bundle after the fork");
        }
        return body();
    } catch (const Failure & failure) {
        set_error(out_error, failure.what());
        return failure.status();
    } catch (const std::bad_alloc &) {
        set_error(out_error, "out of memory");
        return ELIZA_ERR_OOM;
    } catch (const std::exception & error) {
        set_error(out_error, error.what());
        return ELIZA_ERR_FFI_FAULT;
    } catch (...) {
        set_error(out_error, "unknown failure inside the library");
        return ELIZA_ERR_FFI_FAULT;
    }
}

// A handle cannot carry a status, so the last one of each thread is kept beside it.
inline int & last_handle_status() noexcept {
    thread_local int status = ELIZA_OK;
    return status;
}

// The same for calls that return a handle; NULL on failure.
template <typename Handle, typename Body> Handle * guarded_handle(char ** out_error, Body && body) noexcept {
    Handle * handle      = nullptr;
    last_handle_status() = guarded(out_error, [&]() -> int {
        handle = body();
        return ELIZA_OK;
    });
    return handle;
}

inline void require(bool condition, const char * message) {
    if (!condition) {
        throw Failure(ELIZA_ERR_INVALID_ARG, message);
    }
}

inline int not_implemented(char ** out_error, const char * family) noexcept {
    const std::string message = std::string(family) + " is not part of this build";
    set_error(out_error, message.c_str());
    return ELIZA_ERR_NOT_IMPLEMENTED;
}

}  // namespace eliza
