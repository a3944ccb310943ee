-- primitives.lua - the device primitives as inline PTX (docs/primitives.md). An emitted file
-- defines those it uses and no others.

local wgmma = use("primitives_wgmma")
local wmma = use("primitives_wmma")

local primitives = {}

-- One loop-generated family of memory accesses: element type x vector length.
local types = {
  f32 = { c = "float", ptx = "f32", constraint = "f" },
  f64 = { c = "double", ptx = "f64", constraint = "d", longest = 2 },
  u16 = { c = "unsigned short", ptx = "b16", constraint = "h", longest = 1 },
  u32 = { c = "unsigned", ptx = "b32", constraint = "r" },
}

local function list(n, format)
  local items = {}
  for i = 0, n - 1 do items[#items + 1] = (format:gsub("#", tostring(i))) end
  return table.concat(items, ", ")
end

local function braces(n, first)
  if n == 1 then return "%" .. first end
  local items = {}
  for i = first, first + n - 1 do items[#items + 1] = "%" .. i end
  return "{" .. table.concat(items, ", ") .. "}"
end

local definitions = {}

local function define(name, uses, text)
  definitions[name] = { uses = uses, text = text }
end

define("gg_shared", {}, [[
// Address of byte `off` of the block's dynamic shared memory, in the shared window.
static __device__ __forceinline__ unsigned gg_shared(unsigned off) {
  return (unsigned)__cvta_generic_to_shared(gg_shared_bytes) + off;
}]])

for _, short in ipairs { "f32", "f64", "u16", "u32" } do
  local t = types[short]
  for _, n in ipairs { 1, 2, 4 } do
    if n <= (t.longest or 4) then
      local suffix = n == 1 and short or short .. "x" .. n
      local vector = n == 1 and "" or ".v" .. n
      local pointers = n == 1 and t.c .. " *x" or list(n, t.c .. " *x#")
      local values = n == 1 and t.c .. " x" or list(n, t.c .. " x#")
      local outputs = n == 1 and ('"=%s"(*x)'):format(t.constraint)
        or list(n, ('"=%s"(*x#)'):format(t.constraint))
      local inputs = n == 1 and ('"%s"(x)'):format(t.constraint)
        or list(n, ('"%s"(x#)'):format(t.constraint))

      define("gg_lds_" .. suffix, { "gg_shared" }, ([[
static __device__ __forceinline__ void gg_lds_%s(%s, unsigned off) {
  asm volatile("ld.shared%s.%s %s, [%%%d];" : %s : "r"(gg_shared(off)));
}]]):format(suffix, pointers, vector, t.ptx, braces(n, 0), n, outputs))

      define("gg_sts_" .. suffix, { "gg_shared" }, ([[
static __device__ __forceinline__ void gg_sts_%s(unsigned off, %s) {
  asm volatile("st.shared%s.%s [%%0], %s;" : : "r"(gg_shared(off)), %s : "memory");
}]]):format(suffix, values, vector, t.ptx, braces(n, 1), inputs))

      define("gg_ldg_" .. suffix, {}, ([[
static __device__ __forceinline__ void gg_ldg_%s(%s, const %s *p) {
  asm volatile("ld.global.nc%s.%s %s, [%%%d];" : %s : "l"(p));
}]]):format(suffix, pointers, t.c, vector, t.ptx, braces(n, 0), n, outputs))

      define("gg_ld_" .. suffix, {}, ([[
static __device__ __forceinline__ void gg_ld_%s(%s, const %s *p) {
  asm volatile("ld.global%s.%s %s, [%%%d];" : %s : "l"(p) : "memory");
}]]):format(suffix, pointers, t.c, vector, t.ptx, braces(n, 0), n, outputs))

      define("gg_st_" .. suffix, {}, ([[
static __device__ __forceinline__ void gg_st_%s(%s *p, %s) {
  asm volatile("st.global%s.%s [%%0], %s;" : : "l"(p), %s : "memory");
}]]):format(suffix, t.c, values, vector, t.ptx, braces(n, 1), inputs))
    end
  end

  for _, op in ipairs(short:sub(1, 1) == "f" and { "mul", "add" } or {}) do
    define("gg_" .. op .. "_" .. short, {}, ([[
static __device__ __forceinline__ %s gg_%s_%s(%s a, %s b) {
  %s d;
  asm("%s.rn.%s %%0, %%1, %%2;" : "=%s"(d) : "%s"(a), "%s"(b));
  return d;
}]]):format(t.c, op, short, t.c, t.c, t.c, op, t.ptx, t.constraint, t.constraint, t.constraint))
  end
end

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

define("gg_bar_sync", {}, [[
static __device__ __forceinline__ void gg_bar_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" : : "r"(id), "r"(threads) : "memory");
}]])

define("gg_bar_arrive", {}, [[
static __device__ __forceinline__ void gg_bar_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" : : "r"(id), "r"(threads) : "memory");
}]])

