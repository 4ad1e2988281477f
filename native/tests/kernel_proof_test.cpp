// A kernel is ready when a graph runs it and the result is right; the types that this ggml has stand in for those that
// it lacks.
#include "llm/kernel_proof.h"

#include "check.h"
#include "llm/ggml_types.h"

using eliza::llm::KernelProof;
using eliza::llm::prove_kernel;

namespace {

bool says(const KernelProof & proof, const char * part) {
    return !proof.is_ready && proof.reason.find(part) != std::string::npos;
}

void a_type_that_multiplies_rightly_is_ready() {
    for (const char * type : {"q4_0", "q8_0", "q3_K"}) {
        const KernelProof proof = prove_kernel("some", type);
        CHECK(proof.is_ready && proof.reason.empty());
    }
}

void an_absent_type_is_named() {
    CHECK(says(prove_kernel("some", "tbq9_9"), "not in this build: its ggml has no type tbq9_9"));
}

void a_type_that_nothing_multiplies_is_not_ready() {
    CHECK(says(prove_kernel("some", "i32"), "no graph operation"));
}

void a_product_far_from_the_true_one_is_not_ready() {
    CHECK(says(prove_kernel("some", "q1_0"), "computes something else: correlation 0."));
}

void every_kernel_of_the_manifest_is_accounted_for() {
    CHECK(eliza::llm::kernel_proofs().size() == 6);
    for (const KernelProof & proof : eliza::llm::kernel_proofs()) {
        CHECK(proof.is_ready == proof.reason.empty());
        CHECK(proof.type.empty() || eliza::llm::ggml_has_type(proof.type.c_str()) || says(proof, "not in this build"));
    }
}

}  // namespace

int main() {
    a_type_that_multiplies_rightly_is_ready();
    an_absent_type_is_named();
    a_type_that_nothing_multiplies_is_not_ready();
    a_product_far_from_the_true_one_is_not_ready();
    every_kernel_of_the_manifest_is_accounted_for();
    return 0;
}
