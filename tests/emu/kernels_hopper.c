/* kernels_hopper.c - device code: a warp-specialised GEMM of Hopper, and one fault at a time.
 *
 * D[m,n] = A[m,k] * B[n,k]^T in bf16, sums in f32. Tiles of 64 x 64 x 64; warps 0 to 3 multiply,
 * warp 4 loads. The two blocks of a cluster lie one above the other and share the tile of B: each
 * loads half of it for both. A ring of 3 stages; a stage is free when both blocks have read it. The
 * grid is persistent. Stage s: A at s * 16384, B at 8192 more; C at 49152; mbarriers behind.
 */
#include "kernels.h"

enum { STAGES = 3, STAGE = 16384, B_AT = 8192, C_AT = STAGES * STAGE, BARS = C_AT + 8192 };
enum { PRODUCER = 128 };

static unsigned full(unsigned s) {
  return BARS + 8 * s;
}
static unsigned empty(unsigned s) {
  return BARS + 8 * (STAGES + s);
}

/* The tile of this block; clusters along n first. */
static void tile_of(const gg_args *p, int tile, unsigned rank, int *m0, int *n0) {
  const int across = (int)((p->n + 63) / 64);
  *m0 = (tile / across * 2 + (int)rank) * 64;
  *n0 = tile % across * 64;
}

static void produce(const gg_args *p, int fault, int first, int step, int tiles) {
  const unsigned rank = gg_cluster_rank();
  const int steps = (int)((p->k + 63) / 64);
  unsigned s = 0, phase = 0;
  int m0, n0, fills = 0;
  for (int tile = first; tile < tiles; tile += step) {
    tile_of(p, tile, rank, &m0, &n0);
    for (int kt = 0; kt < steps; kt++) {
      const unsigned at = s * STAGE, half = fault == 21 ? 0 : rank * 4096;
      const unsigned bytes = fault == 5 ? 12288u : fault == 6 ? 16400u : 16384u;
      if (fault != 3) gg_mbar_wait(empty(s), phase ^ (fault == 4 ? 0u : 1u)); /* @h_empty */
      gg_mbar_arrive_expect_tx(full(s), bytes);                               /* @h_expect */
      if (fault == 26)
        gg_tma_load_2d(at + 64, &p->map_a, kt * 64, m0, full(s)); /* @h_misaligned */
      else
        gg_tma_load_2d(at, &p->map_a, kt * 64 + (fault == 25), m0, full(s)); /* @h_load_a */
      const unsigned mask = fault == 20 ? 1u << rank : 3;
      const int y = n0 + (int)rank * 32;
      gg_tma_load_2d_multicast(at + B_AT + half, &p->map_b, kt * 64, y, full(s),
                               mask); /* @h_load_b */
      fills++;
      if (++s == STAGES) s = 0, phase ^= 1;
    }
  }
  /* The other block still arrives at these. */
  for (int i = 0; i < STAGES && i < fills && fault != 19; i++) {
    gg_mbar_wait(empty(s), phase ^ 1);
    if (++s == STAGES) s = 0, phase ^= 1;
  }
}

static void release(int fault, unsigned s) {
  const unsigned t = threadIdx.x;
  if (fault == 17) {
    if (t == 0) gg_mbar_arrive(empty(s)); /* @h_release_own */
  } else if (t < 2) {
    gg_mbar_arrive_cluster(empty(s), t); /* @h_release */
  }
}

