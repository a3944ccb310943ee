/* context.c - the tables of a context, and the one-call product with its cache of plans.
 *
 * The cache finds a plan by the bytes of the checked problem. It holds one reference to each plan
 * and gg_gemm another while it runs, so a plan that is pushed out lives until its last run returns.
 * Nothing is planned or launched under the lock.
 */
#include "context.h"
#include "detail.h"
#include "dtype.h"
#include "tensor_map.h"

#include <stdlib.h>
#include <string.h>

static gg_status check_row(const gg_kernel *row, size_t table, int index) {
  const char *name = row->name ? row->name : "(no name)";
  if (!row->name || !row->entry)
    return ggi_fail(GG_ERR_TABLE, "tables[%zu], row %d, %s: has no %s", table, index, name,
                    row->name ? "entry" : "name");
  if (row->tile_m < 1 || row->tile_n < 1 || row->threads < 1 || row->shared_bytes < 0)
    return ggi_fail(GG_ERR_TABLE,
                    "tables[%zu], row %d, %s: tile %d x %d, %d threads, %d bytes of "
                    "shared memory cannot be",
                    table, index, name, row->tile_m, row->tile_n, row->threads, row->shared_bytes);
  const int cluster[3] = {row->cluster_m, row->cluster_n, row->cluster_k};
  bool bad = cluster[0] * cluster[1] * cluster[2] > GGI_CLUSTER_MAX;
  for (int i = 0; i < 3; ++i)
    bad = bad || cluster[i] < 1 || cluster[i] > GGI_CLUSTER_MAX;
  if (bad)
    return ggi_fail(GG_ERR_TABLE,
                    "tables[%zu], row %d, %s: a cluster of %d x %d x %d blocks cannot be; it has 1 "
                    "to %d",
                    table, index, name, cluster[0], cluster[1], cluster[2], GGI_CLUSTER_MAX);
  if (row->kind != GG_KIND_GEMM && row->kind != GG_KIND_REPACK && row->kind != GG_KIND_REDUCE)
    return ggi_fail(GG_ERR_TABLE,
                    "tables[%zu], row %d, %s: is of kind %d, which this library has not", table,
                    index, name, (int)row->kind);
  int pitch = row->align[3], element = ggi_dtype_bytes(row->type_a);
  if (row->kind == GG_KIND_REPACK &&
      (element < 1 || pitch < GGI_MAP_ALIGN || pitch > GGI_WORKSPACE_ALIGN ||
       GGI_WORKSPACE_ALIGN % pitch != 0 || row->copy_gbs < 1 || row->overhead_ns < 0))
    return ggi_fail(GG_ERR_TABLE,
                    "tables[%zu], row %d, %s: copies with elements of %d bytes, a pitch of %d, %d "
                    "GB/s and %d ns cannot be",
                    table, index, name, element, pitch, row->copy_gbs, row->overhead_ns);
  if (row->kind == GG_KIND_REDUCE &&
      (row->type_b != row->type_acc || element < 1 || row->copy_gbs < 1 || row->overhead_ns < 0))
    return ggi_fail(
        GG_ERR_TABLE,
        "tables[%zu], row %d, %s: parts of %s summed in %s, %d GB/s and %d ns cannot be", table,
        index, name, ggi_dtype_name(row->type_b), ggi_dtype_name(row->type_acc), row->copy_gbs,
        row->overhead_ns);
  const gg_dtype types[4] = {row->type_a, row->type_b, row->type_c, row->type_d};
  for (int i = 0; i < 4; ++i) {
    char reason[120];
    if (!ggi_map_recipe_sound(&row->maps[i], types[i], reason, sizeof reason))
      return ggi_fail(GG_ERR_TABLE, "tables[%zu], row %d, %s, maps[%d]: %s", table, index, name, i,
                      reason);
  }
  return GG_OK;
}

static gg_status check_table(const gg_kernel_table *t, size_t index) {
  if (!t) return ggi_fail(GG_ERR_ARGUMENT, "tables[%zu]: is NULL", index);
  if (t->abi != GG_KERNEL_ABI)
    return ggi_fail(GG_ERR_TABLE,
                    "tables[%zu]: its ABI is %d, this library's is %d; generate the folder again "
                    "and build it with this library's gg_kernel.h",
                    index, t->abi, GG_KERNEL_ABI);
  if (t->args_size != (int)sizeof(gg_args) || t->row_size != (int)sizeof(gg_kernel))
    return ggi_fail(GG_ERR_TABLE,
                    "tables[%zu]: gg_args has %d bytes and gg_kernel %d, here %zu and %zu; build "
                    "table and library with the same gg_kernel.h and compiler settings",
                    index, t->args_size, t->row_size, sizeof(gg_args), sizeof(gg_kernel));
  if (t->count < 0 || (t->count > 0 && !t->kernels))
    return ggi_fail(GG_ERR_TABLE, "tables[%zu]: has %d rows at %p", index, t->count,
                    (const void *)t->kernels);
  for (int i = 0; i < t->count; ++i) {
    gg_status status = check_row(&t->kernels[i], index, i);
    if (status != GG_OK) return status;
  }
  return GG_OK;
}

