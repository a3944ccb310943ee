/* plan.c - a problem with its kernels chosen, and running it.
 *
 * A plan is immutable after creation but for its reference count, so gg_run needs no lock. Whatever
 * depends on pointers or scalars is decided in gg_run, in constant time and without allocation.
 */
#include "context.h"
#include "detail.h"
#include "dtype.h"
#include "launch.h"
#include "tensor_map.h"

#include <stdlib.h>
#include <string.h>

gg_status ggi_no_choice(const gg_context *context, const gg_problem *p, const ggi_choice *choice) {
  char what[200];
  ggi_problem_text(p, what, sizeof what);
  if (choice->text[0] == '\0') {
    if (p->pin) return ggi_fail(GG_ERR_PIN, "pin: no table has a kernel named %.100s", p->pin);
    return ggi_fail(GG_ERR_NO_KERNEL, "%s: the context's %zu tables hold no kernel", what,
                    context->count);
  }
  if (p->pin) return ggi_fail(GG_ERR_PIN, "pin: %s", choice->text);
  gg_status status = choice->nearest == GGI_BACKEND ? GG_ERR_BACKEND
                     : choice->nearest == GGI_ARCH  ? GG_ERR_ARCH
                                                    : GG_ERR_NO_KERNEL;
  return ggi_fail(status, "%s: no kernel; nearest is %s", what, choice->text);
}

static void fill_args(gg_plan *plan) {
  const gg_problem *p = &plan->problem;
  gg_args *a = &plan->args;
  a->m = p->m, a->n = p->n, a->k = p->k, a->batch = p->batch;
  a->lda = p->lda, a->ldb = p->ldb, a->ldc = p->ldc, a->ldd = p->ldd;
  if (p->batch > 1) {
    a->stride_a = p->stride_a, a->stride_b = p->stride_b;
    a->stride_c = p->stride_c, a->stride_d = p->stride_d;
  }
}

static gg_status choose(gg_context *context, gg_plan *plan) {
  const gg_problem *p = &plan->problem;
  gg_device *device = p->device;
  const gg_kernel **const rows[2] = {&plan->promised, &plan->elements};
  for (int i = 0; i < 2; ++i) {
    ggi_call call;
    ggi_choice choice;
    ggi_grid grid;
    ggi_problem_call(p, i == 0, &call);
    ggi_select(context->tables, context->count, &call, &device->info, p->pin, &choice);
    if (!choice.row) {
      if (i == 0) return ggi_no_choice(context, p, &choice);
      continue;
    }
    gg_status status =
        ggi_grid_plan(choice.row, p->m, p->n, p->batch, device->info.blocks_launch, &grid);
    if (status == GG_OK) status = device->ops->load(device, choice.row);
    if (status == GG_OK && choice.row->persistent)
      status = device->ops->resident(device, choice.row, &plan->resident[i]);
    if (status != GG_OK) return status;
    *rows[i] = choice.row;
  }
  return GG_OK;
}

gg_status ggi_plan_make(gg_context *context, const gg_problem *checked, gg_plan **plan) {
  gg_plan *made = aligned_alloc(_Alignof(gg_plan), sizeof *made);
  if (!made) return ggi_fail(GG_ERR_MEMORY, "no memory for a plan of %zu bytes", sizeof *made);
  memset(made, 0, sizeof *made);
  atomic_init(&made->references, 1);
  made->problem = *checked;
  if (checked->pin) {
    size_t bytes = strlen(checked->pin) + 1;
    char *pin = malloc(bytes);
    if (!pin) {
      free(made);
      return ggi_fail(GG_ERR_MEMORY, "no memory for the pin's name of %zu bytes", bytes);
    }
    memcpy(pin, checked->pin, bytes);
    made->problem.pin = pin;
  }
  ggi_problem_views(checked, made->views);
  fill_args(made);
  gg_status status = ggi_problem_is_empty(checked) ? GG_OK : choose(context, made);
  if (status != GG_OK) {
    gg_plan_destroy(made);
    return status;
  }
  *plan = made;
  return GG_OK;
}

gg_status gg_plan_create(gg_context *context, const gg_problem *problem, gg_plan **plan) {
  if (!context || !plan)
    return ggi_fail(GG_ERR_ARGUMENT, "gg_plan_create: %s is NULL", context ? "plan" : "context");
  gg_problem checked;
  gg_status status = ggi_problem_check(problem, &checked);
  return status == GG_OK ? ggi_plan_make(context, &checked, plan) : status;
}

void ggi_plan_hold(gg_plan *plan) {
  atomic_fetch_add(&plan->references, 1);
}

void gg_plan_destroy(gg_plan *plan) {
  if (!plan || atomic_fetch_sub(&plan->references, 1) > 1) return;
  free((void *)(uintptr_t)plan->problem.pin);
  free(plan);
}

size_t gg_plan_workspace(const gg_plan *plan) {
  (void)plan; /* no row of this ABI has a workspace */
  return 0;
}

const char *gg_plan_kernel(const gg_plan *plan) {
  return plan && plan->promised ? plan->promised->name : "";
}

const char *gg_plan_kernel_unaligned(const gg_plan *plan) {
  return plan && plan->elements ? plan->elements->name : "";
}

