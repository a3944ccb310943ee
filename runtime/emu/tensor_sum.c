/* tensor_sum.c - the sums of tensor cores.
 *
 * One instruction step adds K exact products and the accumulator at once: all are aligned to the
 * largest exponent among them, each is cut towards zero below `fraction` bits, the sum is exact and
 * is cut towards zero to the accumulator's format. A product's exponent is the sum of its factors',
 * not normalised; a subnormal factor has the least exponent of its format; zeros take no part.
 * A NaN, inf * 0 and inf - inf give 0x7fffffff. Equal to an H200 to the bit (tests/device).
 *
 * Two ways to the same bits: any_sum, one element of any values; and sums of 8 columns at once, of
 * values whose terms are exact in f32 and in 32-bit integers once aligned. There an exponent e is
 * the float 2^e, so that exponents add and compare as floats do; 0 for none.
 */
#include "emu_tensor.h"
#include <math.h>

/* -- One element, any values -- */

/* A zero times an infinity is special too. */
enum { NOTHING = -2000, SPECIAL = 5000, SURELY_SPECIAL = 1000, SURELY_NOTHING = -900 };

static double power_of_two(int e) {
  uint64_t x = (uint64_t)(e + 1023) << 52;
  double d;
  memcpy(&d, &x, sizeof d);
  return d;
}

static int exponent_of(float f, int least) {
  uint32_t x = ggi_emu_bits(f) & 0x7fffffff;
  int e = (int)(x >> 23);
  if (x == 0) return NOTHING;
  if (e == 255) return SPECIAL;
  return e - 127 < least ? least : e - 127;
}

/* An infinity or a NaN takes part. */
static float special_sum(float c, const float *a, const float *b, int ldb, int k) {
  int none = 0, up = isinf(c) && c > 0, down = isinf(c) && c < 0;
  if (isnan(c)) return gg_emu_nan(c);
  for (int i = 0; i < k; i++) {
    float x = a[i], y = b[i * ldb];
    if (isnan(x) || isnan(y)) return gg_emu_nan(isnan(x) ? x : y);
    if (!isinf(x) && !isinf(y)) continue;
    none |= x == 0 || y == 0;
    up |= signbit(x) == signbit(y);
    down |= signbit(x) != signbit(y);
  }
  return ggi_emu_float(none || (up && down) ? 0x7fffffffu : up ? 0x7f800000u : 0xff800000u);
}

static float zero_sum(float c, const float *a, const float *b, int ldb, int k) {
  int negative = signbit(c) != 0;
  for (int i = 0; i < k && negative; i++)
    negative = signbit(a[i]) != signbit(b[i * ldb]);
  return negative ? -0.0f : 0.0f;
}

/* v, cut towards zero to f32 with `kept` bits of fraction. */
static float cut(double v, int kept) {
  if (fabs(v) >= 0x1p128) return v < 0 ? -INFINITY : INFINITY;
  float f = (float)v;
  if (fabs((double)f) > fabs(v)) f = ggi_emu_float(ggi_emu_bits(f) - 1);
  return kept < 23 ? ggi_emu_float(ggi_emu_bits(f) & ~((1u << (23 - kept)) - 1)) : f;
}

/* The accumulator is f16: to nearest even. */
static float rounded_f16(double x) {
  double step = fabs(x) < 0x1p-14 ? 0x1p-24 : 0;
  if (step == 0) {
    int e;
    (void)frexp(x, &e);
    step = power_of_two(e - 11);
  }
  return ggi_emu_from_f16(ggi_emu_to_f16((float)(rint(x / step) * step)));
}

static float any_sum(const emu_sum *s, float c, const float *a, const float *b, int ldb, int k) {
  int largest = exponent_of(c, -126);
  for (int i = 0; i < k; i++) {
    int e = exponent_of(a[i], s->least_a) + exponent_of(b[i * ldb], s->least_b);
    if (e > largest) largest = e;
  }
  if (largest >= SURELY_SPECIAL) return special_sum(c, a, b, ldb, k);
  if (largest <= SURELY_NOTHING) return zero_sum(c, a, b, ldb, k);
  double scale = power_of_two(s->fraction - largest), sum = trunc((double)c * scale);
  for (int i = 0; i < k; i++)
    sum += trunc((double)a[i] * (double)b[i * ldb] * scale);
  sum *= power_of_two(largest - s->fraction);
  return s->kept == 10 ? rounded_f16(sum) : cut(sum, s->kept);
}

/* -- 8 columns at a time -- */

enum { WIDE = 8, ROWS_MOST = 64 };
typedef float floats __attribute__((vector_size(4 * WIDE)));
typedef int32_t ints __attribute__((vector_size(4 * WIDE)));
typedef uint32_t unsigneds __attribute__((vector_size(4 * WIDE)));
/* A half of them. */
typedef float floats4 __attribute__((vector_size(16)));
typedef int32_t ints4 __attribute__((vector_size(16)));
typedef double doubles4 __attribute__((vector_size(32)));
typedef int64_t longs4 __attribute__((vector_size(32)));

