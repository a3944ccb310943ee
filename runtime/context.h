/* context.h - tables, plans and the cache of plans, as the parts of the library see them. */
#ifndef GGI_CONTEXT_H
#define GGI_CONTEXT_H

#include "problem.h"
#include "way.h"

#include <pthread.h>
#include <stdatomic.h>

enum { GGI_CACHE_PLANS = 256, GGI_CLUSTER_MAX = 16 };

enum { GGI_PROMISED, GGI_ELEMENTS };

struct gg_plan {
  atomic_int references;
  gg_problem problem; /* checked; problem.pin is our copy */
  /* For pointers aligned as promised and for any element-aligned ones, without and with a
   * workspace. A row NULL: the tables have no such way; ways[GGI_PROMISED][1] always has one, but
   * where there is nothing to compute. */
  ggi_way ways[2][2];
  int resident[2][2]; /* clusters of their kernels that run at once, where they are persistent */
  ggi_view views[GGI_OPERANDS];
  gg_args args; /* all but pointers and scalars */
};

struct gg_context {
  const gg_kernel_table **tables;
  size_t count;
  pthread_mutex_t lock; /* of what follows */
  struct {
    uint64_t hash;
    uint64_t used; /* tick of the last use */
    gg_plan *plan; /* NULL: free. The cache holds one reference */
  } cache[GGI_CACHE_PLANS];
  uint64_t tick;
};

/* As gg_plan_create, of a checked problem. */
gg_status ggi_plan_make(gg_context *context, const gg_problem *checked, gg_plan **plan);
void ggi_plan_hold(gg_plan *plan);

/* The status and detail of a selection that found nothing. */
gg_status ggi_no_choice(const gg_context *context, const gg_problem *p, const ggi_choice *choice);

#endif