/* ---- Running ---- */

static gg_status check_scalar(const char *name, double value, gg_scalar_class stated) {
  if ((stated == GG_SCALAR_ZERO && value != 0) || (stated == GG_SCALAR_ONE && value != 1))
    return ggi_fail(GG_ERR_SCALAR, "%s: %g was stated to be %s in the problem", name, value,
                    stated == GG_SCALAR_ONE ? "one" : "zero");
  return GG_OK;
}

/* The operands of a run; what is not read has used = false. */
typedef struct operands {
  const void *pointer[4];
  bool used[4];
} operands;

static gg_status check_pointers(const gg_plan *plan, const operands *o) {
  const gg_problem *p = &plan->problem;
  const gg_dtype types[4] = {p->type_a, p->type_b, p->type_c, p->type_d};
  static const char *const why[4] = {"k and alpha are not 0", "k and alpha are not 0",
                                     "beta is not 0", "D is written"};
  for (int i = 0; i < 4; ++i) {
    if (!o->used[i]) continue;
    int bytes = ggi_dtype_bytes(types[i]);
    if (!o->pointer[i])
      return ggi_fail(GG_ERR_NULL, "pointers.%c: is NULL, but %s", "abcd"[i], why[i]);
    if ((uintptr_t)o->pointer[i] % (unsigned)bytes != 0)
      return ggi_fail(GG_ERR_ALIGNMENT, "pointers.%c: %p is not a multiple of %d, the bytes of %s",
                      "abcd"[i], (void *)(uintptr_t)o -> pointer[i], bytes,
                      ggi_dtype_name(types[i]));
  }
  return GG_OK;
}

static bool same_view(const ggi_view *x, const ggi_view *y) {
  return x->start == y->start && x->pitch == y->pitch && x->stride == y->stride;
}

static gg_status check_overlap(const gg_plan *plan, const operands *o) {
  ggi_view d = plan->views[3];
  d.start = o->pointer[3];
  for (int i = 0; i < 3; ++i) {
    if (!o->used[i]) continue;
    ggi_view x = plan->views[i];
    x.start = o->pointer[i];
    if (i == 2 && plan->problem.type_c == plan->problem.type_d && same_view(&x, &d)) continue;
    if (ggi_views_overlap(&d, &x))
      return ggi_fail(GG_ERR_OVERLAP, "pointers.d: D at %p shares elements with %c at %p; %s",
                      o->pointer[3], "ABC"[i], (void *)(uintptr_t)o -> pointer[i],
                      i == 2 ? "D may only be exactly C (pointer, type, ldd = ldc, stride)"
                             : "give D memory of its own");
  }
  return GG_OK;
}

static const gg_kernel *row_for(const gg_plan *plan, const operands *o, int *missed) {
  for (int i = 0; i < 4; ++i) {
    int ask = ggi_row_align(plan->promised, i);
    if (o->used[i] && ask > 1 && (uintptr_t)o->pointer[i] % (unsigned)ask != 0) {
      *missed = i;
      return plan->elements;
    }
  }
  return plan->promised;
}

gg_status gg_run(const gg_plan *plan, const gg_pointers *pointers, gg_scalar alpha, gg_scalar beta,
                 void *workspace, size_t workspace_bytes, void *stream) {
  if (!plan || !pointers)
    return ggi_fail(GG_ERR_ARGUMENT, "gg_run: %s is NULL", plan ? "pointers" : "plan");
  const gg_problem *p = &plan->problem;
  double alpha_value = ggi_scalar_value(alpha, p->type_acc);
  double beta_value = ggi_scalar_value(beta, p->type_acc);
  gg_status status = check_scalar("alpha", alpha_value, p->alpha);
  if (status == GG_OK) status = check_scalar("beta", beta_value, p->beta);
  if (status != GG_OK) return status;
  if (!plan->promised) return GG_OK; /* nothing to compute */

  bool product = p->k > 0 && alpha_value != 0;
  const operands o = {{pointers->a, pointers->b, pointers->c, pointers->d},
                      {product, product, beta_value != 0, true}};
  status = check_pointers(plan, &o);
  if (status == GG_OK) status = check_overlap(plan, &o);
  if (status != GG_OK) return status;
  if (workspace_bytes > 0 && !workspace)
    return ggi_fail(GG_ERR_NULL, "workspace: is NULL, but workspace_bytes is %zu", workspace_bytes);

  int missed = 0;
  const gg_kernel *row = row_for(plan, &o, &missed);
  if (!row)
    return ggi_fail(GG_ERR_ALIGNMENT,
                    "pointers.%c: %p is not a multiple of %d as kernel %s asks, and %s",
                    "abcd"[missed], (void *)(uintptr_t)o.pointer[missed],
                    ggi_row_align(plan->promised, missed), plan->promised->name,
                    p->pin ? "the pin allows no other" : "the tables hold no kernel without that");

  gg_args args = plan->args;
  args.a = pointers->a;
  args.b = pointers->b;
  args.c = pointers->c;
  args.d = pointers->d;
  args.alpha = alpha;
  args.beta = beta;
  args.workspace = workspace;
  return ggi_launch(p->device, row, plan->resident[row != plan->promised], &args, stream);
}
