/* test_check_steps.c - the whole check of kernels with every step of the epilogue, and of kernels
 * that split k among the blocks of a cluster: no finding in any of their problems, and a finding
 * for each thing that a row claims and its kernel does not do.
 */
#include "ggcheck.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void test_f32_nn(void);
void test_f32_vector_group_n(void);
void test_f32_block_tensor_m(void);
void test_split_2(void);
void test_split_4(void);

static gg_kernel plain(const char *name, gg_entry entry) {
  gg_kernel r;
  memset(&r, 0, sizeof r);
  r.name = r.symbol = name;
  r.file = "kernels.cu";
  r.family = "simt"; /* sums are chains of FMAs */
  r.entry = entry;
  r.arch = 90;
  r.type_a = r.type_b = r.type_c = r.type_d = r.type_acc = GG_F32;
  r.tile_m = r.tile_n = 16;
  r.tile_k = 8;
  r.k_slices = 1;
  r.threads = 256;
  r.cluster_m = r.cluster_n = r.cluster_k = 1;
  r.blocks_per_sm = 1;
  for (int i = 0; i < 4; ++i)
    r.align[i] = 4;
  r.multiple_m = r.multiple_n = r.multiple_k = 1;
  return r;
}

static gg_kernel steps(bool first) {
  gg_kernel r = plain(first ? "vector_group_n" : "block_tensor_m",
                      first ? test_f32_vector_group_n : test_f32_block_tensor_m);
  r.bias = first ? GG_BIAS_N : GG_BIAS_M;
  r.activation = GG_ACTIVATION_RELU;
  r.scaling_a = first ? GG_SCALING_VECTOR : GG_SCALING_BLOCK;
  r.scaling_b = first ? GG_SCALING_GROUP : GG_SCALING_TENSOR;
  r.scaling_d = GG_SCALING_TENSOR;
  r.residual = r.absmax = 1;
  return r;
}

static gg_kernel split(const char *name, gg_entry entry, int parts, int persistent) {
  gg_kernel r = plain(name, entry);
  r.file = "kernels_split.cu";
  r.cluster_k = parts;
  r.shared_bytes = 1024 * parts;
  r.persistent = persistent;
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

/* Returns 1 where the row, which claims too much, was not reported. */
static int must_report(const gg_kernel *row, const char *lie) {
  printf("-- %s\n", lie);
  if (check(row, 1) == 4) return 0;
  printf("check_steps: not reported: %s\n", lie);
  return 1;
}

int main(void) {
  const gg_kernel rows[] = {steps(true), steps(false), split("split_2", test_split_2, 2, 0),
                            split("split_4", test_split_4, 4, 0),
                            split("split_4_walk", test_split_4, 4, 1)};
  int failed = 0;
  if (check(rows, (int)(sizeof rows / sizeof rows[0])) != 0) {
    printf("check_steps: right kernels were reported\n");
    failed = 1;
  }
  gg_kernel r = rows[0];
  r.bias = GG_BIAS_M;
  failed |= must_report(&r, "the bias of columns is one of rows");
  r = rows[0], r.bias = GG_BIAS_NONE;
  failed |= must_report(&r, "the bias is read, but there is none");
  r = rows[0], r.activation = GG_ACTIVATION_GELU;
  failed |= must_report(&r, "relu is gelu");
  r = rows[0], r.activation = GG_ACTIVATION_NONE;
  failed |= must_report(&r, "there is an activation, but none is claimed");
  r = rows[0], r.scaling_a = GG_SCALING_TENSOR;
  failed |= must_report(&r, "the scales of rows are one for all");
  r = rows[0], r.scaling_b = GG_SCALING_VECTOR;
  failed |= must_report(&r, "the scales of groups are those of columns");
  r = rows[1], r.scaling_a = GG_SCALING_GROUP;
  failed |= must_report(&r, "the scales of blocks are those of groups");
  r = rows[1], r.scaling_d = GG_SCALING_NONE;
  failed |= must_report(&r, "D is scaled, but there is no scale");
  r = rows[1], r.residual = 0;
  failed |= must_report(&r, "the residual is read, but there is none");
  r = rows[1], r.absmax = 0;
  failed |= must_report(&r, "absmax is written, but none is asked");
  r = plain("plain", test_f32_nn), r.bias = GG_BIAS_N;
  failed |= must_report(&r, "a bias is claimed that is not added");
  r = plain("plain", test_f32_nn), r.absmax = 1;
  failed |= must_report(&r, "absmax is claimed but not written");
  r = plain("plain", test_f32_nn), r.residual = 1;
  failed |= must_report(&r, "a residual is claimed that is not added");
  r = split("split_2", test_split_2, 2, 0), r.shared_bytes = 1024;
  failed |= must_report(&r, "shared memory for the sums of one block too few");
  return failed;
}
