/* wgmma.c - asynchronous products of a warpgroup, and when their results are there.
 *
 * The 128 threads of a warpgroup meet at each wgmma. It is carried out at the wait that covers it
 * (options.async: or earlier), and reads shared memory then; to the shadow, the group's agent reads
 * at that time, and whoever has waited has seen it. Accumulators live in a record from issue on:
 * the registers hold POISON until their thread has waited for the last product on them. Invariant:
 * op i of the group, counted from 0, bears the agent's stamp i + 1; ops before `executed` are done.
 */
#include "emu_tensor.h"
#include <stdlib.h>
#include <string.h>

enum { LANES = EMU_PRODUCT_LANES, ROWS = EMU_PRODUCT_ROWS, POISON = (int)0xffbaffba };

typedef struct wgmma_arg {
  void *d;
  const unsigned *a;
  uint64_t da, db;
  int scale;
} wgmma_arg;

/* Accumulators in flight. */
typedef struct record {
  void *d[LANES];
  int words;           /* registers of a thread */
  uint32_t last;       /* ops up to the last product on them */
  uint8_t home[LANES]; /* 1: the thread has its values back */
  float *value;        /* [ROWS][n]; integers as such */
  int n, live;
} record;

typedef struct wgmma_op {
  emu_product p;
  int line, ok;
  record *to;
} wgmma_op;

struct emu_group {
  emu_thread *thread; /* of its first lane */
  uint32_t engine;
  const wgmma_arg *arg[LANES];
  uint32_t arrived; /* at the product that is being gathered */
  unsigned spec;
  int line;
  wgmma_op *op; /* op[i - executed] */
  uint32_t issued, executed, room;
  uint32_t *group_end; /* by group, in ops */
  uint32_t groups, group_room;
  record **records;
  size_t record_count;
  emu_clock *done; /* what a wait brings: the agent up to done_stamp */
  uint32_t done_stamp;
  float *a, *b; /* room for operands */
};

static void short_of_memory(emu_world *w) {
  w->short_of_memory = 1;
  ggi_emu_abandon(w);
}

static void *checked(emu_world *w, void *p) {
  if (p == NULL) short_of_memory(w);
  return p;
}

/* -- Groups -- */

static uint32_t group_index(const emu_world *w, const emu_thread *t) {
  return (t->warp->index - t->block->rank * w->block_warps) / 4;
}

static uint32_t lane_in_group(const emu_thread *t) {
  return t->idx.x % LANES;
}

uint32_t ggi_emu_group_engine(const emu_block *b, uint32_t group) {
  return b->group[group]->engine;
}

static emu_group *group_of(emu_world *w, emu_thread *t) {
  uint32_t i = group_index(w, t);
  emu_group *g = t->block->group[i];
  if (g == NULL) {
    g = checked(w, calloc(1, sizeof *g));
    t->block->group[i] = g;
    g->a = checked(w, malloc(sizeof(float) * ROWS * EMU_K_MOST));
    g->b = checked(w, malloc(sizeof(float) * 256 * EMU_K_MOST));
  }
  if (g->engine == 0) {
    g->engine = ggi_emu_engine(w);
    g->thread = &w->thread[t->agent - lane_in_group(t)];
  }
  return g;
}

/* -- Accumulators -- */

static uint32_t load_word(const void *p, int i) {
  uint32_t x;
  memcpy(&x, (const char *)p + 4 * i, 4);
  return x;
}
static void store_word(void *p, int i, uint32_t x) {
  memcpy((char *)p + 4 * i, &x, 4);
}

/* The value that register i of the lane stands for; f16 registers hold two: *second. */
static float *place(const record *r, int acc, uint32_t lane, int i, float **second) {
  int pair = acc == EMU_ACC_F16 ? i : i / 2; /* 2 columns of a row */
  int row = (int)(lane / EMU_WARP) * 16 + (int)(lane % EMU_WARP) / 4 + pair % 2 * 8;
  int column = pair / 2 * 8 + (int)lane % 4 * 2 + (acc == EMU_ACC_F16 ? 0 : i % 2);
  float *at = &r->value[row * r->n + column];
  *second = at + 1;
  return at;
}

