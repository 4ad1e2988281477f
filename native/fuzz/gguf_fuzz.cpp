// Headers of model files, before any engine sees them.
#include "fuzz.h"
#include "llm/gguf_facts.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t * data, size_t size) {
    const auto file = fuzz::file_with(data, size);
    fuzz::expect_answer([&] { eliza::llm::read_gguf_facts(file); });
    return 0;
}
