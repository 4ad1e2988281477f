/* Compiled with AVX2 switched on; call only where eliza_has_avx2() says so. */
#if defined(__x86_64__) || defined(_M_X64)
#include "lanes_avx2.h"
#define ELIZA_SET eliza_avx2_kernels
#define ELIZA_SET_NAME "avx2"
#include "kernels.inc"
#else
typedef int eliza_no_avx2_here;
#endif
