/* descriptor.c - where the operands of wgmma lie in shared memory.
 *
 * A descriptor: bits 0-13 start / 16, 16-29 leading offset (LBO) / 16, 32-45 stride offset
 * (SBO) / 16, 49-51 base offset, 62-63 layout: 0 none, 1 128-byte, 2 64-byte, 3 32-byte swizzle of
 * W bytes. With kb the byte of k in its row, the byte of element (r, k), before the swizzle:
 *   K-major, swizzled   (r & 7) W + (r >> 3) SBO + kb
 *   K-major, none       (r & 7) 16 + (r >> 3) SBO + (kb >> 4) LBO + (kb & 15)
 *   MN-major, swizzled  2 (r % (W / 2)) + (r / (W / 2)) LBO + (k & 7) W + (k >> 3) SBO
 *   MN-major, none      2 (r & 7) + (r >> 3) SBO + (k & 7) 16 + (k >> 3) LBO
 * MN-major is for 16-bit types. Verified on an H200: tests/emu/fixtures, tests/device.
 */
#include "emu_tensor.h"
#include <string.h>

static int mode_of(uint64_t descriptor) { /* as of ggi_emu_swizzle */
  unsigned layout = (unsigned)(descriptor >> 62);
  return layout == 0 ? 0 : 4 - (int)layout;
}
static uint32_t field(uint64_t descriptor, int bit) {
  return (uint32_t)(descriptor >> bit & 0x3fff) << 4;
}

uint32_t ggi_emu_operand_at(const emu_operand *o, int mn, int k) {
  uint64_t d = o->descriptor;
  uint32_t start = field(d, 0), lbo = field(d, 16), sbo = field(d, 32), off;
  int mode = mode_of(d);
  uint32_t width = mode == 0 ? 16 : 16u << mode, r = (uint32_t)mn, kk = (uint32_t)k;
  if (!o->mn_major) {
    uint32_t kb = kk * (uint32_t)o->bytes;
    off = (r & 7) * width + (r >> 3) * sbo + (mode == 0 ? (kb >> 4) * lbo + (kb & 15) : kb);
  } else if (mode == 0) {
    off = 2 * (r & 7) + (r >> 3) * sbo + (kk & 7) * 16 + (kk >> 3) * lbo;
  } else {
    off = 2 * (r % (width / 2)) + r / (width / 2) * lbo + (kk & 7) * width + (kk >> 3) * sbo;
  }
  return ggi_emu_swizzle(start + off, mode);
}

void ggi_emu_operand_each(const emu_operand *o, void (*each)(void *context, uint32_t off),
                          void *context) {
  int n = 16 / o->bytes;
  if (o->mn_major) {
    for (int k = 0; k < o->k; k++)
      for (int mn = 0; mn < o->mn; mn += n)
        each(context, ggi_emu_operand_at(o, mn, k));
    return;
  }
  for (int mn = 0; mn < o->mn; mn++)
    for (int k = 0; k < o->k; k += n)
      each(context, ggi_emu_operand_at(o, mn, k));
}

void ggi_emu_operand_load(const emu_operand *o, const uint8_t *shared, size_t room, float *out,
                          int k_rows) {
  int n = 16 / o->bytes, outer = o->mn_major ? o->k : o->mn, inner = o->mn_major ? o->mn : o->k;
  for (int i = 0; i < outer; i++)
    for (int j = 0; j < inner; j += n) {
      unsigned words[4];
      float x[16];
      int mn = o->mn_major ? j : i, k = o->mn_major ? i : j;
      uint32_t off = ggi_emu_operand_at(o, mn, k);
      memset(words, 0xff, sizeof words);
      if (off + sizeof words <= room) memcpy(words, shared + off, sizeof words);
      for (int q = 0; q < 4; q++)
        ggi_emu_unpack(o->format, words[q], x + q * (n / 4));
      for (int e = 0; e < n; e++) {
        int m = o->mn_major ? mn + e : mn, kk = o->mn_major ? k : k + e;
        out[k_rows ? kk * o->mn + m : m * o->k + kk] = x[e];
      }
    }
}

typedef struct reach {
  size_t end;
} reach;

static void extend(void *context, uint32_t off) {
  reach *r = context;
  if (off + 16 > r->end) r->end = off + 16;
}

const char *ggi_emu_operand_wrong(const emu_operand *o, size_t shared_bytes) {
  reach r = {0};
  if ((o->descriptor >> 49 & 7) != 0) return "has a base offset, which is not emulated";
  ggi_emu_operand_each(o, extend, &r);
  return r.end > shared_bytes ? "reaches beyond the block's shared memory" : NULL;
}
