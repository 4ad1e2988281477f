// The runtime's assertions end the process. Inside of a guarded call they end the call (abi/guard.h has one for each).
#pragma once

namespace eliza {

// While one lives, a failed assertion of the runtime on this thread throws Failure from where it failed: OOM when it
// was about memory, else FFI_FAULT. What the runtime was building is lost then and must not be used again. It cannot
// help the runtime's own worker threads, so files are checked for all that only the computation would notice.
class AssertShield {
  public:
    AssertShield();
    ~AssertShield();
    AssertShield(const AssertShield &)             = delete;
    AssertShield & operator=(const AssertShield &) = delete;
};

}  // namespace eliza
