/* plan_warn.c - what is legal but costs: budgets of the main loop, shared rows that collide, rings
 * that do not overlap, loops that turn too often, types that leave the tensor cores.
 *
 * A warning stands at the spec field that causes it, says what it costs and what to do. A budget
 * that the spec enforces makes it an error.
 */
#include "plan_copy.h"
#include "plan_wmma.h"
#include "plan_model.h"

#include <stdio.h>

enum { LOOP_BYTES = 32768, BLOCK_FMAS = 2048 };

static int line_of(const kernel_spec *s, spec_field f) {
  return s->value[f] == SPEC_UNSET ? s->line : s->source_line[f];
}

static spec_field unroll_field(const kernel_plan *p) {
  return p->unroll_stages ? SPEC_UNROLL_STAGES : SPEC_UNROLL_K;
}

static void warn_budgets(const kernel_plan *p, diag *d) {
  const kernel_spec *s = p->spec;
  bool enforce = s->value[SPEC_BUDGET_ENFORCE] == 1;
  diag_level level = enforce ? DIAG_ERROR : DIAG_WARNING;
  int bytes = s->value[SPEC_BUDGET_LOOP_BYTES], fmas = s->value[SPEC_BUDGET_BLOCK_FMAS];
  if (bytes == SPEC_UNSET) bytes = LOOP_BYTES;
  if (fmas == SPEC_UNSET) fmas = BLOCK_FMAS;
  spec_field f = unroll_field(p);
  if (p->loop_bytes > bytes && (enforce || !spec_allows(s, "loop-code")))
    diag_add(d, level, s->file, line_of(s, f), spec_field_name(f), "loop-code",
             "the main loop of %s takes about %d bytes, more than %d; beyond 32 KB the instruction "
             "cache misses: 0.8 of the speed at 48 KB, 0.33 at 192 KB (measured, H200); use fewer "
             "unrolled steps",
             p->name, p->loop_bytes, bytes);
  if (p->loop_fmas > fmas && (enforce || !spec_allows(s, "block-fmas")))
    diag_add(
        d, level, s->file, line_of(s, f), spec_field_name(f), "block-fmas",
        "%d FMAs stand in one block of %s, more than %d; compile time grows with their square; "
        "use fewer unrolled steps",
        p->loop_fmas, p->name, fmas);
}

/* Shared stores of a turned operand, or loads of fragments, that collide although padding or a
 * swizzle could spread them. */
static void warn_conflicts(const kernel_plan *p, diag *d) {
  const kernel_spec *s = p->spec;
  if (s->value[SPEC_PADDING] == SPEC_UNSET) return; /* the plan chose the best there is */
  static const struct {
    plan_field turn, pitch, lanes, copy;
    const char *name;
  } operands[2] = {{PLAN_turn_a, PLAN_pitch_a, PLAN_copy_lanes_a, PLAN_copy_a, "A"},
                   {PLAN_turn_b, PLAN_pitch_b, PLAN_copy_lanes_b, PLAN_copy_b, "B"}};
  for (int i = 0; i < 2; ++i) {
    bool stores = p->family == FAMILY_SIMT && plan_value(p, operands[i].turn) && !p->swizzle;
    if (!stores && p->family != FAMILY_WMMA) continue;
    int lanes = plan_value(p, operands[i].lanes);
    int vector = plan_value(p, operands[i].copy) / p->element;
    int pitch = plan_value(p, operands[i].pitch);
    int worst = stores ? plan_store_ways(lanes, vector, pitch, p->element) : plan_wmma_ways(p, i);
    if (worst > 1 && !spec_allows(s, "bank-conflict"))
      diag_add(d, DIAG_WARNING, s->file, line_of(s, SPEC_PADDING), spec_field_name(SPEC_PADDING),
               "bank-conflict",
               "the %s of %s in %s collide %d ways at a pitch of %d elements; leave "
               "padding out (planned)",
               stores ? "shared stores" : "fragment loads", operands[i].name, p->name, worst,
               pitch);
  }
}

/* -- The ring -------------------------------------------------------------------------------------
 */

