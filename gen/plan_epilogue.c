/* plan_epilogue.c - the steps between the sum and D: which there are, in which type they are
 * computed, and what they cost.
 */
#include "plan_epilogue.h"

static bool has_steps(const kernel_plan *p) {
  return p->bias || p->activation || p->residual || p->scale_a || p->scale_b || p->scale_d ||
         p->absmax;
}

void plan_epilogue(plan_builder *b) {
  kernel_plan *p = b->plan;
  TAKE(bias, BIAS, GG_BIAS_NONE, NULL, "none unless asked");
  TAKE(activation, ACTIVATION, GG_ACTIVATION_NONE, NULL, "none unless asked");
  TAKE(residual, RESIDUAL, 0, NULL, "none unless asked");
  TAKE(scale_a, SCALE_A, GG_SCALING_NONE, NULL, "none unless asked");
  TAKE(scale_b, SCALE_B, GG_SCALING_NONE, NULL, "none unless asked");
  TAKE(scale_d, SCALE_D, GG_SCALING_NONE, NULL, "none unless asked");
  TAKE(absmax, ABSMAX, 0, NULL, "none unless asked");
  if (p->scale_d != GG_SCALING_NONE && p->scale_d != GG_SCALING_TENSOR)
    plan_refuse(b, SPEC_SCALE_D, "scaling", "D has one scale for all of it; use \"tensor\"");
  if (p->type_acc == GG_F64)
    SET(type_epilogue, GG_F64, "as the accumulator");
  else if (p->type_acc == GG_S32 && p->type_d == GG_S32 && !has_steps(p))
    SET(type_epilogue, GG_S32, "whole numbers throughout");
  else
    SET(type_epilogue, GG_F32,
        p->type_acc == GG_F32 ? "as the accumulator" : "wider than the accumulator");
}

void plan_epilogue_name(const kernel_plan *p, buf *out) {
  static const char *const scalars[3] = {"", "0", "1"};
  char scratch[32];
  if (p->alpha) buf_printf(out, "_alpha%s", scalars[p->alpha]);
  if (p->beta) buf_printf(out, "_beta%s", scalars[p->beta]);
  if (p->scale_a) buf_printf(out, "_sa_%s", plan_value_text(p, PLAN_scale_a, scratch));
  if (p->scale_b) buf_printf(out, "_sb_%s", plan_value_text(p, PLAN_scale_b, scratch));
  if (p->bias) buf_printf(out, "_bias_%s", plan_value_text(p, PLAN_bias, scratch));
  if (p->activation) buf_printf(out, "_%s", plan_value_text(p, PLAN_activation, scratch));
  if (p->residual) buf_puts(out, "_residual");
  if (p->absmax) buf_puts(out, "_absmax");
  if (p->scale_d) buf_printf(out, "_sd_%s", plan_value_text(p, PLAN_scale_d, scratch));
}

bool plan_has_parts(const kernel_plan *p) {
  return p->scale_a >= GG_SCALING_GROUP || p->scale_b >= GG_SCALING_GROUP;
}

void plan_refuse_parts(plan_builder *b) {
  const kernel_plan *p = b->plan;
  if (!plan_has_parts(p)) return;
  plan_field f = p->scale_a >= GG_SCALING_GROUP ? PLAN_scale_a : PLAN_scale_b;
  char scratch[32];
  plan_refuse(b, f == PLAN_scale_a ? SPEC_SCALE_A : SPEC_SCALE_B, "scaling",
              "%s: scales every 128 of k, where family %s forms one sum over all of k; use "
              "\"tensor\" or \"vector\", or family naive",
              plan_value_text(p, f, scratch), spec_family_name(p->family));
}

/* ORDER ACTIVATION; machine code of sm_90 (templates/activation.lua). Coefficients in f64 are no
 * immediate operands: each costs up to two moves. */
static const struct {
  int f32, f64;
} activation_cost[] = {{0, 0}, {2, 5}, {24, 103}, {25, 52}, {29, 66}};

int plan_step_instructions(const kernel_plan *p) {
  if (!has_steps(p)) return 0;
  int sum = (p->scale_a != GG_SCALING_NONE) + (p->scale_b != GG_SCALING_NONE) +
            (p->bias != GG_BIAS_NONE) + (p->scale_d != GG_SCALING_NONE);
  const int *cost = p->type_epilogue == GG_F64 ? &activation_cost[p->activation].f64
                                               : &activation_cost[p->activation].f32;
  sum += *cost;
  if (p->residual) sum += 4; /* address, load, conversion, addition */
  if (p->absmax) sum += p->type_epilogue == GG_F64 ? 3 : 2;
  return sum;
}

int plan_step_registers(const kernel_plan *p) {
  if (!has_steps(p)) return 0;
  int words = p->type_epilogue == GG_F64 ? 2 : 1;
  /* Polynomials keep x, a sum and two more values; coefficients are immediate operands. */
  return words * (2 + (p->activation > GG_ACTIVATION_RELU ? 4 : 0));
}
