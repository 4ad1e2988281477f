// Projector files that do not fit, lie or are damaged: refused with a reason, whatever the runtime would have made
// of them.
#include "pictures.h"
#include "streams.h"

using namespace tests;

namespace {

std::string bytes_of(const fs::path & file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class Bench {
  public:
    explicit Bench(const fs::path & scratch) : bundle_(models() / "sure"), scratch_(scratch), image_(png(64, 64, 1)) {}

    int try_out(const std::string & projector, std::string * why = nullptr) {
        // a new name each time, for the last projector is kept by its name
        const fs::path file = scratch_ / (std::to_string(++tried_) + ".gguf");
        std::ofstream(file, std::ios::binary) << projector;
        std::string out(4096, '\0');
        Said        said;
        const int   status = eliza_inference_describe_image(
            bundle_.get(), reinterpret_cast<const uint8_t *>(image_.data()), image_.size(), file.u8string().c_str(),
            nullptr, out.data(), out.size(), &said.text);
        fs::remove(file);
        if (why != nullptr && said.text != nullptr) {
            *why = said.text;
        }
        return status;
    }

    void refuse(const std::string & projector, int status, const char * reason) {
        std::string why;
        const int   got = try_out(projector, &why);
        if (got != status || why.find(reason) == std::string::npos) {
            fprintf(stderr, "%d: %s (wanted: %s)\n", got, why.c_str(), reason);
        }
        CHECK(got == status && why.find(reason) != std::string::npos);
    }

  private:
    Bundle         bundle_;
    const fs::path scratch_;
    std::string    image_;
    int            tried_ = 0;
};

// The number behind a key: its type takes four bytes, then it comes.
std::string with_number(std::string bytes, const std::string & key, uint32_t value) {
    const size_t at = bytes.find(key);
    CHECK(at != std::string::npos);
    std::string number;
    put_little(number, value, 4);
    return bytes.replace(at + key.size() + 4, 4, number);
}

std::string with_text(std::string bytes, const std::string & from, const std::string & to) {
    CHECK(from.size() == to.size());
    const size_t at = bytes.find(from);
    CHECK(at != std::string::npos);
    return bytes.replace(at, from.size(), to);
}

void files_that_are_no_projectors(Bench & bench, const std::string & whole) {
    bench.refuse("", ELIZA_ERR_BUNDLE_INVALID, "GGUF");
    bench.refuse("GGUF", ELIZA_ERR_BUNDLE_INVALID, "GGUF");
    bench.refuse(bytes_of(models() / "sure" / "text" / "text.gguf"), ELIZA_ERR_BUNDLE_INVALID, "not a projector");
    bench.refuse(whole.substr(0, whole.size() - 40), ELIZA_ERR_BUNDLE_INVALID, "truncated");
    for (size_t part = 1; part < 40; ++part) {
        CHECK(bench.try_out(whole.substr(0, whole.size() * part / 40)) == ELIZA_ERR_BUNDLE_INVALID);
    }
}

void sizes_that_lie(Bench & bench, const std::string & whole) {
    const int bad = ELIZA_ERR_BUNDLE_INVALID;
    bench.refuse(with_number(whole, "clip.vision.patch_size", 0), bad, "patch_size");
    bench.refuse(with_number(whole, "clip.vision.patch_size", 1 << 30), bad, "patch_size");
    bench.refuse(with_number(whole, "clip.vision.projector.scale_factor", 0), bad, "scale_factor");
    bench.refuse(with_number(whole, "clip.vision.projector.scale_factor", 9), bad, "scale_factor");
    bench.refuse(with_number(whole, "clip.vision.image_size", 0xFFFFFFFF), bad, "image_size");
    bench.refuse(with_number(whole, "clip.vision.block_count", 1 << 30), bad, "block_count");
    bench.refuse(with_number(whole, "clip.vision.block_count", 1), bad, "head_count");
    bench.refuse(with_number(whole, "clip.vision.embedding_length", 0), bad, "embedding_length");
    bench.refuse(with_number(whole, "clip.audio.num_mel_bins", 0), bad, "num_mel_bins");
    bench.refuse(with_number(whole, "clip.vision.projection_dim", 128), bad, "different widths");
    bench.refuse(with_number(with_number(whole, "clip.vision.projection_dim", 128), "clip.audio.projection_dim", 128),
                 bad, "width 128, this one has 64");
    bench.refuse(with_text(whole, "clip.vision.patch_size", "clip.vision.patch_sizE"), bad,
                 "lacks clip.vision.patch_size");
    bench.refuse(with_text(whole, "v.position_embd.weight", "v.position_embd.weighT"), bad, "v.position_embd.weight");
    bench.refuse(with_text(whole, "v.patch_embd.bias", "v.patch_embd.biaS"), bad, "v.patch_embd.bias");
    bench.refuse(with_text(whole, "v.patch_norm.2.bias", "v.patch_norm.2.biaS"), bad, "v.patch_norm.2.bias");
    bench.refuse(with_text(whole, "gemma4uv", "gemma9uv"), ELIZA_ERR_NOT_IMPLEMENTED, "gemma9uv");
    bench.refuse(with_text(whole, "gemma4uv", "gemma4ua"), ELIZA_ERR_NOT_IMPLEMENTED, "gemma4ua");
    bench.refuse(with_text(whole, "clip.has_vision_encoder", "clip.has_vision_encodeR"), bad, "no eye");
    // a patch of another size asks for another kernel than the file has: an assertion in the runtime
    bench.refuse(with_number(whole, "clip.vision.patch_size", 8), bad, "runtime refused");
}

// Every byte of the header in turn, and some more at once: any answer will do, but for the end of the process.
void no_change_of_the_header_ends_the_process(Bench & bench, const std::string & whole, int rounds) {
    const size_t header = whole.size() - whole.size() * 9 / 10;
    uint32_t     random = 7;
    int          loaded = 0;
    for (int round = 0; round < rounds; ++round) {
        std::string bytes = whole;
        for (int change = 0; change <= round % 3; ++change) {
            random = random * 1664525 + 1013904223;
            bytes[random / 7 % std::min<size_t>(header, 4000)] =
                static_cast<char>(random >> (round % 2 == 0 ? 24 : 29));
        }
        const int status = bench.try_out(bytes);
        loaded += status >= 0 ? 1 : 0;
        CHECK(status >= 0 || status == ELIZA_ERR_BUNDLE_INVALID || status == ELIZA_ERR_NOT_IMPLEMENTED ||
              status == ELIZA_ERR_FFI_FAULT || status == ELIZA_ERR_INVALID_ARG || status == ELIZA_ERR_OOM);
    }
    CHECK(loaded > 0 && loaded < rounds);
}

}  // namespace

// The first argument is the number of random changes.
int main(int argc, char ** arguments) {
    setenv("ELIZA_THREADS", "1", 1);  // tiny models have no work for two
    const fs::path scratch = models().parent_path() / "projector";
    fs::remove_all(scratch);
    fs::create_directories(scratch);
    const std::string whole = bytes_of(models() / "mmproj.gguf");
    Bench             bench(scratch);
    CHECK(bench.try_out(whole) == static_cast<int>(words().size()));
    files_that_are_no_projectors(bench, whole);
    sizes_that_lie(bench, whole);
    no_change_of_the_header_ends_the_process(bench, whole, argc > 1 ? std::atoi(arguments[1]) : 250);
    fs::remove_all(scratch);
    return 0;
}
