/* test_activation.c - an emitted activation against libm in a wider type.
 *
 * KERNEL is an emitted file, FUNCTION the activation that stands in it. The bound that the file
 * states, 3 u |x| and the smallest subnormal, must hold for every float (a share of them, evenly
 * spread over the bits; all of them with GEMMGEN_EXHAUSTIVE set) or for as many doubles.
 */
#include KERNEL

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define NAME_OF(x)  #x
#define NAME_OF_(x) NAME_OF(x)

#ifdef TYPE_f32
typedef float real;
typedef uint32_t bits;
typedef double wide;
#define ERFC     erfc
#define EXP      exp
#define ROUNDOFF 0x1p-24
#define TINY     0x1p-149
enum { STRIDE = 61 };
#else
typedef double real;
typedef uint64_t bits;
typedef long double wide;
#define ERFC     erfcl
#define EXP      expl
#define ROUNDOFF 0x1p-53L
#define TINY     0x1p-1074L
#endif

/* By the definitions in gg_kernel.h, written so that nothing cancels. */
static wide gelu_wide(wide x) {
  const wide root = (wide)0.707106781186547524400844362104849039L;
  return x / 2 * ERFC(-x * root);
}

static wide silu_wide(wide x) {
  return x < 0 ? x * EXP(x) / (1 + EXP(x)) : x / (1 + EXP(-x));
}

static wide gelu_tanh_wide(wide x) {
  const wide root = (wide)0.797884560802865355879892119868763737L; /* sqrt(2 / pi) */
  wide y = 2 * root * (x + (wide)0.044715L * x * x * x);
  return y < 0 ? x * EXP(y) / (1 + EXP(y)) : x / (1 + EXP(-y));
}

static const struct {
  const char *name;
  wide (*of)(wide);
} definitions[] = {{"gelu", gelu_wide}, {"silu", silu_wide}, {"gelu_tanh", gelu_tanh_wide}};

/* That of FUNCTION. */
static wide (*definition)(wide);

static real of_bits(bits b) {
  real x;
  memcpy(&x, &b, sizeof x);
  return x;
}

/* Worst error so far, in units of roundoff * |x|. */
static wide worst;
static real worst_at;

static void one(real x) {
  if (!isfinite(x) || x == 0) return;
  wide expected = definition((wide)x);
  wide size = x < 0 ? -(wide)x : (wide)x;
  wide error = (wide)FUNCTION(x) - expected;
  if (error < 0) error = -error;
  wide share = (error - (wide)TINY) / (size * (wide)ROUNDOFF);
  if (!(share <= worst)) worst = share, worst_at = x;
}

static void within_bound(void **s) {
  (void)s;
#ifdef TYPE_f32
  uint64_t step = getenv("GEMMGEN_EXHAUSTIVE") ? 1 : STRIDE;
  for (uint64_t b = 0; b < (uint64_t)1 << 32; b += step)
    one(of_bits((bits)b));
#else
  /* 2^21 doubles around each place where something changes, then evenly over the range. */
  long count = getenv("GEMMGEN_EXHAUSTIVE") ? 1L << 24 : 1L << 19;
  for (long i = -count; i <= count; i++) {
    one(8.1875 + (double)i * 0x1p-40);
    one(-8.1875 + (double)i * 0x1p-40);
    one((double)i * 0x1p-40);
    one((double)i / (double)count * 10.0);
    one((double)i / (double)count * 22.0);
    one((double)i / (double)count * 750.0);
  }
  for (bits b = 0; b < (bits)2047 << 52; b += (bits)1 << 42)
    one(of_bits(b + (b >> 20))), one(-of_bits(b + (b >> 20)));
#endif
  printf("%s: worst error %.3f u |x| at %.17g\n", NAME_OF_(FUNCTION), (double)worst,
         (double)worst_at);
  assert_true(worst > 0.25); /* the measure itself works: some rounding there must be */
  assert_true(worst <= 3);
}

/* Limits, and what is no number. */
static void limits(void **s) {
  (void)s;
  assert_true(FUNCTION((real)INFINITY) == (real)INFINITY);
  assert_true(FUNCTION((real)-INFINITY) == 0);
  assert_true(isnan(FUNCTION((real)NAN)));
  assert_true(isnan(FUNCTION(-(real)NAN)));
  assert_true(FUNCTION((real)0) == 0);
  assert_true(FUNCTION(-(real)0) == 0);
  const real large = sizeof(real) == 4 ? (real)0x1.fffffep127 : (real)0x1.fffffffffffffp1023;
  assert_true(FUNCTION(large) == large);
  assert_true(FUNCTION(-large) == 0);
  assert_true(FUNCTION((real)1000) == 1000);
  assert_true(FUNCTION((real)-1000) == 0);
}

int main(void) {
  for (size_t i = 0; i < sizeof definitions / sizeof definitions[0]; i++)
    if (strcmp(definitions[i].name, NAME_OF_(FUNCTION)) == 0) definition = definitions[i].of;
  const struct CMUnitTest tests[] = {cmocka_unit_test(within_bound), cmocka_unit_test(limits)};
  return cmocka_run_group_tests_name(NAME_OF_(FUNCTION), tests, NULL, NULL);
}
