/* test_sum.c - sums of tensor cores against their definition (tensor_sum.c), term by term in long
 * double, on numbers of every kind: whichever way the emulator goes, the bits are the same.
 */
#include "rig.h"
#include "emu_tensor.h"
#include <math.h>

enum { M = 16, N = 16, K = 32 };

static uint64_t seed;

static uint32_t random_word(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33);
}

/* What a format can hold: sign, up to `bits` of fraction, exponents from `low` up. */
typedef struct numbers {
  int low, high, bits;
} numbers;

/* kind: of ten draws, how many are zeros, -0, subnormals, infinities and NaN. */
static float draw(const numbers *n, int odd) {
  uint32_t r = random_word() % 100, sign = random_word() << 31;
  if ((int)r < odd) {
    const float special[] = {
        0.0f,     0.0f, 0.0f, ldexpf(1, n->low - n->bits), ldexpf(3, n->low - n->bits),
        INFINITY, NAN,  0.0f};
    float f = special[random_word() % (odd > 50 ? 8 : 5)];
    return ggi_emu_float(ggi_emu_bits(f) | sign);
  }
  float fraction = 1.0f + (float)(random_word() % (1u << n->bits)) / (float)(1u << n->bits);
  int span = n->high - n->low + 1;
  float f = ldexpf(fraction, n->low + (int)(random_word() % (uint32_t)span));
  return ggi_emu_float(ggi_emu_bits(f) | sign);
}

/* The exponent that a factor counts for. */
static int exponent_of(float f, int least) {
  int e = ilogbf(f);
  return e < least ? least : e;
}

static float by_definition(const emu_sum *s, float c, const float *a, const float *b, int k) {
  int largest = INT32_MIN, nan = isnan(c), up = c == INFINITY, down = c == -INFINITY,
      minus = signbit(c) != 0;
  if (c != 0 && !nan && !isinf(c)) largest = exponent_of(c, -126);
  for (int i = 0; i < k; i++) {
    float x = a[i], y = b[i * N];
    int negative = signbit(x) != signbit(y);
    minus &= negative;
    if (isnan(x) || isnan(y) || (isinf(x) && y == 0) || (isinf(y) && x == 0)) {
      nan = 1;
    } else if (isinf(x) || isinf(y)) {
      up |= !negative;
      down |= negative;
    } else if (x != 0 && y != 0) {
      int e = exponent_of(x, s->least_a) + exponent_of(y, s->least_b);
      largest = e > largest ? e : largest;
    }
  }
  if (nan || (up && down)) return ggi_emu_float(0x7fffffff);
  if (up || down) return up ? INFINITY : -INFINITY;
  if (largest == INT32_MIN) return minus ? -0.0f : 0.0f;
  const int shift = s->fraction - largest;
  long double sum = truncl(ldexpl(c, shift));
  for (int i = 0; i < k; i++)
    sum += truncl(ldexpl((long double)a[i] * b[i * N], shift));
  sum = ldexpl(sum, -shift);
  if (sum == 0) return 0.0f;
  if (s->kept == 10) { /* to nearest even */
    int step = (ilogbl(sum) < -14 ? -14 : ilogbl(sum)) - 10;
    return ggi_emu_from_f16(ggi_emu_to_f16((float)ldexpl(rintl(ldexpl(sum, -step)), step)));
  }
  int e = ilogbl(sum) < -126 ? -126 : ilogbl(sum);
  sum = ldexpl(truncl(ldexpl(sum, s->kept - e)), e - s->kept);
  return fabsl(sum) >= 0x1p128L ? (sum < 0 ? -INFINITY : INFINITY) : (float)sum;
}

typedef struct sum_case {
  const char *name;
  emu_sum sum;
  int k;
  numbers operands, accumulators;
} sum_case;

static const sum_case cases[] = {
    {"bf16", {-126, -126, 25, 23}, 16, {-20, 20, 7}, {-30, 30, 23}},
    {"bf16, all exponents", {-126, -126, 25, 23}, 16, {-126, 127, 7}, {-126, 127, 23}},
    {"bf16, small", {-126, -126, 25, 23}, 16, {-70, -40, 7}, {-126, -90, 23}},
    {"bf16, large", {-126, -126, 25, 23}, 16, {40, 64, 7}, {90, 127, 23}},
    {"f16", {-14, -14, 25, 23}, 16, {-14, 15, 10}, {-20, 20, 23}},
    {"f16 in f16", {-14, -14, 25, 10}, 16, {-14, 4, 10}, {-14, 15, 10}},
    {"tf32", {-126, -126, 25, 23}, 8, {-30, 30, 10}, {-30, 30, 23}},
    {"tf32 of wmma", {-126, -126, 25, 23}, 4, {-30, 30, 10}, {-30, 30, 23}},
    {"e4m3", {-6, -6, 13, 13}, 32, {-6, 8, 3}, {-14, 20, 23}},
    {"e5m2 and e4m3", {-14, -6, 13, 13}, 32, {-6, 8, 2}, {-20, 20, 23}},
};

static void sums(void **state) {
  (void)state;
  float a[M][K], b[K][N], c[M][N], d[M][N];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (int round = 0; round < 400; round++) {
      const sum_case *x = &cases[i];
      /* Rows and columns of zeros come with many odd numbers. */
      int odd_a = (int)(random_word() % 4) * 33, odd_b = (int)(random_word() % 4) * 33;
      int odd_c = (int)(random_word() % 4) * 33, empty = (int)(random_word() % 3);
      for (int e = 0; e < M * K; e++)
        a[e / K][e % K] = empty == 1 && e / K % 3 == 0 ? 0.0f : draw(&x->operands, odd_a);
      for (int e = 0; e < K * N; e++)
        b[e / N][e % N] = empty == 2 && e % N >= 8 ? -0.0f : draw(&x->operands, odd_b);
      for (int e = 0; e < M * N; e++)
        c[e / N][e % N] = d[e / N][e % N] = draw(&x->accumulators, odd_c);
      ggi_emu_sum(&x->sum, d[0], N, a[0], K, b[0], N, M, N, x->k);
      for (int e = 0; e < M * N; e++) {
        float expected = by_definition(&x->sum, c[e / N][e % N], a[e / N], &b[0][e % N], x->k);
        float got = d[e / N][e % N];
        if (ggi_emu_bits(got) != ggi_emu_bits(expected))
          fail_msg("%s, round %d, (%d, %d) with c %a: %a, not %a", x->name, round, e / N, e % N,
                   (double)c[e / N][e % N], (double)got, (double)expected);
      }
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sums)};
  return cmocka_run_group_tests_name("emu_sum", tests, NULL, NULL);
}
