/* faults_launch.h - kernels launched while the one before may run that touch memory too early.
 * See faults.h.
 */
#ifndef TESTS_CHECK_FAULTS_LAUNCH_H
#define TESTS_CHECK_FAULTS_LAUNCH_H

#include "faults.h"
#include "faults_cluster.h"
#include "faults_gemv.h"
#include "faults_mma.h"
#include "faults_mma_tma.h"
#include "faults_reduce.h"
#include "faults_repack.h"

#define EARLY(name, kernel, line)                                                                  \
  {                                                                                                \
    name ": the kernel before is not waited for", kernel, "  gg_grid_wait();\n", "", 1,            \
        "missing-wait", line, "before gg_grid_wait", 0                                             \
  }

static const seeded_fault launch_faults[] = {
    EARLY("wgmma", PAIR, "gg_tma_load_3d"),
    EARLY("mma", MMA_RING, "gg_cp_async"),
    EARLY("mma by tma", MMA_TMA, "gg_tma_load_3d"),
    EARLY("gemv", GEMV, "gg_ldg_u32x4"),
    EARLY("reduce", REDUCE, "gg_ldg_f32"),
    EARLY("repack", COPY, "gg_ldg_u32x4"),
    {"only the copying thread waits", PAIR, "\n  gg_grid_wait();\n", "\n", 1, "missing-wait",
     "gg_tma_store_3d", "before gg_grid_wait", 0},
};

#endif
