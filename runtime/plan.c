/* plan.c - a problem with its kernels chosen and loaded.
 *
 * A plan is immutable after creation but for its reference count, so gg_run needs no lock.
 */
#include "context.h"
#include "detail.h"
#include "launch.h"

#include <stdlib.h>
#include <string.h>

gg_status ggi_no_choice(const gg_context *context, const gg_problem *p, const ggi_choice *choice) {
  char what[GGI_PROBLEM_TEXT];
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
  if (p->residual) a->ld_residual = p->ld_residual;
  if (p->residual && p->batch > 1) a->stride_residual = p->stride_residual;
  if (p->bias && p->batch > 1) a->stride_bias = p->stride_bias;
}

/* One of the four ways. */
static gg_status choose_way(gg_context *context, gg_plan *plan, int pointers, bool workspace) {
  const gg_problem *p = &plan->problem;
  gg_device *device = p->device;
  const ggi_rows rows = {context->tables, context->count, &device->info};
  ggi_call call;
  ggi_choice choice;
  ggi_grid grid;
  ggi_problem_call(p, pointers == GGI_PROMISED, &call);
  ggi_select(&rows, &call, p->pin, workspace, &choice);
  if (!choice.way.row)
    return pointers == GGI_PROMISED && workspace ? ggi_no_choice(context, p, &choice) : GG_OK;
  gg_status status = ggi_grid_plan(choice.way.row, p->m, p->n, ggi_way_batch(&choice.way, p->batch),
                                   device->info.blocks_launch, &grid);
  if (status == GG_OK)
    status = ggi_way_load(device, &choice.way, &plan->resident[pointers][workspace]);
  if (status == GG_OK) plan->ways[pointers][workspace] = choice.way;
  return status;
}

static gg_status choose(gg_context *context, gg_plan *plan) {
  for (int pointers = GGI_PROMISED; pointers <= GGI_ELEMENTS; ++pointers) {
    gg_status status = choose_way(context, plan, pointers, true);
    if (status != GG_OK) return status;
    ggi_way *const ways = plan->ways[pointers];
    if (ggi_way_workspace(&ways[1]) > 0) {
      status = choose_way(context, plan, pointers, false);
      if (status != GG_OK) return status;
    } else {
      ways[0] = ways[1];
      plan->resident[pointers][0] = plan->resident[pointers][1];
    }
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
  if (!plan) return 0;
  gg_i64 promised = ggi_way_workspace(&plan->ways[GGI_PROMISED][1]);
  gg_i64 elements = ggi_way_workspace(&plan->ways[GGI_ELEMENTS][1]);
  return (size_t)(promised > elements ? promised : elements);
}

static const char *name_of(const gg_plan *plan, int pointers) {
  return plan && plan->ways[pointers][1].row ? plan->ways[pointers][1].row->name : "";
}

const char *gg_plan_kernel(const gg_plan *plan) {
  return name_of(plan, GGI_PROMISED);
}

const char *gg_plan_kernel_unaligned(const gg_plan *plan) {
  return name_of(plan, GGI_ELEMENTS);
}
