// Which of the manifest's kernels this build really runs: found by the name of their ggml type, then run in a graph
// and compared with the true dot product. A type that is there but computes something else is not ready.
#pragma once

#include <string>
#include <vector>

namespace eliza::llm {

struct KernelProof {
    std::string kernel;  // the manifest's name
    std::string type;    // the ggml type that makes it real; empty: it needs none
    bool        is_ready = false;
    std::string reason;  // why it is not
};

// Quantises random keys on every device, multiplies them with queries there and correlates the scores with the true
// ones. `type` is a ggml type's name.
KernelProof prove_kernel(const std::string & kernel, const std::string & type);

// All kernels of the manifest (contract section 3), proven once per process.
const std::vector<KernelProof> & kernel_proofs();

}  // namespace eliza::llm
