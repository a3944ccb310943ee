/* faults.h - mistakes to seed into emitted kernels, one textual change each, and what the check
 * must say of them.
 *
 * The patterns are lines that templates write for seeded.lua. A pattern that is not there fails its
 * test: when a template changes, its line here changes with it.
 */
#ifndef TESTS_CHECK_FAULTS_H
#define TESTS_CHECK_FAULTS_H

typedef struct seeded_fault {
  const char *name;
  const char *kernel; /* words of its name */
  const char *find, *with;
  int n;             /* which occurrence: 1.., 0 all, -1 last */
  const char *kinds; /* one of these kinds is reported, separated by blanks; "" : none at all */
  const char *line;  /* a finding of such a kind stands at a line that contains this; NULL: any */
  const char *text;  /* ... and its text contains this; NULL: any */
  int in_table;      /* the change is made in gg_table.c */
} seeded_fault;

#define NAIVE  "naive nn narrow"
#define SMEM   "smem nn narrow"
#define NARROW "simt nn_ t4x4_s3 narrow"
#define EDGE   "simt tn_ t4x4_s3 edge"
#define STAGED "simt nn_ t4x4_s1 narrow"
#define SLICES "simt nn_ t4x4_k2_s3 narrow"

static const seeded_fault faults[] = {
    /* -- Synchronisation -- */
    {"barrier of the main loop dropped", EDGE,
     "    gg_syncthreads(); // tile kt + 1 is here, the stage of tile kt is free\n", "", 1,
     "race missing-wait", NULL, NULL, 0},
    {"barrier of the drain dropped", EDGE,
     "      gg_syncthreads(); // tile kt + 1 is here, the stage of tile kt is free\n", "", 1,
     "race missing-wait", NULL, NULL, 0},
    {"barrier before the first fragments dropped", EDGE,
     "  gg_cp_async_wait_1();\n  gg_syncthreads();\n", "  gg_cp_async_wait_1();\n", 1,
     "race missing-wait", "gg_lds_f32x4", NULL, 0},
    {"barrier before the stores of a tile dropped", SMEM,
     "    gg_syncthreads(); // the tile before has been read\n", "", 1, "race", NULL, NULL, 0},
    {"barrier behind the stores of a tile dropped", SMEM,
     "    gg_syncthreads(); // this tile has been written\n", "", 1, "race", "gg_sts_f32", NULL, 0},
    {"barrier of a single stage dropped", STAGED,
     "    gg_syncthreads(); // the tile before has been read\n", "", -1, "race", NULL, NULL, 0},
    {"wait count one too high in the main loop", EDGE, "    gg_cp_async_wait_1();\n",
     "    gg_cp_async_wait_2();\n", 1, "missing-wait", "gg_lds_f32x4", NULL, 0},
    {"wait count one too high in the prologue", NARROW, "  gg_cp_async_wait_1();\n",
     "  gg_cp_async_wait_2();\n", 1, "missing-wait", "gg_lds_f32x4", NULL, 0},
    {"wait count one too low, which is slow but right", NARROW, "gg_cp_async_wait_1();\n",
     "gg_cp_async_wait_0();\n", 0, "", NULL, NULL, 0},
    {"commit of the prologue dropped", EDGE, "  gg_cp_async_commit();\n", "", 2, "missing-wait",
     NULL, NULL, 0},
    {"commit of the main loop dropped", EDGE, "    gg_cp_async_commit();\n    rs =", "    rs =", 1,
     "missing-wait", NULL, NULL, 0},
    {"stage overwritten while it is read", EDGE,
     "    const unsigned ws = rs != 0 ? rs - STAGE_BYTES : 2 * STAGE_BYTES; // stage that is "
     "written\n",
     "    const unsigned ws = rs;\n", 1, "race", NULL, NULL, 0},
    {"barrier that half of the block skips", SMEM,
     "    gg_syncthreads(); // this tile has been written\n",
     "    if (tid < 128) gg_syncthreads();\n", 1, "race barrier", NULL, NULL, 0},
    {"slices summed before all have written", SLICES,
     "  }\n  gg_syncthreads();\n  if (slice == 0) {", "  }\n  if (slice == 0) {", 1,
     "race uninitialised", "gg_lds_f32", NULL, 0},
    {"slices written before the ring was read", SLICES,
     "  gg_syncthreads(); // the ring has been read\n", "", 1, "race", NULL, NULL, 0},
    {"slices that write two sums to one place", SLICES, "(tid % 64 * 4)", "(tid % 32 * 4)", 1,
     "race", "gg_sts_f32", NULL, 0},
    {"slice that writes before the buffer", SLICES, "if (slice == 1) {", "if (slice < 2) {", 1,
     "out-of-bounds", "gg_sts_f32", NULL, 0},
    /* -- Shared-memory map -- */
    {"pitch of a fragment wrong", NARROW, "ra + rs + 1 * A_PITCH)", "ra + rs + A_PITCH - 16)", 1,
     "wrong-value", NULL, NULL, 0},
    {"pitch of the copies wrong", NARROW, "a_k * A_PITCH + a_m * 4",
     "a_k * (A_PITCH - 16) + a_m * 4", 1, "wrong-value uninitialised", NULL, NULL, 0},
    {"fragment of a stage that was never filled", NARROW,
     "    gg_lds_f32x4(&b0_0, &b0_1, &b0_2, &b0_3, rb);\n",
     "    gg_lds_f32x4(&b0_0, &b0_1, &b0_2, &b0_3, rb + 2 * STAGE_BYTES);\n", 1,
     "uninitialised missing-wait", "rb + 2 * STAGE", NULL, 0},
    {"shared access beyond the buffer", SMEM, "rb + 15 * B_PITCH)", "rb + 35 * B_PITCH)", 1,
     "out-of-bounds", "35 * B_PITCH", NULL, 0},
    {"wide copy to a misaligned place", EDGE, "gg_cp_async_16(wb + ws, gb)",
     "gg_cp_async_16(wb + ws + 4, gb)", 1, "misaligned", "wb + ws + 4", NULL, 0},
    /* -- Edges -- */
    {"guard of rows of A missing", NARROW, "m0 + a_m + 24 < p.m ? m0 + a_m + 24 : p.m - 1",
     "m0 + a_m + 24", 1, "out-of-bounds", "ga3", NULL, 0},
    {"guard of the stores' rows missing", EDGE, "if (3 < m_left) {", "if (1) {", -1,
     "out-of-bounds", "gg_st_f32x4(d + 3 * p.ldd", NULL, 0},
    {"guard of the stores' columns missing", NARROW, "if (3 < n_left) gg_st_f32(", "gg_st_f32(", -1,
     "gap-written out-of-bounds global-race", NULL, NULL, 0},
    {"guard of the stores one off", NARROW, "if (3 < n_left) gg_st_f32(",
     "if (4 < n_left) gg_st_f32(", -1, "not-written", NULL, NULL, 0},
    {"guard of C missing", SMEM, "if (d_m >= p.m || d_n >= p.n) return;", "if (d_n >= p.n) return;",
     1, "out-of-bounds", "p.ldc", NULL, 0},
    {"zero fill of A's tail missing", NARROW, "gg_cp_async_zfill_4(wa, ga0, a_k < k_left ? 4 : 0)",
     "gg_cp_async_zfill_4(wa, ga0, 4)", 1, "gap-read", NULL, "rows of A", 0},
    {"zero fill of B's tail missing", EDGE, "gb, b_k < k_left ? 16 : 0)", "gb, 16)", 1,
     "out-of-bounds", "gb, 16)", NULL, 0},
    {"tail of staged registers not zeroed", STAGED, "sa0_0_0 = 0.0f;\n", "\n", 1, "wrong-value",
     NULL, NULL, 0},
    {"tail of k one tile off", NARROW, "k - (gg_i64)(kt + 2) * 8", "k - (gg_i64)(kt + 1) * 8", 1,
     "wrong-value out-of-bounds", NULL, NULL, 0},
    {"last tile of k left out", NARROW, "(int)((k + 7) / 8)", "(int)(k / 8)", 1, "wrong-value",
     NULL, NULL, 0},
    /* -- Which tile -- */
    {"side of the last raster group wrong", EDGE, "rest < 8 ? rest : 8", "8", 1,
     "not-written out-of-bounds", NULL, NULL, 0},
    {"column of tiles off by one", EDGE, "(gg_i64)(in_group / side) * 32",
     "(gg_i64)(in_group / side + 1) * 32", 1, "not-written out-of-bounds", NULL, NULL, 0},
    {"batch of A taken for B", NARROW, "(const float *)p.b + batch * p.stride_b",
     "(const float *)p.b + batch * p.stride_a", 1, "wrong-value out-of-bounds", NULL, NULL, 0},
    /* -- Arithmetic -- */
    {"operands swapped", EDGE, "acc0_1 = fmaf(a0_0, b0_1, acc0_1)",
     "acc0_1 = fmaf(a0_1, b0_0, acc0_1)", 1, "wrong-value", NULL, NULL, 0},
    {"stale accumulator", NARROW, "float acc2_0 = 0.0f", "float acc2_0 = (float)threadIdx.x", 1,
     "wrong-value", NULL, NULL, 0},
    {"a k step left out", NAIVE, "    acc = fmaf(a3, b3, acc);\n", "", 1, "wrong-value", NULL, NULL,
     0},
    {"C read although beta is 0", NAIVE, "if (beta != 0.0f) {", "if (1) {", 1, "forbidden-read",
     NULL, "beta = 0 forbids", 0},
    {"C read although it is null", EDGE, "if (beta != 0.0f) {", "if (1) {", 1, "out-of-bounds",
     "p.ldc", NULL, 0},
    {"A and B read although alpha is 0", NARROW, "alpha == 0.0f ? 0 : p.k", "p.k", 1,
     "forbidden-read", NULL, "alpha = 0 forbids", 0},
    {"alpha left out", NARROW, "fmaf(beta, c1_2, gg_mul_f32(alpha, acc1_2))",
     "fmaf(beta, c1_2, acc1_2)", 1, "wrong-value", NULL, NULL, 0},
    {"beta for alpha", SMEM, "gg_mul_f32(alpha, acc)", "gg_mul_f32(beta, acc)", 1, "wrong-value",
     NULL, NULL, 0},
    {"half of the precision", SMEM, "float x = gg_mul_f32(alpha, acc);",
     "float x = gg_mul_f32(alpha, acc); x = x + x * 2e-6f;", 1, "wrong-value", NULL, "bound", 0},
    /* -- Limits -- */
    {"offset of a row in 32 bits", NAIVE, "row * p.ldd", "(int)(row * p.ldd)", 1,
     "out-of-bounds not-written", NULL, "beyond 2^31", 0},
    {"offset of a batch in 32 bits", EDGE, "batch * p.stride_d", "(int)(batch * p.stride_d)", 1,
     "out-of-bounds not-written", NULL, "beyond 2^31", 0},
    {"offset of a copy in 32 bits", EDGE, "a_k * p.lda", "(int)(a_k * p.lda)", 1,
     "out-of-bounds wrong-value", NULL, "beyond 2^31", 0},
    {"loop that does not end", NAIVE, "done += 4) {", "done += 0) {", 1, "endless", NULL, NULL, 0},
    /* -- The table promises too much -- */
    {"alignment understated", EDGE, ".align = {16, 16, 16, 16}", ".align = {4, 4, 4, 4}", 0,
     "misaligned", NULL, NULL, 1},
    {"multiple of n understated", EDGE, ".multiple_m = 4, .multiple_n = 4,",
     ".multiple_m = 4, .multiple_n = 1,", 0, "out-of-bounds misaligned gap-written", NULL, NULL, 1},
    {"shared memory understated", EDGE, ".shared_bytes = 6144,", ".shared_bytes = 4096,", 0,
     "out-of-bounds", NULL, NULL, 1},
    {"fewer threads than the kernel counts on", EDGE, ".threads = 64,", ".threads = 32,", 0,
     "not-written wrong-value uninitialised", NULL, NULL, 1},
};

#endif
