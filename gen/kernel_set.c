/* kernel_set.c - every point of every spec, planned.
 *
 * Invariant: a kernel's name stands for one plan. Points with equal name and plan share the kernel;
 * equal names of different plans are an error, told at both lines. A point enters with all of its
 * variants or with none.
 */
#include "kernel_set.h"

#include "plan_auto.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* -- Names -> indices: open addressing, a power of two of slots, at most half full ------------ */

typedef struct name_index {
  size_t *slots; /* index + 1; 0: empty */
  size_t size;
} name_index;

static uint64_t hash(const char *text) {
  uint64_t h = 14695981039346656037u; /* FNV-1a */
  for (; *text; ++text)
    h = (h ^ (unsigned char)*text) * 1099511628211u;
  return h;
}

/* The slot that holds a name, or the empty one where it belongs. */
static size_t *slot_of(const name_index *x, const kernel_set *k, const char *name) {
  size_t at = (size_t)hash(name) & (x->size - 1);
  while (x->slots[at] && strcmp(k->kernels[x->slots[at] - 1].plan.name, name) != 0)
    at = (at + 1) & (x->size - 1);
  return &x->slots[at];
}

static bool index_room(name_index *x, const kernel_set *k) {
  if (2 * (k->count + 1) <= x->size) return true;
  name_index grown = {NULL, x->size ? 2 * x->size : 64};
  grown.slots = calloc(grown.size, sizeof *grown.slots);
  if (!grown.slots) return false;
  for (size_t i = 0; i < k->count; ++i)
    *slot_of(&grown, k, k->kernels[i].plan.name) = i + 1;
  free(x->slots);
  *x = grown;
  return true;
}

/* -- Adding --------------------------------------------------------------------------------- */

/* Room for one more item; the array, or NULL when memory is short. */
static void *room(void *array, size_t count, size_t *capacity, size_t item) {
  if (count < *capacity) return array;
  size_t wanted = *capacity ? 2 * *capacity : 4;
  void *grown = realloc(array, wanted * item);
  if (grown) *capacity = wanted;
  return grown;
}

static bool add_request(kernel *k, const kernel_spec *s) {
  const kernel_spec **specs = room(k->specs, k->spec_count, &k->spec_capacity, sizeof *k->specs);
  if (!specs) return false;
  k->specs = specs;
  k->specs[k->spec_count++] = s;
  return true;
}

/* First field in which the kernels of two plans differ; PLAN_FIELD_COUNT if none. */
static int difference(const kernel_plan *a, const kernel_plan *b) {
  for (int i = 0; i < PLAN_FIELD_COUNT; ++i) {
    plan_field f = (plan_field)i;
    /* The model fits these to each point of an open gemm; a kernel that several share has the
     * figures of the first. */
    bool fitted = f == PLAN_speed || f == PLAN_overhead_k;
    if (fitted && a->spec->chosen && b->spec->chosen) continue;
    if (!plan_is_outside(f) && plan_value(a, f) != plan_value(b, f)) return i;
  }
  return PLAN_FIELD_COUNT;
}

static void report_duplicate(const kernel_plan *first, const kernel_plan *second, int f, diag *d) {
  char scratch[2][32], note[48];
  const kernel_spec *at = second->spec;
  diag_add(d, DIAG_ERROR, at->file, at->line, NULL, "duplicate-name",
           "kernel %s is also that of %s:%d, which differs in %s (%s there, %s here); keep one, or "
           "write each to a folder of its own with --prefix%s",
           second->name, first->spec->file, first->spec->line, plan_field_name((plan_field)f),
           plan_value_text(first, (plan_field)f, scratch[0]),
           plan_value_text(second, (plan_field)f, scratch[1]), spec_call_note(at, note));
}

/* Takes the plan over, which `asker` asks for. false: memory is short. *fresh: no other plan has
 * its name. */
static bool add_plan(kernel_set *k, name_index *x, kernel_plan *p, const kernel_spec *asker,
                     bool *fresh, diag *d) {
  if (!index_room(x, k)) return false;
  size_t *slot = slot_of(x, k, p->name);
  if (*slot) {
    kernel *known = &k->kernels[*slot - 1];
    int f = difference(&known->plan, p);
    bool added = true;
    *fresh = f == PLAN_FIELD_COUNT;
    if (!*fresh)
      report_duplicate(&known->plan, p, f, d);
    else
      added = add_request(known, asker);
    plan_free(p);
    return added;
  }
  kernel *kernels = room(k->kernels, k->count, &k->capacity, sizeof *kernels);
  if (!kernels) return false;
  k->kernels = kernels;
  kernel *added = &k->kernels[k->count];
  *added = (kernel){.plan = *p};
  *slot = ++k->count;
  memset(p, 0, sizeof *p);
  return add_request(added, asker);
}

