/* launch.h - turns a row of a table and a call into one or several launches, on any device.
 *
 * The grid and its clusters are those of gg_kernel.persistent (gg_kernel.h). A batch whose tiles,
 * padding included, exceed the device's limit for one launch is launched in parts, with every
 * operand's pointer moved on by its stride and tensor maps of its own; a single matrix that exceeds
 * it is GG_ERR_LIMIT.
 */
#ifndef GGI_LAUNCH_H
#define GGI_LAUNCH_H

#include "device.h"

typedef struct ggi_grid {
  gg_i64 tiles;        /* tiles of one matrix, padded to whole clusters */
  gg_i64 batch_launch; /* matrices in one launch, the last launch may have fewer */
  gg_i64 launches;     /* 0: nothing to compute (m, n or batch is 0) */
} ggi_grid;

/* limit: most blocks of one launch. */
gg_status ggi_grid_plan(const gg_kernel *row, gg_i64 m, gg_i64 n, gg_i64 batch, gg_i64 limit,
                        ggi_grid *grid);

/* Blocks of one cluster: cluster_m x cluster_n tiles, cluster_k blocks each. */
int ggi_cluster_blocks(const gg_kernel *row);

/* Blocks of a launch of `tiles` padded tiles. resident: clusters that run at once, counts where the
 * row is persistent. */
unsigned ggi_blocks(const gg_kernel *row, gg_i64 tiles, int resident);

/* Runs `row` with args (whole batch) on the device. The row is not checked against the call or the
 * device (select.h does) and must have been loaded (device->ops->load) where a stream captures.
 * m, n or batch 0: success, nothing is launched. Stops at the first launch that fails. resident: as
 * device->ops->resident says, 1 or more; not looked at unless the row is persistent. early: as
 * device->ops->launch. */
gg_status ggi_launch(gg_device *device, const gg_kernel *row, int resident, bool early,
                     const gg_args *args, void *stream);

#endif
