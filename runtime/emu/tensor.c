/* tensor.c - the number formats of tensor cores: pure, but for the option to keep NaN. */
#include "emu_tensor.h"
#include <math.h>

float ggi_emu_from_f16(unsigned h) {
  uint32_t sign = (h & 0x8000u) << 16, e = h >> 10 & 31, m = h & 1023;
  if (e == 31) return ggi_emu_float(sign | 0x7f800000u | m << 13);
  if (e != 0) return ggi_emu_float(sign | (e + 112) << 23 | m << 13);
  return ggi_emu_float(sign | ggi_emu_bits((float)m * 0x1p-24f));
}

static float from_e4m3(unsigned x) {
  uint32_t sign = (x & 0x80u) << 24, e = x >> 3 & 15, m = x & 7;
  if ((x & 0x7f) == 0x7f) return ggi_emu_float(0x7fffffff);
  if (e != 0) return ggi_emu_float(sign | (e + 120) << 23 | m << 20);
  return ggi_emu_float(sign | ggi_emu_bits((float)m * 0x1p-9f));
}
static float from_e5m2(unsigned x) {
  return ggi_emu_from_f16((x & 0xff) << 8);
}

int ggi_emu_format_bytes(emu_format f) {
  static const int bytes[] = {2, 2, 4, 1, 1, 1, 1};
  return bytes[f];
}

void ggi_emu_unpack(emu_format f, unsigned x, float out[4]) {
  switch (f) {
  case EMU_BF16:
    out[0] = ggi_emu_float(x << 16);
    out[1] = ggi_emu_float(x & 0xffff0000u);
    return;
  case EMU_F16:
    out[0] = ggi_emu_from_f16(x & 0xffff);
    out[1] = ggi_emu_from_f16(x >> 16);
    return;
  case EMU_TF32:
    out[0] = ggi_emu_float(x & 0xffffe000u);
    return;
  case EMU_E4M3:
    for (int i = 0; i < 4; i++)
      out[i] = from_e4m3(x >> 8 * i & 255);
    return;
  case EMU_E5M2:
    for (int i = 0; i < 4; i++)
      out[i] = from_e5m2(x >> 8 * i & 255);
    return;
  case EMU_S8:
    for (int i = 0; i < 4; i++)
      out[i] = (float)(int8_t)(uint8_t)(x >> 8 * i & 255);
    return;
  case EMU_U8:
    for (int i = 0; i < 4; i++)
      out[i] = (float)(x >> 8 * i & 255);
  }
}

unsigned ggi_emu_to_bf16(float f) {
  uint32_t x = ggi_emu_bits(f);
  if ((x & 0x7fffffff) > 0x7f800000) return ggi_emu_keeps_nan() ? x >> 16 | 0x40 : 0x7fff;
  return (x + 0x7fff + (x >> 16 & 1)) >> 16;
}

unsigned ggi_emu_to_f16(float f) {
  uint32_t x = ggi_emu_bits(f), sign = x >> 16 & 0x8000, m = x & 0x7fffffff;
  if (m > 0x7f800000) return ggi_emu_keeps_nan() ? sign | 0x7e00 | (m >> 13 & 0x3ff) : 0x7fff;
  if (m >= 0x477ff000) return sign | 0x7c00; /* 65520 and more round to infinity */
  if (m < 0x38800000)                        /* below 2^-14: steps of 2^-24, to nearest even */
    return sign | (unsigned)lrintf(ggi_emu_float(m) * 0x1p24f);
  m += 0xfff + (m >> 13 & 1);
  return sign | (m - 0x38000000) >> 13;
}
