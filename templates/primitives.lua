-- primitives.lua - the device primitives as inline PTX (docs/primitives.md). An emitted file
-- defines those it uses and no others.

local wgmma = use("primitives_wgmma")
local wmma = use("primitives_wmma")
local mma = use("primitives_mma")

local primitives = {}

local definitions = {}

-- `older`: what stands instead for architectures before `arch`, where the instruction is missing:
-- { arch =, uses =, text = }.
local function define(name, uses, text, older)
  definitions[name] = { uses = uses, text = text, older = older }
end

use("primitives_memory")(define)
use("primitives_numbers")(define)

define("gg_shared", {}, [[
// Address of byte `off` of the block's dynamic shared memory, in the shared window.
static __device__ __forceinline__ unsigned gg_shared(unsigned off) {
  return (unsigned)__cvta_generic_to_shared(gg_shared_bytes) + off;
}]])

for _, width in ipairs { 4, 8, 16 } do
  local cache = width == 16 and "cg" or "ca"
  define("gg_cp_async_" .. width, { "gg_shared" }, ([[
static __device__ __forceinline__ void gg_cp_async_%d(unsigned off, const void *p) {
  asm volatile("cp.async.%s.shared.global [%%0], [%%1], %d;" : : "r"(gg_shared(off)), "l"(p));
}]]):format(width, cache, width))
  define("gg_cp_async_zfill_" .. width, { "gg_shared" }, ([[
static __device__ __forceinline__ void gg_cp_async_zfill_%d(unsigned off, const void *p, int bytes) {
  asm volatile("cp.async.%s.shared.global [%%0], [%%1], %d, %%2;"
               : : "r"(gg_shared(off)), "l"(p), "r"(bytes));
}]]):format(width, cache, width))
end

define("gg_cp_async_commit", {}, [[
static __device__ __forceinline__ void gg_cp_async_commit(void) {
  asm volatile("cp.async.commit_group;" : : : "memory");
}]])

for n = 0, 15 do
  define("gg_cp_async_wait_" .. n, {}, ([[
static __device__ __forceinline__ void gg_cp_async_wait_%d(void) {
  asm volatile("cp.async.wait_group %d;" : : : "memory");
}]]):format(n, n))
end

define("gg_syncthreads", {}, [[
static __device__ __forceinline__ void gg_syncthreads(void) {
  asm volatile("bar.sync 0;" : : : "memory");
}]])

define("gg_syncwarp", {}, [[
static __device__ __forceinline__ void gg_syncwarp(void) {
  asm volatile("bar.warp.sync -1;" : : : "memory");
}]])

define("gg_grid_wait", {}, [[
static __device__ __forceinline__ void gg_grid_wait(void) {
  asm volatile("griddepcontrol.wait;" : : : "memory");
}]])

define("gg_grid_release", {}, [[
static __device__ __forceinline__ void gg_grid_release(void) {
  asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
}]])

define("gg_bar_sync", {}, [[
static __device__ __forceinline__ void gg_bar_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" : : "r"(id), "r"(threads) : "memory");
}]])

define("gg_bar_arrive", {}, [[
static __device__ __forceinline__ void gg_bar_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" : : "r"(id), "r"(threads) : "memory");
}]])

define("gg_prmt", {}, [[
static __device__ __forceinline__ unsigned gg_prmt(unsigned a, unsigned b, unsigned selector) {
  unsigned d;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selector));
  return d;
}]])
define("gg_shfl_sync_idx_u32", {}, [[
static __device__ __forceinline__ unsigned gg_shfl_sync_idx_u32(unsigned x, int lane) {
  unsigned y;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, -1;" : "=r"(y) : "r"(x), "r"(lane));
  return y;
}]])
define("gg_mbar_init", { "gg_shared" }, [[
static __device__ __forceinline__ void gg_mbar_init(unsigned off, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(gg_shared(off)), "r"(count) : "memory");
}]])
define("gg_fence_mbarrier_init", {}, [[
static __device__ __forceinline__ void gg_fence_mbarrier_init(void) {
  asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}]])