/* Vectors go by pointer: by value their passing depends on the machine's registers. */
#define INLINE static inline __attribute__((always_inline))

INLINE void larger(floats *x, const floats *y) {
  ints more = *x > *y;
  *x = (floats)((more & (ints)*x) | (~more & (ints)*y));
}

INLINE void load(floats *x, const float *from) {
  memcpy(x, from, sizeof *x);
}

/* 2^exponent of each; 0 of zeros. */
INLINE void exponents(floats *e, const floats *x, float least) {
  ints bits = (ints)*x & 0x7fffffff, is_some = bits != 0;
  floats lowest = (floats){0} + least;
  *e = (floats)(bits & 0x7f800000);
  larger(e, &lowest);
  *e = (floats)((ints)*e & is_some);
}

INLINE int all(const ints *x) {
  longs4 h = (longs4)*x;
  return (h[0] & h[1] & h[2] & h[3]) == -1;
}

INLINE int any(const ints *x) {
  longs4 h = (longs4)*x;
  return (h[0] | h[1] | h[2] | h[3]) != 0;
}

/* K rows of 8 columns of B. */
typedef struct columns {
  floats value[EMU_K_MOST], exponent[EMU_K_MOST];
  int special, some; /* an infinity or NaN among them, anything but zeros */
} columns;

INLINE void take_columns(columns *to, const float *b, int ldb, int k, float least) {
  ints special = {0}, some = {0};
  for (int j = 0; j < k; j++) {
    load(&to->value[j], b + j * ldb);
    ints bits = (ints)to->value[j] & 0x7fffffff;
    special |= bits >= 0x7f800000;
    some |= bits;
    exponents(&to->exponent[j], &to->value[j], least);
  }
  to->special = any(&special);
  to->some = any(&some);
}

/* The largest exponent of each column's terms: 0 where there are only zeros. Two halves, so that
 * one does not wait for the other. */
INLINE void find_largest(floats *largest, const floats *c, const float *a_exponent,
                         const columns *b, int k) {
  floats other = {0};
  exponents(largest, c, 0x1p-126f);
  for (int j = 0, h = k / 2; j < h; j++) {
    floats first = b->exponent[j] * a_exponent[j], second = b->exponent[j + h] * a_exponent[j + h];
    larger(largest, &first);
    larger(&other, &second);
  }
  larger(largest, &other);
}

/* 17 terms below 2^27 fit 32 bits; more are added in two halves. */
INLINE void add_terms(ints sum[2], const floats *c, const float *a, const columns *b, int k,
                      const floats *scale) {
  const floats by = *scale;
  ints first = __builtin_convertvector(*c * by, ints), second = {0};
  for (int j = 0, h = k / 2; j < h; j++) {
    first += __builtin_convertvector(b->value[j] * a[j] * by, ints);
    second += __builtin_convertvector(b->value[j + h] * a[j + h] * by, ints);
  }
  sum[0] = first;
  sum[1] = second;
}

/* Back from integers, cut. unit: the value of 1. */
INLINE void put_sums(const emu_sum *s, float *c, const ints sum[2], const floats *unit) {
  const int64_t digits = -(INT64_C(1) << (52 - s->kept));
  for (int h = 0; h < WIDE; h += 4) {
    ints4 first, second;
    floats4 one;
    memcpy(&first, (const int32_t *)&sum[0] + h, sizeof first);
    memcpy(&second, (const int32_t *)&sum[1] + h, sizeof second);
    memcpy(&one, (const float *)unit + h, sizeof one);
    doubles4 total = __builtin_convertvector(first, doubles4);
    total += __builtin_convertvector(second, doubles4);
    total *= __builtin_convertvector(one, doubles4);
    if (s->kept == 10) {
      for (int l = 0; l < 4; l++)
        c[h + l] = rounded_f16(total[l]);
      continue;
    }
    total = (doubles4)((longs4)total & digits);
    one = __builtin_convertvector(total, floats4);
    memcpy(c + h, &one, sizeof one);
  }
}

/* One row times 8 columns. 0: not for these values. */
INLINE int row_sums(const emu_sum *s, float *c, const float *a, const float *a_exponent,
                    const columns *b, int k) {
  floats old, largest, one = (floats){0} + 1.0f;
  load(&old, c);
  find_largest(&largest, &old, a_exponent, b, k);
  /* Only zeros, and +0 comes of them: aligned to anything. */
  ints nothing = ((ints)largest == 0) & ((ints)old == 0);
  ints fits = ((largest >= 0x1p-95f) & (largest <= 0x1p100f)) | nothing;
  if (!all(&fits)) return 0;
  largest = (floats)((ints)largest | (nothing & (ints)one));
  ints sum[2];
  floats scale = (floats)(((uint32_t)(s->fraction + 254) << 23) - (unsigneds)largest);
  add_terms(sum, &old, a, b, k, &scale);
  largest *= (float)power_of_two(-s->fraction);
  put_sums(s, c, sum, &largest);
  return 1;
}

