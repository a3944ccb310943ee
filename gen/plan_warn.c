/* plan_warn.c - what is legal but costs: budgets of the main loop, shared rows that collide.
 *
 * A warning stands at the spec field that causes it, says what it costs and what to do. A budget
 * that the spec enforces makes it an error.
 */
#include "plan_copy.h"

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

/* Shared stores of a turned operand that collide although padding or a swizzle could spread them.
 */
static void warn_conflicts(const kernel_plan *p, diag *d) {
  const kernel_spec *s = p->spec;
  if (s->value[SPEC_PADDING] == SPEC_UNSET) return; /* the plan chose the best there is */
  static const struct {
    plan_field turn, pitch, lanes, copy;
    const char *name;
  } operands[2] = {{PLAN_turn_a, PLAN_pitch_a, PLAN_copy_lanes_a, PLAN_copy_a, "A"},
                   {PLAN_turn_b, PLAN_pitch_b, PLAN_copy_lanes_b, PLAN_copy_b, "B"}};
  for (int i = 0; i < 2; ++i) {
    if (!plan_value(p, operands[i].turn) || p->swizzle || p->family != FAMILY_SIMT) continue;
    int lanes = plan_value(p, operands[i].lanes);
    int vector = plan_value(p, operands[i].copy) / p->element;
    int pitch = plan_value(p, operands[i].pitch);
    int worst = plan_store_ways(lanes, vector, pitch, p->element);
    if (worst > 1 && !spec_allows(s, "bank-conflict"))
      diag_add(d, DIAG_WARNING, s->file, line_of(s, SPEC_PADDING), spec_field_name(SPEC_PADDING),
               "bank-conflict",
               "the shared stores of %s in %s collide %d ways at a pitch of %d elements; leave "
               "padding out (planned)",
               operands[i].name, p->name, worst, pitch);
  }
}

void plan_warn(const kernel_plan *p, diag *d) {
  if (p->variant != VARIANT_FULL) return; /* once for the three kernels of a point */
  warn_budgets(p, d);
  warn_conflicts(p, d);
}
