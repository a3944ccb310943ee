/* run.c - one call of a plan: its pointers and scalars are checked, then it is launched.
 *
 * Whatever depends on pointers or scalars is decided here, in constant time and without allocation.
 */
#include "context.h"
#include "detail.h"
#include "dtype.h"
#include "epilogue.h"
#include "launch.h"
#include "tensor_map.h"

static gg_status check_scalar(const char *name, double value, gg_scalar_class stated) {
  if ((stated == GG_SCALAR_ZERO && value != 0) || (stated == GG_SCALAR_ONE && value != 1))
    return ggi_fail(GG_ERR_SCALAR, "%s: %g was stated to be %s in the problem", name, value,
                    stated == GG_SCALAR_ONE ? "one" : "zero");
  return GG_OK;
}

/* The operands of a run; what is neither read nor written has used = false. */
typedef struct operands {
  const void *pointer[GGI_OPERANDS];
  bool used[GGI_OPERANDS];
} operands;

static operands operands_of(const gg_plan *plan, const gg_pointers *p, bool product, bool c) {
  operands o = {.pointer = {p->a, p->b, p->c, p->d, p->bias, p->residual, p->scale_a, p->scale_b,
                            p->scale_d, p->absmax}};
  for (int i = 0; i < GGI_OPERANDS; ++i)
    o.used[i] = plan->views[i].run > 0;
  o.used[GGI_A] = o.used[GGI_B] = product;
  o.used[GGI_C] = c;
  return o;
}

static gg_status check_pointers(const gg_plan *plan, const operands *o) {
  static const char *const why[GGI_OPERANDS] = {"k and alpha are not 0",
                                                "k and alpha are not 0",
                                                "beta is not 0",
                                                "D is written",
                                                "the problem has a bias",
                                                "the problem has a residual",
                                                "the problem has scales of A",
                                                "the problem has scales of B",
                                                "the problem has a scale of D",
                                                "the problem asks for absmax"};
  for (int i = 0; i < GGI_OPERANDS; ++i) {
    if (!o->used[i]) continue;
    const char *name = ggi_operand_name((ggi_operand)i);
    gg_dtype type = ggi_operand_type(&plan->problem, (ggi_operand)i);
    int bytes = ggi_dtype_bytes(type);
    if (!o->pointer[i]) return ggi_fail(GG_ERR_NULL, "pointers.%s: is NULL, but %s", name, why[i]);
    if ((uintptr_t)o->pointer[i] % (unsigned)bytes != 0)
      return ggi_fail(GG_ERR_ALIGNMENT, "pointers.%s: %p is not a multiple of %d, the bytes of %s",
                      name, (void *)(uintptr_t)o->pointer[i], bytes, ggi_dtype_name(type));
  }
  return GG_OK;
}

static bool same_view(const ggi_view *x, const ggi_view *y) {
  return x->start == y->start && x->pitch == y->pitch && x->stride == y->stride;
}

/* May D be exactly this operand? Each of its elements is read before the one of D is written. */
static bool may_be_d(const gg_problem *p, int operand) {
  return operand == GGI_RESIDUAL || (operand == GGI_C && p->type_c == p->type_d);
}

/* D against every other operand, or absmax against all of them but D. */
static gg_status check_written(const gg_plan *plan, const operands *o, ggi_operand written) {
  ggi_view w = plan->views[written];
  w.start = o->pointer[written];
  for (int i = 0; i < GGI_OPERANDS; ++i) {
    if (!o->used[i] || i == (int)written || i == GGI_D) continue;
    ggi_view x = plan->views[i];
    x.start = o->pointer[i];
    bool exact = written == GGI_D && may_be_d(&plan->problem, i);
    if ((exact && same_view(&x, &w)) || !ggi_views_overlap(&w, &x)) continue;
    const char *name = ggi_operand_name(written), *other = ggi_operand_name((ggi_operand)i);
    return ggi_fail(GG_ERR_OVERLAP,
                    "pointers.%s: the one at %p shares elements with pointers.%s at %p; %s", name,
                    o->pointer[written], other, (void *)(uintptr_t)o->pointer[i],
                    exact ? "D may only be exactly that (pointer, type, leading dimension, stride)"
                          : "give it memory of its own");
  }
  return GG_OK;
}

