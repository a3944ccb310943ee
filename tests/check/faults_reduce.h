/* faults_reduce.h - mistakes to seed into the pass that adds up parts of k (see faults.h). */
#ifndef TESTS_CHECK_FAULTS_REDUCE_H
#define TESTS_CHECK_FAULTS_REDUCE_H

#include "faults.h"

#define REDUCE "reduce_f32.cu"

static const seeded_fault reduce_faults[] = {
    {"parts beyond the last added", REDUCE, "done + 16 <= k", "done < k", 1, "out-of-bounds",
     "gg_ldg_f32", "of b", 0},
    {"the last parts left out", REDUCE, "for (; done < k; ++done) {", "for (; done < 0; ++done) {",
     1, "wrong-value", "gg_st_f32", NULL, 0},
    {"one part added twice", REDUCE, "gg_ldg_f32(&x3, part + 3 *", "gg_ldg_f32(&x3, part + 2 *", 1,
     "wrong-value", "gg_st_f32", NULL, 0},
    {"parts one row short of each other", REDUCE, "part += 16 * p.stride_b;",
     "part += 16 * p.stride_b - p.ldb;", 1, "wrong-value out-of-bounds", NULL, NULL, 0},
    {"parts read with D's pitch", REDUCE, "row * p.ldb", "row * p.ldd", 1,
     "wrong-value out-of-bounds", NULL, NULL, 0},
    {"threads outside D stay", REDUCE, "if (row >= p.m || column >= p.n) return;", "", 1,
     "out-of-bounds gap-written", NULL, NULL, 0},
    {"parts read where alpha is 0", REDUCE, "alpha == 0.0f ? 0 : p.k", "p.k", 1,
     "forbidden-read wrong-value", NULL, NULL, 0},
    {"the kind of the row forgotten", REDUCE, ".kind = GG_KIND_REDUCE", ".kind = GG_KIND_GEMM", 1,
     "wrong-value out-of-bounds", NULL, NULL, 1},
};

#endif
