#include "kokoro/tile_conv.h"

#include <algorithm>
#include <cstring>
#include <vector>

// The sanitizers do not see what tile instructions touch, so instrumented builds take the ordinary path.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ELIZA_INSTRUMENTED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ELIZA_INSTRUMENTED 1
#endif

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(ELIZA_INSTRUMENTED)
#define ELIZA_HAS_TILES 1
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#define ELIZA_HAS_TILES 0
#endif

namespace eliza::kokoro {
namespace {

constexpr int64_t tile_rows     = 16;
constexpr int64_t tile_elements = tile_rows * tile_channels;  // bfloat16 numbers of one weight tile
constexpr int64_t pairs_ahead   = 2;                          // how early weights are fetched
constexpr int64_t blocks_kept   = 8;  // time blocks that pass over the same weights while these are in the cache

uint16_t rounded(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// Where the weight of (output n, tap k, input c) lies: for every 32 outputs a row of tile pairs of 16 outputs by
// 32 inputs each, inputs in twos, in the order in which block() reads them.
int64_t place_of(const TileWeights & w, int64_t n, int64_t k, int64_t c) {
    const int64_t pair = (n / tile_channels * w.taps + k) * (w.in / tile_channels) + c / tile_channels;
    const int64_t tile = 2 * pair + n % tile_channels / tile_rows;
    return tile * tile_elements + c % tile_channels / 2 * 2 * tile_rows + n % tile_rows * 2 + c % 2;
}

#if ELIZA_HAS_TILES

struct alignas(64) TileConfig {
    uint8_t  palette = 0, start_row = 0, reserved[14] = {};
    uint16_t row_bytes[16] = {};
    uint8_t  rows[16]      = {};
};
static_assert(sizeof(TileConfig) == 64, "the processor reads 64 bytes");

// The compiler's own intrinsics name only part of the configuration as read or written; these name all of it.
__attribute__((target("amx-tile"))) void load_config(const TileConfig & config) {
    __asm__ volatile("ldtilecfg\t%0" : : "m"(config));
}
__attribute__((target("amx-tile"))) void store_config(TileConfig & config) {
    __asm__ volatile("sttilecfg\t%0" : "=m"(config));
}

// Eight full tiles for one scope. ggml's own matrix kernels keep theirs per thread, so it is put back.
class TileScope {
  public:
    TileScope() {
        store_config(before_);
        TileConfig mine;
        mine.palette = 1;
        std::fill(mine.rows, mine.rows + 8, static_cast<uint8_t>(tile_rows));
        std::fill(mine.row_bytes, mine.row_bytes + 8, static_cast<uint16_t>(64));
        load_config(mine);
    }
    TileScope(const TileScope &)             = delete;
    TileScope & operator=(const TileScope &) = delete;
    ~TileScope() { load_config(before_); }

  private:
    TileConfig before_;
};

struct TileNode {
    const TileWeights * weights;
    int64_t             dilation;
    const Cancel *      cancel;
};

// One pair of weight tiles on its way to the first cache; an address past the end does no harm.
void fetch(const uint16_t * tiles) {
    for (int64_t i = 0; i < 2 * tile_elements; i += 32) {
        _mm_prefetch(reinterpret_cast<const char *>(tiles + i), _MM_HINT_T0);
    }
}

// 32 time steps by 32 outputs: two by two accumulators, every loaded tile is used twice.
__attribute__((target("amx-tile,amx-bf16"))) void block(const TileNode & node, const uint16_t * x, int64_t n,
                                                        float * out, size_t out_row_bytes) {
    const TileWeights & w         = *node.weights;
    const auto          row_bytes = static_cast<size_t>(w.in) * sizeof(uint16_t);
    const uint16_t *    tiles     = w.tiles + n * w.taps * w.in;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t k = 0; k < w.taps; ++k) {
        const uint16_t * upper = x + k * node.dilation * w.in;
        for (int64_t c = 0; c < w.in; c += tile_channels) {
            _tile_loadd(4, upper + c, row_bytes);
            _tile_loadd(5, upper + tile_rows * w.in + c, row_bytes);
            _tile_loadd(6, tiles, 64);
            _tile_loadd(7, tiles + tile_elements, 64);
            fetch(tiles + pairs_ahead * 2 * tile_elements);
            _tile_dpbf16ps(0, 4, 6);
            _tile_dpbf16ps(1, 4, 7);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
            tiles += 2 * tile_elements;
        }
    }
    char * base = reinterpret_cast<char *>(out);
    _tile_stored(0, base, out_row_bytes);
    _tile_stored(1, base + 64, out_row_bytes);
    _tile_stored(2, base + tile_rows * out_row_bytes, out_row_bytes);
    _tile_stored(3, base + tile_rows * out_row_bytes + 64, out_row_bytes);
}

// The last steps of a signal are fewer than a block: they go through a buffer of whole size.
void short_block(const TileNode & node, const uint16_t * x, int64_t n, ggml_tensor * dst, int64_t t) {
    alignas(64) float whole[tile_steps * tile_channels];
    block(node, x, n, whole, tile_channels * sizeof(float));
    for (int64_t i = 0; t + i < dst->ne[1]; ++i) {
        float * row = static_cast<float *>(dst->data) + (t + i) * dst->ne[0] + n;
        std::memcpy(row, whole + i * tile_channels, tile_channels * sizeof(float));
    }
}

void any_block(const TileNode & node, const uint16_t * x, int64_t n, ggml_tensor * dst, int64_t t) {
    const uint16_t * from = x + t * node.weights->in;
    if (t + tile_steps > dst->ne[1]) {
        short_block(node, from, n, dst, t);
    } else {
        block(node, from, n, static_cast<float *>(dst->data) + t * dst->ne[0] + n, dst->nb[1]);
    }
}

void run_tiles(ggml_tensor * dst, int ith, int nth, void * data) {
    const auto &    node  = *static_cast<const TileNode *>(data);
    const auto *    x     = static_cast<const uint16_t *>(dst->src[0]->data);
    const int64_t   steps = (dst->ne[1] + tile_steps - 1) / tile_steps;
    const int64_t   end   = steps * (ith + 1) / nth;
    const TileScope scope;
    for (int64_t first = steps * ith / nth; first < end; first += blocks_kept) {
        for (int64_t n = 0; n < dst->ne[0]; n += tile_channels) {
            if (node.cancel->load(std::memory_order_relaxed)) {
                return;
            }
            for (int64_t step = first; step < std::min(first + blocks_kept, end); ++step) {
                any_block(node, x, n, dst, step * tile_steps);
            }
        }
    }
}

bool ask_for_tiles() {
    constexpr int          request = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, the tiles' state component
    constexpr unsigned int bf16 = 1u << 22, tile = 1u << 24;
    unsigned int           a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & bf16) == 0 || (d & tile) == 0) {
        return false;
    }
    return syscall(SYS_arch_prctl, request, tile_data) == 0;
}