static void take(const record *r, int acc, uint32_t lane) {
  for (int i = 0; i < r->words; i++) {
    float *second, *first = place(r, acc, lane, i, &second);
    uint32_t x = load_word(r->d[lane], i);
    if (acc == EMU_ACC_F16) {
      *first = ggi_emu_from_f16(x & 0xffff);
      *second = ggi_emu_from_f16(x >> 16);
    } else {
      memcpy(first, &x, 4);
    }
    store_word(r->d[lane], i, (uint32_t)POISON);
  }
}

static void give_back(emu_world *w, const emu_group *g, const record *r, int acc, uint32_t lane,
                      int line) {
  int touched = 0;
  for (int i = 0; i < r->words; i++) {
    float *second;
    const float *first = place(r, acc, lane, i, &second);
    uint32_t x;
    touched |= load_word(r->d[lane], i) != (uint32_t)POISON;
    if (acc == EMU_ACC_F16)
      x = ggi_emu_to_f16(*first) | ggi_emu_to_f16(*second) << 16;
    else
      memcpy(&x, first, 4);
    store_word(r->d[lane], i, x);
  }
  if (touched && w->options.check)
    ggi_emu_report(w, GG_EMU_RACE, line, 0,
                   "%s wrote accumulators of a wgmma in flight, which ends at this wait",
                   ggi_emu_thread_name(w, g->thread->agent + lane).s);
}

static record *record_of(emu_world *w, emu_group *g, unsigned spec) {
  int n = ggi_emu_product_n(spec), words = ggi_emu_product_acc(spec) == EMU_ACC_F16 ? n / 4 : n / 2;
  record *idle = NULL;
  for (size_t i = 0; i < g->record_count; i++) {
    record *r = g->records[i];
    if (!r->live) {
      if (r->n == n) idle = r;
      continue;
    }
    int same = r->words == words && r->n == n;
    for (int l = 0; l < LANES && same; l++)
      same = r->d[l] == g->arg[l]->d;
    if (same) return r;
  }
  if (idle == NULL) {
    record **grown = realloc(g->records, (g->record_count + 1) * sizeof(record *));
    g->records = checked(w, grown);
    idle = checked(w, calloc(1, sizeof *idle));
    idle->value = checked(w, calloc((size_t)ROWS * (size_t)n, sizeof(float)));
    idle->n = n;
    g->records[g->record_count++] = idle;
  }
  idle->live = 1;
  idle->words = words;
  for (int l = 0; l < LANES; l++) {
    idle->d[l] = g->arg[l]->d;
    idle->home[l] = 1;
  }
  return idle;
}

/* -- Carrying out -- */

typedef struct fetching {
  emu_world *w;
  emu_group *g;
  emu_thread *t;
  int line, first;
  uint32_t stamp;
} fetching;

static void end_fetch(void *context, uint32_t off) {
  const fetching *f = context;
  ggi_emu_async_read_end(f->w, f->g->thread->block, f->g->thread, off, f->line, 1, f->stamp);
}

static void execute_one(emu_world *w, emu_group *g, wgmma_op *o, uint32_t stamp) {
  emu_block *block = g->thread->block;
  ggi_emu_product(&o->p, block->shared, w->shared_bytes, o->to->value, g->a, g->b);
  if (w->options.check && o->ok) {
    emu_operand a = ggi_emu_product_a(&o->p), b = ggi_emu_product_b(&o->p);
    fetching f = {w, g, g->thread, o->line, 0, stamp};
    if (o->p.a == NULL) ggi_emu_operand_each(&a, end_fetch, &f);
    ggi_emu_operand_each(&b, end_fetch, &f);
  }
  free(o->p.a);
  o->p.a = NULL;
}

