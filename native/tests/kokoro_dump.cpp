// Writes every stage of one synthesis to a folder, for comparison with the official implementation.
// usage: kokoro_dump model.gguf voice.bin "ipa" out_dir [speed] [noise]
#include "kokoro/voice.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace {

using eliza::kokoro::Cancel;
using eliza::kokoro::Manner;
using eliza::kokoro::Voice;

// <name>.bin holds: int32 columns, int32 rows, then float32 rows.
void write_stage(const std::filesystem::path & folder, const std::string & name, const ggml_tensor * x) {
    std::ofstream out(folder / (name + ".bin"), std::ios::binary);
    const int32_t shape[2] = {static_cast<int32_t>(x->ne[0]), static_cast<int32_t>(x->ne[1])};
    out.write(reinterpret_cast<const char *>(shape), sizeof(shape));
    out.write(static_cast<const char *>(x->data), static_cast<std::streamsize>(ggml_nbytes(x)));
}

int dump(int argc, char ** argv) {
    const std::filesystem::path folder(argv[4]);
    const auto                  size = static_cast<int>(std::filesystem::file_size(argv[2]) / sizeof(float) / 510);
    Voice                       voice(argv[1], argv[2], size);
    voice.watch([&](const std::string & name, const ggml_tensor * x) { write_stage(folder, name, x); });
    Manner manner;
    manner.speed = argc > 5 ? std::strtof(argv[5], nullptr) : 1.0f;
    manner.noise = argc > 6 ? std::strtof(argv[6], nullptr) : 0.0f;
    const Cancel never{false};
    voice.speak(argv[3], manner, never, [](const float *, size_t) { return 0; });
    return 0;
}

}  // namespace

int main(int argc, char ** argv) {
    if (argc < 5) {
        std::fprintf(stderr, "usage: kokoro_dump model.gguf voice.bin ipa out_dir [speed] [noise]\n");
        return 2;
    }
    try {
        return dump(argc, argv);
    } catch (const std::exception & error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
