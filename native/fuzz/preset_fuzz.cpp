// Voice presets.
#include "bundle/voice_preset.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t * data, size_t size) {
    fuzz::expect_answer([&] { eliza::bundle::parse_voice_preset({reinterpret_cast<const char *>(data), size}); });
    return 0;
}
