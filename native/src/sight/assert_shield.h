// The runtime's assertions end the process. Inside a shield they end the call.
#pragma once

namespace eliza::sight {

// While one lives, a failed assertion of ggml or mtmd on this thread throws Failure(FFI_FAULT) from where it failed.
// What the runtime was building is lost then and must not be used again. It cannot help the runtime's own worker
// threads, so files are checked for all that only the computation would notice (projector_facts.h).
class AssertShield {
  public:
    AssertShield();
    ~AssertShield();
    AssertShield(const AssertShield &)             = delete;
    AssertShield & operator=(const AssertShield &) = delete;
};

}  // namespace eliza::sight
