/* plan_repack.c - family repack: a pass that copies an operand for kernels that cannot take it as
 * it lies, either row by row or turned.
 *
 * A pass moves bits, so one serves all types of a size. Loads and stores have 16 bytes, whatever
 * the source's address: a lane shifts together what it needs of two aligned granules.
 */
#include "plan_build.h"

#include <stdio.h>
#include <string.h>

enum {
  CHUNK = 16,  /* bytes of a load and of a store */
  LINE = 128,  /* bytes; those between rows of a copy are a multiple */
  BLOCK = 256, /* threads */
};

int plan_pass_type(int type) {
  switch (dtype_bytes(type)) {
  case 1:
    return GG_U8;
  case 2:
    return GG_F16;
  case 4:
    return GG_F32;
  default:
    return GG_NONE;
  }
}

bool plan_pass_spec(const kernel_spec *asker, int type, plan_pass pass, kernel_spec *out) {
  *out = *asker;
  for (int f = 0; f < SPEC_FIELD_COUNT; ++f) {
    out->value[f] = SPEC_UNSET;
    out->source_line[f] = asker->line;
  }
  out->pass = true;
  out->value[SPEC_FAMILY] = FAMILY_REPACK;
  out->value[SPEC_DTYPE_A] = plan_pass_type(type);
  out->value[SPEC_LAYOUT] = pass == PASS_TURNED ? LAYOUT_TN : LAYOUT_NN;
  if (pass == PASS_SLIM) out->value[SPEC_TILE_M] = 32;
  return out->value[SPEC_DTYPE_A] != GG_NONE;
}

/* Blocks an SM: what registers give without spills, and threads allow. */
static void set_blocks(plan_builder *b, int wanted) {
  int most = b->gpu->threads_sm >= BLOCK ? b->gpu->threads_sm / BLOCK : 1;
  plan_set(b, PLAN_min_blocks, wanted < most ? wanted : most,
           "%d B in flight a block cover the memory's latency", BLOCK * b->plan->copies_a * CHUNK);
}

/* Lanes along a row: a warp for the longest runs, 8 where rows are short. */
static void choose_rows(plan_builder *b, bool slim) {
  kernel_plan *p = b->plan;
  SET(copy_lanes_a, slim ? 8 : 32, slim ? "4 short rows a warp" : "a warp along a row");
  SET(copies_a, 4, "granules in flight a lane; 1 to 8 differ by 1.5%% (measured, H200)");
  SET(tile_m, BLOCK / p->copy_lanes_a, "a row for each %d of %d threads", p->copy_lanes_a, BLOCK);
  SET(tile_n, p->copy_lanes_a * p->copies_a * CHUNK / p->element, "%d lanes x %d x %d B / %d B",
      p->copy_lanes_a, p->copies_a, CHUNK, p->element);
  SET(registers, 38 + 4 * (p->copies_a + 1),
      "%d granules of 4 words, 38 for words of two and addresses", p->copies_a + 1);
  set_blocks(b, 4);
  SET(shared_bytes, 0, "shuffles");
  SET(swizzle, 0, "no shared memory");
  SET(copy_gbs, plan_bandwidth(b, 885), "0.885 of %d (measured, H200: 4250 of 4800)",
      b->gpu->hbm_gbs);
  SET(partial_percent, 38, "instructions, not bytes, take the time of short rows (measured, H200)");
}

/* Whole lines of the copy, a line or two of the source. */
static void choose_square(plan_builder *b) {
  kernel_plan *p = b->plan;
  int row = p->element == 4 ? 2 * LINE : LINE;
  SET(tile_m, LINE / p->element, "%d B of a row of the copy: whole lines are written", LINE);
  SET(tile_n, row / p->element, "%d B of a row: whole lines are read%s", row,
      row > LINE ? ", two for enough of them in flight" : "");
  SET(copy_lanes_a, row / CHUNK, "%d B of a row", row);
  int rows = BLOCK / p->copy_lanes_a;
  SET(copies_a, p->tile_m / rows, "%d rows, %d threads with %d lanes a row", p->tile_m, BLOCK,
      p->copy_lanes_a);
  SET(registers, 4 + 17 * p->copies_a,
      "%d granules: 17 for their 4 words, the next ones, those turned and addresses; 4 for bounds",
      p->copies_a);
  set_blocks(b, p->copies_a > 2 ? 3 : 5);
  SET(shared_bytes, p->tile_m * row, "%d rows x %d B", p->tile_m, row);
  SET(swizzle, 1, "16-byte chunks XOR (row / %d mod 8): no bank is asked twice either way",
      CHUNK / p->element);
  SET(copy_gbs, plan_bandwidth(b, 720), "0.72 of %d (measured, H200: 3450 of 4800)",
      b->gpu->hbm_gbs);
  SET(partial_percent, 80, "a tile's rows and columns are walked all the same (measured, H200)");
}

const spec_field plan_takes_repack[] = {SPEC_FIELD_COUNT};

void plan_make_repack(plan_builder *b) {
  kernel_plan *p = b->plan;
  int type = b->spec->value[SPEC_DTYPE_A];
  bool turned = b->spec->value[SPEC_LAYOUT] == LAYOUT_TN;
  bool slim = b->spec->value[SPEC_TILE_M] != SPEC_UNSET;
  SET(family, FAMILY_REPACK, "copies operands for other families");
  SET(variant, VARIANT_NARROW, "any size, any element's address");
  SET(arch, b->gpu->arch, "%s", b->gpu->name);
  plan_launch(b);
  SET(arch_suffix, 0, "nothing here needs arch-specific instructions; PTX serves later cards");
  SET(type_a, type, "for its bytes: bits are copied");
  SET(type_b, type, "as A");
  SET(type_c, type, "as A");
  SET(type_d, type, "as A");
  SET(type_acc, type, "nothing is summed");
  SET(element, dtype_bytes(type), "sizeof %s", dtype_name(type));
  SET(element_d, p->element, "as A");
  SET(layout, turned ? LAYOUT_TN : LAYOUT_NN, turned ? "rows become columns" : "rows stay rows");
  SET(turn_a, turned, turned ? "through shared memory" : "row by row");
  SET(threads, BLOCK, "8 warps");
  SET(copy_a, CHUNK, "aligned loads, whatever the address: bytes of two are shifted together");
  if (turned)
    choose_square(b);
  else
    choose_rows(b, slim);
  SET(tile_k, 1, "no k");
  SET(raster_along, RASTER_N, "a row's tiles follow each other");
  SET(raster_group, 1, "plain order");
  SET(k_slices, 1, "none");
  plan_register_limit(b);
  SET(align_a, p->element, "elements");
  SET(align_b, p->element, "not there");
  SET(align_c, p->element, "not there");
  SET(align_d, LINE,
      "whole lines: TMA reads rows 16 bytes apart from lines at two thirds of the speed (measured, "
      "H200)");
  SET(multiple_m, 1, "guarded");
  SET(multiple_n, 1, "guarded");
  SET(multiple_k, 1, "no k");
  SET(min_k, 0, "no k");
  SET(overhead_ns, 2000, "launch, first loads and last stores (measured, H200)");
  SET(code_bytes, turned ? 16384 : 12288, "straight code, no loop");
  SET(compile_seconds, 30, "budget of every kernel");
  plan_occupancy(b);
  snprintf(p->name, sizeof p->name, "sm%d_repack_b%d%s", p->arch, 8 * p->element,
           turned ? "_turned"
           : slim ? "_slim"
                  : "");
}