static void execute(emu_world *w, emu_group *g, uint32_t until) {
  uint32_t n = until > g->executed ? until - g->executed : 0;
  for (uint32_t i = 0; i < n; i++)
    execute_one(w, g, &g->op[i], g->executed + i + 1);
  if (n == 0) return;
  memmove(g->op, g->op + n, (g->issued - g->executed - n) * sizeof *g->op);
  g->executed += n;
}

static void execute_some(emu_world *w, emu_group *g) {
  if (w->options.async == GG_EMU_EARLY ||
      (w->options.async == GG_EMU_RANDOM && ggi_emu_random(w) % 4 == 0))
    execute(w, g, g->issued);
}

/* -- Issue -- */

static void begin_fetch(void *context, uint32_t off) {
  const fetching *f = context;
  ggi_emu_async_read_begin(f->w, f->t->block, f->t, off, GGD_OP(GGD_WGMMA, GGD_PLAIN, 16), f->line,
                           f->first);
}

/* One thread of each warp speaks for it. */
static void check_operand(emu_world *w, emu_group *g, const emu_operand *o, int line) {
  const emu_clock *seen[4];
  for (int i = 0; i < 4; i++) {
    fetching f = {w, g, g->thread + i * EMU_WARP, line, i == 0, 0};
    int again = 0;
    seen[i] = f.t->base;
    for (int j = 0; j < i; j++)
      again |= seen[j] == seen[i];
    if (!again) ggi_emu_operand_each(o, begin_fetch, &f);
  }
}

static void check_op(emu_world *w, emu_group *g, wgmma_op *o) {
  emu_operand a = ggi_emu_product_a(&o->p), b = ggi_emu_product_b(&o->p);
  const char *wrong_a = o->p.a != NULL ? NULL : ggi_emu_operand_wrong(&a, w->shared_bytes);
  const char *wrong_b = ggi_emu_operand_wrong(&b, w->shared_bytes);
  if (wrong_a != NULL || wrong_b != NULL) {
    ggi_emu_report(w, GG_EMU_DESCRIPTOR, o->line, 0, "the descriptor of %s, %016llx, %s",
                   wrong_a != NULL ? "A" : "B", (unsigned long long)(wrong_a ? o->p.da : o->p.db),
                   wrong_a != NULL ? wrong_a : wrong_b);
    return;
  }
  o->ok = 1;
  if (!w->options.check) return;
  if (o->p.a == NULL) check_operand(w, g, &a, o->line);
  check_operand(w, g, &b, o->line);
}

static void check_fences(emu_world *w, const emu_group *g, const wgmma_op *o) {
  for (uint32_t l = 0; l < LANES; l++) {
    const emu_thread *t = g->thread + l;
    if (t->wgmma_fenced && (o->p.a == NULL || t->wgmma_fenced_a)) continue;
    ggi_emu_report(w, GG_EMU_MISSING_FENCE, o->line, 0,
                   "wgmma by %s, with no gg_wgmma_fence since its registers were last its own",
                   ggi_emu_thread_name(w, t->agent).s);
    return;
  }
}

static void check_alike(emu_world *w, const emu_group *g, const wgmma_op *o) {
  for (uint32_t l = 1; l < LANES; l++) {
    const wgmma_arg *x = g->arg[l];
    if (x->da == o->p.da && x->db == o->p.db && (x->scale != 0) == o->p.scale) continue;
    ggi_emu_report(w, GG_EMU_DESCRIPTOR, o->line, 0,
                   "wgmma by %s with other descriptors or scale than thread %u of its warpgroup",
                   ggi_emu_thread_name(w, g->thread->agent + l).s, g->thread->idx.x);
    return;
  }
}

static wgmma_op *append(emu_world *w, emu_group *g) {
  uint32_t waiting = g->issued - g->executed;
  if (waiting == g->room) {
    uint32_t room = g->room == 0 ? 16 : g->room * 2;
    g->op = checked(w, realloc(g->op, room * sizeof *g->op));
    g->room = room;
  }
  g->issued++;
  memset(&g->op[waiting], 0, sizeof *g->op);
  return &g->op[waiting];
}