/* What is known of the rows of A. */
typedef struct rows {
  float exponent[ROWS_MOST][EMU_K_MOST];
  uint8_t special[ROWS_MOST], some[ROWS_MOST];
} rows;

INLINE void take_rows(rows *to, const emu_sum *s, const float *a, int lda, int m, int k) {
  const float least = (float)power_of_two(s->least_a);
  for (int i = 0; i < m; i++) {
    uint32_t some = 0, most = 0;
    for (int j = 0; j < k; j++) {
      uint32_t bits = ggi_emu_bits(a[i * lda + j]) & 0x7fffffff;
      float e = ggi_emu_float(bits & 0x7f800000);
      to->exponent[i][j] = bits == 0 ? 0 : e > least ? e : least;
      some |= bits;
      most = most > bits ? most : bits;
    }
    to->some[i] = some != 0;
    to->special[i] = most >= 0x7f800000;
  }
}

/* Adding nothing to what is cut already leaves it, but for -0 and NaN. */
INLINE int stays(const emu_sum *s, const float *c) {
  ints old, changes;
  memcpy(&old, c, sizeof old);
  changes = (old == INT32_MIN) | ((old & 0x7fffffff) > 0x7f800000);
  return s->kept != 13 && !any(&changes);
}

INLINE void sums(const emu_sum *s, float *c, int ldc, const float *a, int lda, const float *b,
                 int ldb, int m, int n, int k) {
  const float least_b = (float)power_of_two(s->least_b);
  rows of_a;
  columns of_b;
  take_rows(&of_a, s, a, lda, m, k);
  for (int n0 = 0; n0 < n; n0 += WIDE) {
    take_columns(&of_b, b + n0, ldb, k, least_b);
    for (int i = 0; i < m; i++) {
      float *to = c + (size_t)i * (size_t)ldc + n0;
      const float *from = a + (size_t)i * (size_t)lda;
      const int special = of_b.special | of_a.special[i];
      if (!special && !(of_b.some & of_a.some[i]) && stays(s, to)) continue;
      if (!special && row_sums(s, to, from, of_a.exponent[i], &of_b, k)) continue;
      for (int l = 0; l < WIDE; l++)
        to[l] = any_sum(s, to[l], from, b + n0 + l, ldb, k);
    }
  }
}

/* Whole numbers of 8 bits: their products and sums are exact in f32. */
INLINE void integer_sums(float *c, int ldc, const float *a, int lda, const float *b, int ldb, int m,
                         int n, int k) {
  for (int n0 = 0; n0 < n; n0 += WIDE)
    for (int i = 0; i < m; i++) {
      float *to = c + (size_t)i * (size_t)ldc + n0;
      floats sum = {0}, column;
      unsigneds old; /* which wrap */
      for (int j = 0; j < k; j++) {
        load(&column, b + (size_t)j * (size_t)ldb + n0);
        sum += column * a[(size_t)i * (size_t)lda + (size_t)j];
      }
      memcpy(&old, to, sizeof old);
      old += (unsigneds) __builtin_convertvector(sum, ints);
      memcpy(to, &old, sizeof old);
    }
}

/* The same, for this machine's vectors. */
#if defined(__x86_64__)
#define FOR_AVX2 __attribute__((target("avx2")))

FOR_AVX2 static void sums_avx2(const emu_sum *s, float *c, int ldc, const float *a, int lda,
                               const float *b, int ldb, int m, int n, int k) {
  sums(s, c, ldc, a, lda, b, ldb, m, n, k);
}
FOR_AVX2 static void integer_sums_avx2(float *c, int ldc, const float *a, int lda, const float *b,
                                       int ldb, int m, int n, int k) {
  integer_sums(c, ldc, a, lda, b, ldb, m, n, k);
}
#define CHOOSE(NAME, ...)                                                                          \
  if (__builtin_cpu_supports("avx2"))                                                              \
    NAME##_avx2(__VA_ARGS__);                                                                      \
  else                                                                                             \
    NAME(__VA_ARGS__)
#else
#define CHOOSE(NAME, ...) NAME(__VA_ARGS__)
#endif

void ggi_emu_sum(const emu_sum *s, float *c, int ldc, const float *a, int lda, const float *b,
                 int ldb, int m, int n, int k) {
  CHOOSE(sums, s, c, ldc, a, lda, b, ldb, m, n, k);
}

void ggi_emu_sum_integers(float *c, int ldc, const float *a, int lda, const float *b, int ldb,
                          int m, int n, int k) {
  CHOOSE(integer_sums, c, ldc, a, lda, b, ldb, m, n, k);
}
