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

/* Of the residual a way asks what it asks of D, of what follows it nothing. */
static int asked_align(const ggi_way *way, int operand) {
  if (operand == GGI_RESIDUAL) operand = GGI_D;
  return operand <= GGI_D ? ggi_way_align(way, operand) : 1;
}

/* The operand of which a way asks more than its pointer has; GGI_OPERANDS: none. */
static ggi_operand falls_short(const ggi_way *way, const operands *o) {
  for (int i = GGI_A; i < GGI_OPERANDS; ++i)
    if (o->used[i] && (uintptr_t)o->pointer[i] % (unsigned)asked_align(way, i) != 0)
      return (ggi_operand)i;
  return GGI_OPERANDS;
}

/* Why there is no way for this call. */
static gg_status no_way(const gg_plan *plan, const operands *o, bool workspace) {
  const ggi_way *promised = &plan->ways[GGI_PROMISED][workspace];
  if (!workspace)
    for (int i = GGI_PROMISED; i <= GGI_ELEMENTS; ++i) {
      const ggi_way *with = &plan->ways[i][1];
      if (!with->row || falls_short(with, o) != GGI_OPERANDS) continue;
      return ggi_fail(
          GG_ERR_WORKSPACE,
          "workspace: is NULL, but only kernel %s does this call, with %lld bytes of it "
          "for copies of operands or parts of k; gg_plan_workspace covers all calls of the plan",
          with->row->name, ggi_way_workspace(with));
    }
  ggi_operand missed = promised->row ? falls_short(promised, o) : GGI_OPERANDS;
  if (missed == GGI_OPERANDS)
    return ggi_fail(GG_ERR_NO_KERNEL, "the tables hold no kernel that does without a workspace");
  return ggi_fail(
      GG_ERR_ALIGNMENT, "pointers.%s: %p is not a multiple of %d as kernel %s asks, and %s",
      ggi_operand_name(missed), (void *)(uintptr_t)o->pointer[missed],
      asked_align(promised, (int)missed), promised->row->name,
      plan->problem.pin ? "the pin allows no other" : "the tables hold no kernel without that");
}

/* The workspace that a way which needs one is given. */
static gg_status check_workspace(const gg_plan *plan, const operands *o, const ggi_way *way,
                                 const void *workspace, size_t bytes) {
  gg_i64 need = ggi_way_workspace(way);
  if (bytes < (size_t)need)
    return ggi_fail(GG_ERR_WORKSPACE,
                    "workspace: has %zu bytes, kernel %s needs %lld for copies of operands or "
                    "parts of k; "
                    "gg_plan_workspace says how many cover all calls",
                    bytes, way->row->name, need);
  if ((uintptr_t)workspace % GGI_WORKSPACE_ALIGN != 0)
    return ggi_fail(GG_ERR_ALIGNMENT, "workspace: %p is not a multiple of %d",
                    (void *)(uintptr_t)workspace, GGI_WORKSPACE_ALIGN);
  const ggi_view copies = {.start = workspace, .run = need, .rows = 1, .batch = 1};
  for (int i = 0; i < GGI_OPERANDS; ++i) {
    ggi_view x = plan->views[i];
    x.start = o->pointer[i];
    if (o->used[i] && ggi_views_overlap(&copies, &x))
      return ggi_fail(GG_ERR_OVERLAP,
                      "workspace: the %lld bytes at %p share some with pointers.%s at %p; give it "
                      "memory of its own",
                      need, (void *)(uintptr_t)workspace, ggi_operand_name((ggi_operand)i),
                      (void *)(uintptr_t)o->pointer[i]);
  }
  return GG_OK;
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
  if (!plan->ways[GGI_PROMISED][1].row) return GG_OK; /* nothing to compute */

  bool product = p->k > 0 && alpha_value != 0;
  const operands o = operands_of(plan, pointers, product, beta_value != 0);
  status = check_pointers(plan, &o);
  if (status == GG_OK) status = check_overlap(plan, &o);
  if (status != GG_OK) return status;
  if (workspace_bytes > 0 && !workspace)
    return ggi_fail(GG_ERR_NULL, "workspace: is NULL, but workspace_bytes is %zu", workspace_bytes);

  bool given = workspace && workspace_bytes > 0;
  int which = GGI_PROMISED;
  const ggi_way *way = &plan->ways[GGI_PROMISED][given];
  if (!way->row || falls_short(way, &o) != GGI_OPERANDS)
    way = &plan->ways[which = GGI_ELEMENTS][given];
  if (!way->row) return no_way(plan, &o, given);
  if (ggi_way_workspace(way) > 0 && product)
    status = check_workspace(plan, &o, way, workspace, workspace_bytes);
  if (status != GG_OK) return status;

  gg_args args = args_of(plan, pointers);
  args.alpha = alpha;
  args.beta = beta;
  args.workspace = workspace;
  return ggi_way_launch(p->device, way, plan->resident[which][given], &args, product, stream);
}
