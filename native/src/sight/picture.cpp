#include "sight/picture.h"

#include "abi/guard.h"
#include "mtmd-helper.h"
#include "sight/projector_facts.h"
#include "stb/stb_image.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

namespace eliza::sight {
namespace {

struct Bytes {
    const uint8_t * data;
    size_t          size;

    bool starts_with(const char * magic, size_t length) const {
        return size >= length && std::memcmp(data, magic, length) == 0;
    }
    uint32_t big(size_t at, int width) const {
        uint32_t value = 0;
        for (int i = 0; i < width; ++i) {
            value = value << 8 | (at + i < size ? data[at + i] : 0u);
        }
        return value;
    }
    uint32_t little(size_t at, int width) const {
        uint32_t value = 0;
        for (int i = width; i-- > 0;) {
            value = value << 8 | (at + i < size ? data[at + i] : 0u);
        }
        return value;
    }
};

struct Dimensions {
    int width;
    int height;
};

[[noreturn]] void refuse(const std::string & why) {
    throw Failure(ELIZA_ERR_INVALID_ARG, "the image " + why);
}

Dimensions checked_dimensions(const Bytes & file) {
    Dimensions size     = {};
    int        channels = 0;
    if (stbi_info_from_memory(file.data, static_cast<int>(file.size), &size.width, &size.height, &channels) == 0 ||
        size.width <= 0 || size.height <= 0) {
        refuse("cannot be read");
    }
    const std::string said = std::to_string(size.width) + " x " + std::to_string(size.height);
    if (size.width > longest_side || size.height > longest_side || int64_t{size.width} * size.height > most_pixels) {
        refuse("is too large: " + said);
    }
    if (std::max(size.width, size.height) > int64_t{most_aspect} * std::min(size.width, size.height)) {
        refuse("is too long and thin: " + said);
    }
    return size;
}

// The decoder fills what is missing of a JPEG with grey, so its end is looked for here.
void require_whole_jpeg(const Bytes & file) {
    size_t at = 2;
    while (at + 4 <= file.size && file.data[at] == 0xFF && file.data[at + 1] != 0xDA) {
        at += file.data[at + 1] == 0xFF ? 1 : 2 + file.big(at + 2, 2);
    }
    for (; at + 1 < file.size; ++at) {
        if (file.data[at] == 0xFF && file.data[at + 1] == 0xD9) {
            return;
        }
    }
    refuse("is cut off");
}

std::vector<char> packed_data(const Bytes & file) {
    std::vector<char> packed;
    for (size_t at = 8; at + 12 <= file.size;) {
        const size_t length = file.big(at, 4);
        if (length > file.size - at - 12) {
            refuse("is cut off");
        }
        const auto * const body = reinterpret_cast<const char *>(file.data) + at + 8;
        if (std::memcmp(body - 4, "IDAT", 4) == 0) {
            packed.insert(packed.end(), body, body + length);
        }
        if (std::memcmp(body - 4, "IEND", 4) == 0) {
            return packed;
        }
        at += length + 12;
    }
    refuse("is cut off");
}

// A few packed kilobytes may unpack to gigabytes, whatever the header says. This unpacks into no more room than the
// dimensions need (8 bytes a pixel at most; interlacing has up to twice as many rows with a byte each).
void require_honest_png(const Bytes & file, const Dimensions & size) {
    const std::vector<char> packed = packed_data(file);
    const size_t            room   = size_t(size.width) * size.height * 8 + size_t(size.height) * 2 + 64;
    if (room > static_cast<size_t>(std::numeric_limits<int>::max())) {
        refuse("is too large");
    }
    const std::unique_ptr<char, void (*)(void *)> unpacked(static_cast<char *>(std::malloc(room)), std::free);
    if (unpacked == nullptr) {
        throw std::bad_alloc();
    }
    if (stbi_zlib_decode_buffer(unpacked.get(), static_cast<int>(room), packed.data(),
                                static_cast<int>(packed.size())) < 0) {
        refuse("is damaged");
    }
}

// The decoder reads zeros behind the end of a BMP.
void require_whole_bmp(const Bytes & file, const Dimensions & size) {
    const size_t pixels   = file.little(10, 4);
    const size_t bits     = file.little(14, 4) == 12 ? file.little(24, 2) : file.little(28, 2);
    const size_t row_size = (size.width * bits + 31) / 32 * 4;
    if (pixels > file.size || row_size * size.height > file.size - pixels) {
        refuse("is cut off");
    }
}

void check_picture(const Bytes & file) {
    require(file.data != nullptr && file.size > 0, "there are no image bytes");
    require(file.size <= most_image_bytes, "the image file is larger than 64 MiB");
    if (file.starts_with("\xFF\xD8\xFF", 3)) {
        checked_dimensions(file);
        return require_whole_jpeg(file);
    }
    if (file.starts_with("\x89PNG\r\n\x1a\n", 8)) {
        return require_honest_png(file, checked_dimensions(file));
    }
    if (file.starts_with("BM", 2)) {
        return require_whole_bmp(file, checked_dimensions(file));
    }
    refuse("is no JPEG, PNG or BMP");
}

}  // namespace

mtmd::bitmap decode_picture(const uint8_t * bytes, size_t count) {
    check_picture({bytes, count});
    mtmd::bitmap picture(
        mtmd_helper_bitmap_init_from_buf(nullptr, bytes, count, false, mtmd_helper_init_opt_default()).bitmap);
    if (picture.ptr == nullptr || mtmd_bitmap_is_audio(picture.ptr.get())) {
        refuse("is damaged");
    }
    return picture;
}

}  // namespace eliza::sight