/* All have come. */
static void issue(emu_world *w, emu_group *g) {
  wgmma_op *o = append(w, g);
  const wgmma_arg *first = g->arg[0];
  o->p.da = first->da;
  o->p.db = first->db;
  o->p.spec = g->spec;
  o->p.scale = first->scale != 0;
  o->line = g->line;
  if (first->a != NULL) {
    o->p.a = checked(w, malloc(sizeof(unsigned[4]) * LANES));
    for (int l = 0; l < LANES; l++)
      memcpy(o->p.a[l], g->arg[l]->a, sizeof o->p.a[l]);
  }
  check_alike(w, g, o);
  if (w->options.check) check_fences(w, g, o);
  check_op(w, g, o);
  record *r = o->to = record_of(w, g, g->spec);
  for (uint32_t l = 0; l < LANES; l++) {
    if (r->home[l]) take(r, ggi_emu_product_acc(g->spec), l);
    r->home[l] = 0;
    g->thread[l].wgmma_issued++;
  }
  r->last = g->issued;
  execute_some(w, g);
}

static void wgmma(void *d, const unsigned *a, uint64_t da, uint64_t db, int scale, unsigned spec,
                  int line) {
  emu_world *w = ggi_emu_world;
  emu_thread *t = w->current;
  wgmma_arg arg = {d, a, da, db, scale};
  ggi_emu_step(w, line);
  if (group_index(w, t) * LANES + LANES > w->block_threads) {
    ggi_emu_report(w, GG_EMU_DIVERGENCE, line, 0, "wgmma by %s, whose warpgroup is not whole",
                   ggi_emu_thread_name(w, t->agent).s);
    ggi_emu_abandon(w);
  }
  ggi_emu_meet(w, "gg_wgmma", line);
  emu_group *g = group_of(w, t);
  if (g->arrived != 0 && (g->line != line || g->spec != spec)) {
    ggi_emu_report(w, GG_EMU_DIVERGENCE, line, g->line,
                   "%s is at another wgmma than threads of its warpgroup, line %d",
                   ggi_emu_thread_name(w, t->agent).s, g->line);
    ggi_emu_abandon(w);
  }
  g->line = line;
  g->spec = spec;
  g->arg[lane_in_group(t)] = &arg;
  if (++g->arrived < LANES) {
    ggi_emu_wait(w, "gg_wgmma", line);
    return;
  }
  g->arrived = 0;
  issue(w, g);
  for (int i = 0; i < 4; i++) {
    emu_warp *p = g->thread->warp + i;
    p->ready = ~0u;
    p->waiting = 0;
  }
}

void gg_emu_wgmma_f32(float *d, const unsigned *a, ggd_u64 da, ggd_u64 db, int scale, unsigned spec,
                      int line) {
  wgmma(d, a, da, db, scale, spec | (unsigned)EMU_ACC_F32 << 28, line);
}
void gg_emu_wgmma_f16(unsigned *d, const unsigned *a, ggd_u64 da, ggd_u64 db, int scale,
                      unsigned spec, int line) {
  wgmma(d, a, da, db, scale, spec | (unsigned)EMU_ACC_F16 << 28, line);
}
void gg_emu_wgmma_s32(int *d, const unsigned *a, ggd_u64 da, ggd_u64 db, int scale, unsigned spec,
                      int line) {
  wgmma(d, a, da, db, scale, spec | (unsigned)EMU_ACC_S32 << 28, line);
}

/* -- Fence, commit, wait: each thread for itself -- */

void gg_emu_wgmma_fence(int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  w->current->wgmma_fenced = w->current->wgmma_fenced_a = 1;
}

