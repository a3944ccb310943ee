/* kernels_access.c - device code: every primitive once, results to D. */
#include "kernels.h"

/* Each width: store, meet, load what the thread one further stored. p.n threads. */
void access_shared(const gg_args p) {
  const int t = (int)threadIdx.x, n = (int)p.n;
  const unsigned next = (unsigned)((t + 1) % n);
  float *d = (float *)p.d + t * 7;
  double *e = (double *)p.workspace + t * 3;
  float x0, x1, x2, x3;
  double y0, y1;

  gg_sts_f32((unsigned)t * 4, (float)t);
  gg_syncthreads();
  gg_lds_f32(&x0, next * 4);
  gg_st_f32(d, x0);
  gg_syncthreads();

  gg_sts_f32x2((unsigned)t * 8, (float)t, 0.5f);
  gg_syncthreads();
  gg_lds_f32x2(&x0, &x1, next * 8);
  gg_st_f32(d + 1, x0);
  gg_st_f32(d + 2, x1);
  gg_syncthreads();

  gg_sts_f32x4((unsigned)t * 16, (float)t, 1.5f, 2.5f, (float)-t);
  gg_syncthreads();
  gg_lds_f32x4(&x0, &x1, &x2, &x3, next * 16);
  gg_st_f32(d + 3, x0);
  gg_st_f32(d + 4, x1);
  gg_st_f32(d + 5, x2);
  gg_st_f32(d + 6, x3);
  gg_syncthreads();

  gg_sts_f64((unsigned)t * 8, t + 0.25);
  gg_syncthreads();
  gg_lds_f64(&y0, next * 8);
  gg_st_f64(e, y0);
  gg_syncthreads();

  gg_sts_f64x2((unsigned)t * 16, t + 0.125, -t - 0.125);
  gg_syncthreads();
  gg_lds_f64x2(&y0, &y1, next * 16);
  gg_st_f64(e + 1, y0);
  gg_st_f64(e + 2, y1);
}

/* Every load and store of global memory, n threads. Of A (ldg) and C (ld) to D and D + 8 n: word t
 * of [0, n), words 2 t of [2 n, 4 n), words 4 t of [4 n, 8 n). Doubles likewise from B to
 * workspace: ldg in [0, n) and [2 n, 4 n), ld 4 n further. */
void access_global(const gg_args p) {
  const int t = (int)threadIdx.x, n = (int)p.n;
  const float *a = (const float *)p.a, *c = (const float *)p.c;
  const double *b = (const double *)p.b;
  float *d = (float *)p.d;
  double *w = (double *)p.workspace;
  float x0, x1, x2, x3;
  double y0, y1;

  gg_ldg_f32(&x0, a + t);
  gg_st_f32(d + t, x0);
  gg_ldg_f32x2(&x0, &x1, a + n * 2 + t * 2);
  gg_st_f32x2(d + n * 2 + t * 2, x0, x1);
  gg_ldg_f32x4(&x0, &x1, &x2, &x3, a + n * 4 + t * 4);
  gg_st_f32x4(d + n * 4 + t * 4, x0, x1, x2, x3);

  d += n * 8;
  gg_ld_f32(&x0, c + t);
  gg_st_f32(d + t, x0);
  gg_ld_f32x2(&x0, &x1, c + n * 2 + t * 2);
  gg_st_f32x2(d + n * 2 + t * 2, x0, x1);
  gg_ld_f32x4(&x0, &x1, &x2, &x3, c + n * 4 + t * 4);
  gg_st_f32x4(d + n * 4 + t * 4, x0, x1, x2, x3);

  gg_ldg_f64(&y0, b + t);
  gg_st_f64(w + t, y0);
  gg_ldg_f64x2(&y0, &y1, b + n * 2 + t * 2);
  gg_st_f64x2(w + n * 2 + t * 2, y0, y1);

  b += n * 4;
  w += n * 4;
  gg_ld_f64(&y0, b + t);
  gg_st_f64(w + t, y0);
  gg_ld_f64x2(&y0, &y1, b + n * 2 + t * 2);
  gg_st_f64x2(w + n * 2 + t * 2, y0, y1);
}

/* Copies of 4, 8 and 16 bytes; D gets the words. */
void access_narrow(const gg_args p) {
  const unsigned t = threadIdx.x;
  const float *a = (const float *)p.a;
  float *d = (float *)p.d;
  float x;
  gg_cp_async_4(t * 4, a + t);
  gg_cp_async_8(128 + t * 8, a + 32 + t * 2);
  gg_cp_async_16(384 + t * 16, a + 96 + t * 4);
  gg_cp_async_commit();
  gg_cp_async_wait_0();
  gg_syncthreads();
  for (unsigned i = t; i < 224; i += 32) {
    gg_lds_f32(&x, i * 4);
    gg_st_f32(d + i, x);
  }
}

