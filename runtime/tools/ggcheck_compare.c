/* ggcheck_compare.c - D against the reference, element by element.
 *
 * A value that is not finite must be the reference's: NaN for NaN (0 where D is whole), the same
 * infinity. A finite one must lie within the bound.
 */
#include "ggcheck_compare.h"
#include "dtype.h"

#include <math.h>
#include <string.h>

static bool value_right(gg_dtype type, double got, const ggcheck_reference *r, int64_t at,
                        double *fraction) {
  gg_dtype memory = type == GG_TF32 ? GG_F32 : type;
  double high = r->high[at], low = r->low[at], largest = ggcheck_largest(memory);
  *fraction = 0;
  if (isnan(high)) return ggcheck_is_integer(type) ? got == 0 : isnan(got);
  if (!ggcheck_has_infinity(type) || type == GG_E5M2) { /* conversions saturate */
    double cut = fmax(fmin(high + low, largest), ggcheck_least(memory));
    if (cut != high + low) high = cut, low = 0;
  }
  /* So near to the largest number that the kernel's sum may round to infinity. */
  if (isinf(got) && isfinite(high) && got * high > 0 && fabs(high) + r->bound[at] > largest)
    return true;
  if (isinf(high) || !isfinite(got)) return got == high;
  double error = fabs((got - high) - low), bound = r->bound[at];
  if (error == 0) return true;
  *fraction = bound > 0 ? error / bound : INFINITY;
  return error <= bound;
}

static void note(ggcheck_difference *diff, int64_t matrix, int64_t row, int64_t col) {
  if (diff->wrong + diff->unwritten == 0) {
    diff->matrix = matrix;
    diff->row = diff->top = diff->bottom = row;
    diff->col = diff->left = diff->right = col;
  }
  diff->top = row < diff->top ? row : diff->top;
  diff->bottom = row > diff->bottom ? row : diff->bottom;
  diff->left = col < diff->left ? col : diff->left;
  diff->right = col > diff->right ? col : diff->right;
}

void ggcheck_compare(const ggcheck_operand *d, int64_t matrix, const ggcheck_reference *r,
                     ggcheck_difference *diff) {
  for (int64_t i = 0; i < r->m; i++)
    for (int64_t j = 0; j < r->n; j++) {
      const void *at = ggcheck_operand_at(d, matrix, i, j);
      double got = ggcheck_load(d->type, at), fraction;
      char name = 0;
      diff->elements++;
      if (value_right(d->type, got, r, i * r->n + j, &fraction)) {
        diff->worst = fmax(diff->worst, fraction);
        continue;
      }
      bool first = diff->wrong + diff->unwritten == 0;
      note(diff, matrix, i, j);
      if (ggcheck_canary_of(d->type, at, &name) == GGCHECK_CANARY_GAP && name == 'd')
        diff->unwritten++;
      else
        diff->wrong++;
      diff->worst = fmax(diff->worst, fraction);
      if (first) {
        memcpy(diff->bits, at, (size_t)ggi_dtype_bytes(d->type));
        diff->got = got;
        diff->expected = r->high[i * r->n + j];
        diff->bound = r->bound[i * r->n + j];
      }
    }
}

/* The kind of fault, by what the bits of the first wrong element say of its origin; in words too.
 */
static const char *origin(const ggcheck_difference *diff, gg_dtype type, char *text, size_t size) {
  char name = 0;
  const char *kind = GGCHECK_WRONG_VALUE;
  text[0] = 0;
  switch (ggcheck_canary_of(type, diff->bits, &name)) {
  case GGCHECK_CANARY_GAP:
    snprintf(text, size, ", a value from between the rows of %s", ggcheck_operand_name(name));
    kind = GGCHECK_GAP_READ;
    break;
  case GGCHECK_CANARY_POISON:
    snprintf(text, size, ", a value of %s, which %s = 0 forbids to use", ggcheck_operand_name(name),
             name == 'c' ? "beta" : "alpha");
    kind = GGCHECK_FORBIDDEN;
    break;
  case GGCHECK_CANARY_MEMORY:
    snprintf(text, size, ", bytes that nothing wrote");
    break;
  case GGCHECK_CANARY_NONE:
    break;
  }
  return kind;
}

int ggcheck_compare_absmax(double got, double before, const ggcheck_reference *r, int problem,
                           const char *problem_text, ggcheck_report *report) {
  double least = fmax(before, r->absmax_least), most = fmax(before, r->absmax_most);
  char text[160];
  if (r->absmax_nan || (got >= least && got <= most)) return 0;
  snprintf(text, sizeof text, "absmax is %.9g, expected %.9g to %.9g; it was %g before", got, least,
           most, before);
  ggcheck_report_add(report, GGCHECK_WRONG_VALUE, 0, 0, 1, problem, problem_text, text);
  return 1;
}

int ggcheck_compare_report(const ggcheck_difference *diff, gg_dtype type, int problem,
                           const char *problem_text, ggcheck_report *report) {
  char text[400], from[80], place[80], matrix[40] = "";
  int line = ggcheck_report_store_line(report), found = 0;
  if (diff->worst > report->worst) report->worst = diff->worst;
  if (!diff->wrong && !diff->unwritten) return 0;
  if (diff->matrix) snprintf(matrix, sizeof matrix, " of matrix %lld", (long long)diff->matrix);
  snprintf(place, sizeof place, "rows %lld..%lld, columns %lld..%lld", (long long)diff->top,
           (long long)diff->bottom, (long long)diff->left, (long long)diff->right);
  if (diff->unwritten) {
    snprintf(text, sizeof text, "%lld of %lld elements of D were not written, within %s",
             (long long)diff->unwritten, (long long)diff->elements, place);
    ggcheck_report_add(report, GGCHECK_NOT_WRITTEN, line, 0, (uint64_t)diff->unwritten, problem,
                       problem_text, text);
    found++;
  }
  if (diff->wrong) {
    const char *kind = origin(diff, type, from, sizeof from);
    snprintf(text, sizeof text,
             "%lld of %lld elements of D are wrong, within %s; D[%lld][%lld]%s is %.9g%s, expected "
             "%.9g, bound %.3g",
             (long long)diff->wrong, (long long)diff->elements, place, (long long)diff->row,
             (long long)diff->col, matrix, diff->got, from, diff->expected, diff->bound);
    ggcheck_report_add(report, kind, line, 0, (uint64_t)diff->wrong, problem, problem_text, text);
    found++;
  }
  return found;
}
