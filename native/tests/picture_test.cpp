// Picture files that lie, break off or are none: each is a refusal with a reason, and none is unpacked on trust.
#include "sight/picture.h"

#include "abi/guard.h"
#include "check.h"
#include "llm/runtime.h"
#include "pictures.h"

#include <cstring>

using namespace tests;

namespace {

int decode(const std::string & bytes, std::string * said = nullptr) {
    return eliza::guarded(nullptr, [&] {
        try {
            const auto picture =
                eliza::sight::decode_picture(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
            return static_cast<int>(picture.nx() * picture.ny());
        } catch (const eliza::Failure & failure) {
            if (said != nullptr) {
                *said = failure.what();
            }
            throw;
        }
    });
}

void refuse(const std::string & bytes, const char * reason) {
    std::string said;
    CHECK(decode(bytes, &said) == ELIZA_ERR_INVALID_ARG);
    if (said.find(reason) == std::string::npos) {
        fprintf(stderr, "said: %s\n", said.c_str());
    }
    CHECK(said.find(reason) != std::string::npos);
}

void true_pictures_are_decoded() {
    CHECK(decode(bmp(40, 30, 1)) == 40 * 30);
    CHECK(decode(png(33, 47, 1)) == 33 * 47);
    CHECK(decode(jpeg(6, 3, 1)) == 48 * 24);
    CHECK(decode(jpeg(6, 3, 1) + "a trailer that cameras leave") == 48 * 24);
}

void pixels_are_what_was_drawn() {
    const std::string file = png(20, 10, 3);
    const auto picture     = eliza::sight::decode_picture(reinterpret_cast<const uint8_t *>(file.data()), file.size());
    for (int i = 0; i < 200; ++i) {
        CHECK(picture.data()[i * 3] == level(i % 20, i / 20, 3) && picture.data()[i * 3 + 2] == picture.data()[i * 3]);
    }
    const std::string blocks = jpeg(4, 4, 2);
    const auto grey = eliza::sight::decode_picture(reinterpret_cast<const uint8_t *>(blocks.data()), blocks.size());
    CHECK(std::abs(grey.data()[(9 * 32 + 17) * 3] - level(16, 8, 2)) <= 1);
}

void what_is_no_picture_is_refused() {
    refuse("", "no image bytes");
    for (const char * other : {"x", "GIF89a..........", "RIFF....WEBPVP8 ", "RIFF....WAVEfmt ", "ID3.............",
                               "<svg></svg>", "P6 1 1 255\nabc", "fLaC............"}) {
        refuse(other, "no JPEG, PNG or BMP");
    }
    refuse(std::string(100, '\0'), "no JPEG, PNG or BMP");
    refuse("BM", "cannot be read");
    refuse(std::string("\x89PNG\r\n\x1a\n", 8), "cannot be read");
    refuse("\xFF\xD8\xFF", "cannot be read");
    refuse(std::string((size_t{64} << 20) + 1, 'B'), "larger than 64 MiB");
}

void every_cut_is_noticed() {
    for (const std::string & whole : {bmp(12, 9, 1), png(12, 9, 1), jpeg(3, 2, 1)}) {
        for (size_t size = 0; size < whole.size(); ++size) {
            CHECK(decode(whole.substr(0, size)) == ELIZA_ERR_INVALID_ARG);
        }
    }
}

std::string with_big(std::string bytes, size_t at, uint32_t value) {
    std::string number;
    put_big(number, value, 4);
    return bytes.replace(at, 4, number);
}

std::string with_little(std::string bytes, size_t at, uint32_t value) {
    std::string number;
    put_little(number, value, 4);
    return bytes.replace(at, 4, number);
}

void bombs_are_refused_by_their_headers() {
    refuse(png_of(30000, 30000, stored("x")), "too large");
    refuse(png_of(40000, 2, stored("x")), "too large");
    refuse(png_of(8001, 8000, stored("x")), "too large");
    refuse(png_of(1000, 10, stored(std::string(10010, '\0'))), "long and thin");
    CHECK(decode(with_big(png(12, 9, 1), 16, 0xFFFFFFFF)) == ELIZA_ERR_INVALID_ARG);
    CHECK(decode(with_big(png(12, 9, 1), 16, 0)) == ELIZA_ERR_INVALID_ARG);
    refuse(with_little(bmp(12, 9, 1), 18, 400), "cut off");
    CHECK(decode(with_little(bmp(12, 9, 1), 10, 0xFFFFFFF0)) == ELIZA_ERR_INVALID_ARG);
    refuse(with_little(bmp(12, 9, 1), 10, 200), "cut off");
    CHECK(decode(with_little(bmp(12, 9, 1), 22, 0x80000000)) == ELIZA_ERR_INVALID_ARG);
    std::string tall = jpeg(3, 2, 1);
    tall.replace(tall.find("\xFF\xC0") + 5, 4, "\xFF\xFF\xFF\xFF");
    refuse(tall, "too large");
}

// 16 MiB of zeros in blocks of one byte and copies of it, behind a header that promises 8 x 8.
void packed_data_beyond_the_dimensions_are_refused() {
    refuse(png_of(8, 8, stored(std::string(16 << 20, '\0'))), "damaged");
}

void no_mutation_ends_the_process() {
    uint32_t random = 1;
    for (const std::string & whole : {bmp(24, 16, 1), png(24, 16, 1), jpeg(3, 2, 1)}) {
        for (int round = 0; round < 3000; ++round) {
            std::string bytes = whole;
            for (int change = 0; change <= round % 4; ++change) {
                random                           = random * 1664525 + 1013904223;
                bytes[random / 7 % bytes.size()] = static_cast<char>(random >> 24);
            }
            const int status = decode(bytes);
            CHECK(status > 0 || status == ELIZA_ERR_INVALID_ARG || status == ELIZA_ERR_OOM);
        }
    }
}

}  // namespace

int main() {
    eliza::llm::start_runtime();  // or the decoder would log
    true_pictures_are_decoded();
    pixels_are_what_was_drawn();
    what_is_no_picture_is_refused();
    every_cut_is_noticed();
    bombs_are_refused_by_their_headers();
    packed_data_beyond_the_dimensions_are_refused();
    no_mutation_ends_the_process();
    return 0;
}
