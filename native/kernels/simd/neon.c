/* Every 64-bit Arm has NEON. */
#if defined(__aarch64__) || defined(_M_ARM64)
#include "lanes_neon.h"
#define ELIZA_SET eliza_neon_kernels
#define ELIZA_SET_NAME "neon"
#include "kernels.inc"
#else
typedef int eliza_no_neon_here;
#endif
