/* way.h - how a call is done: by a kernel as the operands lie, after copies of A, B or both, or
 * with k cut into parts (split.h).
 *
 * A copy (a REPACK row of the tables) gives an operand the address, the pitch and, turned, the
 * order that a kernel asks for. Copies lie in the caller's workspace, one after the other, A's
 * first; or parts do: no way has both.
 */
#ifndef GGI_WAY_H
#define GGI_WAY_H

#include "split.h"

/* The tables to choose from, and the device. */
typedef struct ggi_rows {
  const gg_kernel_table *const *tables;
  size_t count;
  const gg_device_info *device;
} ggi_rows;

/* One operand's copy. */
typedef struct ggi_copy {
  const gg_kernel *pass; /* REPACK row; NULL: the operand is taken as it lies */
  gg_i64 rows, columns;  /* of the operand as stored */
  gg_i64 matrices;       /* 1 where the batch shares one */
  gg_i64 ld, stride;     /* of the copy, elements; stride 0 where the batch shares it */
  gg_i64 bytes;          /* of all matrices, a multiple of GGI_WORKSPACE_ALIGN */
} ggi_copy;

typedef struct ggi_way {
  const gg_kernel *row; /* NULL: there is none */
  ggi_copy copy[2];     /* of A and B */
  ggi_split split;      /* of k */
  bool early;           /* the product's kernel, where k is not cut: see ggi_row_early */
  double time;          /* ggi_row_time, copies and reduction included */
} ggi_way;

/* GGI_APPLIES and the fastest way with the product by `row`, with copies only where it does not
 * take the call as it is and a workspace is allowed; or why there is none, as ggi_row_applies.
 * emulated: of the row's table. Where split is false, k is cut only if nothing else is possible. */
ggi_why ggi_way_of(const ggi_rows *rows, const gg_kernel *row, int emulated, const ggi_call *call,
                   bool workspace, bool split, ggi_way *way, char *text, size_t size);

typedef struct ggi_choice {
  ggi_way way;     /* row NULL: none applies */
  ggi_why nearest; /* without a row: how far the best one came, */
  char text[300];  /* and what was in its way, with its name */
} ggi_choice;

/* The way with the least time, the first of equals. pin: only rows of this name or symbol, as they
 * are if that is possible; NULL: any. workspace: may there be one? */
void ggi_select(const ggi_rows *rows, const ggi_call *call, const char *pin, bool workspace,
                ggi_choice *choice);

/* Are there copies? */
bool ggi_way_copies(const ggi_way *way);
/* Bytes of its copies or parts; 0: it needs no workspace. */
gg_i64 ggi_way_workspace(const ggi_way *way);
/* Matrices in its product's launch: the call's, or parts of k. */
gg_i64 ggi_way_batch(const ggi_way *way, gg_i64 batch);
/* Bytes that the way asks of an operand's pointer, 0 to 3: 1 where the operand is copied. */
int ggi_way_align(const ggi_way *way, int operand);
/* What a copy is predicted to take. */
double ggi_copy_ns(const ggi_copy *copy, const gg_device_info *device);

/* Makes all of its kernels ready to be launched; resident: as device->ops->resident says of the
 * row, where it is persistent. */
gg_status ggi_way_load(gg_device *device, const ggi_way *way, int *resident);
/* Launches copies, kernel and reduction. args are those of the call; product: A and B are read. */
gg_status ggi_way_launch(gg_device *device, const ggi_way *way, int resident, const gg_args *args,
                         bool product, void *stream);

#endif