void gg_emu_wgmma_commit(int line) {
  emu_world *w = ggi_emu_world;
  emu_thread *t = w->current;
  ggi_emu_step(w, line);
  emu_group *g = group_of(w, t);
  execute_some(w, g);
  uint32_t i = t->wgmma_groups++;
  t->wgmma_fenced_a = 0;
  if (i < g->groups) {
    if (g->group_end[i] != t->wgmma_issued)
      ggi_emu_report(w, GG_EMU_DIVERGENCE, line, 0,
                     "%s commits other products than threads of its warpgroup",
                     ggi_emu_thread_name(w, t->agent).s);
    return;
  }
  if (g->groups == g->group_room) {
    uint32_t room = g->group_room == 0 ? 16 : g->group_room * 2;
    g->group_end = checked(w, realloc(g->group_end, room * sizeof *g->group_end));
    g->group_room = room;
  }
  g->group_end[g->groups++] = t->wgmma_issued;
}

static void take_home(emu_world *w, emu_group *g, uint32_t lane, uint32_t done, int line) {
  for (size_t i = 0; i < g->record_count; i++) {
    record *r = g->records[i];
    if (!r->live || r->home[lane] || r->last > done) continue;
    int acc = r->words == r->n / 4 ? EMU_ACC_F16 : EMU_ACC_F32; /* integers are words as well */
    give_back(w, g, r, acc, lane, line);
    r->home[lane] = 1;
    int left = 0;
    for (int l = 0; l < LANES; l++)
      left += !r->home[l];
    if (left == 0) r->live = 0;
  }
}

void gg_emu_wgmma_wait(int groups, int line) {
  emu_world *w = ggi_emu_world;
  emu_thread *t = w->current;
  ggi_emu_step(w, line);
  emu_group *g = group_of(w, t);
  if (t->wgmma_groups <= (uint32_t)groups) return;
  uint32_t done = g->group_end[t->wgmma_groups - (uint32_t)groups - 1];
  if (done <= t->wgmma_waited) return;
  execute(w, g, done);
  take_home(w, g, lane_in_group(t), done, line);
  t->wgmma_waited = done;
  if (done == t->wgmma_issued) t->wgmma_fenced = 0;
  if (g->done == NULL || g->done_stamp != done) {
    emu_clock *c = ggi_emu_clock_new(w);
    c->c[g->engine] = done;
    ggi_emu_clock_drop(w, g->done);
    g->done = c;
    g->done_stamp = done;
  }
  ggi_emu_clock_acquire(w, t, g->done);
}

/* -- Ends -- */

void ggi_emu_wgmma_exit(emu_world *w, emu_thread *t) {
  if (t->wgmma_waited == t->wgmma_issued) return;
  const emu_group *g = group_of(w, t);
  uint32_t first = t->wgmma_waited > g->executed ? t->wgmma_waited - g->executed : 0;
  ggi_emu_report(w, GG_EMU_UNFINISHED, first < g->issued - g->executed ? g->op[first].line : 0, 0,
                 "%s exits with a wgmma in flight: no gg_wgmma_wait covers it",
                 ggi_emu_thread_name(w, t->agent).s);
}

void ggi_emu_wgmma_end(emu_world *w, emu_block *b) {
  for (int i = 0; i < EMU_GROUPS; i++) {
    emu_group *g = b->group[i];
    if (g == NULL) continue;
    for (uint32_t k = 0; k < g->issued - g->executed; k++)
      free(g->op[k].p.a);
    for (size_t k = 0; k < g->record_count; k++)
      g->records[k]->live = 0;
    ggi_emu_clock_drop(w, g->done);
    g->done = NULL;
    g->engine = g->arrived = g->issued = g->executed = g->groups = 0;
  }
}

void ggi_emu_wgmma_free(emu_block *b) {
  for (int i = 0; i < EMU_GROUPS; i++) {
    emu_group *g = b->group[i];
    if (g == NULL) continue;
    for (size_t k = 0; k < g->record_count; k++) {
      free(g->records[k]->value);
      free(g->records[k]);
    }
    free(g->records);
    free(g->op);
    free(g->group_end);
    free(g->a);
    free(g->b);
    free(g);
  }
}
