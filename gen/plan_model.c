/* plan_model.c - kernel_plan -> model_kernel: names only, no decisions. */
#include "plan_model.h"

#include "plan_build.h"
#include "plan_copy.h"
#include "plan_fill.h"
#include "plan_mma.h"

/* ORDER FAMILY */
static const int families[] = {
    [FAMILY_NAIVE] = MODEL_NAIVE, [FAMILY_SMEM] = MODEL_SMEM, [FAMILY_SIMT] = MODEL_SIMT,
    [FAMILY_GEMV] = MODEL_NAIVE,  [FAMILY_WMMA] = MODEL_WMMA, [FAMILY_MMA] = MODEL_MMA,
    [FAMILY_WGMMA] = MODEL_WGMMA,
};
/* Passes, the last ones, multiply nothing. */
_Static_assert(sizeof families / sizeof *families == FAMILY_REPACK, "each product has a model");
_Static_assert(FAMILY_REPACK == FAMILY_COUNT - 2 && FAMILY_REDUCE == FAMILY_COUNT - 1, "the last");

/* ORDER copy_path */
static const int paths[] = {[PATH_NONE] = MODEL_DIRECT,
                            [PATH_ASYNC] = MODEL_ASYNC,
                            [PATH_STAGED] = MODEL_STAGED,
                            [PATH_TMA] = MODEL_TMA};

static int at_least_1(int value) {
  return value > 0 ? value : 1;
}

/* ldmatrix x4 brings 512 bytes to a warp, and wmma's loads are of that size; else each lane loads
 * an element. */
static int load_bytes(const kernel_plan *p, int load) {
  if (p->family == FAMILY_WMMA) return 16;
  if (p->family != FAMILY_MMA) return 0;
  return load == LOAD_LDS ? p->element : 16;
}

/* In instructions' k. */
static int written_steps(const kernel_plan *p) {
  if (p->family == FAMILY_MMA) return p->unroll_k * p->step_k / p->inst_k;
  return at_least_1(p->unroll_k);
}

/* Scales of each part of k: of a lane's rows and columns of D, or one of the block of 128. */
static int scale_loads(const kernel_plan *p) {
  const int scaling[] = {p->scale_a, p->scale_b};
  bool wgmma = p->family == FAMILY_WGMMA, few = wgmma && p->swap;
  const int held[] = {few     ? p->tile_m / 4
                      : wgmma ? p->group_m / 32
                              : p->warp_m / 8,
                      few ? p->group_n / 32 : p->warp_n / 4};
  int loads = 0;
  if (p->promote_k == 0) return 0;
  for (int i = 0; i < 2; ++i) {
    if (scaling[i] == GG_SCALING_BLOCK) loads += 1;
    if (scaling[i] == GG_SCALING_GROUP) loads += held[i];
  }
  return loads;
}

model_kernel plan_model(const kernel_plan *p) {
  return (model_kernel){
      .family = families[p->family],
      .unit = plan_unit(p),
      .element = p->element,
      .element_d = p->element_d,
      .tile_m = p->tile_m,
      .tile_n = p->tile_n,
      .tile_k = p->tile_k,
      .thread_m = p->thread_m,
      .thread_n = p->thread_n,
      .lanes_m = p->lanes_m,
      .lanes_n = p->lanes_n,
      .warp_m = p->warp_m,
      .warp_n = p->warp_n,
      .inst_m = p->inst_m,
      .inst_n = p->inst_n,
      .inst_k = p->inst_k,
      .swap = p->family == FAMILY_WGMMA && p->swap,
      .groups = at_least_1(p->groups),
      .k_slices = at_least_1(p->k_slices),
      .threads = p->threads,
      .persistent = p->persistent,
      .programmatic = p->programmatic,
      .pingpong = p->schedule == SCHEDULE_PINGPONG,
      .cluster_m = at_least_1(p->cluster_m),
      .cluster_n = at_least_1(p->cluster_n),
      .cluster_k = at_least_1(p->cluster_k),
      .stages = at_least_1(p->stages),
      .path_a = paths[p->path_a],
      .path_b = paths[p->path_b],
      .along_k_a = plan_contiguous_k(p, 0),
      .along_k_b = plan_contiguous_k(p, 1),
      .turn_a = p->turn_a,
      .turn_b = p->turn_b,
      .copy_a = p->copy_a,
      .copy_b = p->copy_b,
      .copies_a = p->copies_a,
      .copies_b = p->copies_b,
      .pitch_a = p->pitch_a * p->element,
      .pitch_b = p->pitch_b * p->element,
      .swizzle = p->swizzle,
      .fill_a = plan_fill_waves(p, 0),
      .fill_b = plan_fill_waves(p, 1),
      .load_a = load_bytes(p, p->load_a),
      .load_b = load_bytes(p, p->load_b),
      .meet_a = p->family == FAMILY_MMA ? plan_mma_read_ways(p, 0) : 1,
      .meet_b = p->family == FAMILY_MMA ? plan_mma_read_ways(p, 1) : 1,
      .vector = at_least_1(p->vector),
      .fragments = p->fragments,
      .unroll_k = written_steps(p),
      .unroll_stages = p->unroll_stages,
      .stage_bytes = p->stage_bytes,
      .shared_bytes = p->shared_bytes,
      .registers = p->registers < p->register_limit ? p->registers : p->register_limit,
      .blocks_sm = at_least_1(p->blocks_sm),
      .loop_bytes = p->loop_bytes,
      .raster_n = p->raster_along == RASTER_N,
      .raster_group = at_least_1(p->raster_group),
      .reads_c = p->beta != GG_SCALAR_ZERO,
      .guarded = p->variant != VARIANT_FULL,
      .promote_k = p->promote_k,
      .scale_loads = scale_loads(p),
  };
}

void plan_model_csv_head(buf *out) {
  buf_puts(out, "kernel,gpu");
#define X(member, text) buf_puts(out, "," #member);
  MODEL_FIELDS(X)
#undef X
  buf_puts(out, "\n");
}

void plan_model_csv(const kernel_plan *p, buf *out) {
  model_kernel k = plan_model(p);
  buf_printf(out, "%s,%s", p->name, p->spec->gpu.name);
#define X(member, text) buf_printf(out, ",%d", k.member);
  MODEL_FIELDS(X)
#undef X
  buf_puts(out, "\n");
}