-- Raw bytes: PTX's ld and st take wider registers, and no constraint is narrower than 16 bits.
for _, l in ipairs { { "ldg", "global.nc", "" }, { "ld", "global", ' : "memory"' }, { "lds", "shared", "" } } do
  local shared = l[1] == "lds"
  define("gg_" .. l[1] .. "_u8", shared and { "gg_shared" } or {}, ([[
static __device__ __forceinline__ void gg_%s_u8(unsigned char *x, %s) {
  unsigned short y;
  asm volatile("ld.%s.u8 %%0, [%%1];" : "=h"(y) : %s%s);
  *x = (unsigned char)y;
}]]):format(l[1], shared and "unsigned off" or "const unsigned char *p", l[2],
    shared and '"r"(gg_shared(off))' or '"l"(p)', l[3]))
end
define("gg_st_u8", {}, [[
static __device__ __forceinline__ void gg_st_u8(unsigned char *p, unsigned char x) {
  asm volatile("st.global.u8 [%0], %1;" : : "l"(p), "h"((unsigned short)x) : "memory");
}]])
define("gg_sts_u8", { "gg_shared" }, [[
static __device__ __forceinline__ void gg_sts_u8(unsigned off, unsigned char x) {
  asm volatile("st.shared.u8 [%0], %1;" : : "r"(gg_shared(off)), "h"((unsigned short)x) : "memory");
}]])
for _, t in ipairs { "f16", "bf16" } do
  define("gg_f32_from_" .. t, {}, ([[
static __device__ __forceinline__ float gg_f32_from_%s(unsigned short x) {
  float y;
  asm("%s" : "=f"(y) : "h"(x));
  return y;
}]]):format(t, t == "f16" and "cvt.f32.f16 %0, %1;" or "mov.b32 %0, {0, %1};"))
  define("gg_cvt_" .. t, {}, ([[
static __device__ __forceinline__ unsigned short gg_cvt_%s(float x) {
  unsigned short y;
  asm("cvt.rn.%s.f32 %%0, %%1;" : "=h"(y) : "f"(x));
  return y;
}]]):format(t, t))
  define(("gg_cvt_%sx2"):format(t), {}, ([[
static __device__ __forceinline__ unsigned gg_cvt_%sx2(float low, float high) {
  unsigned y;
  asm("cvt.rn.%sx2.f32 %%0, %%1, %%2;" : "=r"(y) : "f"(high), "f"(low));
  return y;
}]]):format(t, t))
end

for _, t in ipairs { "e4m3", "e5m2" } do
  define("gg_cvt_" .. t, {}, ([[
static __device__ __forceinline__ unsigned char gg_cvt_%s(float x) {
  unsigned short y;
  asm("cvt.rn.satfinite.%sx2.f32 %%0, %%1, %%2;" : "=h"(y) : "f"(0.0f), "f"(x));
  return (unsigned char)y;
}]]):format(t, t))
  define("gg_f32_from_" .. t, { "gg_f32_from_f16" }, ([[
static __device__ __forceinline__ float gg_f32_from_%s(unsigned x) {
  unsigned y;
  asm("cvt.rn.f16x2.%sx2 %%0, %%1;" : "=r"(y) : "h"((unsigned short)(x & 0xff)));
  return gg_f32_from_f16((unsigned short)y);
}]]):format(t, t))
end
for _, t in ipairs { "u8", "s8" } do
  define("gg_cvt_" .. t, {}, ([[
static __device__ __forceinline__ int gg_cvt_%s(float x) {
  int y;
  asm("cvt.rni.sat.%s.f32 %%0, %%1;" : "=r"(y) : "f"(x));
  return y;
}]]):format(t, t))
end
define("gg_cvt_s32", {}, [[
static __device__ __forceinline__ int gg_cvt_s32(float x) {
  int y;
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(y) : "f"(x));
  return y;
}]])
define("gg_f32_from_s32", {}, [[
static __device__ __forceinline__ float gg_f32_from_s32(int x) {
  float y;
  asm("cvt.rn.f32.s32 %0, %1;" : "=f"(y) : "r"(x));
  return y;
}]])
define("gg_f32_from_f64", {}, [[
static __device__ __forceinline__ float gg_f32_from_f64(double x) {
  float y;
  asm("cvt.rn.f32.f64 %0, %1;" : "=f"(y) : "d"(x));
  return y;
}]])

