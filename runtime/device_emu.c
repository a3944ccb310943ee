/* device_emu.c - the emulated GPU as a device.
 *
 * The emulator takes one host thread at a time, so every operation holds the device's lock from end
 * to end; a launch is complete when it returns, and streams and events are empty tokens. A launch
 * is faulty if the emulator's findings grew during it.
 */
#include "detail.h"
#include "device.h"
#include "launch.h"
#include "gg_emu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct device_emu {
  gg_device device; /* first: gg_device * is device_emu * */
  gg_emu *emu;
  pthread_mutex_t lock;
  int keep_findings;
} device_emu;

static device_emu *self(gg_device *device) {
  return (device_emu *)device;
}

static void emu_destroy(gg_device *device) {
  device_emu *d = self(device);
  gg_emu_destroy(d->emu);
  pthread_mutex_destroy(&d->lock);
  free(d);
}

static gg_status emu_alloc(gg_device *device, size_t bytes, void **memory) {
  device_emu *d = self(device);
  pthread_mutex_lock(&d->lock);
  void *p = gg_emu_alloc(d->emu, bytes, "gg_device_alloc");
  pthread_mutex_unlock(&d->lock);
  if (!p)
    return ggi_fail(GG_ERR_DEVICE_MEMORY, "the emulated device has no memory for %zu bytes", bytes);
  *memory = p;
  return GG_OK;
}

static gg_status emu_release(gg_device *device, void *memory) {
  device_emu *d = self(device);
  pthread_mutex_lock(&d->lock);
  int result = gg_emu_free(d->emu, memory);
  pthread_mutex_unlock(&d->lock);
  if (result != 0)
    return ggi_fail(GG_ERR_ARGUMENT, "gg_device_free: %p is no memory of this device", memory);
  return GG_OK;
}

/* Copies `bytes` after checking that the device's side lies in one allocation. */
static gg_status emu_copy(device_emu *d, const void *side, void *to, const void *from,
                          size_t bytes) {
  pthread_mutex_lock(&d->lock);
  int inside = gg_emu_contains(d->emu, side, bytes);
  if (inside) memcpy(to, from, bytes);
  pthread_mutex_unlock(&d->lock);
  if (!inside)
    return ggi_fail(GG_ERR_ARGUMENT,
                    "copy: the %zu bytes at %p are not inside one allocation of "
                    "this device",
                    bytes, (void *)(uintptr_t)side);
  return GG_OK;
}

static gg_status emu_upload(gg_device *device, void *to, const void *from, size_t bytes) {
  return emu_copy(self(device), to, to, from, bytes);
}

static gg_status emu_download(gg_device *device, void *to, const void *from, size_t bytes) {
  return emu_copy(self(device), from, to, from, bytes);
}

static gg_status emu_load(gg_device *device, const gg_kernel *row) {
  (void)device;
  (void)row;
  return GG_OK;
}

static uint64_t findings(const gg_emu *emu, const gg_emu_finding **list, size_t *count) {
  uint64_t total = 0;
  *count = gg_emu_findings(emu, list);
  for (size_t i = 0; i < *count; ++i)
    total += (*list)[i].count;
  return total;
}

static gg_status launch_locked(device_emu *d, const gg_emu_launch *launch, const gg_args *args,
                               const char *file) {
  const gg_emu_finding *list;
  size_t count;
  if (!d->keep_findings) gg_emu_reset(d->emu);
  uint64_t before = findings(d->emu, &list, &count);
  char error[240] = "";
  if (gg_emu_run(d->emu, launch, args, error) != 0)
    return ggi_fail(GG_ERR_DEVICE, "kernel %s was not launched: %s", launch->name, error);
  if (findings(d->emu, &list, &count) > before)
    return ggi_fail(GG_ERR_FAULT, "kernel %s, %s:%d: %s: %s (%zu findings)", launch->name, file,
                    list[0].line, gg_emu_kind_name(list[0].kind), list[0].text, count);
  return GG_OK;
}

static gg_status emu_resident(gg_device *device, const gg_kernel *row, int *clusters) {
  int blocks = device->info.sms * (row->blocks_per_sm > 1 ? row->blocks_per_sm : 1);
  int most = blocks / ggi_cluster_blocks(row);
  *clusters = most > 1 ? most : 1;
  return GG_OK;
}

static gg_status emu_encode(gg_device *device, const ggi_map *map, gg_tensor_map *to) {
  (void)device;
  static const gg_emu_map_type types[] = {
      [GG_F64] = GG_EMU_MAP_F64, [GG_F32] = GG_EMU_MAP_F32,   [GG_TF32] = GG_EMU_MAP_F32,
      [GG_F16] = GG_EMU_MAP_F16, [GG_BF16] = GG_EMU_MAP_BF16, [GG_E4M3] = GG_EMU_MAP_U8,
      [GG_E5M2] = GG_EMU_MAP_U8, [GG_S8] = GG_EMU_MAP_U8,     [GG_U8] = GG_EMU_MAP_U8,
      [GG_S32] = GG_EMU_MAP_S32};
  gg_emu_map m = {.type = (int)types[map->type], .rank = 3, .address = map->base};
  for (int i = 0; i < 3; ++i)
    m.dim[i] = (uint64_t)map->extent[i];
  for (int i = 0; i < 2; ++i) {
    m.stride[i] = (uint64_t)map->pitch[i];
    m.box[i] = (unsigned)map->box[i];
  }
  m.box[2] = 1;
  m.swizzle = map->swizzle == 128 ? 3 : map->swizzle / 32;
  char error[240] = "";
  if (gg_emu_tensor_map_encode(to, &m, error) != 0)
    return ggi_fail(GG_ERR_DEVICE, "the emulated GPU refused it: %s", error);
  return GG_OK;
}

