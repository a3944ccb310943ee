/* ptx.cuh - the primitives that kernels.cu uses, as inline PTX for sm_90a: docs/primitives.md. The
 * products of wgmma come from products.sh.
 */
#define GG_D __device__ __forceinline__

extern __shared__ __align__(1024) unsigned char gg_shared[];

GG_D unsigned gg_at(unsigned off) {
  return (unsigned)__cvta_generic_to_shared(gg_shared) + off;
}

/* -- Bits and conversions -- */

GG_D unsigned gg_as_u32(float x) {
  return __float_as_uint(x);
}
GG_D float gg_as_f32(unsigned x) {
  return __uint_as_float(x);
}

#define GG_CVT2(NAME, PTX, T, C)                                                                   \
  GG_D T NAME(float lo, float hi) {                                                                \
    T d;                                                                                           \
    asm(PTX " %0, %1, %2;" : "=" C(d) : "f"(hi), "f"(lo));                                         \
    return d;                                                                                      \
  }
GG_CVT2(gg_cvt_bf16x2, "cvt.rn.bf16x2.f32", unsigned, "r")
GG_CVT2(gg_cvt_f16x2, "cvt.rn.f16x2.f32", unsigned, "r")
GG_CVT2(gg_cvt_e4m3x2, "cvt.rn.satfinite.e4m3x2.f32", unsigned short, "h")
GG_CVT2(gg_cvt_e5m2x2, "cvt.rn.satfinite.e5m2x2.f32", unsigned short, "h")

#define GG_CVT(NAME, PTX, T)                                                                       \
  GG_D T NAME(float x) {                                                                           \
    T d;                                                                                           \
    asm(PTX " %0, %1;" : "=r"(d) : "f"(x));                                                        \
    return d;                                                                                      \
  }
GG_CVT(gg_cvt_tf32, "cvt.rna.tf32.f32", unsigned)
GG_CVT(gg_cvt_s8, "cvt.rni.sat.s8.f32", int)
GG_CVT(gg_cvt_u8, "cvt.rni.sat.u8.f32", int)
GG_CVT(gg_cvt_s32, "cvt.rni.s32.f32", int)

GG_D float gg_f32_from_f16(unsigned bits) {
  float d;
  asm("cvt.f32.f16 %0, %1;" : "=f"(d) : "h"((unsigned short)bits));
  return d;
}
#define GG_UNPACK8(NAME, TYPE)                                                                     \
  GG_D float NAME(unsigned bits) {                                                                 \
    unsigned two;                                                                                  \
    asm("cvt.rn.f16x2." TYPE "x2 %0, %1;" : "=r"(two) : "h"((unsigned short)(bits & 255)));        \
    return gg_f32_from_f16(two & 0xffff);                                                          \
  }
GG_UNPACK8(gg_f32_from_e4m3, "e4m3")
GG_UNPACK8(gg_f32_from_e5m2, "e5m2")