-- Whole numbers wrap.
define("gg_mad_s32", {}, [[
static __device__ __forceinline__ int gg_mad_s32(int a, int b, int c) {
  int d;
  asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}]])
define("gg_mul_s32", {}, [[
static __device__ __forceinline__ int gg_mul_s32(int a, int b) {
  int d;
  asm("mul.lo.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}]])
define("gg_add_s32", {}, [[
static __device__ __forceinline__ int gg_add_s32(int a, int b) {
  int d;
  asm("add.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}]])
define("gg_max_u32", {}, [[
static __device__ __forceinline__ unsigned gg_max_u32(unsigned a, unsigned b) {
  unsigned d;
  asm("max.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}]])
for _, short in ipairs { "f32", "f64" } do
  local t = types[short]
  local word, register = short == "f32" and "unsigned" or "gg_u64", short == "f32" and "r" or "l"
  local size = short:sub(2)
  for _, op in ipairs { "min", "max" } do
    define(("gg_%s_%s"):format(op, short), {}, ([[
static __device__ __forceinline__ %s gg_%s_%s(%s a, %s b) {
  %s d;
  asm("%s.%s %%0, %%1, %%2;" : "=%s"(d) : "%s"(a), "%s"(b));
  return d;
}]]):format(t.c, op, short, t.c, t.c, t.c, op, short, t.constraint, t.constraint, t.constraint))
  end
  define("gg_abs_" .. short, {}, ([[
static __device__ __forceinline__ %s gg_abs_%s(%s x) {
  %s y;
  asm("abs.%s %%0, %%1;" : "=%s"(y) : "%s"(x));
  return y;
}]]):format(t.c, short, t.c, t.c, short, t.constraint, t.constraint))
  define("gg_as_u" .. size, {}, ([[
static __device__ __forceinline__ %s gg_as_u%s(%s x) {
  %s y;
  asm("mov.b%s %%0, %%1;" : "=%s"(y) : "%s"(x));
  return y;
}]]):format(word, size, t.c, word, size, register, t.constraint))
  define("gg_as_" .. short, {}, ([[
static __device__ __forceinline__ %s gg_as_%s(%s x) {
  %s y;
  asm("mov.b%s %%0, %%1;" : "=%s"(y) : "%s"(x));
  return y;
}]]):format(t.c, short, word, t.c, size, t.constraint, register))
end
define("gg_redux_max_u32", {}, [[
static __device__ __forceinline__ unsigned gg_redux_max_u32(unsigned x) {
  unsigned y;
  asm volatile("redux.sync.max.u32 %0, %1, -1;" : "=r"(y) : "r"(x));
  return y;
}]])
define("gg_red_max_u32", {}, [[
static __device__ __forceinline__ void gg_red_max_u32(unsigned *p, unsigned x) {
  asm volatile("red.global.max.u32 [%0], %1;" : : "l"(p), "r"(x) : "memory");
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
define("gg_mbar_arrive", { "gg_shared" }, [[
static __device__ __forceinline__ void gg_mbar_arrive(unsigned off) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(gg_shared(off)) : "memory");
}]])
define("gg_mbar_arrive_expect_tx", { "gg_shared" }, [[
static __device__ __forceinline__ void gg_mbar_arrive_expect_tx(unsigned off, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               : : "r"(gg_shared(off)), "r"(bytes) : "memory");
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
define("gg_tma_load_3d", { "gg_shared" }, [[
static __device__ __forceinline__ void gg_tma_load_3d(unsigned off, const gg_tensor_map *map, int x, int y,
                                                      int z, unsigned mbar) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%3, %4, %5}], [%2];"
               : : "r"(gg_shared(off)), "l"(map), "r"(gg_shared(mbar)), "r"(x), "r"(y), "r"(z) : "memory");
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
function primitives.section(lines, shared_bytes)
  local out, done = {}, {}
  if shared_bytes > 0 then
    out[#out + 1] = "extern __shared__ __align__(1024) unsigned char gg_shared_bytes[];"
    out[#out + 1] = ""
  end
  local function add(name)
    if done[name] then return end
    done[name] = true
    local definition = definitions[name] or wgmma.definition(name) or wmma(name)
    if definition == nil then error("no primitive is called " .. name, 0) end
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
