#include "llm/kernel_proof.h"

#include "ggml-backend.h"
#include "ggml-cpp.h"
#include "llm/ggml_types.h"
#include "llm/runtime.h"

#include <cmath>
#include <random>

namespace eliza::llm {
namespace {

constexpr int    width             = 256;  // whole blocks of every type
constexpr int    keys              = 64;
constexpr int    queries           = 8;
constexpr double least_correlation = 0.95;  // 3 bits reach 0.99; a wrong basis or sign is near 0

std::vector<float> normal_values(size_t count, unsigned seed) {
    std::mt19937                    random(seed);
    std::normal_distribution<float> normal;
    std::vector<float>              values(count);
    for (float & x : values) {
        x = normal(random);
    }
    return values;
}

double correlation(const std::vector<float> & a, const std::vector<float> & b) {
    const auto n = static_cast<double>(a.size());
    double     x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        const double u = a[i];
        const double v = b[i];
        x += u, y += v, xx += u * u, yy += v * v, xy += u * v;
    }
    return (n * xy - x * y) / std::sqrt((n * xx - x * x) * (n * yy - y * y));
}

std::vector<float> true_scores(const std::vector<float> & key, const std::vector<float> & query) {
    std::vector<float> scores;
    for (int q = 0; q < queries; ++q) {
        for (int k = 0; k < keys; ++k) {
            double sum = 0;
            for (int i = 0; i < width; ++i) {
                sum += static_cast<double>(key[static_cast<size_t>(k * width + i)]) *
                       query[static_cast<size_t>(q * width + i)];
            }
            scores.push_back(static_cast<float>(sum));
        }
    }
    return scores;
}

// Quantise and multiply on one device; empty with a reason when the device does not run it.
std::vector<float> scores_of(ggml_backend_t backend, ggml_type type, const std::vector<float> & key,
                             const std::vector<float> & query, std::string & reason) {
    const ggml_context_ptr context(ggml_init({ggml_tensor_overhead() * 16 + ggml_graph_overhead(), nullptr, true}));
    ggml_tensor *          k      = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, width, keys);
    ggml_tensor *          q      = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, width, queries);
    ggml_tensor *          packed = ggml_cpy(context.get(), k, ggml_new_tensor_2d(context.get(), type, width, keys));
    ggml_tensor *          scores = ggml_mul_mat(context.get(), packed, q);
    if (!ggml_backend_supports_op(backend, packed) || !ggml_backend_supports_op(backend, scores)) {
        reason = "has the type but no graph operation that multiplies it";
        return {};
    }
    ggml_cgraph * graph = ggml_new_graph(context.get());
    ggml_build_forward_expand(graph, scores);
    const ggml_backend_buffer_ptr memory(ggml_backend_alloc_ctx_tensors(context.get(), backend));
    if (memory == nullptr) {
        reason = "has no memory to try it";
        return {};
    }
    ggml_backend_tensor_set(k, key.data(), 0, ggml_nbytes(k));
    ggml_backend_tensor_set(q, query.data(), 0, ggml_nbytes(q));
    if (ggml_backend_graph_compute(backend, graph) != GGML_STATUS_SUCCESS) {
        reason = "failed to compute it";
        return {};
    }
    std::vector<float> values(static_cast<size_t>(keys) * queries);
    ggml_backend_tensor_get(scores, values.data(), 0, ggml_nbytes(scores));
    return values;
}

// These types have no product of their own, only a score operation for attention (facts 10.1), and what that needs is
// not known outside of its tree. Asked for a product, the CPU code would call a function that is not there.
bool is_score_only(const std::string & type) {
    return type == "qjl1_256" || type == "tbq3_tcq";
}

std::string doubt_on(ggml_backend_dev_t device, ggml_type type) {
    const std::string      name = ggml_backend_dev_name(device);
    const ggml_backend_ptr backend(ggml_backend_dev_init(device, nullptr));
    if (backend == nullptr) {
        return name + " does not start";
    }
    const auto         key   = normal_values(size_t{width} * keys, 1);
    const auto         query = normal_values(size_t{width} * queries, 2);
    std::string        reason;
    std::vector<float> scores = scores_of(backend.get(), type, key, query, reason);
    if (scores.empty()) {
        return name + " " + reason;
    }
    const double degree = correlation(scores, true_scores(key, query));
    if (!(degree >= least_correlation)) {
        return name + " computes something else: correlation " + std::to_string(degree) + " with the true product";
    }
    return "";
}

}  // namespace

KernelProof prove_kernel(const std::string & kernel, const std::string & type) {
    start_runtime();
    KernelProof proof = {kernel, type, false, ""};
    if (!ggml_has_type(type.c_str())) {
        proof.reason = "not in this build: its ggml has no type " + type;
        return proof;
    }
    const ggml_type found = ggml_type_named(type.c_str());
    if (is_score_only(type) || !ggml_is_quantized(found)) {
        proof.reason = "the type " + type + " is there, but no graph operation that multiplies it";
        return proof;
    }
    if (ggml_backend_dev_count() == 0) {
        proof.reason = "the type " + type + " is there, but no device that could run it";
    }
    for (size_t i = 0; i < ggml_backend_dev_count() && proof.reason.empty(); ++i) {
        proof.reason = doubt_on(ggml_backend_dev_get(i), found);
    }
    proof.is_ready = proof.reason.empty();
    return proof;
}

const std::vector<KernelProof> & kernel_proofs() {
    static const std::vector<KernelProof> proofs = [] {
        return std::vector<KernelProof>{
            {"mtp", "", true, ""},
            prove_kernel("turboquant_q3", "tbq3_0"),
            prove_kernel("turboquant_q4", "tbq4_0"),
            prove_kernel("qjl", "qjl1_256"),
            prove_kernel("polarquant", "q4_polar"),
            prove_kernel("turbo3_tcq", "tbq3_tcq"),
        };
    }();
    return proofs;
}

}  // namespace eliza::llm
