/* tensor_map.c - tensor maps of the emulator: what cuTensorMapEncodeTiled would accept, and the
 * bytes of a box.
 *
 * A box lies in shared memory row by row, the innermost dimension first, 16 bytes at a time; each
 * 16 bytes move as the swizzle says: exclusive or of address bits 4.. with bits 7.., on the
 * absolute shared address. Bytes outside the tensor read as zero (or NaN) and are not written.
 */
#include "emu_tensor.h"
#include <stdarg.h>
#include <string.h>

#define MAGIC 0x70616d5f726f736eull

static const uint8_t type_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

_Static_assert(sizeof(emu_map) <= sizeof(gg_tensor_map), "an encoded map fits the opaque one");

static int refuse(char error[240], const char *format, ...) {
  if (error != NULL) {
    va_list args;
    va_start(args, format);
    vsnprintf(error, 240, format, args);
    va_end(args);
  }
  return -1;
}

static int is_float(int type) {
  return type >= GG_EMU_MAP_F16;
}

static int check_dims(const gg_emu_map *m, unsigned bytes, char error[240]) {
  for (int i = 0; i < m->rank; i++) {
    if (m->dim[i] == 0 || m->dim[i] > 1ull << 32)
      return refuse(error, "dim[%d]: is %llu, of 1 to 2^32", i, (unsigned long long)m->dim[i]);
    if (m->box[i] == 0 || m->box[i] > 256)
      return refuse(error, "box[%d]: is %u, of 1 to 256", i, m->box[i]);
    if (m->step[i] > 8) return refuse(error, "step[%d]: is %u, of 1 to 8", i, m->step[i]);
  }
  for (int i = 0; i + 1 < m->rank; i++) {
    if (m->stride[i] % 16 != 0)
      return refuse(error, "stride[%d]: %llu bytes are no multiple of 16", i,
                    (unsigned long long)m->stride[i]);
    if (m->stride[i] >= 1ull << 40)
      return refuse(error, "stride[%d]: %llu bytes, below 2^40 is legal", i,
                    (unsigned long long)m->stride[i]);
  }
  unsigned inner = m->box[0] * bytes, span = 16u << m->swizzle;
  if (inner % 16 != 0)
    return refuse(error, "box[0]: %u elements are %u bytes, no multiple of 16", m->box[0], inner);
  if (m->swizzle != 0 && inner > span)
    return refuse(error, "box[0]: %u elements are %u bytes, more than the swizzle's %u", m->box[0],
                  inner, span);
  return 0;
}

int gg_emu_tensor_map_encode(gg_tensor_map *out, const gg_emu_map *m, char error[240]) {
  if (m->type < 0 || m->type >= (int)sizeof type_bytes)
    return refuse(error, "type: is %d, of 0 to %d", m->type, (int)sizeof type_bytes - 1);
  if (m->rank < 1 || m->rank > 5) return refuse(error, "rank: is %d, of 1 to 5", m->rank);
  if (m->swizzle < 0 || m->swizzle > 3)
    return refuse(error, "swizzle: is %d, of 0 to 3", m->swizzle);
  if (m->fill < 0 || m->fill > 1) return refuse(error, "fill: is %d, 0 or 1", m->fill);
  if (m->fill == 1 && !is_float(m->type))
    return refuse(error, "fill: NaN, but the type is an integer");
  if (m->address == NULL || (uintptr_t)m->address % 16 != 0)
    return refuse(error, "address: %p is no multiple of 16", m->address);
  if ((uintptr_t)out % 64 != 0)
    return refuse(error, "map: stands at %p, no multiple of 64", (void *)out);
  unsigned bytes = type_bytes[m->type];
  if (check_dims(m, bytes, error) != 0) return -1;

  emu_map e = {.magic = MAGIC,
               .address = (uintptr_t)m->address,
               .type = (uint8_t)m->type,
               .rank = (uint8_t)m->rank,
               .swizzle = (uint8_t)m->swizzle,
               .fill = (uint8_t)m->fill,
               .bytes = (uint8_t)bytes};
  for (int i = 0; i < 5; i++) {
    e.dim[i] = i < m->rank ? m->dim[i] : 1;
    e.box[i] = (uint16_t)(i < m->rank ? m->box[i] : 1);
    e.step[i] = (uint8_t)(i > 0 && i < m->rank && m->step[i] > 1 ? m->step[i] : 1);
    if (i < 4 && i + 1 < m->rank) e.stride[i] = m->stride[i];
  }
  memset(out, 0, sizeof *out);
  memcpy(out, &e, sizeof e);
  return 0;
}