static void warn_ring(const kernel_plan *p, const model_kernel *k, diag *d) {
  const kernel_spec *s = p->spec;
  if (k->family == MODEL_NAIVE || k->family == MODEL_SMEM) return; /* no ring, by design */
  if (p->stages == 1 && s->value[SPEC_STAGES] != SPEC_UNSET) {
    spec_report(
        s, d, DIAG_WARNING, SPEC_STAGES, "ring-synchronous",
        "1 stage in %s: copying a k tile and computing it take turns, so the units wait for each "
        "fetch unless other blocks fill the gap; use 2 stages%s",
        p->name, s->gpu.has_cp_async ? ", or 3 to cover the latency of device memory" : "");
    return;
  }
  model_latency l = model_latency_of(k, &s->gpu);
  if (p->stages < l.stages_needed && s->value[SPEC_STAGES] != SPEC_UNSET)
    spec_report(
        s, d, DIAG_WARNING, SPEC_STAGES, "ring-short",
        "%d stages in %s: a k tile takes about %.0f cycles to fetch and %.0f to compute, so %.0f "
        "stages cover it; use more stages or a larger k tile",
        p->stages, p->name, l.fetch, l.compute, l.stages_needed);
}

/* A k tile so large that a block less fits on an SM than with half of it. */
static void warn_k_tile(const kernel_plan *p, const model_kernel *k, diag *d) {
  const kernel_spec *s = p->spec;
  if (s->value[SPEC_TILE_K] == SPEC_UNSET || p->stage_bytes == 0 || p->tile_k % 2 != 0) return;
  model_residency now = model_residency_of(k, &s->gpu);
  if (now.limit != LIMIT_SHARED || now.warps >= 16) return;
  kernel_spec half = *s;
  half.value[SPEC_TILE_K] = p->tile_k / 2;
  kernel_plan q;
  plan_fault fault;
  if (plan_make(&half, (plan_variant)p->variant, &q, &fault) != PLAN_OK) return;
  if (q.blocks_sm > p->blocks_sm && q.stages == p->stages)
    spec_report(
        s, d, DIAG_WARNING, SPEC_TILE_K, "tile-k-large",
        "%d: the stages of %s take %d B, so an SM holds %d block%s where half the k tile would "
        "leave room for %d; the k tile changes no byte an FMA needs; use %d",
        p->tile_k, p->name, p->shared_bytes, p->blocks_sm, p->blocks_sm == 1 ? "" : "s",
        q.blocks_sm, p->tile_k / 2);
  plan_free(&q);
}

/* -- The loop
 * --------------------------------------------------------------------------------------- */

/* Measured on an H200: 128 FMAs a turn cost 13 %, 256 nothing (docs/ladder.md). A warp issues one a
 * cycle: of matrix instructions as many cycles are asked, at the scheduler's part of the peak. */
enum { LEAST_FMAS_A_TURN = 256, SCHEDULERS = 4 };

static void warn_rolled_mma(const kernel_plan *p, diag *d) {
  const kernel_spec *s = p->spec;
  int steps = p->tile_k / p->step_k, more = p->unroll_k;
  double peak = 1e6 * gpu_peak(&s->gpu, (gpu_unit)plan_unit(p)) / s->gpu.boost_mhz; /* FLOP/cycle */
  double step = 2.0 * p->warp_m * p->warp_n * p->step_k * SCHEDULERS * s->gpu.sms / peak;
  if (p->unroll_k >= steps || s->value[SPEC_UNROLL_K] == SPEC_UNSET) return;
  if (peak <= 0 || p->unroll_k * step >= LEAST_FMAS_A_TURN) return;
  while (more < steps && (steps % more != 0 || more * step < LEAST_FMAS_A_TURN))
    ++more;
  char use[24] = "\"full\"";
  if (more < steps) snprintf(use, sizeof use, "%d steps", more);
  spec_report(s, d, DIAG_WARNING, SPEC_UNROLL_K, "rolled-loop",
              "%d k step%s a turn in %s are about %.0f cycles of products for each branch%s; below "
              "%d the loop shows (13 %% at 128, measured on CUDA cores of an H200); use %s",
              p->unroll_k, p->unroll_k == 1 ? "" : "s", p->name, p->unroll_k * step,
              p->fragments == 1 ? " and one set of fragments, so loads are waited for" : "",
              LEAST_FMAS_A_TURN, use);
}