/* Zero fill: lane t reads t % (width + 1) bytes. */
void access_zfill(const gg_args p) {
  const unsigned t = threadIdx.x;
  const float *a = (const float *)p.a;
  float *d = (float *)p.d;
  float x;
  gg_cp_async_zfill_4(t * 4, t % 5 == 0 ? 0 : a + t, (int)t % 5);
  gg_cp_async_zfill_8(128 + t * 8, t % 9 == 0 ? 0 : a + 32 + t * 2, (int)t % 9);
  gg_cp_async_zfill_16(384 + t * 16, t % 17 == 0 ? 0 : a + 96 + t * 4, (int)t % 17);
  gg_cp_async_commit();
  gg_cp_async_wait_0();
  gg_syncthreads();
  for (unsigned i = t; i < 224; i += 32) {
    gg_lds_f32(&x, i * 4);
    gg_st_f32(d + i, x);
  }
}

/* Eight groups; wait_7 down to wait_0, after each the oldest word is read. */
void access_wait_groups(const gg_args p) {
  const float *a = (const float *)p.a;
  float *d = (float *)p.d;
  float x;
  for (unsigned i = 0; i < 8; i++) {
    gg_cp_async_4(i * 4, a + i);
    gg_cp_async_commit();
  }
  gg_cp_async_wait_7();
  gg_lds_f32(&x, 0);
  gg_st_f32(d, x);
  gg_cp_async_wait_6();
  gg_lds_f32(&x, 4);
  gg_st_f32(d + 1, x);
  gg_cp_async_wait_5();
  gg_lds_f32(&x, 8);
  gg_st_f32(d + 2, x);
  gg_cp_async_wait_4();
  gg_lds_f32(&x, 12);
  gg_st_f32(d + 3, x);
  gg_cp_async_wait_3();
  gg_lds_f32(&x, 16);
  gg_st_f32(d + 4, x);
  gg_cp_async_wait_2();
  gg_lds_f32(&x, 20);
  gg_st_f32(d + 5, x);
  gg_cp_async_wait_1();
  gg_lds_f32(&x, 24);
  gg_st_f32(d + 6, x);
  gg_cp_async_wait_0();
  gg_lds_f32(&x, 28);
  gg_st_f32(d + 7, x);
}

/* a * b + c with one and with two roundings. */
void access_round(const gg_args p) {
  const float *a = (const float *)p.a;
  const double *b = (const double *)p.b;
  float *d = (float *)p.d;
  double *e = (double *)p.workspace;
  float x, y, z;
  double u, v, w;
  gg_ldg_f32(&x, a);
  gg_ldg_f32(&y, a + 1);
  gg_ldg_f32(&z, a + 2);
  gg_st_f32(d, fmaf(x, y, z));
  gg_st_f32(d + 1, gg_add_f32(gg_mul_f32(x, y), z));
  gg_ldg_f64(&u, b);
  gg_ldg_f64(&v, b + 1);
  gg_ldg_f64(&w, b + 2);
  gg_st_f64(e, fma(u, v, w));
  gg_st_f64(e + 1, gg_add_f64(gg_mul_f64(u, v), w));
}

/* Who am I: block, thread, sizes. */
void access_ids(const gg_args p) {
  float *d =
      (float *)p.d + (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * 2 + threadIdx.x * 2;
  gg_st_f32(d, (float)blockIdx.x);
  gg_st_f32(d + 1, (float)threadIdx.x);
}

/* Addresses by table: A holds, per lane, the shared and the global offset in bytes. p.k: which
 * primitive. p.b is read, p.d written. */
void access_pattern(const gg_args p) {
  const unsigned t = threadIdx.x;
  const float *a = (const float *)p.a;
  const char *b = (const char *)p.b;
  float at, from, x0 = 0, x1 = 0, x2 = 0, x3 = 0;
  gg_ldg_f32(&at, a + t * 2);
  gg_ldg_f32(&from, a + t * 2 + 1);
  const unsigned off = (unsigned)at;
  const char *g = b + (long)from;
  switch (p.k) {
  case 0:
    gg_lds_f32(&x0, off); /* @lds4 */
    break;
  case 1:
    gg_lds_f32x2(&x0, &x1, off); /* @lds8 */
    break;
  case 2:
    gg_lds_f32x4(&x0, &x1, &x2, &x3, off); /* @lds16 */
    break;
  case 3:
    gg_sts_f32(off, x0); /* @sts4 */
    break;
  case 4:
    gg_sts_f32x2(off, x0, x1); /* @sts8 */
    break;
  case 5:
    gg_sts_f32x4(off, x0, x1, x2, x3); /* @sts16 */
    break;
  case 6:
    gg_cp_async_4(off, g); /* @cp4 */
    break;
  case 7:
    gg_cp_async_16(off, g); /* @cp16 */
    break;
  case 8:
    gg_ldg_f32(&x0, (const float *)(const void *)g); /* @ldg4 */
    break;
  case 9:
    gg_ldg_f32x4(&x0, &x1, &x2, &x3, (const float *)(const void *)g); /* @ldg16 */
    break;
  default:
    break;
  }
  gg_cp_async_commit();
  gg_cp_async_wait_0();
}
