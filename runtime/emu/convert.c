/* convert.c - conversions between number formats: pure, but for the option to keep NaN. */
#include "emu_tensor.h"
#include <math.h>
#include <string.h>

unsigned gg_emu_cvt_bf16x2(float lo, float hi) {
  return ggi_emu_to_bf16(lo) | ggi_emu_to_bf16(hi) << 16;
}

unsigned gg_emu_cvt_f16x2(float lo, float hi) {
  return ggi_emu_to_f16(lo) | ggi_emu_to_f16(hi) << 16;
}

/* To nearest even; beyond `most` it stays there (satfinite), infinities too. */
static unsigned to_fp8(float x, int fraction, int least, float most, unsigned most_bits) {
  unsigned sign = signbit(x) ? 0x80 : 0;
  float v = fabsf(x);
  if (isnan(x)) return 0x7f;
  if (v >= most) return sign | most_bits;
  int e;
  (void)frexpf(v, &e);
  e -= 1; /* v = 1.f * 2^e */
  if (v == 0 || e < least) e = least;
  /* Steps of 2^(e - fraction); carries move into the exponent by themselves. */
  unsigned steps = (unsigned)lrintf(ldexpf(v, fraction - e));
  unsigned bits = (unsigned)(e - least) << fraction;
  return sign | (bits + steps > most_bits ? most_bits : bits + steps);
}

unsigned gg_emu_cvt_e4m3(float x) {
  return to_fp8(x, 3, -6, 448, 0x7e);
}

unsigned gg_emu_cvt_e5m2(float x) {
  return to_fp8(x, 2, -14, 57344, 0x7b);
}

/* To nearest, ties away from zero. What is not finite is cut: a NaN that has its bits among the
 * last 13 only becomes an infinity. */
unsigned gg_emu_cvt_tf32(float f) {
  uint32_t x;
  memcpy(&x, &f, sizeof x);
  if ((x & 0x7f800000) != 0x7f800000) x += 0x1000;
  return x & 0xffffe000u;
}

/* To nearest even, saturated; NaN gives 0. */
int gg_emu_cvt_integer(float x, int least, int most) {
  if (isnan(x)) return 0;
  if (x <= (float)least) return least;
  if (x >= (float)most) return most;
  return (int)lrintf(x);
}

int ggi_emu_keeps_nan(void) {
  return ggi_emu_world != NULL && ggi_emu_world->options.keep_nan;
}

float gg_emu_nan(float x) {
  return ggi_emu_keeps_nan() ? x : ggi_emu_float(0x7fffffff);
}

float gg_emu_unpack(unsigned x, int format) {
  float out[4];
  ggi_emu_unpack((emu_format)format, x, out);
  return isnan(out[0]) ? gg_emu_nan(out[0]) : out[0];
}

/* Bytes 0-3 of a and 4-7 of b, four chosen; bit 3 of a selector spreads the byte's sign. */
unsigned gg_emu_prmt(unsigned a, unsigned b, unsigned selector) {
  uint64_t both = (uint64_t)b << 32 | a;
  unsigned out = 0;
  for (int i = 0; i < 4; i++) {
    unsigned s = selector >> 4 * i & 15;
    unsigned byte = (unsigned)(both >> 8 * (s & 7)) & 255;
    if ((s & 8) != 0) byte = (byte & 0x80) != 0 ? 255 : 0;
    out |= byte << 8 * i;
  }
  return out;
}
