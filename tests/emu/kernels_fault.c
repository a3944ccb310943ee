/* kernels_fault.c - device code: bad addresses, barriers that do not fit, unfinished exits. 64
 * threads, 1 block, 1024 shared bytes; p.a and p.d have 256 floats. */
#include "kernels.h"

/* -- Addresses -- */

void shared_outside(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x, y;
  gg_sts_f32(1024 - 4 * 63 + t * 4, 1.0f);           /* @shared_write_outside */
  gg_lds_f32x2(&x, &y, t == 0 ? 1024 : 4294967288u); /* @shared_read_outside */
  gg_st_f32((float *)p.d + t, x);
}

void shared_misaligned(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x, y;
  gg_sts_f32x4(t == 3 ? 8 : t * 16, 1.0f, 2.0f, 3.0f, 4.0f); /* @shared_write_misaligned */
  gg_syncthreads();
  gg_lds_f32x2(&x, &y, t == 5 ? 84 : 80); /* @shared_read_misaligned */
  gg_st_f32((float *)p.d + t, x);
}

/* Only the last of two floats lies outside. */
void global_outside(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x, y;
  gg_ldg_f32x2(&x, &y, (const float *)p.a + 128 + t * 2 + (t == 63 ? 2 : 0)); /* @ldg_outside */
  gg_st_f32((float *)p.d + t + (t == 9 ? 256 : 0), y);                        /* @st_outside */
  gg_ld_f32(&x, (const float *)p.d + t + (t == 9 ? 1000000 : 0));             /* @ld_outside */
}

void global_below(const gg_args p) {
  float x;
  gg_ldg_f32(&x, (const float *)p.a + (int)threadIdx.x - 1); /* @below */
  gg_st_f32((float *)p.d + threadIdx.x, x);
}

void global_misaligned(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x, y, z, w;
  gg_ldg_f32x4(&x, &y, &z, &w, (const float *)p.a + t * 4 % 252 + (t == 2)); /* @ldg_misaligned */
  gg_st_f32x2((float *)p.d + t * 2 + (t == 1 ? 127 : 0), x, y);              /* @st_misaligned */
}

void copy_outside(const gg_args p) {
  const unsigned t = threadIdx.x;
  const float *a = (const float *)p.a;
  if (t < 32) gg_cp_async_16(t * 16, a + t * 4 + (t == 31 ? 130 : 0)); /* @copy_from_outside */
  gg_cp_async_4(t == 1 ? 1024 : 768 + t * 4, a);                       /* @copy_to_outside */
  gg_cp_async_commit();
  gg_cp_async_wait_0();
}

void copy_misaligned(const gg_args p) {
  const unsigned t = threadIdx.x;
  gg_cp_async_16(t * 16 + (t == 7 ? 8 : 0), (const float *)p.a); /* @copy_to_misaligned */
  gg_cp_async_commit();
  gg_cp_async_wait_0();
  gg_cp_async_8(t * 8, (const float *)p.a + (t == 4)); /* @copy_from_misaligned */
  gg_cp_async_commit();
  gg_cp_async_wait_0();
}

/* Nothing is read: the address does not matter. */
void copy_zero_ok(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x;
  gg_cp_async_zfill_4(t * 4, (const char *)p.a + 100003, 0);
  gg_cp_async_commit();
  gg_cp_async_wait_0();
  gg_lds_f32(&x, t * 4);
  gg_st_f32((float *)p.d + t, x);
}

void copy_bytes(const gg_args p) {
  const unsigned t = threadIdx.x;
  gg_cp_async_zfill_4(t * 4, (const float *)p.a, t == 0 ? 5 : 4); /* @copy_bytes */
  gg_cp_async_commit();
  gg_cp_async_wait_0();
}

/* -- Barriers -- */

void warp_divergence(const gg_args p) {
  if (threadIdx.x % 2 == 0)
    gg_syncwarp(); /* @even_lanes */
  else
    gg_syncwarp(); /* @odd_lanes */
  (void)p;
}

void barrier_divergence(const gg_args p) {
  if (threadIdx.x == 40)
    gg_syncthreads(); /* @lane_40 */
  else
    gg_syncthreads(); /* @other_lanes */
  (void)p;
}

void deadlock(const gg_args p) {
  if (threadIdx.x < 32)
    gg_bar_sync(1, 64); /* @deadlock_1 */
  else
    gg_bar_sync(2, 64); /* @deadlock_2 */
  gg_st_f32((float *)p.d + blockIdx.x, 1.0f);
}

void early_exit_ok(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x;
  if (t >= 40) return;
  gg_sts_f32(t * 4, (float)t);
  gg_syncthreads();
  gg_lds_f32(&x, (39 - t) * 4);
  gg_st_f32((float *)p.d + t, x);
}

/* 48 threads: the second warp has 16 lanes. */
void half_warp_ok(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x;
  gg_sts_f32(t * 4, (float)t);
  gg_syncwarp();
  gg_lds_f32(&x, (t ^ 1) * 4);
  gg_syncthreads();
  gg_st_f32((float *)p.d + t, x);
}

void bar_counts(const gg_args p) {
  if (threadIdx.x < 32)
    gg_bar_arrive(3, 64); /* @bar_64 */
  else
    gg_bar_sync(3, 32); /* @bar_32 */
  (void)p;
}

void bar_bad_id(const gg_args p) {
  gg_bar_sync(0, 64);    /* @bar_0 */
  gg_bar_arrive(16, 64); /* @bar_16 */
  (void)p;
}

void bar_bad_count(const gg_args p) {
  gg_bar_sync(1, 48); /* @bar_48 */
  (void)p;
}

void bar_pending(const gg_args p) {
  if (threadIdx.x < 32) gg_bar_arrive(1, 64); /* @bar_pending */
  (void)p;
}

/* -- Exits -- */

void exit_uncommitted(const gg_args p) {
  gg_cp_async_4(threadIdx.x * 4, (const float *)p.a); /* @uncommitted */
  gg_cp_async_wait_0();
}

void exit_unwaited(const gg_args p) {
  gg_cp_async_4(threadIdx.x * 4, (const float *)p.a);
  gg_cp_async_commit();
  gg_cp_async_4(threadIdx.x * 4 + 256, (const float *)p.a); /* @unwaited */
  gg_cp_async_commit();
  gg_cp_async_wait_1();
}

void exit_empty_ok(const gg_args p) {
  gg_cp_async_4(threadIdx.x * 4, (const float *)p.a);
  gg_cp_async_commit();
  gg_cp_async_commit();
  gg_cp_async_wait_1();
  gg_cp_async_commit();
}

void endless(const gg_args p) {
  float x = 0;
  gg_sts_f32(threadIdx.x * 4, 0.0f);
  while (x == 0 && blockIdx.x == 1)
    gg_lds_f32(&x, threadIdx.x * 4); /* @endless */
  gg_st_f32((float *)p.d + blockIdx.x * 64 + threadIdx.x, 1.0f);
}

/* A long loop in which lanes leave at different times: the counts stay exact where lanes agree. */
void spin_ok(const gg_args p) {
  const int t = (int)threadIdx.x;
  float x, sum = 0;
  for (int i = 0; i < 5000 + t % 2 * 100; i++) {
    gg_ldg_f32(&x, (const float *)p.a + (t + i) % 256); /* @spin */
    sum += x;
  }
  gg_st_f32((float *)p.d + t, sum);
}
