/* faults_repack.h - mistakes to seed into passes over operands (see faults.h). */
#ifndef TESTS_CHECK_FAULTS_REPACK_H
#define TESTS_CHECK_FAULTS_REPACK_H

#include "faults.h"

#define COPY  "repack_b16.cu"
#define SLIM  "repack_b16_slim"
#define TURN  "repack_b16_turned"
#define BYTES "repack_b8.cu"
#define SIDES "repack_b8_turned"

static const seeded_fault repack_faults[] = {
    /* -- What is read -- */
    {"granule before the matrix read whole", COPY, "at < to && at >= first", "at < to", 1,
     "out-of-bounds", "gg_ldg_u32x4", NULL, 0},
    {"granule behind the matrix read whole", COPY, "at + 512 + 16 <= last", "1", 1, "out-of-bounds",
     "gg_ldg_u32x4", "of a", 0},
    {"elements before the matrix gathered", COPY, "(const unsigned char *)one >= first", "1", 1,
     "out-of-bounds", "gg_ldg_u16", NULL, 0},
    {"elements behind the matrix gathered", COPY, "(const unsigned char *)one < last", "1", 2,
     "out-of-bounds", "gg_ldg_u16", NULL, 0},
    {"granule in which the matrix begins left out", COPY, "if (low < head + 16 && head != first) {",
     "if (0) {", 1, "wrong-value", "gg_st_u32x4", NULL, 0},
    {"granule in which the matrix begins left out of rows that share it", SLIM,
     "if (low < head + 16 && head != first) {", "if (low == first && head != first && p.lda > 8) {",
     1, "wrong-value", NULL, NULL, 0},
    {"granule in which the matrix ends left out", COPY, "if (tail < high && tail != last) {",
     "if (0) {", 1, "wrong-value", "gg_st_u32x4", NULL, 0},
    {"last granule taken by one lane too few", COPY, "if (begin + 2048 == tail) {", "if (0) {", 1,
     "wrong-value", NULL, NULL, 0},
    {"granule behind a row's last lane left out", TURN, "part == 7 ? x0_0 : n0", "n0", 1,
     "wrong-value", NULL, NULL, 0},
    /* -- What is made of it -- */
    {"a row's last lane takes its own first granule", COPY, "part != 0 ? g0_0 : g1_0", "g0_0", 1,
     "wrong-value", NULL, NULL, 0},
    {"a row's last lane asks the next row", SLIM, "lane / 8 * 8 + (lane + 1) % 8",
     "(lane + 1) % 32", 1, "wrong-value", NULL, NULL, 0},
    {"odd elements shifted by words only", COPY, "0x1111 * (shift % 4)", "0x1111 * 0", 1,
     "wrong-value", NULL, NULL, 0},
    {"bytes shifted by pairs", BYTES, "0x1111 * (shift % 4)", "0x1111 * (shift % 4 / 2 * 2)", 1,
     "wrong-value", NULL, NULL, 0},
    {"rows that begin anywhere taken as granules", TURN, "const int even = (",
     "const int even = 1 | (", 1, "wrong-value", NULL, NULL, 0},
    {"bytes of two rows exchanged", SIDES, "0x5140", "0x1504", 1, "wrong-value", NULL, NULL, 0},
    {"chunks read at another swizzle", TURN, "((unsigned)column / 8 ^ q) * 16",
     "((unsigned)column / 8) * 16", 1, "wrong-value", NULL, NULL, 0},
    {"copy stored before the tile is there", TURN, "  gg_syncthreads();\n", "", 1,
     "race uninitialised", "gg_lds_u32", NULL, 0},
    /* -- What is written -- */
    {"what fills up a row's last chunk kept", COPY, "left > 4 ? g0_o1 & keep : 0", "g0_o1", 1,
     "wrong-value", NULL, "behind the row's end", 0},
    {"odd bytes of a last chunk cut off", BYTES, "8 * (left % 4)", "8 * (left % 4 / 2 * 2)", 1,
     "wrong-value", NULL, NULL, 0},
    {"chunk behind a row written", COPY, "if (left > 0) {", "if (left > -16) {", 1,
     "gap-written out-of-bounds", NULL, NULL, 0},
    {"rows behind the matrix copied", SLIM, "line < rows ? columns * 2 : 0", "columns * 2", 1,
     "out-of-bounds gap-written", NULL, NULL, 0},
    {"rows behind the matrix stored", TURN, "if (column < columns && q * 8 < rows)",
     "if (column < columns)", 1, "gap-written out-of-bounds", NULL, NULL, 0},
    {"columns behind the matrix stored", TURN, "if (column + 1 < columns && q * 8 < rows)",
     "if (q * 8 < rows)", 1, "out-of-bounds", "gg_st_u32x4", NULL, 0},
    {"batch of the copy left out", TURN, "batch * p.stride_d", "0 * p.stride_d", 1,
     "wrong-value global-race", NULL, NULL, 0},
};

#endif
