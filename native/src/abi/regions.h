// What a context has loaded: on demand, or by region.
#pragma once

#include "abi/context.h"

#include <filesystem>
#include <memory>
#include <string>

namespace eliza {

// The bundle's text model, loaded on first use. Throws Failure: INVALID_ARG while the region is evicted,
// BUNDLE_INVALID, OOM.
std::shared_ptr<llm::TextModel> require_text_model(EliInferenceContext & ctx, int n_gpu_layers);

// The drafter at `path`, loaded on first use. Throws as above.
std::shared_ptr<llm::DraftModel> require_drafter(EliInferenceContext & ctx, const std::filesystem::path & path,
                                                 int n_gpu_layers);

// The projector at `path` on the bundle's text model, loaded on first use. Throws as above, and NOT_IMPLEMENTED.
std::shared_ptr<sight::Projector> require_projector(EliInferenceContext & ctx, const std::filesystem::path & path);

// The bundle's speech detector; kept warm only by acquiring its region. Throws as above.
std::shared_ptr<const vad::Weights> require_vad(EliInferenceContext & ctx);

// Vectors from <bundle>/embedding where the bundle has a model there, else from its text model. The caller holds
// meaning_mutex. Throws as above.
llm::Embedder & require_embedder(EliInferenceContext & ctx);

// The text model as a judge of turns. The caller holds meaning_mutex. Throws as above.
llm::EndOfTurn & require_end_of_turn(EliInferenceContext & ctx);

// The bundle's recognizer, loaded on first use. The caller holds asr_mutex. Throws as above.
asr::Recognizer & require_recognizer(EliInferenceContext & ctx);

// Throw Failure: INVALID_ARG for an unknown region, NOT_IMPLEMENTED for one that this build lacks, and what
// loading throws.
void acquire_region(EliInferenceContext & ctx, const std::string & region);
void evict_region(EliInferenceContext & ctx, const std::string & region);

// Calls the context's verifier callback, if there is one.
void tell_verified(EliInferenceContext & ctx, const EliVerifierEvent & event);

}  // namespace eliza
