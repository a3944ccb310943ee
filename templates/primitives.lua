-- primitives.lua - the device primitives as inline PTX (docs/primitives.md). An emitted file
-- defines those it uses and no others.

local primitives = {}

-- One loop-generated family of memory accesses: element type x vector length.
local types = {
  f32 = { c = "float", ptx = "f32", constraint = "f" },
  f64 = { c = "double", ptx = "f64", constraint = "d" },
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

for _, short in ipairs { "f32", "f64" } do
  local t = types[short]
  for _, n in ipairs { 1, 2, 4 } do
    if not (short == "f64" and n == 4) then
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

  for _, op in ipairs { "mul", "add" } do
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
    local definition = definitions[name]
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
