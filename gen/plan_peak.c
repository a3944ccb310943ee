/* plan_peak.c - what speeds are measured by: the unit of a card that multiplies a type fastest. */
#include "plan_build.h"

/* The unit whose peak is the measure of a type's kernels. */
static gpu_unit unit_of(int type) {
  switch (type) {
  case GG_F64:
    return GPU_CORE_F64;
  case GG_F32:
    return GPU_CORE_F32;
  case GG_TF32:
    return GPU_TENSOR_TF32;
  case GG_F16:
  case GG_BF16:
    return GPU_TENSOR_F16;
  case GG_E4M3:
  case GG_E5M2:
    return GPU_TENSOR_F8;
  default:
    return GPU_TENSOR_S8;
  }
}

static gpu_unit measure_of(const plan_builder *b) {
  gpu_unit unit = unit_of(b->plan->type_a);
  return gpu_rate(b->gpu, unit) ? unit : GPU_CORE_F32;
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
  gpu_unit core = b->plan->type_a == GG_F64 ? GPU_CORE_F64 : GPU_CORE_F32;
  double share = gpu_peak(b->gpu, core) / gpu_peak(b->gpu, measure_of(b));
  int beside = (int)(speed * share);
  return share > 1 ? speed : beside > 1 ? beside : 1;
}
