/* plan_peak.c - units of a card: which one a kernel keeps busy, what its speed is measured by, and
 * what of it the library should expect.
 */
#include "plan_build.h"
#include "plan_model.h"

#include <stdarg.h>
#include <stdio.h>

gpu_unit plan_tensor_unit(int type) {
  switch (type) {
  case GG_F32:
  case GG_TF32:
    return GPU_TENSOR_TF32;
  case GG_F64:
    return GPU_TENSOR_F64;
  case GG_E4M3:
  case GG_E5M2:
    return GPU_TENSOR_F8;
  case GG_S8:
  case GG_U8:
    return GPU_TENSOR_S8;
  default:
    return GPU_TENSOR_F16;
  }
}

static gpu_unit core_unit(int type) {
  return type == GG_F64 ? GPU_CORE_F64 : GPU_CORE_F32;
}

gpu_unit plan_unit(const kernel_plan *p) {
  bool cores = p->family <= FAMILY_GEMV; /* ORDER FAMILY: then come those of tensor cores */
  return cores ? core_unit(p->type_acc) : plan_tensor_unit(p->type_a);
}

/* The card's fastest for a type: the measure of all kernels that multiply it. f32 is no type of
 * tensor cores; whoever lets it be rounded says tf32. */
static gpu_unit measure_of(const plan_builder *b) {
  int type = b->plan->type_a;
  gpu_unit tensor = plan_tensor_unit(type);
  return type != GG_F32 && gpu_rate(b->gpu, tensor) ? tensor : core_unit(type);
}

int plan_bandwidth(const plan_builder *b, int per_mille) {
  int gbs = (int)((long long)b->gpu->hbm_gbs * per_mille / 1000);
  return gbs > 1 ? gbs : 1;
}

void plan_set_peak(plan_builder *b) {
  enum { REACHED = 76 }; /* percent: bf16 on an H200, 750 of 989 TFLOP/s; f32, 52 of 67 */
  const gpu_facts *g = b->gpu;
  gpu_unit unit = measure_of(b);
  int rate = gpu_rate(g, unit), clock = gpu_clock(g, unit);
  int gflops = (int)(2.0 * rate * clock / 1000 * REACHED / 100);
  plan_set(b, PLAN_sm_gflops, gflops > 1 ? gflops : 1,
           "2 x %d FMAs a cycle (%s) x %d MHz x 0.%d, the share of it that the fastest kernels "
           "reach (H200)",
           rate, gpu_unit_name(unit), clock, REACHED);
}

int plan_core_speed(const plan_builder *b, int speed) {
  double own = gpu_peak(b->gpu, core_unit(b->plan->type_a)),
         fastest = gpu_peak(b->gpu, measure_of(b));
  if (own >= fastest) return speed;
  int beside = (int)(speed * own / fastest + 0.5);
  return beside > 1 ? beside : 1;
}

/* What would be planned of the full kernel of the same spec, if that stated nothing; `otherwise`
 * where there is no such kernel. */
static int planned_of_full(plan_builder *b, int otherwise) {
  kernel_spec open = *b->spec;
  open.value[SPEC_SPEED] = SPEC_UNSET;
  kernel_plan full;
  plan_fault fault;
  plan_result result = plan_make(&open, VARIANT_FULL, &full, &fault);
  if (result == PLAN_MEMORY) b->result = PLAN_MEMORY;
  int speed = result == PLAN_OK ? full.speed : otherwise;
  plan_free(&full);
  return speed;
}

void plan_speed(plan_builder *b, int planned, const char *why, ...) {
  int asked = plan_asked(b, SPEC_SPEED, 0);
  if (asked > 0) {
    int full = b->variant == VARIANT_NARROW ? planned_of_full(b, planned) : planned;
    int speed = (int)((long long)asked * planned / full);
    if (full == planned)
      SET(speed, asked, "%s", plan_asked_why(b, SPEC_SPEED));
    else
      SET(speed, speed > 1 ? speed : 1,
          "%d of wide copies (%s) x %d / %d, as planned of copies of one element and of wide ones",
          asked, plan_asked_why(b, SPEC_SPEED), planned, full);
    return;
  }
  char text[256];
  va_list list;
  va_start(list, why);
  vsnprintf(text, sizeof text, why, list);
  va_end(list);
  SET(speed, planned, "%s", text);
}

bool plan_speed_by_model(const plan_builder *b) {
  return b->gpu->has_wgmma && b->plan->element == 2 && b->variant != VARIANT_NARROW;
}

/* Speed where the family has left it open; where it is the mean side's of a wgmma tile, the model
 * may lower it: the side knows nothing of a ring too short for its fetches. */
static void modelled_speed(plan_builder *b, const model_kernel *k) {
  /* Percent of the peak that the fastest kernels reach at the clock that power leaves them (bf16,
   * H200: 690 to 700 of 989 TFLOP/s, 697 by the model), and at the highest, which short blocks
   * hold (779). Power weighs where families are compared; within wgmma cards share their kernels.
   */
  enum { SUSTAINED = 70, BURST = 79 };
  static const model_problem large = {4096, 4096, 4096, 1};
  const kernel_plan *p = b->plan;
  gpu_unit unit = measure_of(b);
  double rate = model_sm_rate(k, b->gpu, p->blocks_sm);
  bool burst = p->family == FAMILY_WGMMA;
  double mhz = burst ? b->gpu->boost_mhz : model_predict(k, b->gpu, &large).mhz;
  int share = burst ? BURST : SUSTAINED;
  double fastest = gpu_rate(b->gpu, unit) * (double)gpu_clock(b->gpu, unit) * share / 100;
  int speed = (int)(1000 * rate * mhz / fastest);
  if (speed < 1) speed = 1;
  bool open = p->why[PLAN_speed] == NULL;
  bool side = p->family == FAMILY_WGMMA && !p->swap && !plan_given(b, SPEC_SPEED);
  if (!open && !(side && speed < p->speed)) return;
  plan_speed(b, speed,
             "by the model: %.0f FMAs a cycle and SM (%d block%s) x %.0f MHz, the fastest being "
             "0.%d of %d x %d",
             rate, p->blocks_sm, p->blocks_sm == 1 ? "" : "s", mhz, share, gpu_rate(b->gpu, unit),
             gpu_clock(b->gpu, unit));
}

void plan_several(plan_builder *b) {
  enum { OVERLAPPED = 25 };
  kernel_plan *p = b->plan;
  model_kernel k = plan_model(p);
  if (plan_speed_by_model(b)) modelled_speed(b, &k);
  bool few = p->family == FAMILY_WGMMA && p->swap && p->blocks_sm > 1;
  if (p->persistent)
    SET(further, OVERLAPPED, "the next tile's copies run during the epilogue (docs/wgmma.md)");
  else if (few)
    SET(further, OVERLAPPED, "a block waits beside the copies of others (docs/dispatch.md)");
  else
    SET(further, 100, "each tile has its own loads and stores to make");
  double one = model_sm_rate(&k, b->gpu, 1), all = model_sm_rate(&k, b->gpu, p->blocks_sm);
  int alone = all > one ? (int)(100 * one / all + 0.5) : 100;
  if (p->blocks_sm == 1)
    SET(alone, 100, "an SM holds one");
  else
    SET(alone, alone > 1 ? alone : 1,
        "by the model: %.0f FMAs a cycle, %.0f with %d blocks, whose waits fill each other", one,
        all, p->blocks_sm);
}