#endif

}  // namespace

bool fits_tiles(int64_t in, int64_t out) {
    return in % tile_channels == 0 && out % tile_channels == 0;
}

std::unique_ptr<TileWeights> make_tiles(const ggml_tensor * weight, const char * bytes, int64_t taps) {
    const int64_t    in    = weight->ne[0] / taps;
    auto             w     = std::make_unique<TileWeights>(TileWeights{taps, in, weight->ne[1], nullptr, nullptr});
    const auto       count = static_cast<size_t>(ggml_nelements(weight));
    constexpr size_t line  = 64 / sizeof(uint16_t);
    w->memory              = std::make_unique<uint16_t[]>(count + line);
    void *      start      = w->memory.get();
    std::size_t room       = (count + line) * sizeof(uint16_t);
    w->tiles               = static_cast<uint16_t *>(std::align(64, count * sizeof(uint16_t), start, room));
    std::vector<float> row(static_cast<size_t>(weight->ne[0]));
    for (int64_t n = 0; n < w->out; ++n) {
        const char * packed = bytes + static_cast<size_t>(n) * weight->nb[1];
        ggml_get_type_traits(weight->type)->to_float(packed, row.data(), weight->ne[0]);
        for (int64_t i = 0; i < weight->ne[0]; ++i) {
            w->tiles[place_of(*w, n, i / in, i % in)] = rounded(row[static_cast<size_t>(i)]);
        }
    }
    return w;
}

#if ELIZA_HAS_TILES

bool tiles_available() {
    static const bool available = ask_for_tiles();
    return available;
}

ggml_tensor * convolve_tiles(const Site & site, ggml_tensor * x, const TileWeights & weights, int64_t dilation,
                             int64_t length) {
    return make_node(site, {weights.out, length}, {x}, run_tiles,
                     site.arena->add(TileNode{&weights, dilation, site.cancel}));
}

#else

bool tiles_available() {
    return false;
}

ggml_tensor * convolve_tiles(const Site &, ggml_tensor * x, const TileWeights &, int64_t, int64_t) {
    return x;
}

#endif

}  // namespace eliza::kokoro
