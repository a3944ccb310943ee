-- primitives_memory.lua - loads and stores of shared and global memory (docs/primitives.md).

-- Element types, and how many of them one access moves. Bytes go through registers of 16 bits: those
-- of 8 bits have no constraint.
local types = {
  { name = "f32", c = "float", ptx = "f32", constraint = "f", vectors = { 1, 2, 4 } },
  { name = "f64", c = "double", ptx = "f64", constraint = "d", vectors = { 1, 2 } },
  { name = "u32", c = "unsigned", ptx = "b32", constraint = "r", vectors = { 1, 2, 4 } },
  { name = "u16", c = "unsigned short", ptx = "b16", constraint = "h", vectors = { 1 } },
  { name = "u8", c = "unsigned char", ptx = "u8", constraint = "h", via = "unsigned short", vectors = { 1 } },
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

-- source: where the address comes from; kept: the memory clobber of loads that stores must not pass.
local loads = {
  { name = "lds", space = "shared", where = "unsigned off", constraint = "r", address = "gg_shared(off)", kept = "" },
  { name = "ldg", space = "global.nc", constraint = "l", address = "p", kept = "" },
  { name = "ld", space = "global", constraint = "l", address = "p", kept = ' : "memory"' },
}
local stores = {
  { name = "sts", space = "shared", where = "unsigned off", constraint = "r", address = "gg_shared(off)" },
  { name = "st", space = "global", constraint = "l", address = "p" },
}

local function load(define, t, n, l)
  local suffix = n == 1 and t.name or t.name .. "x" .. n
  local vector = n == 1 and "" or ".v" .. n
  local values = n == 1 and t.c .. " *x" or list(n, t.c .. " *x#")
  local target = t.via and "y" or "*x"
  local outputs = n == 1 and ('"=%s"(%s)'):format(t.constraint, target) or list(n, ('"=%s"(*x#)'):format(t.constraint))
  define(("gg_%s_%s"):format(l.name, suffix), l.where and { "gg_shared" } or {},
    ("static __device__ __forceinline__ void gg_%s_%s(%s, %s) {\n"):format(l.name, suffix, values,
      l.where or ("const %s *p"):format(t.c))
    .. (t.via and ("  %s y;\n"):format(t.via) or "")
    .. ('  asm volatile("ld.%s%s.%s %s, [%%%d];" : %s : "%s"(%s)%s);\n'):format(l.space, vector, t.ptx, braces(n, 0), n,
      outputs, l.constraint, l.address, l.kept)
    .. (t.via and ("  *x = (%s)y;\n"):format(t.c) or "") .. "}")
end

local function store(define, t, n, s)
  local suffix = n == 1 and t.name or t.name .. "x" .. n
  local vector = n == 1 and "" or ".v" .. n
  local values = n == 1 and t.c .. " x" or list(n, t.c .. " x#")
  local cast = t.via and ("(%s)"):format(t.via) or ""
  local inputs = n == 1 and ('"%s"(%sx)'):format(t.constraint, cast) or list(n, ('"%s"(x#)'):format(t.constraint))
  define(("gg_%s_%s"):format(s.name, suffix), s.where and { "gg_shared" } or {}, ([[
static __device__ __forceinline__ void gg_%s_%s(%s, %s) {
  asm volatile("st.%s%s.%s [%%0], %s;" : : "%s"(%s), %s : "memory");
}]]):format(s.name, suffix, s.where or t.c .. " *p", values, s.space, vector, t.ptx, braces(n, 1), s.constraint,
    s.address, inputs))
end

return function(define)
  for _, t in ipairs(types) do
    for _, n in ipairs(t.vectors) do
      for _, l in ipairs(loads) do load(define, t, n, l) end
      for _, s in ipairs(stores) do store(define, t, n, s) end
    end
  end
end
