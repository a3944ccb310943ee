/* kernels_race.c - device code: order between threads, right and wrong. 64 threads, 1 block unless
 * said otherwise; p.a has 256 floats, p.d as well. */
#include "kernels.h"

/* -- Shared memory and gg_syncthreads -- */

void raw(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x;
  gg_sts_f32(t * 4, 1.0f);                /* @raw_write */
  gg_lds_f32(&x, t == 0 ? 0 : t * 4 - 4); /* @raw_read */
  gg_st_f32((float *)p.d + t, x);
}

void raw_ok(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x;
  gg_sts_f32(t * 4, (float)t);
  gg_syncthreads();
  gg_lds_f32(&x, (63 - t) * 4);
  gg_st_f32((float *)p.d + t, x);
}

void war(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x;
  gg_sts_f32(t * 4, 1.0f);
  gg_syncthreads();
  gg_lds_f32(&x, t == 63 ? t * 4 : t * 4 + 4); /* @war_read */
  gg_sts_f32(t * 4, x);                        /* @war_write */
  (void)p;
}

void war_ok(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x = (float)t;
  for (int i = 0; i < 4; i++) {
    gg_sts_f32(t * 4, x);
    gg_syncthreads();
    gg_lds_f32(&x, (t + 1) % 64 * 4);
    gg_syncthreads();
  }
  gg_st_f32((float *)p.d + t, x);
}

void waw(const gg_args p) {
  gg_sts_f32(threadIdx.x / 2 * 4, 1.0f); /* @waw */
  (void)p;
}

/* Half of the threads do not wait for the kernel before. */
void early(const gg_args p) {
  if (threadIdx.x < 32) gg_grid_wait();
  gg_grid_release();
  gg_st_f32((float *)p.d + threadIdx.x, 1.0f); /* @early */
}

/* Neighbours share a 16-byte cell but no byte. */
void neighbours_ok(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x, y;
  for (int i = 0; i < 3; i++) {
    gg_sts_f32(t * 4, (float)t);
    gg_lds_f32(&x, t * 4);
    gg_sts_f32x2(512 + t * 8, x, x);
    gg_lds_f32x2(&x, &y, 512 + t * 8);
  }
  gg_st_f32((float *)p.d + t, y);
}

/* Whole cells written, read in parts, written in parts, read whole. */
void split_ok(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x, y, z, w;
  gg_sts_f32x4(t * 16, (float)t, 1.0f, 2.0f, 3.0f);
  gg_syncthreads();
  gg_lds_f32(&x, (t * 4 + 1) % 256 * 4);
  gg_syncthreads();
  gg_sts_f32(((t + 7) % 64 * 4 + 2) * 4, x);
  gg_syncthreads();
  gg_lds_f32x4(&x, &y, &z, &w, (63 - t) * 16);
  gg_syncthreads();
  gg_sts_f32x4((t ^ 1) * 16, x, y, z, w);
  gg_syncthreads();
  gg_lds_f32x2(&x, &y, t * 16 + 8);
  gg_st_f32x2((float *)p.d + t * 2, x, y);
}

void uninitialised(const gg_args p) {
  float x;
  gg_lds_f32(&x, threadIdx.x * 4); /* @uninitialised */
  gg_st_f32((float *)p.d + threadIdx.x, x);
}

/* Three quarters of each cell are written. */
void uninitialised_part(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x, y, z, w;
  gg_sts_f32x2(t * 16, 1.0f, 2.0f);
  gg_sts_f32(t * 16 + 8, 3.0f);
  gg_lds_f32x4(&x, &y, &z, &w, t * 16); /* @uninitialised_part */
  gg_st_f32x4((float *)p.d + t * 4, x, y, z, w);
}

/* -- Warps and named barriers -- */

void warp_exchange(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x;
  gg_sts_f32(t * 4, 1.0f);                       /* @exchange_write */
  gg_lds_f32(&x, (t % 32 == 0 ? t : t - 1) * 4); /* @exchange_read */
  gg_st_f32((float *)p.d + t, x);
}

void warp_exchange_ok(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x = (float)t;
  for (int i = 0; i < 3; i++) {
    gg_sts_f32(t * 4, x);
    gg_syncwarp();
    gg_lds_f32(&x, (t ^ 1) * 4);
    gg_syncwarp();
  }
  gg_st_f32((float *)p.d + t, x);
}

/* Warp 0 fills for warp 1, twice; warp 1 gives the space back. */
void producer_ok(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x;
  for (int i = 0; i < 2; i++) {
    if (t < 32) {
      if (i > 0) gg_bar_sync(2, 64);
      gg_sts_f32(t * 4, (float)(t + 100 * (unsigned)i));
      gg_bar_arrive(1, 64);
    } else {
      gg_bar_sync(1, 64);
      gg_lds_f32(&x, (63 - t) * 4);
      if (i == 0) gg_bar_arrive(2, 64);
      gg_st_f32((float *)p.d + i * 32 + t - 32, x);
    }
  }
}

void producer_late_write(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x;
  if (t < 32) {
    gg_sts_f32(t * 4, 1.0f);
    gg_bar_arrive(1, 64);
    gg_sts_f32(t * 4, 2.0f); /* @late_write */
  } else {
    gg_bar_sync(1, 64);
    gg_lds_f32(&x, (t - 32) * 4); /* @late_write_read */
    gg_st_f32((float *)p.d + t, x);
  }
}

