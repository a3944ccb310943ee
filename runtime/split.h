/* split.h - k cut into parts: a kernel sums each part, as the matrices of a batch, and a REDUCE row
 * adds them up and ends the product. It fills a device that the product's tiles alone would not.
 */
#ifndef GGI_SPLIT_H
#define GGI_SPLIT_H

#include "select.h"

enum { GGI_WORKSPACE_ALIGN = 256 }; /* bytes: of the workspace and of each thing in it */

/* a * b into *result; false where that is 2^62 or more. */
static inline bool ggi_product_fits(gg_i64 a, gg_i64 b, gg_i64 *result) {
  return !__builtin_mul_overflow(a, b, result) && *result < (gg_i64)1 << 62;
}

/* Parts lie in the workspace, m x n each. */
typedef struct ggi_split {
  const gg_kernel *reduce; /* NULL: k is not cut */
  gg_i64 parts, k;         /* how many, of how much of k: their product is the call's k */
  gg_i64 ld, stride;       /* elements between rows, between parts */
  gg_i64 bytes;            /* of all, a multiple of GGI_WORKSPACE_ALIGN */
  bool early;              /* the kernel of the sums, see ggi_row_early */
} ggi_split;

/* The fastest way to cut k for sums by `row`; false: there is none. emulated: of the row's table.
 * time: as ggi_row_time of the whole call, the reduction and a margin included. */
bool ggi_split_find(const gg_kernel_table *const *tables, size_t count, const gg_kernel *row,
                    int emulated, const ggi_call *call, const gg_device_info *device,
                    ggi_split *split, double *time);
/* What the reduction is predicted to take. */
double ggi_split_ns(const ggi_split *split, const ggi_call *call, const gg_device_info *device);
/* Launches the sums (product: A and B are read) and the reduction. args are those of the call,
 * parts where they go. */
gg_status ggi_split_launch(gg_device *device, const gg_kernel *row, const ggi_split *split,
                           int resident, const gg_args *args, void *parts, bool product,
                           void *stream);

#endif
