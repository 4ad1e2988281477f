// Writes the encoder's states of one window of speech, for comparison with the official implementation.
// usage: whisper_dump model.gguf samples.f32 states.f32      (16 kHz mono, at most 30 s; rows of `width`)
#include "whisper/session.h"

#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace {

std::vector<float> read_samples(const std::filesystem::path & file) {
    std::vector<float> samples(static_cast<size_t>(std::filesystem::file_size(file)) / sizeof(float));
    std::ifstream      stream(file, std::ios::binary);
    if (!stream.read(reinterpret_cast<char *>(samples.data()),
                     static_cast<std::streamsize>(samples.size() * sizeof(float)))) {
        throw std::runtime_error("the samples cannot be read");
    }
    return samples;
}

void dump(char ** argv) {
    const auto               model   = eliza::whisper::load_model(argv[1]);
    const std::vector<float> samples = read_samples(argv[2]);
    eliza::whisper::Session  session(*model);
    session.watch([&](const std::vector<float> & states) {
        std::ofstream(argv[3], std::ios::binary)
            .write(reinterpret_cast<const char *>(states.data()),
                   static_cast<std::streamsize>(states.size() * sizeof(float)));
    });
    session.hear(samples.data(), samples.size());
}

}  // namespace

int main(int argc, char ** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: whisper_dump model.gguf samples.f32 states.f32\n");
        return 2;
    }
    try {
        dump(argv);
    } catch (const std::exception & error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
