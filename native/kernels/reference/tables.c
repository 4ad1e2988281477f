#include "tables.h"

#define P 1.0f
#define M (-1.0f)

const float eliza_tbq_signs[32] = {P, M, P, P, M, P, M, M, P, P, M, P, M, M, P, M,
                                   M, P, P, M, P, M, M, P, P, M, P, M, M, P, M, P};
const float eliza_tbq_scale     = 0.1767766952966369f;
const float eliza_tbq_book3[8]  = {-2.1519457f, -1.3439093f, -0.7560053f, -0.2450942f,
                                   0.2450942f,  0.7560053f,  1.3439093f,  2.1519457f};
const float eliza_tbq_book4[16] = {-2.7321365f, -2.0685055f, -1.6175243f, -1.2557391f, -0.9419147f, -0.6564307f,
                                   -0.3878412f, -0.1283243f, 0.1283243f,  0.3878412f,  0.6564307f,  0.9419147f,
                                   1.2557391f,  1.6175243f,  2.0685055f,  2.7321365f};

const float eliza_tcq_signs1[128] = {M, P, P, M, M, P, M, P, M, M, P, P, P, P, P, P, P, M, P, M, P, M, M, P, P, P,
                                     M, P, P, M, M, M, M, P, P, M, P, P, M, P, M, P, P, M, M, P, M, P, P, P, P, M,
                                     M, M, M, M, P, M, P, P, P, P, M, P, M, M, P, M, M, M, P, M, M, M, P, M, M, M,
                                     P, P, P, M, M, P, P, P, M, M, P, P, M, P, P, M, P, M, M, P, P, M, P, M, P, M,
                                     P, P, P, P, M, P, M, P, P, M, P, P, M, M, M, M, M, P, P, M, P, P, M, P};
const float eliza_tcq_signs2[128] = {P, P, P, P, M, P, P, M, P, M, M, M, P, M, M, M, P, P, M, M, P, M, P, M, P, M,
                                     M, P, M, P, P, P, P, P, M, M, M, P, M, M, M, M, M, M, P, P, P, M, P, M, P, P,
                                     P, M, M, P, M, M, M, M, M, M, P, P, P, M, P, M, M, M, M, P, M, P, M, P, M, M,
                                     P, P, M, P, M, P, P, M, P, M, M, M, M, P, M, M, P, M, P, M, P, P, P, M, M, P,
                                     M, P, M, P, P, M, M, P, M, P, M, P, P, M, P, M, P, M, M, M, M, M, P, M};
const float eliza_tcq_scale       = 0.08838834764831845f;
const float eliza_tcq_book[512]   = {
#include "tcq_book.inc"
};

const float eliza_polar_centroids[16] = {-2.754354807f,  -2.093562707f,  -1.643041510f,  -1.279739752f,
                                         -0.9626409783f, -0.6723921169f, -0.3978971029f, -0.1317577823f,
                                         0.1317577823f,  0.3978971029f,  0.6723921169f,  0.9626409783f,
                                         1.279739752f,   1.643041510f,   2.093562707f,   2.754354807f};
const float eliza_polar_residual_step = 0.5f * 0.08838834764831845f;
/* xorshift32 from 42, bit 0 */
const float eliza_polar_signs[128] = {M, M, P, M, M, M, M, M, P, P, M, P, M, M, P, P, M, M, P, M, P, P, M, M, M, P,
                                      M, P, P, P, M, M, M, M, P, M, P, M, P, M, M, M, M, P, M, P, P, P, P, P, M, P,
                                      M, M, P, P, P, P, M, M, M, P, M, P, P, M, P, M, P, P, P, P, M, M, M, M, P, M,
                                      M, M, P, M, M, P, P, P, P, M, M, P, M, P, P, M, P, P, P, M, M, M, P, P, M, P,
                                      M, P, P, M, M, P, M, M, P, M, P, M, M, P, M, M, P, P, P, M, P, M, M, P};

const float eliza_qjl_scale = 1.2533141373155003f / 256.0f;
