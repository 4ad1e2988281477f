// Slot files, up to the runtime's own state: that is guarded by the checksum.
#include "fuzz.h"
#include "llm/slot.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t * data, size_t size) {
    fuzz::expect_answer([&] { eliza::llm::decode_slot({data, data + size}); });
    return 0;
}
