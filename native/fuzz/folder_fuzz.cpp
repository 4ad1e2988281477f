// What a bundle folder may hold: names of any kind, one on each line of the input.
#include "asr/find_models.h"
#include "fuzz.h"

#include <sstream>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t * data, size_t size) {
    std::istringstream                 lines(std::string(reinterpret_cast<const char *>(data), size));
    std::vector<std::filesystem::path> files;
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty()) {  // no folder has a file without a name
            files.emplace_back(line);
        }
    }
    fuzz::expect_answer([&] {
        const auto chosen = eliza::asr::choose_models(files);
        if (chosen.model == chosen.projector) {
            std::abort();  // a choice that is none
        }
    });
    return 0;
}