static void warn_rolled(const kernel_plan *p, diag *d) {
  const kernel_spec *s = p->spec;
  int fmas = p->unroll_k * p->thread_m * p->thread_n;
  if (p->family != FAMILY_SIMT || s->value[SPEC_UNROLL_K] == SPEC_UNSET) return;
  if (p->unroll_k * p->k_slices >= p->tile_k || fmas >= LEAST_FMAS_A_TURN) return;
  spec_report(
      s, d, DIAG_WARNING, SPEC_UNROLL_K, "rolled-loop",
      "%d k step%s a turn in %s are %d FMAs for each branch%s; below %d the loop shows (13 %% at "
      "128, measured on an H200); use %d steps or more",
      p->unroll_k, p->unroll_k == 1 ? "" : "s", p->name, fmas,
      p->fragments == 1 ? " and one set of fragments, so loads are waited for" : "",
      LEAST_FMAS_A_TURN,
      (LEAST_FMAS_A_TURN + p->thread_m * p->thread_n - 1) / (p->thread_m * p->thread_n));
}

/* -- Types
 * ------------------------------------------------------------------------------------------ */

static void warn_types(const kernel_plan *p, const model_kernel *k, diag *d) {
  const kernel_spec *s = p->spec;
  const gpu_facts *g = &s->gpu;
  /* Few rows wait for memory, whatever multiplies. */
  if (gpu_unit_is_tensor((gpu_unit)k->unit) || p->family == FAMILY_GEMV) return;
  gpu_unit tensor = plan_tensor_unit(p->type_a);
  double now = gpu_peak(g, (gpu_unit)k->unit), then = gpu_peak(g, tensor);
  bool bf16_missing = p->type_a == GG_BF16 && g->arch < 80;
  bool narrow = p->element < 4;
  if (narrow && (then <= 0 || bf16_missing)) {
    spec_report(
        s, d, DIAG_WARNING, SPEC_DTYPE_A, "no-tensor-cores",
        "%s has no tensor cores on %s: %s computes it on CUDA cores, at most %.1f TFLOP/s; use "
        "f16, or another GPU",
        dtype_name(p->type_a), g->name, p->name, now);
  } else if (narrow) {
    spec_report(
        s, d, DIAG_WARNING, SPEC_FAMILY, "no-tensor-cores",
        "%s computes %s on CUDA cores, at most %.1f TFLOP/s, where tensor cores give %.1f; use a "
        "family with tensor cores",
        spec_family_name(p->family), dtype_name(p->type_a), now, then);
  } else if (then > now && s->value[SPEC_FAMILY] == SPEC_UNSET) {
    /* Whoever names the family has chosen. */
    spec_report(
        s, d, DIAG_WARNING, SPEC_DTYPE_A, "no-tensor-cores",
        p->type_a == GG_F32
            ? "f32 without tf32 stays on CUDA cores: %.1f TFLOP/s, where tensor cores give %.1f "
              "for tf32 (10 bits of fraction); use dtype \"tf32\" where that is enough, or say "
              "family = \"simt\" to keep f32 exact"
            : "%.1f TFLOP/s on CUDA cores, where tensor cores give %.1f with the same bits; use a "
              "family with tensor cores, or say family = \"simt\"",
        now, then);
  }
}

/* Sums of f16 are asked for, never chosen; still, few want them. */
static void warn_sums(const kernel_plan *p, diag *d) {
  if (p->type_acc != GG_F16) return;
  spec_report(p->spec, d, DIAG_WARNING, SPEC_DTYPE_ACC, "f16-sums",
              "f16: sums keep 11 bits, each step of k loses what is below them, and beyond 65504 "
              "they are infinite; leave dtype.acc out (f32)");
}

void plan_warn(const kernel_plan *p, diag *d) {
  if (p->variant != VARIANT_FULL) return; /* once for the three kernels of a point */
  model_kernel k = plan_model(p);
  warn_budgets(p, d);
  warn_conflicts(p, d);
  warn_ring(p, &k, d);
  warn_k_tile(p, &k, d);
  if (p->family == FAMILY_MMA)
    warn_rolled_mma(p, d);
  else
    warn_rolled(p, d);
  warn_types(p, &k, d);
  warn_sums(p, d);
}