/* A kernel that may be launched early is checked as if it were. */
static gg_status emu_launch(gg_device *device, const gg_kernel *row, unsigned blocks, bool early,
                            const gg_args *args, void *stream) {
  (void)stream;
  (void)early;
  device_emu *d = self(device);
  const gg_emu_launch launch = {.name = row->name,
                                .entry = row->entry,
                                .grid_x = blocks,
                                .grid_y = 1,
                                .grid_z = 1,
                                .block_x = (unsigned)row->threads,
                                .cluster_x = (unsigned)ggi_cluster_blocks(row),
                                .shared_bytes = (unsigned)row->shared_bytes,
                                .programmatic = row->programmatic};
  pthread_mutex_lock(&d->lock);
  gg_status status = launch_locked(d, &launch, args, row->file ? row->file : row->name);
  pthread_mutex_unlock(&d->lock);
  return status;
}

static gg_status emu_stream_create(gg_device *device, void **stream) {
  (void)device;
  *stream = NULL;
  return GG_OK;
}

static void emu_stream_destroy(gg_device *device, void *stream) {
  (void)device;
  (void)stream;
}

static gg_status emu_stream_wait(gg_device *device, void *stream) {
  (void)device;
  (void)stream;
  return GG_OK;
}

static gg_status emu_synchronise(gg_device *device) {
  (void)device;
  return GG_OK;
}

/* An event is the host time at which it was recorded. */
static gg_status emu_event_create(gg_device *device, void **event) {
  (void)device;
  struct timespec *t = calloc(1, sizeof *t);
  if (!t) return ggi_fail(GG_ERR_MEMORY, "no memory for an event");
  *event = t;
  return GG_OK;
}

static void emu_event_destroy(gg_device *device, void *event) {
  (void)device;
  free(event);
}

static gg_status emu_event_record(gg_device *device, void *event, void *stream) {
  (void)device;
  (void)stream;
  timespec_get(event, TIME_UTC);
  return GG_OK;
}

static gg_status emu_event_elapsed(gg_device *device, void *begin, void *end, float *milliseconds) {
  (void)device;
  const struct timespec *a = begin, *b = end;
  *milliseconds =
      (float)((double)(b->tv_sec - a->tv_sec) * 1e3 + (double)(b->tv_nsec - a->tv_nsec) * 1e-6);
  return GG_OK;
}

static const ggi_device_ops emu_ops = {
    emu_destroy,        emu_alloc,         emu_release,     emu_upload,       emu_download,
    emu_load,           emu_resident,      emu_encode,      emu_launch,       emu_stream_create,
    emu_stream_destroy, emu_stream_wait,   emu_synchronise, emu_event_create, emu_event_destroy,
    emu_event_record,   emu_event_elapsed,
};

void gg_emulated_options_init_sized(gg_emulated_options *options, size_t size) {
  if (!options || size < sizeof *options) return;
  *options = (gg_emulated_options){.size = sizeof *options,
                                   .arch = 90,
                                   .sms = 132,
                                   .shared_block = 232448,
                                   .host_threads = 1,
                                   .check = 1,
                                   .seed = 0,
                                   .blocks_launch = INT32_MAX};
}

static gg_status check_options(const gg_emulated_options *o) {
  if (o->size != sizeof *o)
    return ggi_fail(GG_ERR_ARGUMENT,
                    "options.size: is %zu, this library's is %zu; call gg_emulated_options_init",
                    o->size, sizeof *o);
  if (o->arch < 1 || o->sms < 1 || o->shared_block < 0 || o->host_threads < 1 ||
      o->blocks_launch < 1 || o->blocks_launch > INT32_MAX)
    return ggi_fail(
        GG_ERR_ARGUMENT,
        "options: arch %d, sms %d, shared_block %d, host_threads %d, blocks_launch "
        "%lld: each must be at least 1 (shared_block 0), blocks_launch at most 2^31 - 1",
        o->arch, o->sms, o->shared_block, o->host_threads, o->blocks_launch);
  return GG_OK;
}

gg_status gg_device_emulated(const gg_emulated_options *options, gg_device **device) {
  if (!device) return ggi_fail(GG_ERR_ARGUMENT, "gg_device_emulated: device is NULL");
  gg_emulated_options o;
  gg_emulated_options_init(&o);
  if (options) {
    gg_status status = check_options(options);
    if (status != GG_OK) return status;
    o = *options;
  }
  gg_emu_options e;
  gg_emu_options_init(&e);
  e.seed = o.seed;
  e.host_threads = o.host_threads;
  e.check = o.check;
  e.count = 0;
  e.max_shared_bytes = o.shared_block;
  e.arch = o.arch;

  device_emu *made = calloc(1, sizeof *made);
  gg_emu *emu = made ? gg_emu_create(&e) : NULL;
  if (!emu || pthread_mutex_init(&made->lock, NULL) != 0) {
    gg_emu_destroy(emu);
    free(made);
    return ggi_fail(GG_ERR_MEMORY, "no memory for an emulated device");
  }
  made->emu = emu;
  made->device.ops = &emu_ops;
  gg_device_info *info = &made->device.info;
  snprintf(info->name, sizeof info->name, "emulated GPU");
  info->emulated = 1;
  info->arch = o.arch;
  info->sms = o.sms;
  info->shared_block = o.shared_block;
  info->threads_block = e.max_threads_per_block;
  info->blocks_launch = o.blocks_launch;
  *device = &made->device;
  return GG_OK;
}

struct gg_emu *ggi_device_emulator(gg_device *device) {
  return device->info.emulated ? self(device)->emu : NULL;
}

void ggi_device_keep_findings(gg_device *device, int keep) {
  if (device->info.emulated) self(device)->keep_findings = keep;
}