static bool reject(kernel_set *k, const kernel_spec *s, const plan_fault *fault, diag *d) {
  if (!s->sweep) {
    spec_report(s, d, DIAG_ERROR, fault->field, fault->code, "%s", fault->text);
    return true;
  }
  rejection *grown = room(k->rejections, k->rejected, &k->rejection_capacity, sizeof *grown);
  if (!grown) return false;
  k->rejections = grown;
  k->rejections[k->rejected++] = (rejection){s, *fault};
  return true;
}

/* Room for a spec that no file has. NULL: memory is short. */
static kernel_spec *new_spec(kernel_set *k) {
  kernel_spec **passes = room(k->passes, k->pass_count, &k->pass_capacity, sizeof *passes);
  if (!passes) return NULL;
  k->passes = passes;
  kernel_spec *s = malloc(sizeof *s);
  if (s) k->passes[k->pass_count++] = s;
  return s;
}

/* The kernel of s, which new_spec made, in the name of a point; field is what the point asked it
 * by. false: memory is short. */
static bool add_made(kernel_set *k, name_index *x, const kernel_spec *s, plan_variant variant,
                     const kernel_spec *asker, spec_field field, bool *fresh, diag *d) {
  size_t before = k->count;
  kernel_plan plan;
  plan_fault fault;
  plan_result result = plan_make(s, variant, &plan, &fault);
  if (result == PLAN_ILLEGAL)
    spec_report(asker, d, DIAG_ERROR, field, fault.code, "%s", fault.text);
  bool ok = result == PLAN_OK ? add_plan(k, x, &plan, asker, fresh, d) : result != PLAN_MEMORY;
  if (k->count == before) free(k->passes[--k->pass_count]); /* known, or none */
  return ok;
}

/* One pass over operands of a type, in the name of a point. false: memory is short. */
static bool add_pass(kernel_set *k, name_index *x, const kernel_spec *asker, int type,
                     plan_pass pass, bool *fresh, diag *d) {
  kernel_spec *s = new_spec(k);
  if (!s) return false;
  if (plan_pass_spec(asker, type, pass, s))
    return add_made(k, x, s, VARIANT_NARROW, asker, SPEC_REPACK, fresh, d);
  free(k->passes[--k->pass_count]);
  return true;
}

/* What cutting k takes, beside the point whose plan is p: parts of its sums, and their reduction.
 * The kernels of CUDA cores serve sizes by variants, those of wgmma in one. */
static bool add_split(kernel_set *k, name_index *x, const kernel_spec *asker, const kernel_plan *p,
                      diag *d) {
  bool fresh = true;
  kernel_spec sums;
  bool leaves = plan_sums_spec(asker, p, &sums);
  int variants = !leaves ? 0 : p->family == FAMILY_WGMMA ? 1 : VARIANT_COUNT;
  for (int v = 0; v < variants; ++v) {
    kernel_spec *s = new_spec(k);
    if (!s) return false;
    *s = sums;
    if (!add_made(k, x, s, (plan_variant)v, asker, SPEC_SPLIT, &fresh, d)) return false;
  }
  kernel_spec *s = new_spec(k);
  if (!s) return false;
  plan_reduce_spec(asker, p, s);
  return add_made(k, x, s, VARIANT_NARROW, asker, SPEC_SPLIT, &fresh, d);
}

/* The passes that a point's kernels need, over each size of elements. */
static bool add_passes(kernel_set *k, name_index *x, const kernel_spec *asker, int type_a,
                       int type_b, diag *d) {
  bool fresh = true;
  int count = dtype_bytes(type_a) == dtype_bytes(type_b) ? 1 : 2;
  for (int i = 0; i < count * PASS_COUNT; ++i) {
    int type = i < PASS_COUNT ? type_a : type_b;
    if (!add_pass(k, x, asker, type, (plan_pass)(i % PASS_COUNT), &fresh, d)) return false;
  }
  return true;
}

