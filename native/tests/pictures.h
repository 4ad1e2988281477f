// Small true picture files, made byte by byte, and what may be done to them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace tests {

inline void put_big(std::string & out, uint32_t value, int width) {
    for (int i = width; i-- > 0;) {
        out += static_cast<char>(value >> (8 * i) & 0xFF);
    }
}

inline void put_little(std::string & out, uint32_t value, int width) {
    for (int i = 0; i < width; ++i) {
        out += static_cast<char>(value >> (8 * i) & 0xFF);
    }
}

// A grey level that depends on place and seed, so that two seeds are two pictures.
inline int level(int x, int y, int seed) {
    return (x * (3 + seed) + y * (7 + 5 * seed) + seed * 61) % 256;
}

inline std::string bmp(int width, int height, int seed) {
    const int   row = (width * 3 + 3) / 4 * 4;
    std::string out = "BM";
    put_little(out, static_cast<uint32_t>(54 + row * height), 4);
    put_little(out, 0, 4);
    put_little(out, 54, 4);
    put_little(out, 40, 4);
    put_little(out, static_cast<uint32_t>(width), 4);
    put_little(out, static_cast<uint32_t>(height), 4);
    put_little(out, 1, 2);
    put_little(out, 24, 2);
    out += std::string(24, '\0');
    for (int y = 0; y < height; ++y) {
        for (int i = 0; i < row; ++i) {
            out += static_cast<char>(level(i / 3, height - 1 - y, seed + i % 3));
        }
    }
    return out;
}

inline uint32_t crc32(const std::string & data) {
    uint32_t crc = 0xFFFFFFFF;
    for (const char byte : data) {
        crc ^= static_cast<uint8_t>(byte);
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320 : 0);
        }
    }
    return ~crc;
}

inline void put_chunk(std::string & out, const std::string & name, const std::string & body) {
    put_big(out, static_cast<uint32_t>(body.size()), 4);
    out += name + body;
    put_big(out, crc32(name + body), 4);
}

// The zlib form of `raw` without packing anything.
inline std::string stored(const std::string & raw) {
    std::string out = "\x78\x01";
    uint32_t    a   = 1;
    uint32_t    b   = 0;
    for (size_t at = 0; at < raw.size(); at += 65535) {
        const auto size = static_cast<uint32_t>(std::min<size_t>(65535, raw.size() - at));
        out += at + size == raw.size() ? '\1' : '\0';
        put_little(out, size, 2);
        put_little(out, ~size & 0xFFFF, 2);
        out += raw.substr(at, size);
    }
    for (const char byte : raw) {
        a = (a + static_cast<uint8_t>(byte)) % 65521;
        b = (b + a) % 65521;
    }
    put_big(out, b << 16 | a, 4);
    return out;
}

inline std::string png_of(int width, int height, const std::string & packed) {
    std::string out("\x89PNG\r\n\x1a\n", 8);
    std::string size;
    put_big(size, static_cast<uint32_t>(width), 4);
    put_big(size, static_cast<uint32_t>(height), 4);
    put_chunk(out, "IHDR", size + std::string("\x08\x00\x00\x00\x00", 5));  // 8 bits of grey
    put_chunk(out, "IDAT", packed);
    put_chunk(out, "IEND", "");
    return out;
}

inline std::string png(int width, int height, int seed) {
    std::string raw;
    for (int y = 0; y < height; ++y) {
        raw += '\0';
        for (int x = 0; x < width; ++x) {
            raw += static_cast<char>(level(x, y, seed));
        }
    }
    return png_of(width, height, stored(raw));
}

class BitWriter {
  public:
    explicit BitWriter(std::string & out) : out_(out) {}
    void put(uint32_t bits, int count) {
        for (int i = count; i-- > 0;) {
            byte_ = byte_ << 1 | (bits >> i & 1);
            if (++filled_ == 8) {
                flush_byte();
            }
        }
    }
    void finish() {
        while (filled_ != 0) {
            put(1, 1);
        }
    }

  private:
    void flush_byte() {
        out_ += static_cast<char>(byte_);
        if ((byte_ & 0xFF) == 0xFF) {
            out_ += '\0';
        }
        byte_   = 0;
        filled_ = 0;
    }
    std::string & out_;
    uint32_t      byte_   = 0;
    int           filled_ = 0;
};

inline void put_segment(std::string & out, int marker, const std::string & body) {
    out += '\xFF';
    out += static_cast<char>(marker);
    put_big(out, static_cast<uint32_t>(body.size() + 2), 2);
    out += body;
}

// A baseline JPEG in grey of one level for each 8 x 8 block. Its own Huffman tables: four bits for the size of a
// step between blocks, one bit for the end of a block.
inline std::string jpeg(int blocks_wide, int blocks_high, int seed) {
    std::string out("\xFF\xD8", 2);
    put_segment(out, 0xDB, std::string(1, '\0') + std::string(64, '\x08'));
    std::string frame = "\x08";
    put_big(frame, static_cast<uint32_t>(blocks_high * 8), 2);
    put_big(frame, static_cast<uint32_t>(blocks_wide * 8), 2);
    put_segment(out, 0xC0, frame + std::string("\x01\x01\x11\x00", 4));
    std::string steps = std::string(4, '\0') + '\x09' + std::string(12, '\0');
    for (int size = 0; size < 9; ++size) {
        steps += static_cast<char>(size);
    }
    put_segment(out, 0xC4, steps);
    put_segment(out, 0xC4, std::string("\x10\x01", 2) + std::string(15, '\0') + std::string(1, '\0'));
    put_segment(out, 0xDA, std::string("\x01\x01\x00\x00\x3F\x00", 6));
    BitWriter bits(out);
    int       before = 0;
    for (int block = 0; block < blocks_wide * blocks_high; ++block) {
        const int value = level(block % blocks_wide * 8, block / blocks_wide * 8, seed) - 128;
        const int step  = value - before;
        int       size  = 0;
        while (std::abs(step) >> size != 0) {
            ++size;
        }
        bits.put(static_cast<uint32_t>(size), 4);
        bits.put(static_cast<uint32_t>(step >= 0 ? step : step + (1 << size) - 1), size);
        bits.put(0, 1);
        before = value;
    }
    bits.finish();
    return out + "\xFF\xD9";
}

}  // namespace tests