gg_status gg_context_create(const gg_kernel_table *const *tables, size_t count,
                            gg_context **context) {
  if (!context || (count > 0 && !tables))
    return ggi_fail(GG_ERR_ARGUMENT, "gg_context_create: %s is NULL",
                    context ? "tables" : "context");
  for (size_t i = 0; i < count; ++i) {
    gg_status status = check_table(tables[i], i);
    if (status != GG_OK) return status;
  }
  gg_context *made = calloc(1, sizeof *made);
  const gg_kernel_table **copy = calloc(count ? count : 1, sizeof(const gg_kernel_table *));
  if (!made || !copy || pthread_mutex_init(&made->lock, NULL) != 0) {
    free(made);
    free(copy);
    return ggi_fail(GG_ERR_MEMORY, "no memory for a context of %zu tables", count);
  }
  for (size_t i = 0; i < count; ++i)
    copy[i] = tables[i];
  made->tables = copy;
  made->count = count;
  *context = made;
  return GG_OK;
}

void gg_context_destroy(gg_context *context) {
  if (!context) return;
  for (int i = 0; i < GGI_CACHE_PLANS; ++i)
    gg_plan_destroy(context->cache[i].plan);
  pthread_mutex_destroy(&context->lock);
  free(context->tables);
  free(context);
}

/* ---- Cache ---- */

static uint64_t hash_bytes(uint64_t h, const void *data, size_t size) {
  const unsigned char *p = data; /* FNV-1a */
  for (size_t i = 0; i < size; ++i)
    h = (h ^ p[i]) * 0x100000001b3u;
  return h;
}

static uint64_t hash_problem(const gg_problem *p) {
  gg_problem key;
  memcpy(&key, p, sizeof key); /* with its zeroed padding */
  key.pin = NULL;
  uint64_t h = hash_bytes(0xcbf29ce484222325u, &key, sizeof key);
  return p->pin ? hash_bytes(h, p->pin, strlen(p->pin)) : h;
}

static bool equal(const gg_problem *x, const gg_problem *y) {
  if ((x->pin == NULL) != (y->pin == NULL)) return false;
  if (x->pin && strcmp(x->pin, y->pin) != 0) return false;
  gg_problem a, b;
  memcpy(&a, x, sizeof a);
  memcpy(&b, y, sizeof b);
  a.pin = b.pin = NULL;
  return memcmp(&a, &b, sizeof a) == 0;
}

/* With the lock held: the plan of an equal problem, with a reference for the caller, or NULL. */
static gg_plan *find(gg_context *c, uint64_t hash, const gg_problem *p) {
  for (int i = 0; i < GGI_CACHE_PLANS; ++i) {
    gg_plan *plan = c->cache[i].plan;
    if (!plan || c->cache[i].hash != hash || !equal(&plan->problem, p)) continue;
    c->cache[i].used = ++c->tick;
    ggi_plan_hold(plan);
    return plan;
  }
  return NULL;
}

/* With the lock held: keeps the plan in a free or the longest unused place. */
static void keep(gg_context *c, uint64_t hash, gg_plan *plan) {
  int place = 0;
  for (int i = 0; i < GGI_CACHE_PLANS; ++i)
    if (c->cache[i].used < c->cache[place].used) place = i;
  gg_plan_destroy(c->cache[place].plan);
  c->cache[place].hash = hash;
  c->cache[place].used = ++c->tick;
  c->cache[place].plan = plan;
  ggi_plan_hold(plan);
}

static gg_status plan_of(gg_context *c, const gg_problem *p, gg_plan **plan) {
  uint64_t hash = hash_problem(p);
  pthread_mutex_lock(&c->lock);
  gg_plan *found = find(c, hash, p);
  pthread_mutex_unlock(&c->lock);
  if (!found) {
    gg_plan *made = NULL;
    gg_status status = ggi_plan_make(c, p, &made);
    if (status != GG_OK) return status;
    pthread_mutex_lock(&c->lock);
    found = find(c, hash, p); /* another thread may have been first */
    if (!found) {
      keep(c, hash, made);
      found = made;
      made = NULL;
    }
    pthread_mutex_unlock(&c->lock);
    gg_plan_destroy(made);
  }
  *plan = found;
  return GG_OK;
}

gg_status gg_gemm(gg_context *context, const gg_problem *problem, const gg_pointers *pointers,
                  gg_scalar alpha, gg_scalar beta, void *workspace, size_t workspace_bytes,
                  void *stream) {
  if (!context) return ggi_fail(GG_ERR_ARGUMENT, "gg_gemm: context is NULL");
  gg_problem checked;
  gg_status status = ggi_problem_check(problem, &checked);
  if (status != GG_OK) return status;
  gg_plan *plan = NULL;
  status = plan_of(context, &checked, &plan);
  if (status != GG_OK) return status;
  status = gg_run(plan, pointers, alpha, beta, workspace, workspace_bytes, stream);
  gg_plan_destroy(plan);
  return status;
}