define("gg_prefetch_tensormap", {}, [[
static __device__ __forceinline__ void gg_prefetch_tensormap(const gg_tensor_map *map) {
  asm volatile("prefetch.tensormap [%0];" : : "l"(map) : "memory");
}]])
define("gg_mbar_arrive", { "gg_shared" }, [[
static __device__ __forceinline__ void gg_mbar_arrive(unsigned off) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(gg_shared(off)) : "memory");
}]])
define("gg_mbar_arrive_cluster", { "gg_shared" }, [[
// Without qualifiers: .release.cluster would fence all of the GPU's memory each time.
static __device__ __forceinline__ void gg_mbar_arrive_cluster(unsigned off, unsigned rank) {
  asm volatile("{\n"
               ".reg .b32 there;\n"
               "mapa.shared::cluster.u32 there, %0, %1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
               "}" : : "r"(gg_shared(off)), "r"(rank) : "memory");
}]])
define("gg_mbar_arrive_expect_tx", { "gg_shared" }, [[
static __device__ __forceinline__ void gg_mbar_arrive_expect_tx(unsigned off, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               : : "r"(gg_shared(off)), "r"(bytes) : "memory");
}]])
define("gg_mbar_test", { "gg_shared" }, [[
static __device__ __forceinline__ int gg_mbar_test(unsigned off, unsigned parity) {
  int done;
  asm volatile("{\n"
               ".reg .pred done;\n"
               "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n"
               "selp.s32 %0, 1, 0, done;\n"
               "}" : "=r"(done) : "r"(gg_shared(off)), "r"(parity) : "memory");
  return done;
}]])
define("gg_mbar_wait", { "gg_shared" }, [[
static __device__ __forceinline__ void gg_mbar_wait(unsigned off, unsigned parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "wait%=:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra wait%=;\n"
               "}" : : "r"(gg_shared(off)), "r"(parity) : "memory");
}]])
-- Into the block's own shared memory, which cards with clusters (sm_90) name as a part of the cluster's; sm_120, which
-- has none, would call a function to tell whose it is, and its assembler knows the shorter name.
local function tma_load(space)
  return ([[
static __device__ __forceinline__ void gg_tma_load_3d(unsigned off, const gg_tensor_map *map, int x, int y,
                                                      int z, unsigned mbar) {
  asm volatile("cp.async.bulk.tensor.3d.shared::%s.global.tile.mbarrier::complete_tx::bytes "
               "[%%0], [%%1, {%%3, %%4, %%5}], [%%2];"
               : : "r"(gg_shared(off)), "l"(map), "r"(gg_shared(mbar)), "r"(x), "r"(y), "r"(z) : "memory");
}]]):format(space)
end
define("gg_tma_load_3d", { "gg_shared" }, tma_load("cta"),
  { arch = 100, uses = { "gg_shared" }, text = tma_load("cluster") })
define("gg_tma_load_3d_multicast", { "gg_shared" }, [[
// The box goes to the same offset of every block in mask (bit: rank), and is counted there at mbar.
static __device__ __forceinline__ void gg_tma_load_3d_multicast(unsigned off, const gg_tensor_map *map, int x,
                                                                int y, int z, unsigned mbar, unsigned mask) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
               "[%0], [%1, {%3, %4, %5}], [%2], %6;"
               : : "r"(gg_shared(off)), "l"(map), "r"(gg_shared(mbar)), "r"(x), "r"(y), "r"(z),
                   "h"((unsigned short)mask) : "memory");
}]])
define("gg_tma_store_3d", { "gg_shared" }, [[
static __device__ __forceinline__ void gg_tma_store_3d(const gg_tensor_map *map, unsigned off, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];"
               : : "l"(map), "r"(gg_shared(off)), "r"(x), "r"(y), "r"(z) : "memory");
}]])
define("gg_bulk_commit", {}, [[
static __device__ __forceinline__ void gg_bulk_commit(void) {
  asm volatile("cp.async.bulk.commit_group;" : : : "memory");
}]])
for n = 0, 7 do
  define("gg_bulk_wait_read_" .. n, {}, ([[
static __device__ __forceinline__ void gg_bulk_wait_read_%d(void) {
  asm volatile("cp.async.bulk.wait_group.read %d;" : : : "memory");
}]]):format(n, n))
  define("gg_bulk_wait_" .. n, {}, ([[
static __device__ __forceinline__ void gg_bulk_wait_%d(void) {
  asm volatile("cp.async.bulk.wait_group %d;" : : : "memory");
}]]):format(n, n))
  define("gg_wgmma_wait_" .. n, {}, ([[
static __device__ __forceinline__ void gg_wgmma_wait_%d(void) {
  asm volatile("wgmma.wait_group.sync.aligned %d;" : : : "memory");
}]]):format(n, n))
end
define("gg_fence_proxy_async", {}, [[
static __device__ __forceinline__ void gg_fence_proxy_async(void) {
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}]])
define("gg_wgmma_fence", {}, [[
static __device__ __forceinline__ void gg_wgmma_fence(void) {
  asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}]])
define("gg_wgmma_commit", {}, [[
static __device__ __forceinline__ void gg_wgmma_commit(void) {
  asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}]])
