// Forced into ggml's AMX source under GCC, whose own _tile_loadconfig (seen in 12.2) tells the optimiser about
// the first 8 bytes of the 64-byte tile configuration only. The stores of the other 56 are then dropped as
// dead, and the first tile instruction of every thread is illegal. This one names all 64.
#pragma once

#if defined(__AMX_TILE__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>

static inline void eliza_tile_loadconfig(const void * config) {
    __asm__ volatile("ldtilecfg\t%0" : : "m"(*static_cast<const char (*)[64]>(config)));
}

#undef _tile_loadconfig
#define _tile_loadconfig eliza_tile_loadconfig
#endif