GG_D unsigned gg_prmt(unsigned a, unsigned b, unsigned s) {
  unsigned d;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(s));
  return d;
}
#define GG_BINARY(NAME, PTX)                                                                       \
  GG_D float NAME(float a, float b) {                                                              \
    float d;                                                                                       \
    asm(PTX " %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));                                            \
    return d;                                                                                      \
  }
GG_BINARY(gg_min_f32, "min.f32")
GG_BINARY(gg_max_f32, "max.f32")
GG_BINARY(gg_add_f32, "add.rn.f32")
GG_BINARY(gg_mul_f32, "mul.rn.f32")
GG_BINARY(gg_div_f32, "div.rn.f32")
GG_D float gg_f32_from_s32(int x) {
  float d;
  asm("cvt.rn.f32.s32 %0, %1;" : "=f"(d) : "r"(x));
  return d;
}
GG_D unsigned gg_redux_max_u32(unsigned x) {
  unsigned d;
  asm volatile("redux.sync.max.u32 %0, %1, -1;" : "=r"(d) : "r"(x));
  return d;
}
GG_D unsigned gg_shfl_sync_xor_u32(unsigned x, int mask) {
  unsigned d;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, -1;" : "=r"(d) : "r"(x), "r"(mask));
  return d;
}

/* -- Memory -- */

GG_D void gg_lds_u32(unsigned *x, unsigned off) {
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(*x) : "r"(gg_at(off)) : "memory");
}
GG_D void gg_sts_u32(unsigned off, unsigned x) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(gg_at(off)), "r"(x) : "memory");
}
GG_D void gg_ldg_u32(unsigned *x, const unsigned *p) {
  asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(*x) : "l"(p));
}
GG_D void gg_ldg_u32x2(unsigned *x, unsigned *y, const unsigned *p) {
  asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(*x), "=r"(*y) : "l"(p));
}
GG_D void gg_ldg_u32x4(unsigned *x, unsigned *y, unsigned *z, unsigned *w, const unsigned *p) {
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(*x), "=r"(*y), "=r"(*z), "=r"(*w)
               : "l"(p));
}
GG_D void gg_ldg_f64(double *x, const double *p) {
  asm volatile("ld.global.nc.f64 %0, [%1];" : "=d"(*x) : "l"(p));
}
GG_D void gg_st_u32(unsigned *p, unsigned x) {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
}
GG_D void gg_st_f64(double *p, double x) {
  asm volatile("st.global.f64 [%0], %1;" ::"l"(p), "d"(x) : "memory");
}
GG_D void gg_cp_async_zfill_16(unsigned off, const void *p, int n) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(gg_at(off)), "l"(p), "r"(n)
               : "memory");
}
GG_D void gg_cp_async_zfill_8(unsigned off, const void *p, int n) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(gg_at(off)), "l"(p), "r"(n)
               : "memory");
}
GG_D void gg_cp_async_zfill_4(unsigned off, const void *p, int n) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(gg_at(off)), "l"(p), "r"(n)
               : "memory");
}

#define GG_PLAIN(NAME, PTX)                                                                        \
  GG_D void NAME() {                                                                               \
    asm volatile(PTX ";" ::: "memory");                                                            \
  }
GG_PLAIN(gg_cp_async_commit, "cp.async.commit_group")
GG_PLAIN(gg_cp_async_wait_0, "cp.async.wait_group 0")
GG_PLAIN(gg_syncthreads, "bar.sync 0")
GG_PLAIN(gg_fence_mbarrier_init, "fence.mbarrier_init.release.cluster")
GG_PLAIN(gg_fence_proxy_async, "fence.proxy.async.shared::cta")
GG_PLAIN(gg_bulk_commit, "cp.async.bulk.commit_group")
GG_PLAIN(gg_bulk_wait_0, "cp.async.bulk.wait_group 0")
GG_PLAIN(gg_wgmma_fence, "wgmma.fence.sync.aligned")
GG_PLAIN(gg_wgmma_commit, "wgmma.commit_group.sync.aligned")
GG_PLAIN(gg_wgmma_wait_0, "wgmma.wait_group.sync.aligned 0")
GG_PLAIN(gg_cluster_arrive, "barrier.cluster.arrive.aligned")
GG_PLAIN(gg_cluster_arrive_relaxed, "barrier.cluster.arrive.relaxed.aligned")
GG_PLAIN(gg_cluster_wait, "barrier.cluster.wait.aligned")

GG_D void gg_bar_sync(int id, int n) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory");
}
GG_D void gg_bar_arrive(int id, int n) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory");
}

/* -- Matrices -- */

#define GG_LDMATRIX(NAME, PTX, N, OUT, IN)                                                         \
  GG_D void NAME(unsigned *r, unsigned off) {                                                      \
    asm volatile("ldmatrix.sync.aligned.m8n8." PTX ".shared.b16 " N ";"                            \
                 : OUT                                                                             \
                 : "r"(gg_at(off))                                                                 \
                 : "memory");                                                                      \
  }