static void multiply(int fault, float *acc, unsigned s, int first) {
  const unsigned warp = threadIdx.x / 32;
  const unsigned skew = fault == 22 && warp == 2 ? 1024 : 0;
  const unsigned long long a = gg_wgmma_desc(s * STAGE + skew, 16, 1024, 1);
  const unsigned long long b = gg_wgmma_desc(s * STAGE + B_AT, 16, 1024, 1);
  if (fault != 9) gg_wgmma_fence();
  for (unsigned k = 0; k < 4; k++) {
    if (fault == 23 && warp == 3)
      gg_wgmma_m64n64k16_bf16_ss(acc, a + 2 * k, b + 2 * k, k > 0 || !first); /* @h_other_wgmma */
    else if (fault == 27)
      gg_wgmma_m64n64k16_bf16_ss(acc, a + 2 * k + 4096, b + 2 * k,
                                 k > 0 || !first); /* @h_outside */
    else
      gg_wgmma_m64n64k16_bf16_ss(acc, a + 2 * k, b + 2 * k, k > 0 || !first); /* @h_wgmma */
  }
  if (fault != 11) gg_wgmma_commit();
  if (fault == 24) acc[5] = 1.0f;
}

static void store(const gg_args *p, int fault, const float *acc, int m0, int n0) {
  const unsigned t = threadIdx.x, lane = t % 32, row = t / 32 * 16 + lane % 16;
  unsigned r[4];
  if (t == 0 && fault != 15) gg_bulk_wait_read_0(); /* the tile before has left */
  if (fault != 18) gg_bar_sync(1, 128);
  for (unsigned j = 0; j < 4; j++) {
    for (unsigned i = 0; i < 4; i++)
      r[i] = gg_cvt_bf16x2(acc[j * 8 + i * 2], acc[j * 8 + i * 2 + 1]);
    const unsigned chunk = j * 2 + lane / 16;
    gg_stmatrix_x4(C_AT + row * 128 + ((chunk ^ (row & 7)) << 4), r); /* @h_stmatrix */
  }
  if (fault != 12) gg_fence_proxy_async();
  if (fault != 13) gg_bar_sync(1, 128);
  if (t == 0) {
    gg_tma_store_2d(&p->map_d, C_AT, n0, fault == 28 ? -64 : m0); /* @h_store */
    if (fault != 16) gg_bulk_commit();
  }
}

static void consume(const gg_args *p, int fault, int first, int step, int tiles) {
  const int steps = (int)((p->k + 63) / 64);
  unsigned s = 0, phase = 0, last = 0;
  float acc[32] = {0};
  int m0, n0;
  for (int tile = first; tile < tiles; tile += step) {
    for (int kt = 0; kt < steps; kt++) {
      if (fault != 7) gg_mbar_wait(full(s), phase); /* @h_full */
      multiply(fault, acc, s, kt == 0);
      if (fault == 8) {
        release(fault, s);
        gg_wgmma_wait_0();
      } else {
        gg_wgmma_wait_1();
        if (kt > 0) release(fault, last);
      }
      last = s;
      if (++s == STAGES) s = 0, phase ^= 1;
    }
    if (fault != 10) gg_wgmma_wait_0();
    if (fault != 8) release(fault, last);
    if (fault == 29) release(fault, last); /* once too often */
    tile_of(p, tile, gg_cluster_rank(), &m0, &n0);
    store(p, fault, acc, m0, n0);
  }
  if (threadIdx.x == 0 && fault != 14) gg_bulk_wait_0();
}

void hopper_gemm(const gg_args p) {
  const int fault = (int)p.stride_bias;
  const int rows = (int)((p.m + 127) / 128), across = (int)((p.n + 63) / 64);
  const int first = (int)blockIdx.x / 2, step = (int)gridDim.x / 2, tiles = rows * across;
  if (threadIdx.x == PRODUCER) {
    for (unsigned s = 0; s < STAGES; s++) {
      gg_mbar_init(full(s), 1);                     /* @h_init_full */
      gg_mbar_init(empty(s), fault == 17 ? 1u : 2); /* @h_init_empty */
    }
    if (fault != 2) gg_fence_mbarrier_init();
    gg_prefetch_tensormap(&p.map_a);
  }
  if (fault != 1) {
    gg_cluster_arrive_relaxed();
    gg_cluster_wait();
  }
  if (threadIdx.x >= PRODUCER) {
    if (threadIdx.x == PRODUCER) produce(&p, fault, first, step, tiles);
  } else {
    consume(&p, fault, first, step, tiles);
  }
}
