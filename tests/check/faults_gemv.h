/* faults_gemv.h - mistakes to seed into family gemv (see faults.h). */
#ifndef TESTS_CHECK_FAULTS_GEMV_H
#define TESTS_CHECK_FAULTS_GEMV_H

#include "faults.h"

#define GEMV        "gemv_bf16_nt_2x1 full"
#define GEMV_NARROW "gemv_bf16_nt_2x1 narrow"

static const seeded_fault gemv_faults[] = {
    {"a round of loads too many", GEMV, "left > 3072;", "left > 0;", 1, "out-of-bounds", NULL, NULL,
     0},
    {"the last rounds left out", GEMV, "for (; left > 0; left -= 1024) {",
     "for (; left > 4096; left -= 1024) {", 1, "wrong-value", NULL, NULL, 0},
    {"a row of A beyond m read", GEMV, "if (1 < rows) gg_ldg_u32x4", "gg_ldg_u32x4", 1,
     "out-of-bounds", "gg_ldg_u32x4", "of a", 0},
    {"the second row takes the first's chunk", GEMV, "ga + 1 * p.lda", "ga + 0 * p.lda", 2,
     "wrong-value", NULL, NULL, 0},
    {"a lane's sum left out", GEMV, "int other = 16;", "int other = 8;", 1, "wrong-value", NULL,
     NULL, 0},
    {"sums over the block before they are written", GEMV, "gg_syncthreads();", "", 1,
     "race uninitialised", NULL, NULL, 0},
    {"a warp's sum left out", GEMV, "gg_lds_u32(&part3, (unsigned)(mine + 6) * 4);",
     "gg_lds_u32(&part3, (unsigned)(mine + 4) * 4);", 1, "wrong-value", NULL, NULL, 0},
    {"warps in each other's place", GEMV, "(unsigned)(warp * 2)", "(unsigned)(warp)", 1,
     "race wrong-value uninitialised", NULL, NULL, 0},
    {"threads without a row stay", GEMV, "if (tid >= rows) return;", "", 1,
     "out-of-bounds wrong-value gap-written uninitialised race", NULL, NULL, 0},
    {"elements beyond k read", GEMV_NARROW, "for (; left > 0; left -= 128) {",
     "for (; left > -1; left -= 128) {", 1, "out-of-bounds gap-read wrong-value", NULL, NULL, 0},
    {"A's pitch for B", GEMV_NARROW, "n0 * p.ldb", "n0 * p.lda", 1, "out-of-bounds wrong-value",
     NULL, NULL, 0},
};

#endif
