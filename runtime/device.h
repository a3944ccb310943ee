/* device.h - what the library asks of a device: allocate, copy, load, launch, streams and events.
 *
 * A backend fills a ggi_device_ops and embeds gg_device as its first member. Every operation may be
 * called from any thread; a backend that cannot do two at once locks. On failure an operation
 * returns a status and has set the thread's detail text (detail.h).
 */
#ifndef GGI_DEVICE_H
#define GGI_DEVICE_H

#include "tensor_map.h"

typedef struct ggi_device_ops {
  void (*destroy)(gg_device *device);

  gg_status (*alloc)(gg_device *device, size_t bytes, void **memory);
  gg_status (*release)(gg_device *device, void *memory);
  gg_status (*upload)(gg_device *device, void *to, const void *from, size_t bytes);
  gg_status (*download)(gg_device *device, void *to, const void *from, size_t bytes);

  /* Makes a kernel ready to be launched, also in a capture: loads it and raises its shared-memory
   * limit. May be called again. */
  gg_status (*load)(gg_device *device, const gg_kernel *row);
  /* Clusters (blocks, where it has none) of a loaded kernel that run at once on the idle device,
   * the plan's residency being blocks_per_sm; at least 1. Not to be called in a capture. */
  gg_status (*resident)(gg_device *device, const gg_kernel *row, int *clusters);
  /* A tensor map; may be called in a capture, allocates nothing. */
  gg_status (*encode)(gg_device *device, const ggi_map *map, gg_tensor_map *to);
  /* One launch of `blocks` blocks along x, 1 <= blocks <= info.blocks_launch, a multiple of the
   * row's cluster. early: while the kernel before ends; the row is programmatic. Reads *args before
   * it returns. stream: as gg_run's. */
  gg_status (*launch)(gg_device *device, const gg_kernel *row, unsigned blocks, bool early,
                      const gg_args *args, void *stream);

  gg_status (*stream_create)(gg_device *device, void **stream);
  void (*stream_destroy)(gg_device *device, void *stream);
  gg_status (*stream_wait)(gg_device *device, void *stream); /* until all of it is done */
  gg_status (*synchronise)(gg_device *device);

  gg_status (*event_create)(gg_device *device, void **event);
  void (*event_destroy)(gg_device *device, void *event);
  gg_status (*event_record)(gg_device *device, void *event, void *stream);
  /* Waits for `end`; milliseconds between the two. */
  gg_status (*event_elapsed)(gg_device *device, void *begin, void *end, float *milliseconds);
} ggi_device_ops;

struct gg_device {
  const ggi_device_ops *ops;
  gg_device_info info;
};

/* The emulator behind an emulated device, for tools that read its findings and counts; NULL for
 * another device. The tool must then be the only user of the device. */
struct gg_emu;
struct gg_emu *ggi_device_emulator(gg_device *device);

/* Keep findings and counts from one launch to the next (1) or reset them before each (0, default).
 * A tool that keeps them resets them itself. Emulated devices only. */
void ggi_device_keep_findings(gg_device *device, int keep);

#endif