/* Lane 0 reads after its arrival, lane 31 before its own: only the former races with the write. */
void late_read(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x;
  if (t == 0) gg_sts_f32(0, 1.0f);
  gg_syncthreads();
  if (t >= 32) {
    gg_bar_sync(1, 64);
    if (t == 32) gg_sts_f32(0, 2.0f); /* @late_read_write */
    return;
  }
  if (t == 31) gg_lds_f32(&x, 0); /* @early_read */
  gg_bar_arrive(1, 64);
  if (t == 0) gg_lds_f32(&x, 0); /* @late_read */
  (void)p;
}

/* -- Copies -- */

void copy_no_wait(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x;
  gg_cp_async_4(t * 4, (const float *)p.a + t); /* @no_wait_copy */
  gg_cp_async_commit();
  gg_lds_f32(&x, t * 4); /* @no_wait_read */
  gg_cp_async_wait_0();
  gg_st_f32((float *)p.d + t, x);
}

void copy_too_few(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x, y;
  gg_cp_async_4(t * 8, (const float *)p.a + t);
  gg_cp_async_commit();
  gg_cp_async_4(t * 8 + 4, (const float *)p.a + t); /* @too_few_copy */
  gg_cp_async_commit();
  gg_cp_async_wait_1();
  gg_lds_f32(&x, t * 8);
  gg_lds_f32(&y, t * 8 + 4); /* @too_few_read */
  gg_cp_async_wait_0();
  gg_st_f32((float *)p.d + t, x + y);
}

void copy_no_commit(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x;
  gg_cp_async_4(t * 4, (const float *)p.a + t); /* @no_commit_copy */
  gg_cp_async_wait_0();
  gg_lds_f32(&x, t * 4); /* @no_commit_read */
  gg_cp_async_commit();
  gg_cp_async_wait_0();
  gg_st_f32((float *)p.d + t, x);
}

void copy_no_barrier(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x;
  gg_cp_async_4(t * 4, (const float *)p.a + t); /* @no_barrier_copy */
  gg_cp_async_commit();
  gg_cp_async_wait_0();
  gg_lds_f32(&x, t == 0 ? 0 : t * 4 - 4); /* @no_barrier_read */
  gg_st_f32((float *)p.d + t, x);
}

void copy_ok(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x, y;
  for (unsigned i = 0; i < 4; i++) {
    gg_cp_async_4(t * 4, (const float *)p.a + i * 64 + t);
    gg_cp_async_commit();
    gg_cp_async_wait_0();
    gg_lds_f32(&x, t * 4); /* its own copy needs no barrier */
    gg_syncthreads();
    gg_lds_f32(&y, (63 - t) * 4);
    gg_syncthreads();
    gg_st_f32((float *)p.d + i * 64 + t, y);
  }
}

/* A copy is issued onto bytes that another thread may still read. */
void copy_onto_read(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x;
  gg_sts_f32(t * 4, 1.0f);
  gg_syncthreads();
  gg_lds_f32(&x, (t == 63 ? t : t + 1) * 4);    /* @onto_read */
  gg_cp_async_4(t * 4, (const float *)p.a + t); /* @onto_copy */
  gg_cp_async_commit();
  gg_cp_async_wait_0();
  gg_st_f32((float *)p.d + t, x);
}

void copy_twice(const gg_args p) {
  const unsigned t = threadIdx.x;
  gg_cp_async_16(t * 16, (const float *)p.a);
  gg_cp_async_16(t * 16, (const float *)p.a + 4); /* @twice */
  gg_cp_async_commit();
  gg_cp_async_wait_0();
}

void copy_source(const gg_args p) {
  const unsigned t = threadIdx.x;
  gg_cp_async_4(t * 4, (float *)p.d + t); /* @source_copy */
  gg_cp_async_commit();
  gg_st_f32((float *)p.d + t, 7.0f); /* @source_write */
  gg_cp_async_wait_0();
}

/* A copy of 0 bytes that points into what is written. */
void copy_of_nothing(const gg_args p) {
  const unsigned t = threadIdx.x;
  gg_cp_async_zfill_4(t * 4, (float *)p.d + t / 4 * 4 + 1, 0);
  gg_cp_async_commit();
  if (t % 4 == 0) gg_st_f32x4((float *)p.d + t, 1.0f, 2.0f, 3.0f, 4.0f);
  gg_cp_async_wait_0();
}

/* -- Global memory -- */

/* Also across blocks. */
void global_two_writers(const gg_args p) {
  gg_st_f32((float *)p.d + threadIdx.x / 2, 1.0f); /* @two_writers */
}

void global_reader(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x;
  gg_ld_f32(&x, (float *)p.d + (t ^ 1)); /* @global_read */
  gg_st_f32((float *)p.d + t, 1.0f);     /* @global_write */
}

void global_ldg_own(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x;
  gg_st_f32((float *)p.d + t, 1.0f); /* @ldg_write */
  gg_ldg_f32(&x, (float *)p.d + t);  /* @ldg_read */
}

void global_copy_own(const gg_args p) {
  const unsigned t = threadIdx.x;
  gg_st_f32((float *)p.d + t, 1.0f);      /* @copy_own_write */
  gg_cp_async_4(t * 4, (float *)p.d + t); /* @copy_own */
  gg_cp_async_commit();
  gg_cp_async_wait_0();
}

/* C is D: a thread reads its element, then writes it, then once more. */
void global_own_ok(const gg_args p) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float x;
  gg_ld_f32(&x, (const float *)p.c + i);
  gg_st_f32((float *)p.d + i, x + 1.0f);
  gg_ld_f32(&x, (const float *)p.c + i);
  gg_st_f32((float *)p.d + i, x + 1.0f);
}
