/* plan_reduce.c - cutting k: the kernel that sums parts of it, and family reduce, the pass that
 * adds the parts up, in their order, and takes the epilogue's steps.
 */
#include "plan_epilogue.h"

enum { WARP = 32, ROWS = 8, FETCHED = 16 };

void plan_reduce_spec(const kernel_spec *asker, const kernel_plan *p, kernel_spec *out) {
  const struct {
    spec_field field;
    int value;
  } kept[] = {
      {SPEC_FAMILY, FAMILY_REDUCE}, {SPEC_DTYPE_A, p->type_acc}, {SPEC_DTYPE_ACC, p->type_acc},
      {SPEC_DTYPE_C, p->type_c},    {SPEC_DTYPE_D, p->type_d},   {SPEC_ALPHA, p->alpha},
      {SPEC_BETA, p->beta},         {SPEC_BIAS, p->bias},        {SPEC_ACTIVATION, p->activation},
      {SPEC_RESIDUAL, p->residual}, {SPEC_SCALE_A, p->scale_a},  {SPEC_SCALE_B, p->scale_b},
      {SPEC_SCALE_D, p->scale_d},   {SPEC_ABSMAX, p->absmax}};
  *out = *asker;
  for (int f = 0; f < SPEC_FIELD_COUNT; ++f) {
    out->value[f] = SPEC_UNSET;
    out->source_line[f] = asker->line;
  }
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; ++i)
    out->value[kept[i].field] = kept[i].value;
  out->pass = true;
}

bool plan_sums_spec(const kernel_spec *asker, const kernel_plan *p, kernel_spec *out) {
  static const spec_field dropped[] = {PLAN_EPILOGUE_FIELDS};
  bool same =
      p->type_d == p->type_acc && p->beta != GG_SCALAR_ONE && plan_step_instructions(p) == 0;
  *out = *asker;
  for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; ++i)
    out->value[dropped[i]] = SPEC_UNSET;
  out->value[SPEC_DTYPE_C] = out->value[SPEC_DTYPE_D] = p->type_acc;
  out->value[SPEC_ALPHA] = GG_SCALAR_ONE;
  out->value[SPEC_BETA] = GG_SCALAR_ZERO;
  out->value[SPEC_REPACK] = out->value[SPEC_SPLIT] = SPEC_UNSET;
  out->sums = true;
  return !same;
}

const spec_field plan_takes_reduce[] = {SPEC_FIELD_COUNT};

void plan_make_reduce(plan_builder *b) {
  kernel_plan *p = b->plan;
  plan_common_begin(b);
  plan_require_output(b);
  if (b->result != PLAN_OK) return;
  SET(family, FAMILY_REDUCE, "ends products whose k was cut");
  SET(variant, VARIANT_NARROW, "any size, any element's address");
  SET(tile_m, ROWS, "%d warps, a row each", ROWS);
  SET(tile_n, WARP, "a warp along a row: a part's %d elements are whole sectors", WARP);
  SET(threads, p->tile_m * p->tile_n, "%d x %d, one element of D each", p->tile_m, p->tile_n);
  SET(tile_k, FETCHED * 4 / p->element, "parts: those in flight");
  SET(unroll_k, FETCHED * 4 / p->element,
      "parts in flight a thread: 64 B of them, %d KB a block, cover the memory's latency",
      64 * p->threads / 1024);
  SET(raster_along, RASTER_N, "a row's tiles follow each other");
  SET(raster_group, 1, "plain order");
  SET(k_slices, 1, "none");
  SET(shared_bytes, 0, "nothing is shared");
  SET(registers, 16 + FETCHED + plan_step_registers(p),
      "16 for addresses and bounds, %d words in flight, the epilogue's", FETCHED);
  SET(min_blocks, 1, "the compiler is free");
  plan_register_limit(b);
  SET(align_a, p->element, "not there");
  SET(align_b, p->element, "single elements of the parts");
  SET(align_c, dtype_bytes(p->type_c), "single elements are read");
  SET(align_d, p->element_d, "single elements are written");
  SET(multiple_m, 1, "guarded");
  SET(multiple_n, 1, "guarded");
  SET(multiple_k, 1, "any number of parts");
  SET(min_k, 0, "the loop may run zero times");
  SET(copy_gbs, plan_bandwidth(b, 885),
      "as a copy's: 0.885 of %d (measured, H200: 4250 of 4800); parts still in L2 come faster",
      b->gpu->hbm_gbs);
  SET(overhead_ns, 2000, "as a copy's: launch, first loads and last stores (measured, H200)");
  SET(loop_fmas, p->unroll_k, "an addition a part");
  SET(loop_bytes, 16 * (4 * p->unroll_k + 8), "16 bytes an instruction: load, two of address, sum");
  SET(code_bytes, 9216 + 3 * p->loop_bytes + 16 * plan_step_instructions(p),
      "loop, tail (which the compiler unrolls), prologue and epilogue");
  SET(compile_seconds, 30, "budget of every kernel");
  plan_common_end(b, "");
}