/* false: memory is short. *legal: did the point give kernels? */
static bool add_point(kernel_set *k, name_index *x, const kernel_spec *s, bool *legal, diag *d) {
  kernel_plan plans[VARIANT_COUNT];
  size_t made = 0;
  plan_fault fault = {0};
  plan_result result = PLAN_OK;
  for (int v = 0; v < VARIANT_COUNT && (result == PLAN_OK || result == PLAN_SAME); ++v) {
    memset(&plans[made], 0, sizeof plans[made]);
    result = plan_make(s, (plan_variant)v, &plans[made], &fault);
    if (result == PLAN_OK)
      ++made;
    else
      plan_free(&plans[made]);
  }
  bool ok = result != PLAN_MEMORY;
  *legal = result == PLAN_OK || result == PLAN_SAME;
  if (result == PLAN_ILLEGAL) ok = reject(k, s, &fault, d);
  bool fresh = true; /* one duplicate a point is told, not one a variant */
  const kernel_plan first =
      made > 0 ? plans[0] : (kernel_plan){0}; /* its numbers, after it is gone */
  for (size_t i = 0; i < made; ++i) {
    if (ok && *legal && fresh) ok = add_plan(k, x, &plans[i], s, &fresh, d);
    plan_free(&plans[i]);
  }
  if (ok && *legal && first.repack) ok = add_passes(k, x, s, first.type_a, first.type_b, d);
  if (ok && *legal && first.split) ok = add_split(k, x, s, &first, d);
  return ok;
}

static bool same_call(const kernel_spec *a, const kernel_spec *b) {
  return a->file == b->file && a->sweep == b->sweep && a->call == b->call;
}

/* A sweep without any kernel is a mistake; its first rejection says which. */
static void report_empty_sweep(const kernel_set *k, const kernel_spec *s, size_t points, diag *d) {
  const rejection *r = &k->rejections[k->rejected - points];
  char note[48];
  diag_add(d, DIAG_ERROR, s->file, s->source_line[r->fault.field], spec_field_name(r->fault.field),
           "empty-sweep", "none of the %zu combinations is legal; the first: %s%s", points,
           r->fault.text, spec_call_note(s, note));
}

static bool add_points(kernel_set *k, name_index *x, diag *d) {
  const spec_set *set = &k->specs;
  for (size_t first = 0, next; first < set->count; first = next) {
    size_t legal_points = 0;
    for (next = first; next < set->count && same_call(&set->specs[first], &set->specs[next]);
         ++next) {
      bool legal;
      if (!add_point(k, x, &set->specs[next], &legal, d)) return false;
      legal_points += legal;
    }
    if (!set->specs[first].sweep) continue;
    k->swept += next - first;
    if (!legal_points) report_empty_sweep(k, &set->specs[first], next - first, d);
  }
  return true;
}

bool kernel_set_load(kernel_set *k, const char *const *paths, size_t count, const char *gpu,
                     diag *d) {
  size_t errors = diag_errors(d);
  *k = (kernel_set){0};
  if (gpu && !(k->specs.gpu = gpu_find(gpu))) {
    diag_add(d, DIAG_ERROR, NULL, 0, "--gpu", "unknown-gpu", "unknown GPU '%.40s'", gpu);
    return false;
  }
  for (size_t i = 0; i < count; ++i)
    spec_load(paths[i], &k->specs, d);
  name_index x = {0};
  if (!plan_auto_expand(&k->specs, d) || !add_points(k, &x, d))
    diag_add(d, DIAG_ERROR, NULL, 0, NULL, "out-of-memory", "memory is short");
  free(x.slots);
  for (size_t i = 0; i < k->count; ++i)
    plan_warn(&k->kernels[i].plan, d);
  return diag_errors(d) == errors;
}

void kernel_set_free(kernel_set *k) {
  for (size_t i = 0; i < k->count; ++i) {
    plan_free(&k->kernels[i].plan);
    free(k->kernels[i].specs);
  }
  for (size_t i = 0; i < k->pass_count; ++i)
    free(k->passes[i]);
  free(k->passes);
  free(k->kernels);
  free(k->rejections);
  spec_set_free(&k->specs);
  *k = (kernel_set){0};
}

const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

long kernel_set_find(const kernel_set *k, const char *name) {
  for (size_t i = 0; i < k->count; ++i)
    if (strcmp(k->kernels[i].plan.name, name) == 0) return (long)i;
  return -1;
}
