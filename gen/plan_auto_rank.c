/* plan_auto_rank.c - what the library ranks the rows of plan_auto by: dispatch.speed and
 * dispatch.overhead_k.
 *
 * Its formula (runtime/gg_kernel.h, at `speed`) has two numbers a row where the model has a chain
 * of limits, so no two numbers make it say the model's times everywhere. They begin as those that
 * come nearest, and are then moved where the formula would choose other rows than the model.
 *
 * The library adds the time of device memory itself, by the card it runs on: so the numbers have to
 * do both with the memory that the plan's card has and where memory takes no time.
 */
#include "plan_auto_parts.h"

#include <math.h>

enum { MEMORIES = 2, MOST = AUTO_MOST_ROWS };
static const double NEAR = 2;     /* power of best / time by which a problem weighs in a fit */
static const double DOUBT = 0.05; /* relative difference of times between which either may come */
static const double BIND = 0.05;  /* what a squared relative error weighs beside a loss */

/* One row on one problem: its time by the formula is x * work_k + y * work_tile beside memory,
 * x = 1000 / speed, y = x * overhead_k; microseconds. */
typedef struct term {
  double work_k, work_tile, memory;
  double us, own_us; /* by the model */
  double weight;
} term;

typedef struct ranking {
  int rows;
  term terms[MOST][AUTO_PROBLEMS];
  double x[MOST], y[MOST];
  double time[MEMORIES][MOST][AUTO_PROBLEMS]; /* by the formula, as x and y are */
} ranking;

static term term_of(const kernel_plan *p, const gpu_facts *g, const model_problem *q) {
  double parts = p->cluster_k > 1 ? p->cluster_k : 1;
  double tiles = ceil(q->m / p->tile_m) * ceil(q->n / p->tile_n) * q->batch;
  double waves = ceil(tiles * parts / g->sms), area = (double)p->tile_m * p->tile_n;
  double outputs = q->m * q->n * q->batch, share = outputs * parts / (g->sms * waves * area);
  double loss = p->wave_loss / 100.0;
  double unit = 2e-3 * outputs / (g->sms * (double)p->sm_gflops) * (1 - loss + loss / share);
  double blocks = p->blocks_sm > 1 ? p->blocks_sm : 1;
  double last = waves - (ceil(waves / blocks) - 1) * blocks; /* on an SM in the last round */
  double reached = p->alone / 100.0 * last, slower = reached < 1 ? 1 / reached : 1;
  double bytes = q->batch * ((q->m + q->n) * q->k * p->element + q->m * q->n * p->element_d);
  return (term){
      .work_k = unit * q->k * (waves - last + last * slower) / waves,
      .work_tile = unit * parts * (1 + p->further / 100.0 * (waves - 1)) / waves,
      .memory = p->copy_gbs > 0 ? 1e-3 * bytes / p->copy_gbs : 0,
  };
}

static double own_time(const term *t, double x, double y) {
  return x * t->work_k + y * t->work_tile;
}

/* With the plan's memory (0) or without (1). */
static double formula(const term *t, int memory, double x, double y) {
  double own = own_time(t, x, y);
  if (memory == 1) return own;
  double o = own * own, m = t->memory * t->memory;
  return sqrt(sqrt(o * o + m * m));
}

static double model_us(const term *t, int memory) {
  return memory == 0 ? t->us : t->own_us;
}

/* Least squares of relative errors. */
static bool nearest(ranking *r, int row) {
  double aa = 0, ab = 0, bb = 0, at = 0, bt = 0;
  for (int i = 0; i < AUTO_PROBLEMS; ++i) {
    const term *t = &r->terms[row][i];
    if (isinf(t->us)) continue;
    double a = t->work_k / t->own_us, b = t->work_tile / t->own_us;
    aa += t->weight * a * a, ab += t->weight * a * b, bb += t->weight * b * b;
    at += t->weight * a, bt += t->weight * b;
  }
  double determinant = aa * bb - ab * ab;
  double x = aa > 0 ? at / aa : 0, y = 0;
  if (determinant > 1e-9 * aa * bb) {
    x = (at * bb - bt * ab) / determinant;
    y = (bt * aa - at * ab) / determinant;
    if (y < 0) x = at / aa, y = 0;
  }
  r->x[row] = x, r->y[row] = y;
  return x > 0;
}

static void retime(ranking *r, int row) {
  for (int memory = 0; memory < MEMORIES; ++memory)
    for (int i = 0; i < AUTO_PROBLEMS; ++i)
      r->time[memory][row][i] = formula(&r->terms[row][i], memory, r->x[row], r->y[row]);
}

/* What a problem is expected to take beyond its best row, where rows of nearly the least time by
 * the formula may each be taken. */
