/* faults_types.h - faults seeded into kernels of family wgmma whose operands are not of 16 bits:
 * sums of fp8 that are promoted, an operand through registers, one turned by those who copy.
 */
#ifndef TESTS_CHECK_FAULTS_TYPES_H
#define TESTS_CHECK_FAULTS_TYPES_H

#include "faults.h"

#define SHORT   "wgmma_e4m3_nt full"
#define THROUGH "wgmma tf32 nn full"
#define SPENT   "wgmma tf32 tt full" /* one warpgroup, a tile a block: D in the ring */
#define TURNED  "wgmma tf32 tn full"

static const seeded_fault types_faults[] = {
    /* -- Sums of fp8, promoted -- */
    {"sums of a k block not promoted", SHORT, "acc0[0] = fmaf(part[0], factor0_0, acc0[0]);",
     "acc0[0] = gg_mul_f32(part[0], factor0_0);", 1, "wrong-value", NULL, NULL, 0},
    {"sums promoted that the next k block still has", SHORT, "desc_b0 + stage_at, 0);",
     "desc_b0 + stage_at, kb > 0);", 1, "wrong-value", NULL, NULL, 0},
    {"promoted sums of the tile before kept", SHORT,
     "      acc0[0] = acc0[1] = acc0[2] = acc0[3] = 0.0f;\n",
     "      if (tile == blockIdx.x) acc0[0] = acc0[1] = acc0[2] = acc0[3] = 0.0f;\n", 1,
     "wrong-value", NULL, NULL, 0},
    {"sums promoted before the products end", SHORT, "        gg_wgmma_wait_0();\n", "", 1,
     "missing-wait race", NULL, NULL, 0},
    {"stage released before the products that are promoted end", SHORT,
     "        gg_wgmma_wait_0();\n        if (in_group == 0) gg_mbar_arrive",
     "        if (in_group == 0) gg_mbar_arrive(EMPTY_AT + 8 * (unsigned)stage);\n"
     "        gg_wgmma_wait_0();\n        if (0) gg_mbar_arrive",
     1, "race", "gg_tma_load_3d", NULL, 0},
    {"scales of the first k block taken for all", SHORT, "scales_a + kb * p.m",
     "scales_a + 0 * p.m", 0, "wrong-value", NULL, NULL, 0},
    {"scales of A taken where A has no row", SHORT, "if (first < p.m) gg_ldg_f32(&factor0_0",
     "gg_ldg_f32(&factor0_0", 1, "out-of-bounds", NULL, NULL, 0},
    {"scale of another block of B", SHORT, "* blocks_n + n0 / 128;", "* blocks_n + n0 / 64;", 1,
     "wrong-value out-of-bounds", NULL, NULL, 0},
    {"a row's scale taken for its neighbour's", SHORT, "fmaf(part[2], factor0_1, acc0[2])",
     "fmaf(part[2], factor0_0, acc0[2])", 1, "wrong-value", NULL, NULL, 0},
    /* -- An operand through registers -- */
    {"no fence between registers and products", THROUGH, "        gg_wgmma_fence();\n", "", 1,
     "missing-fence", "gg_wgmma_m64n64k8_tf32_rs", NULL, 0},
    {"registers loaded before the copies land", THROUGH,
     "        gg_mbar_wait(FULL_AT + 8 * (unsigned)stage, parity);\n", "", 1,
     "missing-wait race uninitialised", "gg_tma_load_3d", "in flight", 0},
    {"D stored where other warps still load", SPENT,
     "      gg_bar_sync(ALL, 128); // the ring is spent: D takes its place\n", "", 1, "race", NULL,
     NULL, 0},
    {"registers loaded while products read them", THROUGH, "        gg_wgmma_wait_0();\n",
     "        gg_wgmma_wait_1();\n", 1, "missing-wait race", NULL, NULL, 0},
    {"stage released before the warp has loaded", THROUGH, "        gg_syncwarp();\n", "", 1,
     "race", "gg_tma_load_3d", NULL, 0},
    {"one warp too few empties a stage", THROUGH, "gg_mbar_init(EMPTY_AT + 8 * s, 8);",
     "gg_mbar_init(EMPTY_AT + 8 * s, 7);", 1, "race barrier deadlock", NULL, NULL, 0},
    {"rows of k of a fragment swapped", THROUGH, "&b0_1[1], b_low + from",
     "&b0_1[1], b_high + from", 1, "wrong-value", NULL, NULL, 0},
    {"another lane's columns loaded", THROUGH, "(lane / 8 % 2 * 5) ^ (lane / 16)",
     "(lane / 8 % 2 * 5)", 1, "wrong-value", NULL, NULL, 0},
    {"odd rows of D stored as even ones", THROUGH, "gg_sts_f32x2(odd + 1024",
     "gg_sts_f32x2(even + 1024", 1, "wrong-value race uninitialised", NULL, NULL, 0},
    {"columns of D stored in the other panel", THROUGH, "(unsigned)(column / 32) * PANEL_BYTES",
     "(unsigned)(column / 64) * PANEL_BYTES", 1, "wrong-value race uninitialised", NULL, NULL, 0},
    /* -- An operand turned by those who copy -- */
    {"proxy fence behind turned stores dropped", TURNED, "          gg_fence_proxy_async();\n", "",
     1, "missing-fence", NULL, NULL, 0},
    {"a warp's arrival before its stores", TURNED, "          gg_syncwarp();\n", "", 1,
     "race missing-fence missing-wait", NULL, NULL, 0},
    {"stores of one warp not awaited", TURNED, "gg_mbar_init(FULL_AT + 8 * s, 5);",
     "gg_mbar_init(FULL_AT + 8 * s, 4);", 1,
     "barrier race missing-fence missing-wait uninitialised", NULL, NULL, 0},
    {"turned stores into a stage that is read", TURNED,
     "          gg_mbar_wait(EMPTY_AT + 8 * (unsigned)stage, parity);\n",
     "          if (tid == 0) gg_mbar_wait(EMPTY_AT + 8 * (unsigned)stage, parity);\n", 1,
     "race barrier deadlock", NULL, NULL, 0},
    {"guard of k missing where B is turned", TURNED, "if (3 < left) gg_ldg_u32x4",
     "if (1) gg_ldg_u32x4", 0, "out-of-bounds gap-read wrong-value", NULL, NULL, 0},
    {"guard of columns missing where B is turned", TURNED, "n0 + column < p.n ? (int)k : 0;",
     "(int)k;", 1, "out-of-bounds gap-read wrong-value", NULL, NULL, 0},
    {"two columns swapped where B is turned", TURNED, "gg_sts_u32x4((to ^ 16) + 128, t0_0_01",
     "gg_sts_u32x4((to ^ 16) + 128, t0_0_02", 1, "wrong-value", NULL, NULL, 0},
};

#undef SHORT
#undef THROUGH
#undef TURNED

#endif