define("gg_wgmma_desc", { "gg_shared" }, [[
// Matrix descriptor of shared memory: byte strides, layout 1 is the 128-byte swizzle.
static __device__ __forceinline__ gg_u64 gg_wgmma_desc(unsigned off, unsigned lbo, unsigned sbo, unsigned layout) {
  return (gg_u64)((gg_shared(off) & 0x3ffff) >> 4) | (gg_u64)(lbo >> 4) << 16 | (gg_u64)(sbo >> 4) << 32
         | (gg_u64)layout << 62;
}]])
define("gg_stmatrix_x4", { "gg_shared" }, [[
static __device__ __forceinline__ void gg_stmatrix_x4(unsigned off, const unsigned *r) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
               : : "r"(gg_shared(off)), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
}]])
define("gg_stmatrix_x4_trans", { "gg_shared" }, [[
static __device__ __forceinline__ void gg_stmatrix_x4_trans(unsigned off, const unsigned *r) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
               : : "r"(gg_shared(off)), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
}]])
define("gg_stmatrix_x2_trans", { "gg_shared" }, [[
static __device__ __forceinline__ void gg_stmatrix_x2_trans(unsigned off, const unsigned *r) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};"
               : : "r"(gg_shared(off)), "r"(r[0]), "r"(r[1]) : "memory");
}]])
define("gg_stmatrix_x2", { "gg_shared" }, [[
static __device__ __forceinline__ void gg_stmatrix_x2(unsigned off, const unsigned *r) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};"
               : : "r"(gg_shared(off)), "r"(r[0]), "r"(r[1]) : "memory");
}]])
define("gg_bar_arrive", {}, [[
static __device__ __forceinline__ void gg_bar_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" : : "r"(id), "r"(threads) : "memory");
}]])
define("gg_cluster_rank", {}, [[
static __device__ __forceinline__ unsigned gg_cluster_rank(void) {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}]])
define("gg_cluster_arrive", {}, [[
static __device__ __forceinline__ void gg_cluster_arrive(void) {
  asm volatile("barrier.cluster.arrive.aligned;" : : : "memory");
}]])
define("gg_cluster_arrive_relaxed", {}, [[
static __device__ __forceinline__ void gg_cluster_arrive_relaxed(void) {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" : : : "memory");
}]])
define("gg_cluster_wait", {}, [[
static __device__ __forceinline__ void gg_cluster_wait(void) {
  asm volatile("barrier.cluster.wait.aligned;" : : : "memory");
}]])
define("gg_mapa", { "gg_shared" }, [[
static __device__ __forceinline__ unsigned gg_mapa(unsigned off, unsigned rank) {
  unsigned address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(gg_shared(off)), "r"(rank));
  return address;
}]])
define("gg_ld_cluster_f32x4", {}, [[
static __device__ __forceinline__ void gg_ld_cluster_f32x4(float *x0, float *x1, float *x2, float *x3,
                                                           unsigned address) {
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(*x0), "=f"(*x1), "=f"(*x2), "=f"(*x3) : "r"(address));
}]])
define("gg_lds_u16", { "gg_shared" }, [[
static __device__ __forceinline__ void gg_lds_u16(unsigned short *x, unsigned off) {
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(*x) : "r"(gg_shared(off)));
}]])
define("gg_ld_u32", {}, [[
static __device__ __forceinline__ void gg_ld_u32(unsigned *x, const unsigned *p) {
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(*x) : "l"(p) : "memory");
}]])
for n = 24, 248, 8 do
  for _, way in ipairs { "inc", "dec" } do
    define(("gg_setmaxnreg_%s_%d"):format(way, n), {}, ([[
static __device__ __forceinline__ void gg_setmaxnreg_%s_%d(void) {
  asm volatile("setmaxnreg.%s.sync.aligned.u32 %d;");
}]]):format(way, n, way, n))
  end
end

-- Text of section 3 for a kernel whose lines are given: the definitions in order of first use,
-- each after those it needs.
function primitives.section(lines, shared_bytes, arch)
  local out, done = {}, {}
  if shared_bytes > 0 then
    out[#out + 1] = "extern __shared__ __align__(1024) unsigned char gg_shared_bytes[];"
    out[#out + 1] = ""
  end
  local function add(name)
    if done[name] then return end
    done[name] = true
    local definition = definitions[name] or wgmma.definition(name) or wmma(name) or mma(name)
    if definition == nil then error("no primitive is called " .. name, 0) end
    local older = definition.older
    if older and arch < older.arch then definition = older end
    for _, needed in ipairs(definition.uses) do add(needed) end
    for line in (definition.text .. "\n"):gmatch("([^\n]*)\n") do out[#out + 1] = line end
    out[#out + 1] = ""
  end
  for _, line in ipairs(lines) do
    if line:find("gg_", 1, true) then
      local comment = line:find("//", 1, true)
      local code = comment and line:sub(1, comment - 1) or line
      for name in code:gmatch("(gg_%w[%w_]*)%s*%(") do add(name) end
    end
  end
  out[#out] = nil -- the last blank line
  return out
end

return primitives
