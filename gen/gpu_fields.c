/* gpu_fields.c - every fact of a GPU with its place, range, unit and meaning. */
#include "gpu_fields.h"
#include "nearest.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define FIELD(name, kind, low, high, unit, origin, text)                                           \
  { #name, kind, offsetof(gpu_facts, name), low, high, unit, text, ORIGIN_##origin }
#define INT(name, low, high, unit, origin, text) FIELD(name, GPU_INT, low, high, unit, origin, text)
#define RATE(name, text)                         FIELD(name, GPU_RATE, 0, 1 << 20, "FMA/SM/cycle", PAPER, text)
#define FIGURE(name, high, unit, origin, text)   FIELD(name, GPU_FIGURE, 0, high, unit, origin, text)
#define BOOL(name, text)                         FIELD(name, GPU_BOOL, 0, 1, "", GUIDE, text)

const gpu_field gpu_fields[] = {
    INT(arch, 70, 129, "", GUIDE, "compute capability x 10"),
    {"arch_suffix", GPU_SUFFIX, offsetof(gpu_facts, arch_suffix), 0, 0, "",
     "a: kernels use what only this architecture has", ORIGIN_GUIDE},
    INT(sms, 1, 4096, "SMs", CARD, "streaming multiprocessors enabled"),
    INT(boost_mhz, 1, 10000, "MHz", CARD, "boost clock"),
    INT(fma_f32, 1, 4096, "FMA/SM/cycle", GUIDE, "f32, CUDA cores"),
    INT(fma_f64, 0, 4096, "FMA/SM/cycle", GUIDE, "f64, CUDA cores"),
    RATE(tensor_f16, "f16 and bf16, tensor cores, dense"),
    RATE(tensor_tf32, "tf32, tensor cores, dense"),
    RATE(tensor_f8, "e4m3 and e5m2, tensor cores, dense"),
    RATE(tensor_s8, "s8 and u8, tensor cores, dense"),
    RATE(tensor_f64, "f64, tensor cores"),
    INT(shared_bytes_cycle, 1, 4096, "B/SM/cycle", GUIDE, "shared memory"),
    INT(registers_sm, 1024, 1 << 24, "registers/SM", GUIDE, "32-bit"),
    INT(registers_thread, 32, 1024, "registers", GUIDE, "most that a thread may have"),
    INT(shared_sm, 1024, 1 << 24, "B/SM", GUIDE, "usable as shared memory"),
    INT(shared_block, 1024, 1 << 24, "B", GUIDE, "most that a block may have"),
    INT(shared_reserved, 0, 1 << 20, "B", GUIDE, "taken by the system from each block"),
    INT(threads_sm, 32, 65536, "threads/SM", GUIDE, "most at once"),
    INT(blocks_sm, 1, 1024, "blocks/SM", GUIDE, "most at once"),
    FIELD(l2_bytes, GPU_INT, 0, 1 << 30, "B", PAPER, "second-level cache"),
    INT(hbm_gbs, 1, 1 << 20, "GB/s", CARD, "device memory"),
    BOOL(has_cp_async, "asynchronous copies to shared memory, sm_80 and later"),
    BOOL(has_tma, "tensor memory accelerator, sm_90 and later"),
    BOOL(has_wgmma, "warp-group matrix instructions, sm_90 only"),
    /* For the model alone: gpu_field_planned. */
    FIGURE(tensor_mhz, 10000, "MHz", PAPER, "of the tensor cores' stated peaks, if not boost_mhz"),
    FIGURE(mma_sync_percent, 100, "%", PAPER, "of the tensor rates that mma.sync reaches"),
    FIGURE(l2_bytes_cycle, 1 << 20, "B/cycle", PAPER, "L2 to all SMs"),
    FIGURE(hbm_latency, 1 << 20, "cycles", PAPER, "a load from device memory, unloaded"),
    FIGURE(l2_latency, 1 << 20, "cycles", PAPER, "a load from L2"),
    FIGURE(shared_latency, 1 << 20, "cycles", PAPER, "a load from shared memory"),
    FIGURE(memory_gb, 1 << 20, "GB", CARD, "device memory, 10^9 bytes"),
    FIGURE(watts, 1 << 20, "W", CARD, "board power limit"),
};
const size_t gpu_field_count = sizeof gpu_fields / sizeof *gpu_fields;

int gpu_field_get(const gpu_facts *g, const gpu_field *f) {
  const char *at = (const char *)g + f->offset;
  int i = 0;
  bool b = false;
  switch (f->kind) {
  case GPU_INT:
  case GPU_RATE:
  case GPU_FIGURE:
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
  case GPU_FIGURE:
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

bool gpu_field_planned(const gpu_field *f) {
  return f->kind != GPU_FIGURE;
}

/* A clock of its own is a deviation: without one there is nothing unknown. */
static bool zero_is_unknown(const gpu_field *f) {
  if (f->kind == GPU_FIGURE) return f->offset != offsetof(gpu_facts, tensor_mhz);
  return f->offset == offsetof(gpu_facts, fma_f64) || f->offset == offsetof(gpu_facts, l2_bytes);
}

const char *gpu_field_source(const gpu_facts *g, const gpu_field *f) {
  if (gpu_field_get(g, f) == 0 && zero_is_unknown(f)) return NULL;
  for (const gpu_exception *e = g->exceptions; e && e->fact; ++e)
    if (strcmp(e->fact, f->name) == 0) return e->source;
  const char *const papers[] = {gpu_guide, g->paper, g->source};
  const char *paper = papers[f->origin];
  return paper ? paper : g->source ? g->source : "none";
}

const char *gpu_field_value_text(const gpu_facts *g, const gpu_field *f, char scratch[16]) {
  int value = gpu_field_get(g, f);
  switch (f->kind) {
  case GPU_INT:
  case GPU_RATE:
  case GPU_FIGURE:
    if (value == 0 && zero_is_unknown(f)) return "unknown";
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
  enum { MOST = 4, FAR = 2 };
  const char *close[MOST];
  size_t found = 0;
  /* "h100" and "h100-smx" both mean one of the h100: same letters up to the first '-'. */
  size_t stem = strcspn(name, "-");
  int nearest = FAR;
  for (size_t i = 0; i < gpu_count(); ++i) {
    int distance = edit_distance(gpu_at(i)->name, name);
    if (distance < nearest) nearest = distance;
  }
  for (size_t i = 0; i < gpu_count() && found < MOST; ++i) {
    const char *known = gpu_at(i)->name;
    bool same_card = stem >= 2 && strncmp(known, name, stem) == 0;
    if (same_card || edit_distance(known, name) <= nearest) close[found++] = known;
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
