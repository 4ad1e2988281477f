// A recognition model of the Whisper architecture behind the seam that every recogniser has.
#pragma once

#include "asr/recognizer.h"

#include <filesystem>
#include <memory>

namespace eliza::whisper {

// Reads ELIZA_ASR_FORCE_LANGUAGE once. Throws Failure: BUNDLE_INVALID, INVALID_ARG for a language that the model does
// not know, OOM, FFI_FAULT.
std::unique_ptr<asr::Recognizer> open_recognizer(const std::filesystem::path & file);

}  // namespace eliza::whisper
