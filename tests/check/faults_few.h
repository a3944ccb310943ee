/* faults_few.h - mistakes in kernels of family wgmma whose tile has fewer rows than an instruction,
 * so that D is computed transposed. See faults.h.
 */
#ifndef TESTS_CHECK_FAULTS_FEW_H
#define TESTS_CHECK_FAULTS_FEW_H

#include "faults.h"

#define FEW       "wgmma_f16_nn full"         /* 24 x 128, two warpgroups of 64 columns */
#define FEW_BYTES "wgmma_e4m3_b_e5m2_nt full" /* 16 x 128, scales of both each 128 of k */
#define FEW_WHOLE "wgmma_s8_d_f32_nt full"    /* 8 x 64, several blocks an SM */
#define FEW_PARTS "wgmma_u8_nt full"          /* 16 x 64, two blocks a tile */

static const seeded_fault few_faults[] = {
    {"few rows: operands in each other's place", FEW,
     "(acc0, desc_b0 + stage_at, desc_a0 + stage_at,",
     "(acc0, desc_a0 + stage_at, desc_b0 + stage_at,", 1,
     "wrong-value out-of-bounds descriptor uninitialised missing-wait", NULL, NULL, 0},
    {"few rows: both warpgroups compute the same columns", FEW, "A_BYTES + (unsigned)group * 8192",
     "A_BYTES + (unsigned)group * 0", 1, "wrong-value", NULL, NULL, 0},
    {"few rows: D stored without being turned", FEW, "gg_stmatrix_x4_trans(to, r);",
     "gg_stmatrix_x4(to, r);", 1, "wrong-value", NULL, NULL, 0},
    {"few rows: rows of the second half not stored", FEW, "gg_stmatrix_x2_trans(to + 2048, r);", "",
     1, "wrong-value uninitialised", NULL, NULL, 0},
    {"few rows: two warps store to the same columns", FEW, "(warp * 2 + lane / 8 % 2 ^ lane % 8)",
     "(warp / 2 * 2 + lane / 8 % 2 ^ lane % 8)", 1, "race", NULL, NULL, 0},
    {"few rows: a panel without its swizzle", FEW, "lane / 8 % 2 ^ lane % 8)", "lane / 8 % 2)", 1,
     "wrong-value", NULL, NULL, 0},
    {"few rows: stored before all warps have staged theirs", FEW,
     "      gg_fence_proxy_async();\n      gg_bar_sync(STORE + group, 128);\n",
     "      gg_fence_proxy_async();\n", 1, "race missing-fence", NULL, NULL, 0},
    {"few rows: a panel written while it is stored", FEW,
     "      if (in_group == 0) gg_bulk_wait_read_0();\n", "", 1, "missing-wait", NULL, NULL, 0},
    {"few rows: guard of C's rows missing", FEW, "1 < rows && 0 < left", "0 < left", 1,
     "out-of-bounds", NULL, NULL, 0},
    {"few rows: C of the neighbouring row", FEW, "c += 7 * p.ldc;", "c += 8 * p.ldc;", 1,
     "wrong-value out-of-bounds", NULL, NULL, 0},
    {"few rows: box of A as high as an instruction", FEW, "{1, 64, 24, 128, 128}",
     "{1, 64, 64, 128, 128}", 1, "deadlock race out-of-bounds missing-wait barrier", NULL, NULL, 1},
    {"few rows: types of the operands exchanged", FEW_BYTES, "k32_e5m2_e4m3_ss(",
     "k32_e4m3_e5m2_ss(", 0, "wrong-value", NULL, NULL, 0},
    {"few rows: a row's scale taken for its neighbour's", FEW_BYTES,
     "gg_mul_f32(factor_a0_1, factor_b0_0)", "gg_mul_f32(factor_a0_0, factor_b0_0)", 1,
     "wrong-value", NULL, NULL, 0},
    {"few rows: a column's scale taken for that 8 further", FEW_BYTES,
     "gg_mul_f32(factor_a0_0, factor_b0_1)", "gg_mul_f32(factor_a0_0, factor_b0_0)", 1,
     "wrong-value", NULL, NULL, 0},
    {"few rows: both warpgroups take the scales of the same columns", FEW_BYTES,
     "first_n = n0 + group * 64", "first_n = n0 + group * 0", 1, "wrong-value", NULL, NULL, 0},
    {"few rows: scales of A where it has no row", FEW_BYTES,
     "if (first_m + 9 < p.m) gg_ldg_f32(&factor_a1_1", "gg_ldg_f32(&factor_a1_1", 1,
     "out-of-bounds", NULL, NULL, 0},
    {"few rows: scales of B where it has no column", FEW_BYTES,
     "if (first_n + 8 < p.n) gg_ldg_f32(&factor_b0_1", "gg_ldg_f32(&factor_b0_1", 1,
     "out-of-bounds", NULL, NULL, 0},
    {"few rows: scales of the first k block taken for all", FEW_BYTES, "scales_b + kb * p.n",
     "scales_b + 0 * p.n", 0, "wrong-value", NULL, NULL, 0},
    {"few rows: sums promoted before the products end", FEW_BYTES, "        gg_wgmma_wait_0();\n",
     "", 1, "missing-wait race", NULL, NULL, 0},
    {"few rows: a whole sum left where its value belongs", FEW_WHOLE,
     "acc0[3] = (int)gg_as_u32(x);", "", 1, "wrong-value", NULL, NULL, 0},
    {"few rows: columns of 4 bytes stored to each other's banks", FEW_WHOLE,
     "const int chunk = warp % 2 * 4 + lane / 16;", "const int chunk = warp % 2 * 4;", 1,
     "wrong-value race uninitialised", NULL, NULL, 0},
    {"few rows: both blocks of a tile store the same rows", FEW_PARTS, "d_m = m0 + rank * 8",
     "d_m = m0 + rank * 0", 1, "wrong-value race", NULL, NULL, 0},
    {"few rows: both blocks add up the same rows", FEW_PARTS, "gg_mapa(mine + rank * 2048, source)",
     "gg_mapa(mine + rank * 0, source)", 1, "wrong-value", NULL, NULL, 0},
    {"few rows: bits of a whole sum taken for a number", FEW_PARTS, "(int)gg_as_u32(x1)", "(int)x1",
     1, "wrong-value", NULL, NULL, 0},
    {"few rows: sums read before the other block has written them", FEW_PARTS,
     "      gg_cluster_arrive();\n      gg_cluster_wait();\n", "      gg_cluster_arrive();\n", 1,
     "race missing-wait barrier deadlock uninitialised", NULL, NULL, 0},
};

#endif
