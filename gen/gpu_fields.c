/* gpu_fields.c - every fact of a GPU with its place, range, unit and meaning. */
#include "gpu_fields.h"
#include "nearest.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define INT(name, low, high, unit, text)                                                           \
  { #name, GPU_INT, offsetof(gpu_facts, name), low, high, unit, text }
#define RATE(name, text)                                                                           \
  { #name, GPU_RATE, offsetof(gpu_facts, name), 0, 1 << 20, "FMA/SM/cycle", text }
#define BOOL(name, text)                                                                           \
  { #name, GPU_BOOL, offsetof(gpu_facts, name), 0, 1, "", text }

const gpu_field gpu_fields[] = {
    INT(arch, 70, 129, "", "compute capability x 10"),
    {"arch_suffix", GPU_SUFFIX, offsetof(gpu_facts, arch_suffix), 0, 0, "",
     "a: kernels use what only this architecture has"},
    INT(sms, 1, 4096, "SMs", "streaming multiprocessors enabled"),
    INT(boost_mhz, 1, 10000, "MHz", "boost clock"),
    INT(fma_f32, 1, 4096, "FMA/SM/cycle", "f32, CUDA cores"),
    INT(fma_f64, 1, 4096, "FMA/SM/cycle", "f64, CUDA cores"),
    RATE(tensor_f16, "f16 and bf16, tensor cores, dense"),
    RATE(tensor_tf32, "tf32, tensor cores, dense"),
    RATE(tensor_f8, "e4m3 and e5m2, tensor cores, dense"),
    RATE(tensor_s8, "s8 and u8, tensor cores, dense"),
    RATE(tensor_f64, "f64, tensor cores"),
    INT(shared_bytes_cycle, 1, 4096, "B/SM/cycle", "shared memory"),
    INT(registers_sm, 1024, 1 << 24, "registers/SM", "32-bit"),
    INT(registers_thread, 32, 1024, "registers", "most that a thread may have"),
    INT(shared_sm, 1024, 1 << 24, "B/SM", "usable as shared memory"),
    INT(shared_block, 1024, 1 << 24, "B", "most that a block may have"),
    INT(shared_reserved, 0, 1 << 20, "B", "taken by the system from each block"),
    INT(threads_sm, 32, 65536, "threads/SM", "most at once"),
    INT(blocks_sm, 1, 1024, "blocks/SM", "most at once"),
    INT(l2_bytes, 1, 1 << 30, "B", "second-level cache"),
    INT(hbm_gbs, 1, 1 << 20, "GB/s", "device memory"),
    BOOL(has_cp_async, "asynchronous copies to shared memory, sm_80 and later"),
    BOOL(has_tma, "tensor memory accelerator, sm_90 and later"),
    BOOL(has_wgmma, "warp-group matrix instructions, sm_90 only"),
};
const size_t gpu_field_count = sizeof gpu_fields / sizeof *gpu_fields;

int gpu_field_get(const gpu_facts *g, const gpu_field *f) {
  const char *at = (const char *)g + f->offset;
  int i = 0;
  bool b = false;
  switch (f->kind) {
  case GPU_INT:
  case GPU_RATE:
    memcpy(&i, at, sizeof i);
    return i;
  case GPU_BOOL:
    memcpy(&b, at, sizeof b);
    return b;
  case GPU_SUFFIX:
    return *at;
  }
  return 0;
}

void gpu_field_set(gpu_facts *g, const gpu_field *f, int value) {
  char *at = (char *)g + f->offset;
  bool b = value != 0;
  switch (f->kind) {
  case GPU_INT:
  case GPU_RATE:
    memcpy(at, &value, sizeof value);
    break;
  case GPU_BOOL:
    memcpy(at, &b, sizeof b);
    break;
  case GPU_SUFFIX:
    *at = (char)value;
    break;
  }
}

const char *gpu_field_value_text(const gpu_facts *g, const gpu_field *f, char scratch[16]) {
  int value = gpu_field_get(g, f);
  switch (f->kind) {
  case GPU_INT:
  case GPU_RATE:
    snprintf(scratch, 16, "%d", value);
    break;
  case GPU_BOOL:
    return value ? "true" : "false";
  case GPU_SUFFIX:
    snprintf(scratch, 16, "%.1s", value ? (const char[]){(char)value, 0} : "");
    break;
  }
  return scratch;
}

void gpu_suggest(const char *name, buf *out) {
  enum { MOST = 3 };
  const char *close[MOST];
  size_t found = 0;
  /* "h100" and "h100-smx" both mean one of the h100: same letters up to the first '-'. */
  size_t stem = strcspn(name, "-");
  for (size_t i = 0; i < gpu_count() && found < MOST; ++i) {
    const char *known = gpu_at(i)->name;
    bool same_card = stem >= 2 && strncmp(known, name, stem) == 0;
    if (same_card || edit_distance(known, name) <= 2) close[found++] = known;
  }
  if (found) buf_puts(out, "did you mean ");
  for (size_t i = 0; i < found; ++i)
    buf_printf(out, "%s'%s'", i == 0 ? "" : i + 1 < found ? ", " : " or ", close[i]);
  if (found) {
    buf_puts(out, "?");
    return;
  }
  buf_puts(out, "known: ");
  for (size_t i = 0; i < gpu_count(); ++i)
    buf_printf(out, "%s%s", i ? ", " : "", gpu_at(i)->name);
}
