/* faults_cluster.h - mistakes in kernels of family wgmma whose clusters share tiles by multicast.
 * See faults.h.
 */
#ifndef TESTS_CHECK_FAULTS_CLUSTER_H
#define TESTS_CHECK_FAULTS_CLUSTER_H

#include "faults.h"

#define PAIR    "wgmma_f16_nt full"  /* 2 x 1, 3 stages: B in halves of rows */
#define SQUARE  "wgmma_f16_tn full"  /* 2 x 2, ping-pong, 4 stages: A and B in halves of k */
#define OUTSIDE "wgmma_e5m2_nt full" /* 1 x 2, a tile a block, scales by block */

static const seeded_fault cluster_faults[] = {
    /* -- Barriers -- */
    {"copies come before the other block has barriers", PAIR, "  gg_cluster_wait();\n", "", 1,
     "race missing-fence barrier deadlock", NULL, NULL, 0},
    {"initialisation of mbarriers not fenced for the cluster", PAIR,
     "    gg_fence_mbarrier_init();\n", "", 1, "missing-fence", NULL, NULL, 0},
    {"one block empties a stage that both write", PAIR, "gg_mbar_init(EMPTY_AT + 8 * s, 2);",
     "gg_mbar_init(EMPTY_AT + 8 * s, 1);", 1, "race missing-wait barrier", NULL, NULL, 0},
    {"an arrival awaited from a block that reads nothing", SQUARE,
     "gg_mbar_init(EMPTY_AT + 8 * s, 3);", "gg_mbar_init(EMPTY_AT + 8 * s, 4);", 1, "deadlock",
     "gg_mbar_wait", NULL, 0},
    {"stage given back to its own block alone", PAIR,
     "if (kb > 0 && in_group < 2) gg_mbar_arrive_cluster(EMPTY_AT + 8 * (unsigned)before, peer);",
     "if (kb > 0 && in_group == 0) gg_mbar_arrive(EMPTY_AT + 8 * (unsigned)before);", 1, "deadlock",
     "gg_mbar_wait", NULL, 0},
    {"stage given back to the same block twice", PAIR, "rank ^ (unsigned)in_group;", "rank;", 1,
     "deadlock race missing-wait barrier", NULL, NULL, 0},
    {"stage given back to the block across", SQUARE, "rank ^ (unsigned)in_group;",
     "rank ^ ((unsigned)in_group == 1 ? 3u : (unsigned)in_group);", 1,
     "deadlock race missing-wait barrier", NULL, NULL, 0},
    {"stage not given back to the column", SQUARE, "k_blocks > 0 && in_group < 3",
     "k_blocks > 0 && in_group < 2", 1, "deadlock", "gg_mbar_wait", NULL, 0},
    {"stage given back before it is read", PAIR, "gg_wgmma_wait_1();", "gg_wgmma_wait_2();", 1,
     "race missing-wait", "gg_tma_load_3d_multicast", NULL, 0},
    {"copies do not wait for the other block's reads", PAIR,
     "          gg_mbar_wait(EMPTY_AT + 8 * (unsigned)stage, parity);\n", "", 1,
     "race missing-wait barrier", NULL, NULL, 0},
    {"exit while the other block still arrives", PAIR,
     "for (int s = 0; s < 3; ++s) {\n        gg_mbar_wait",
     "for (int s = 0; s < 0; ++s) {\n        gg_mbar_wait", 1, "exited", NULL, NULL, 0},
    {"drain one stage short", SQUARE, "for (int s = 0; s < 4; ++s) {\n        gg_mbar_wait",
     "for (int s = 0; s < 3; ++s) {\n        gg_mbar_wait", 1, "exited", NULL, NULL, 0},
    /* -- Bytes -- */
    {"only a block's own part expected", PAIR, "gg_mbar_arrive_expect_tx(full, STAGE_BYTES);",
     "gg_mbar_arrive_expect_tx(full, STAGE_BYTES - B_PART);", 1, "missing-wait barrier deadlock",
     NULL, NULL, 0},
    {"a part sent to its own block alone", PAIR, "to_b = 0x3;", "to_b = 1u << rank;", 1, "deadlock",
     "gg_mbar_wait", NULL, 0},
    {"a part sent to one block only", PAIR, "to_b = 0x3;", "to_b = 0x1;", 1, "deadlock",
     "gg_mbar_wait", NULL, 0},
    {"rows of the cluster taken for columns", SQUARE, "0x5u << rank_n", "0x3u << rank_m * 2", 1,
     "wrong-value deadlock race missing-wait", NULL, NULL, 0},
    {"a part sent to all", SQUARE, "to_a = 0x3u << rank_m * 2;", "to_a = 0xf;", 1,
     "wrong-value race missing-wait barrier deadlock", NULL, NULL, 0},
    {"a part put where the other block's goes", PAIR, "A_BYTES + rank * B_PART",
     "A_BYTES + (rank ^ 1) * B_PART", 1, "wrong-value", NULL, NULL, 0},
    {"both parts put in one place", PAIR, "A_BYTES + rank * B_PART", "A_BYTES + 0 * B_PART", 1,
     "race missing-wait uninitialised wrong-value", NULL, NULL, 0},
    {"the same rows copied twice", PAIR, "from_b = (int)rank * 32;", "from_b = (int)rank * 0;", 1,
     "wrong-value", NULL, NULL, 0},
    {"k of the other half", SQUARE, "from_a = (int)rank_n * 32;", "from_a = (int)rank_m * 32;", 1,
     "wrong-value", NULL, NULL, 0},
    {"boxes as high as the tile", PAIR, "{1, 64, 32, 128, 128}", "{1, 64, 64, 128, 128}", 1,
     "deadlock race out-of-bounds missing-wait", NULL, NULL, 1},
    /* -- Which tile -- */
    {"blocks of a cluster with the same rows", PAIR, " * 128 + rank * 64;", " * 128;", 3,
     "not-written global-race", NULL, NULL, 0},
    {"columns by the wrong rank", SQUARE, " * 128 + rank_n * 64;", " * 128 + rank_m * 64;", 3,
     "not-written global-race", NULL, NULL, 0},
    {"blocks of a cluster at different tiles", PAIR, "cluster = blockIdx.x / 2,",
     "cluster = blockIdx.x,", 1, "wrong-value deadlock not-written", NULL, NULL, 0},
    {"clusters that pass over tiles", SQUARE, "clusters = gridDim.x / 4;", "clusters = gridDim.x;",
     1, "not-written", NULL, NULL, 0},
    {"tiles counted without their partners", PAIR, "(unsigned)((p.m + 127) / 128)",
     "(unsigned)(p.m / 128 + (p.m < 128))", 1, "not-written", NULL, NULL, 0},
    {"scale of columns outside of D", OUTSIDE, "if (n0 < p.n) gg_ldg_f32(&factor_b",
     "gg_ldg_f32(&factor_b", 1, "out-of-bounds", "factor_b", NULL, 0},
    {"launched without clusters", OUTSIDE, ".cluster_n = 2,", ".cluster_n = 1,", 0,
     "barrier deadlock not-written out-of-bounds launch", NULL, NULL, 1},
};

#endif
