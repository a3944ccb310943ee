-- primitives_mma.lua - inline PTX of mma.sync, ldmatrix and what sorts their operands, by name.

local function list(n, format)
  local items = {}
  for i = 0, n - 1 do items[#items + 1] = (format:gsub("#", tostring(i))) end
  return table.concat(items, ", ")
end

-- "{%4, %5}" for n operands from `first` on.
local function registers(first, n)
  local items = {}
  for i = first, first + n - 1 do items[#items + 1] = "%" .. i end
  return "{" .. table.concat(items, ", ") .. "}"
end

local function ldmatrix(name)
  local count, trans = name:match("^gg_ldmatrix_x([124])(_?t?r?a?n?s?)$")
  if not count then return nil end
  count = tonumber(count)
  return { uses = { "gg_shared" }, text = ([[
static __device__ __forceinline__ void %s(unsigned *r, unsigned off) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 %s, [%%%d];"
               : %s
               : "r"(gg_shared(off)));
}]]):format(name, count, trans == "_trans" and ".trans" or "", registers(0, count), count, list(count, '"=r"(r[#])')) }
end

-- PTX names of types; sums of the rest are f32.
local sums = { f64 = "f64", s8 = "s32", u8 = "s32" }
local bits = { bf16 = 16, f16 = 16, tf32 = 32, e4m3 = 8, e5m2 = 8, s8 = 8, u8 = 8, f64 = 64 }

-- mma.sync of one shape; A is row-major, B column-major.
local function mma(name)
  local m, k, a_type, rest = name:match("^gg_mma_m(%d+)n8k(%d+)_(%w+)(.*)$")
  if not m then return nil end
  m, k = tonumber(m), tonumber(k)
  local half = rest == "_acc16"
  local b_type = not half and rest ~= "" and rest:sub(2) or a_type
  local d_type = half and "f16" or sums[a_type] or "f32"
  local word = a_type == "f64" and 64 or 32
  local na, nb = m * k * bits[a_type] // word // 32, 8 * k * bits[a_type] // word // 32
  local nd = m // 4 // (half and 2 or 1)
  local c_types = { f64 = "double", f32 = "float", s32 = "int", f16 = "unsigned" }
  local constraints = { f64 = "d", f32 = "f", s32 = "r", f16 = "r" }
  local ab_type, ab = a_type == "f64" and "double" or "unsigned", a_type == "f64" and "d" or "r"
  local shape = ("m%dn8k%d"):format(m, k)
  return { uses = {}, text = ([[
static __device__ __forceinline__ void %s(%s *d, const %s *a, const %s *b) {
  asm volatile("mma.sync.aligned.%s.row.col%s.%s.%s.%s.%s "
               "%s, %s, %s, %s;"
               : %s
               : %s, %s);
}]]):format(name, c_types[d_type], ab_type, ab_type, shape, d_type == "f64" and ".rn" or "", d_type, a_type, b_type,
    d_type,
    registers(0, nd), registers(nd, na), registers(nd + na, nb), registers(0, nd),
    list(nd, ('"+%s"(d[#])'):format(constraints[d_type])), list(na, ('"%s"(a[#])'):format(ab)),
    list(nb, ('"%s"(b[#])'):format(ab))) }
end

local definitions = {
  gg_prmt = { uses = {}, text = [[
static __device__ __forceinline__ unsigned gg_prmt(unsigned a, unsigned b, unsigned selector) {
  unsigned d;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selector));
  return d;
}]] },
}
for _, t in ipairs { "e4m3", "e5m2" } do
  definitions[("gg_cvt_%sx2"):format(t)] = { uses = {}, text = ([[
static __device__ __forceinline__ unsigned short gg_cvt_%sx2(float low, float high) {
  unsigned short y;
  asm("cvt.rn.satfinite.%sx2.f32 %%0, %%1, %%2;" : "=h"(y) : "f"(high), "f"(low));
  return y;
}]]):format(t, t) }
end

-- The definition of a primitive by its name, or nil.
return function(name) return definitions[name] or ldmatrix(name) or mma(name) end