/* -- Use -- */

const emu_map *ggi_emu_map_of(emu_world *w, const void *map, int rank, unsigned op, int line) {
  const emu_map *m = map;
  if (((uintptr_t)map & 63) != 0 || m->magic != MAGIC) {
    ggi_emu_report_access(w, GG_EMU_DESCRIPTOR, line, 0, op, "has no tensor map%s",
                          ((uintptr_t)map & 63) != 0 ? ": its address is no multiple of 64" : "");
    return NULL;
  }
  if (m->rank == rank) return m;
  ggi_emu_report_access(w, GG_EMU_DESCRIPTOR, line, 0, op, "has a tensor map of %u dimensions",
                        m->rank);
  return NULL;
}

static uint32_t count_of(const emu_map *m, int i) {
  return ((uint32_t)m->box[i] + m->step[i] - 1) / m->step[i];
}

uint32_t ggi_emu_box_bytes(const emu_map *m) {
  uint32_t bytes = m->bytes;
  for (int i = 0; i < m->rank; i++)
    bytes *= count_of(m, i);
  return bytes;
}

uint32_t ggi_emu_swizzle(uint32_t off, int mode) {
  static const uint32_t mask[] = {0, 1, 3, 7};
  return off ^ (off >> 7 & mask[mode]) << 4;
}

/* 16 bytes of a row that starts at element x of the innermost dimension. */
static emu_piece piece_of(const emu_map *m, uint64_t row, int inside, int64_t x) {
  int64_t n = 16 / m->bytes, from = x < 0 ? -x : 0, end = (int64_t)m->dim[0] - x;
  if (end > n) end = n;
  emu_piece p = {0, 16, NULL, 0, 0};
  if (!inside || end <= from) return p;
  p.from = (uint32_t)from * m->bytes;
  p.end = (uint32_t)end * m->bytes;
  p.global = (uint8_t *)(uintptr_t)(row + (uint64_t)((x + from) * m->bytes));
  return p;
}

void ggi_emu_box_each(const emu_map *m, uint32_t off, const int *at, emu_each_piece *each,
                      void *context) {
  uint32_t row_bytes = (uint32_t)m->box[0] * m->bytes, rows = ggi_emu_box_bytes(m) / row_bytes;
  for (uint32_t r = 0; r < rows; r++) {
    uint64_t address = m->address;
    uint32_t rest = r;
    int inside = 1;
    for (int i = 1; i < m->rank; i++) {
      int64_t c = (int64_t)at[i] + (int64_t)(rest % count_of(m, i)) * m->step[i];
      rest /= count_of(m, i);
      if (c < 0 || (uint64_t)c >= m->dim[i]) inside = 0;
      address += (uint64_t)c * m->stride[i - 1];
    }
    for (uint32_t b = 0; b < row_bytes; b += 16) {
      emu_piece p = piece_of(m, address, inside, (int64_t)at[0] + b / m->bytes);
      p.off = ggi_emu_swizzle(off + r * row_bytes + b, m->swizzle);
      each(context, &p);
    }
  }
}

int ggi_emu_box_ok(emu_world *w, const emu_map *m, const int *at, int store, unsigned op,
                   int line) {
  if ((int64_t)at[0] * m->bytes % 16 != 0) {
    ggi_emu_report_access(w, GG_EMU_DESCRIPTOR, line, 0, op,
                          "starts at element %d, not at a multiple of 16 bytes: an illegal "
                          "instruction",
                          at[0]);
    return 0;
  }
  for (int i = 0; store && i < m->rank; i++)
    if (at[i] < 0) {
      ggi_emu_report_access(w, GG_EMU_DESCRIPTOR, line, 0, op,
                            "writes at coordinate %d, below 0: an illegal instruction", at[i]);
      return 0;
    }
  return 1;
}