static double problem_loss(const ranking *r, int memory, int i) {
  double least = INFINITY, best = INFINITY, sum = 0, all = 0;
  for (int row = 0; row < r->rows; ++row) {
    if (isinf(r->terms[row][i].us)) continue;
    least = fmin(least, r->time[memory][row][i]);
    best = fmin(best, model_us(&r->terms[row][i], memory));
  }
  if (isinf(best)) return 0;
  for (int row = 0; row < r->rows; ++row) {
    const term *t = &r->terms[row][i];
    if (isinf(t->us)) continue;
    double chance = exp((1 - r->time[memory][row][i] / least) / DOUBT);
    all += chance;
    sum += chance * log(model_us(t, memory) / best);
  }
  return sum / all;
}

static double total(const ranking *r) {
  double sum = 0;
  for (int memory = 0; memory < MEMORIES; ++memory)
    for (int i = 0; i < AUTO_PROBLEMS; ++i)
      sum += problem_loss(r, memory, i);
  for (int row = 0; row < r->rows; ++row) {
    double errors = 0, weights = 0;
    for (int i = 0; i < AUTO_PROBLEMS; ++i) {
      const term *t = &r->terms[row][i];
      if (isinf(t->us)) continue;
      double error = own_time(t, r->x[row], r->y[row]) / t->own_us - 1;
      errors += t->weight * error * error, weights += t->weight;
    }
    sum += BIND * AUTO_PROBLEMS * errors / weights;
  }
  return sum;
}

/* Moves speed and overhead of one row at a time while that helps. */
static void agree(ranking *r) {
  static const double moves[] = {0.8, 0.9, 0.95, 0.98, 1.02, 1.05, 1.1, 1.25};
  enum { MOVES = sizeof moves / sizeof *moves, TURNS = 12 };
  double now = total(r);
  bool moved = true;
  for (int turn = 0; turn < TURNS && moved; ++turn) {
    moved = false;
    for (int row = 0; row < r->rows; ++row)
      for (int move = 0; move < 2 * MOVES; ++move) {
        double x = r->x[row], y = r->y[row];
        if (move < MOVES)
          r->x[row] *= moves[move], r->y[row] *= moves[move];
        else
          r->y[row] *= moves[move - MOVES];
        retime(r, row);
        double then = total(r);
        if (then < now) {
          now = then, moved = true;
          continue;
        }
        r->x[row] = x, r->y[row] = y;
        retime(r, row);
      }
  }
}

static bool add_terms(ranking *r, const kernel_spec *spec, const auto_candidate *c,
                      const double best[AUTO_PROBLEMS]) {
  kernel_plan p;
  plan_fault fault;
  if (plan_make(spec, VARIANT_FULL, &p, &fault) != PLAN_OK) return false;
  bool known = p.sm_gflops > 0;
  for (int i = 0; i < AUTO_PROBLEMS && known; ++i) {
    term *t = &r->terms[r->rows][i];
    *t = term_of(&p, &spec->gpu, &auto_suite[i]);
    t->us = c->us[i], t->own_us = c->own_us[i];
    t->weight = isinf(t->us) ? 0 : pow(best[i] / t->us, NEAR);
  }
  plan_free(&p);
  if (!known || !nearest(r, r->rows)) return false;
  retime(r, r->rows++);
  return true;
}

/* Mean of log(time of the row that the formula takes / least time), with the plan's memory. */
static double choice_loss(const ranking *r) {
  double sum = 0;
  for (int i = 0; i < AUTO_PROBLEMS; ++i) {
    int first = -1;
    double best = INFINITY;
    for (int row = 0; row < r->rows; ++row) {
      double us = r->terms[row][i].us;
      if (isinf(us)) continue;
      best = fmin(best, us);
      if (first < 0 || r->time[0][row][i] < r->time[0][first][i]) first = row;
    }
    if (first >= 0) sum += log(r->terms[first][i].us / best);
  }
  return sum / AUTO_PROBLEMS;
}

double auto_rank(kernel_spec *specs, const auto_candidate *const *rows, int count,
                 const double best[AUTO_PROBLEMS]) {
  ranking r;
  r.rows = 0;
  for (int row = 0; row < count; ++row)
    if (!add_terms(&r, &specs[row], rows[row], best)) return -1;
  agree(&r);
  for (int row = 0; row < count; ++row) {
    double speed = 1000 / r.x[row], overhead = r.y[row] / r.x[row];
    specs[row].value[SPEC_SPEED] = speed < 1 ? 1 : speed > 10000 ? 10000 : (int)(speed + 0.5);
    specs[row].value[SPEC_OVERHEAD_K] = overhead > 65536 ? 65536 : (int)(overhead + 0.5);
  }
  return choice_loss(&r);
}
