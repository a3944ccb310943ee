/* test_older.c - conversions as kernels for older cards spell them, against the emulated GPU's,
 * which are the instructions': every byte, and of the floats one in 61 and all that lie beside a
 * number of the narrow type or half-way between two. With GEMMGEN_EXHAUSTIVE set every float.
 */
#include "older.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static void same(uint32_t bits) {
  float x = gg_as_f32(bits);
  if (older_cvt_e4m3(x) != gg_cvt_e4m3(x)) fail_msg("e4m3 of %08x: %02x", bits, older_cvt_e4m3(x));
  if (older_cvt_e5m2(x) != gg_cvt_e5m2(x)) fail_msg("e5m2 of %08x: %02x", bits, older_cvt_e5m2(x));
  if (older_cvt_bf16(x) != gg_cvt_bf16(x)) fail_msg("bf16 of %08x: %04x", bits, older_cvt_bf16(x));
}

static void from_floats(void **s) {
  (void)s;
  uint64_t step = getenv("GEMMGEN_EXHAUSTIVE") ? 1 : 61;
  for (uint64_t b = 0; b < (uint64_t)1 << 32; b += step)
    same((uint32_t)b);
  /* Numbers of bf16, e4m3 and e5m2 and the middles between them have 16 zeros at the end at least,
   * middles of bf16 15. */
  for (uint64_t b = 0; b < (uint64_t)1 << 32; b += 1 << 15)
    for (int near = -2; near <= 2; near++)
      same((uint32_t)(b + (uint64_t)(int64_t)near));
}

static void to_floats(void **s) {
  (void)s;
  for (unsigned b = 0; b < 256; b++) {
    float x = older_f32_from_e4m3(b), y = gg_f32_from_e4m3(b);
    if (x != y && (x == x || y == y))
      fail_msg("%02x of e4m3 is %g, not %g", b, (double)x, (double)y);
    x = older_f32_from_e5m2(b), y = gg_f32_from_e5m2(b);
    if (x != y && (x == x || y == y))
      fail_msg("%02x of e5m2 is %g, not %g", b, (double)x, (double)y);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(from_floats), cmocka_unit_test(to_floats)};
  return cmocka_run_group_tests_name("older primitives", tests, NULL, NULL);
}