#define GG_OUT1 "=r"(r[0])
#define GG_OUT2 "=r"(r[0]), "=r"(r[1])
#define GG_OUT4 "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
GG_LDMATRIX(gg_ldmatrix_x1, "x1", "{%0}, [%1]", GG_OUT1, )
GG_LDMATRIX(gg_ldmatrix_x2, "x2", "{%0, %1}, [%2]", GG_OUT2, )
GG_LDMATRIX(gg_ldmatrix_x4, "x4", "{%0, %1, %2, %3}, [%4]", GG_OUT4, )
GG_LDMATRIX(gg_ldmatrix_x1_trans, "x1.trans", "{%0}, [%1]", GG_OUT1, )
GG_LDMATRIX(gg_ldmatrix_x2_trans, "x2.trans", "{%0, %1}, [%2]", GG_OUT2, )
GG_LDMATRIX(gg_ldmatrix_x4_trans, "x4.trans", "{%0, %1, %2, %3}, [%4]", GG_OUT4, )

#define GG_STMATRIX(NAME, PTX, N, ...)                                                             \
  GG_D void NAME(unsigned off, const unsigned *r) {                                                \
    asm volatile("stmatrix.sync.aligned.m8n8." PTX ".shared.b16 [%0], " N ";" ::"r"(gg_at(off)),   \
                 __VA_ARGS__                                                                       \
                 : "memory");                                                                      \
  }
GG_STMATRIX(gg_stmatrix_x1, "x1", "{%1}", "r"(r[0]))
GG_STMATRIX(gg_stmatrix_x2, "x2", "{%1, %2}", "r"(r[0]), "r"(r[1]))
GG_STMATRIX(gg_stmatrix_x4, "x4", "{%1, %2, %3, %4}", "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]))
GG_STMATRIX(gg_stmatrix_x1_trans, "x1.trans", "{%1}", "r"(r[0]))
GG_STMATRIX(gg_stmatrix_x2_trans, "x2.trans", "{%1, %2}", "r"(r[0]), "r"(r[1]))
GG_STMATRIX(gg_stmatrix_x4_trans, "x4.trans", "{%1, %2, %3, %4}", "r"(r[0]), "r"(r[1]), "r"(r[2]),
            "r"(r[3]))

/* -- mma.sync: by the number of registers of D, A, B -- */

#define GG_MMA_422(NAME, PTX, T, C)                                                                \
  GG_D void NAME(T *d, const unsigned *a, const unsigned *b) {                                     \
    asm volatile("mma.sync.aligned." PTX " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"  \
                 : "+" C(d[0]), "+" C(d[1]), "+" C(d[2]), "+" C(d[3])                              \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));              \
  }
#define GG_MMA_421(NAME, PTX, T, C)                                                                \
  GG_D void NAME(T *d, const unsigned *a, const unsigned *b) {                                     \
    asm volatile("mma.sync.aligned." PTX " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"           \
                 : "+" C(d[0]), "+" C(d[1]), "+" C(d[2]), "+" C(d[3])                              \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]));                                               \
  }
