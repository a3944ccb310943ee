/* test_check_maps.c - the whole check of kernels with tensor maps, clusters and persistent grids:
 * no finding in any of its problems, and a finding where the row promises too little.
 */
#include "ggcheck.h"

#include <stdio.h>
#include <string.h>

void test_tma_1x1(void);
void test_tma_2x1(void);
void test_tma_2x2(void);

static gg_kernel row_of(const char *name, gg_entry entry, int cluster_m, int cluster_n,
                        int persistent) {
  gg_kernel r;
  memset(&r, 0, sizeof r);
  r.name = r.symbol = name;
  r.file = "kernels_tma.cu";
  r.family = "simt"; /* sums are chains of FMAs */
  r.entry = entry;
  r.arch = 90;
  r.type_a = r.type_b = r.type_c = r.type_d = r.type_acc = GG_F32;
  r.tile_m = r.tile_n = 16;
  r.tile_k = 8;
  r.k_slices = 1;
  r.threads = 256;
  r.cluster_m = cluster_m;
  r.cluster_k = 1;
  r.cluster_n = cluster_n;
  r.persistent = persistent;
  r.shared_bytes = 3080;
  r.blocks_per_sm = 1;
  for (int i = 0; i < 4; ++i)
    r.align[i] = 4;
  r.multiple_m = r.multiple_n = r.multiple_k = 1;
  r.maps[0] = (gg_map_recipe){1, 8, 16, 32, 256};
  r.maps[1] = (gg_map_recipe){1, 16, 8, 64, 256};
  r.maps[2] = r.maps[3] = (gg_map_recipe){1, 16, 16, 0, 256};
  return r;
}

static int check(const gg_kernel *rows, int count) {
  const gg_kernel_table table = {.abi = GG_KERNEL_ABI,
                                 .args_size = (int)sizeof(gg_args),
                                 .row_size = (int)sizeof(gg_kernel),
                                 .emulated = 1,
                                 .count = count,
                                 .kernels = rows,
                                 .generator = "by hand"};
  char name[] = "check", option[] = "--schedules", value[] = "3";
  char *arguments[] = {name, option, value, NULL};
  return ggcheck_main(&table, NULL, 3, arguments);
}

int main(void) {
  gg_kernel rows[] = {row_of("one", test_tma_1x1, 1, 1, 0), row_of("two", test_tma_2x1, 2, 1, 0),
                      row_of("walk", test_tma_1x1, 1, 1, 1),
                      row_of("four_walk", test_tma_2x2, 2, 2, 1)};
  int failed = 0;
  if (check(rows, 4) != 0) {
    printf("check_maps: right kernels were reported\n");
    failed = 1;
  }
  gg_kernel wrong = rows[0]; /* A box that is not the kernel's */
  wrong.maps[0].box_outer = 8;
  if (check(&wrong, 1) != 4) {
    printf("check_maps: a wrong box was not reported\n");
    failed = 1;
  }
  return failed;
}
