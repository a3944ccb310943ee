// kernels_split.cu - a product whose k is split among the blocks of a cluster, for the test of the
// check: 16 x 16 of D a tile, one element a thread; block r of a cluster takes the r-th part of the
// tiles of 8 of k and hands its sums to block 0, which adds them in order. f32, nn. Emulated GPU only.
#include "gg_kernel.h"

#define TILE_K 8

// Shared memory of block 0: 256 sums of each other block.
#define SPLIT(NAME, PARTS)                                                                         \
  __global__ void NAME(const __grid_constant__ gg_args p) {                                        \
    const int thread = (int)threadIdx.x;                                                           \
    const gg_i64 tiles_n = (p.n + 15) / 16, tiles = (p.m + 15) / 16 * tiles_n;                     \
    const gg_i64 steps = (p.k + TILE_K - 1) / TILE_K, share = (steps + PARTS - 1) / PARTS;         \
    const int rank = (int)gg_cluster_rank();                                                       \
    if (gg_cluster_size() != PARTS) return;                                                        \
    for (gg_i64 t = blockIdx.x / PARTS; t < tiles * p.batch; t += gridDim.x / PARTS) {             \
      const gg_i64 batch = t / tiles, tile = t % tiles;                                            \
      const gg_i64 row = tile / tiles_n * 16 + thread / 16;                                        \
      const gg_i64 column = tile % tiles_n * 16 + thread % 16;                                     \
      const int inside = row < p.m && column < p.n;                                                \
      const gg_i64 first = rank * share * TILE_K, last = first + share * TILE_K;                   \
      float sum = 0, value;                                                                        \
      for (gg_i64 x = first; p.alpha.f32 != 0 && inside && x < last && x < p.k; ++x) {             \
        float a, b;                                                                                \
        gg_ldg_f32(&a, (const float *)p.a + batch * p.stride_a + row * p.lda + x);                 \
        gg_ldg_f32(&b, (const float *)p.b + batch * p.stride_b + x * p.ldb + column);              \
        sum = fmaf(a, b, sum);                                                                     \
      }                                                                                            \
      if (rank != 0) gg_st_cluster_f32(gg_mapa(1024u * (unsigned)rank + 4u * threadIdx.x, 0), sum); \
      gg_cluster_arrive();                                                                         \
      gg_cluster_wait();                                                                           \
      for (int part = 1; rank == 0 && part < PARTS; ++part) {                                      \
        gg_lds_f32(&value, 1024u * (unsigned)part + 4u * threadIdx.x);                             \
        sum = gg_add_f32(sum, value);                                                              \
      }                                                                                            \
      sum = gg_mul_f32(p.alpha.f32, sum);                                                          \
      if (rank == 0 && inside && p.beta.f32 != 0) {                                                \
        gg_ld_f32(&value, (const float *)p.c + batch * p.stride_c + row * p.ldc + column);         \
        sum = fmaf(p.beta.f32, value, sum);                                                        \
      }                                                                                            \
      if (rank == 0 && inside)                                                                     \
        gg_st_f32((float *)p.d + batch * p.stride_d + row * p.ldd + column, sum);                  \
      gg_cluster_arrive();                                                                         \
      gg_cluster_wait();                                                                           \
    }                                                                                              \
  }

SPLIT(test_split_2, 2)
SPLIT(test_split_4, 4)