GG_MMA_422(gg_mma_m16n8k16_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "f")
GG_MMA_422(gg_mma_m16n8k16_f16, "m16n8k16.row.col.f32.f16.f16.f32", float, "f")
GG_MMA_422(gg_mma_m16n8k8_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "f")
GG_MMA_422(gg_mma_m16n8k32_e4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32", float, "f")
GG_MMA_422(gg_mma_m16n8k32_e5m2, "m16n8k32.row.col.f32.e5m2.e5m2.f32", float, "f")
GG_MMA_422(gg_mma_m16n8k32_e4m3_e5m2, "m16n8k32.row.col.f32.e4m3.e5m2.f32", float, "f")
GG_MMA_422(gg_mma_m16n8k32_e5m2_e4m3, "m16n8k32.row.col.f32.e5m2.e4m3.f32", float, "f")
GG_MMA_421(gg_mma_m16n8k8_f16, "m16n8k8.row.col.f32.f16.f16.f32", float, "f")
GG_D void gg_mma_m16n8k16_f16_acc16(unsigned *d, const unsigned *a, const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, "
               "{%0,%1};"
               : "+r"(d[0]), "+r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
GG_D void gg_mma_m16n8k8_f16_acc16(unsigned *d, const unsigned *a, const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
               : "+r"(d[0]), "+r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}
#define GG_MMA_211(NAME, PTX)                                                                      \
  GG_D void NAME(int *d, const unsigned *a, const unsigned *b) {                                   \
    asm volatile("mma.sync.aligned." PTX " {%0,%1}, {%2}, {%3}, {%0,%1};"                          \
                 : "+r"(d[0]), "+r"(d[1])                                                          \
                 : "r"(a[0]), "r"(b[0]));                                                          \
  }
#define GG_MMA_INTEGERS(SUFFIX, A, B)                                                              \
  GG_MMA_422(gg_mma_m16n8k32_##SUFFIX, "m16n8k32.row.col.s32." A "." B ".s32", int, "r")           \
  GG_MMA_421(gg_mma_m16n8k16_##SUFFIX, "m16n8k16.row.col.s32." A "." B ".s32", int, "r")           \
  GG_MMA_211(gg_mma_m8n8k16_##SUFFIX, "m8n8k16.row.col.s32." A "." B ".s32")
GG_MMA_INTEGERS(s8, "s8", "s8")
GG_MMA_INTEGERS(u8, "u8", "u8")
GG_MMA_INTEGERS(s8_u8, "s8", "u8")
GG_MMA_INTEGERS(u8_s8, "u8", "s8")
GG_D void gg_mma_m8n8k4_f64(double *d, const double *a, const double *b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(d[0]), "+d"(d[1])
               : "d"(a[0]), "d"(b[0]));
}
GG_D void gg_mma_m16n8k4_f64(double *d, const double *a, const double *b) {
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
               "{%0,%1,%2,%3};"
               : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
               : "d"(a[0]), "d"(a[1]), "d"(b[0]));
}
GG_D void gg_mma_m16n8k8_f64(double *d, const double *a, const double *b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
               "{%8,%9}, {%0,%1,%2,%3};"
               : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
GG_D void gg_mma_m16n8k16_f64(double *d, const double *a, const double *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
               "{%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
               : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]),
                 "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

/* -- mbarriers, TMA, clusters -- */

GG_D void gg_mbar_init(unsigned off, unsigned n) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(gg_at(off)), "r"(n) : "memory");
}
GG_D void gg_mbar_arrive_expect_tx(unsigned off, unsigned n) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(gg_at(off)), "r"(n)
               : "memory");
}
GG_D void gg_mbar_arrive_cluster(unsigned off, unsigned rank) {
  asm volatile("{\n.reg .b32 a;\nmapa.shared::cluster.u32 a, %0, %1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [a];\n}" ::"r"(gg_at(off)),
               "r"(rank)
               : "memory");
}
GG_D void gg_mbar_wait(unsigned off, unsigned parity) {
  asm volatile("{\n.reg .pred p;\nW%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
               "@p bra D%=;\nbra W%=;\nD%=:\n}" ::"r"(gg_at(off)),
               "r"(parity)
               : "memory");
}
#define GG_TENSOR_LOAD(NAME, D, ARGS, XS, ...)                                                     \
  GG_D void NAME(unsigned off, const void *map, ARGS, unsigned bar) {                              \
    asm volatile("cp.async.bulk.tensor." D ".shared::cluster.global.tile.mbarrier::complete_tx"    \
                 "::bytes [%0], [%1, {" XS "}], [%2];" ::"r"(gg_at(off)),                          \
                 "l"(map), "r"(gg_at(bar)), __VA_ARGS__                                            \
                 : "memory");                                                                      \
  }