static gg_status check_overlap(const gg_plan *plan, const operands *o) {
  gg_status status = check_written(plan, o, GGI_D);
  if (status == GG_OK && o->used[GGI_ABSMAX]) status = check_written(plan, o, GGI_ABSMAX);
  return status;
}

/* Of the residual the row asks what it asks of D. */
static int asked_align(const gg_kernel *row, int operand) {
  if (operand == GGI_RESIDUAL) operand = GGI_D;
  return operand <= GGI_D ? ggi_row_align(row, operand) : 1;
}

static const gg_kernel *row_for(const gg_plan *plan, const operands *o, int *missed) {
  for (int i = GGI_A; i < GGI_OPERANDS; ++i) {
    int ask = asked_align(plan->promised, i);
    if (o->used[i] && ask > 1 && (uintptr_t)o->pointer[i] % (unsigned)ask != 0) {
      *missed = i;
      return plan->elements;
    }
  }
  return plan->promised;
}

/* Pointers of steps that the problem has not stay NULL. */
static gg_args args_of(const gg_plan *plan, const gg_pointers *pointers) {
  const gg_problem *p = &plan->problem;
  gg_args args = plan->args;
  args.a = pointers->a;
  args.b = pointers->b;
  args.c = pointers->c;
  args.d = pointers->d;
  if (p->bias) args.bias = pointers->bias;
  if (p->residual) args.residual = pointers->residual;
  if (p->scaling_a) args.scale_a = pointers->scale_a;
  if (p->scaling_b) args.scale_b = pointers->scale_b;
  if (p->scaling_d) args.scale_d = pointers->scale_d;
  if (p->absmax) args.absmax = pointers->absmax;
  return args;
}

gg_status gg_run(const gg_plan *plan, const gg_pointers *pointers, gg_scalar alpha, gg_scalar beta,
                 void *workspace, size_t workspace_bytes, void *stream) {
  if (!plan || !pointers)
    return ggi_fail(GG_ERR_ARGUMENT, "gg_run: %s is NULL", plan ? "pointers" : "plan");
  const gg_problem *p = &plan->problem;
  gg_dtype scalars = ggi_problem_epilogue(p);
  double alpha_value = ggi_scalar_value(alpha, scalars);
  double beta_value = ggi_scalar_value(beta, scalars);
  gg_status status = check_scalar("alpha", alpha_value, p->alpha);
  if (status == GG_OK) status = check_scalar("beta", beta_value, p->beta);
  if (status != GG_OK) return status;
  if (!plan->promised) return GG_OK; /* nothing to compute */

  const operands o = operands_of(plan, pointers, p->k > 0 && alpha_value != 0, beta_value != 0);
  status = check_pointers(plan, &o);
  if (status == GG_OK) status = check_overlap(plan, &o);
  if (status != GG_OK) return status;
  if (workspace_bytes > 0 && !workspace)
    return ggi_fail(GG_ERR_NULL, "workspace: is NULL, but workspace_bytes is %zu", workspace_bytes);

  int missed = 0;
  const gg_kernel *row = row_for(plan, &o, &missed);
  if (!row)
    return ggi_fail(GG_ERR_ALIGNMENT,
                    "pointers.%s: %p is not a multiple of %d as kernel %s asks, and %s",
                    ggi_operand_name((ggi_operand)missed), (void *)(uintptr_t)o.pointer[missed],
                    asked_align(plan->promised, missed), plan->promised->name,
                    p->pin ? "the pin allows no other" : "the tables hold no kernel without that");

  gg_args args = args_of(plan, pointers);
  args.alpha = alpha;
  args.beta = beta;
  args.workspace = workspace;
  return ggi_launch(p->device, row, plan->resident[row != plan->promised], &args, stream);
}