#define GG_TENSOR_STORE(NAME, PTX, ARGS, XS, ...)                                                  \
  GG_D void NAME(const void *map, unsigned off, ARGS) {                                            \
    asm volatile(PTX " [%0, {" XS "}], [%1];" ::"l"(map), "r"(gg_at(off)), __VA_ARGS__             \
                 : "memory");                                                                      \
  }
#define GG_2            int x, int y
#define GG_3            int x, int y, int z
#define GG_4            int x, int y, int z, int w
#define GG_STORE_PTX(D) "cp.async.bulk.tensor." D ".global.shared::cta.tile.bulk_group"
#define GG_ADD_PTX(D)   "cp.reduce.async.bulk.tensor." D ".global.shared::cta.add.tile.bulk_group"
#define GG_COMMA        ,
GG_TENSOR_LOAD(gg_tma_load_2d, "2d", int x GG_COMMA int y, "%3, %4", "r"(x), "r"(y))
GG_TENSOR_LOAD(gg_tma_load_3d, "3d", int x GG_COMMA int y GG_COMMA int z, "%3, %4, %5", "r"(x),
               "r"(y), "r"(z))
GG_TENSOR_LOAD(gg_tma_load_4d, "4d", int x GG_COMMA int y GG_COMMA int z GG_COMMA int w,
               "%3, %4, %5, %6", "r"(x), "r"(y), "r"(z), "r"(w))
GG_TENSOR_STORE(gg_tma_store_2d, GG_STORE_PTX("2d"), int x GG_COMMA int y, "%2, %3", "r"(x), "r"(y))
GG_TENSOR_STORE(gg_tma_store_3d, GG_STORE_PTX("3d"), int x GG_COMMA int y GG_COMMA int z,
                "%2, %3, %4", "r"(x), "r"(y), "r"(z))
GG_TENSOR_STORE(gg_tma_store_4d, GG_STORE_PTX("4d"),
                int x GG_COMMA int y GG_COMMA int z GG_COMMA int w, "%2, %3, %4, %5", "r"(x),
                "r"(y), "r"(z), "r"(w))
GG_TENSOR_STORE(gg_tma_reduce_add_2d, GG_ADD_PTX("2d"), int x GG_COMMA int y, "%2, %3", "r"(x),
                "r"(y))
GG_TENSOR_STORE(gg_tma_reduce_add_3d, GG_ADD_PTX("3d"), int x GG_COMMA int y GG_COMMA int z,
                "%2, %3, %4", "r"(x), "r"(y), "r"(z))
GG_D void gg_tma_load_2d_multicast(unsigned off, const void *map, int x, int y, unsigned bar,
                                   unsigned mask) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(gg_at(off)),
               "l"(map), "r"(gg_at(bar)), "r"(x), "r"(y), "h"((unsigned short)mask)
               : "memory");
}
GG_D void gg_bulk_load(unsigned off, const void *p, unsigned n, unsigned bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
               "[%3];" ::"r"(gg_at(off)),
               "l"(p), "r"(n), "r"(gg_at(bar))
               : "memory");
}
GG_D void gg_bulk_store(void *p, unsigned off, unsigned n) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(p),
               "r"(gg_at(off)), "r"(n)
               : "memory");
}
GG_D unsigned gg_cluster_rank() {
  unsigned r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
GG_D unsigned gg_mapa(unsigned off, unsigned rank) {
  unsigned a;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(gg_at(off)), "r"(rank));
  return a;
}
GG_D void gg_ld_cluster_u32(unsigned *x, unsigned a) {
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(*x) : "r"(a) : "memory");
}
GG_D unsigned long long gg_wgmma_desc(unsigned off, unsigned lbo, unsigned sbo, unsigned layout) {
  return (unsigned long long)(gg_at(off) >> 4 & 0x3fff) |
         (unsigned long long)(lbo >> 4 & 0x3fff) << 16 |
         (unsigned long long)(sbo >> 4 & 0x3fff) << 32 | (unsigned long long)layout << 62;
}
