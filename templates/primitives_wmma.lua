-- primitives_wmma.lua - wmma.load, wmma.mma and wmma.store as inline PTX, written from their names
-- (docs/primitives.md): there are hundreds of them, a kernel uses four or five.

local shapes = {
  m16n16k16 = { 16, 16, 16 }, m32n8k16 = { 32, 8, 16 }, m8n32k16 = { 8, 32, 16 }, m16n16k8 = { 16, 16, 8 },
  m8n8k4 = { 8, 8, 4 },
}
-- Accumulators: C type, constraint, registers.
local sums = {
  f32 = { "float", "f", 8 }, f16 = { "unsigned", "r", 4 }, s32 = { "int", "r", 8 }, f64 = { "double", "d", 2 },
}
local bytes = { bf16 = 2, s8 = 1, u8 = 1, tf32 = 4 }

-- C type, constraint and registers of a fragment of A or B: rows (columns) x k elements over 32 lanes, but
-- f16 fragments hold each element twice.
local function operand(shape, o, t)
  if t == "f64" then return "double", "d", 1 end
  if t == "f16" then return "unsigned", "r", 8 end
  local s = shapes[shape]
  return "unsigned", "r", math.max(1, (o == "a" and s[1] or s[2]) * s[3] * bytes[t] // 128)
end

local function list(first, count, format)
  local items = {}
  for i = first, first + count - 1 do items[#items + 1] = (format:gsub("#", tostring(i))) end
  return table.concat(items, ", ")
end

local function registers(first, count) return "{" .. list(first, count, "%#") .. "}" end

-- C or D of role c, A or B of roles a and b.
local function fragment(role, shape, t)
  if role == "a" or role == "b" then return operand(shape, role, t) end
  return table.unpack(sums[t])
end

local places = {
  shared = { "unsigned off", '"r"(gg_shared(off))', { "gg_shared" } },
  global = { "const void *p", '"l"(p)', {} },
}

local function load(name)
  local role, shape, t, layout, place = name:match("^gg_wmma_load_([abc])_(m%d+n%d+k%d+)_(%w+)_(%a+)_(%a+)$")
  if not role then return nil end
  local c_type, constraint, n = fragment(role, shape, t)
  local from, address, uses = table.unpack(places[place])
  return { uses = uses, text = ([[
static __device__ __forceinline__ void %s(%s *x, %s, unsigned ld) {
  asm volatile("wmma.load.%s.sync.aligned.%s.%s.%s.%s %s, [%%%d], %%%d;"
               : %s
               : %s, "r"(ld));
}]]):format(name, c_type, from, role, layout, shape, place, t, registers(0, n), n, n + 1,
    list(0, n, ('"=%s"(x[#])'):format(constraint)), address) }
end

local function store(name)
  local shape, t, layout, place = name:match("^gg_wmma_store_d_(m%d+n%d+k%d+)_(%w+)_(%a+)_(%a+)$")
  if not shape then return nil end
  local c_type, constraint, n = fragment("d", shape, t)
  local to, address, uses = table.unpack(places[place])
  return { uses = uses, text = ([[
static __device__ __forceinline__ void %s(%s, const %s *x, unsigned ld) {
  asm volatile("wmma.store.d.sync.aligned.%s.%s.%s.%s [%%0], %s, %%%d;"
               : : %s,
                 %s, "r"(ld) : "memory");
}]]):format(name, (to:gsub("^const ", "")), c_type, layout, shape, place, t, registers(1, n), n + 1, address,
    list(0, n, ('"%s"(x[#])'):format(constraint))) }
end

-- D, A, B and C of an instruction, as PTX names them.
local function types(t, acc)
  if t == "f16" then return acc .. "." .. acc end -- those of D and C alone
  return ("%s.%s.%s.%s"):format(acc, t, t, acc)
end

local function mma(name)
  local shape, t, a_layout, b_layout = name:gsub("_acc16_", "_"):match("^gg_wmma_mma_(m%d+n%d+k%d+)_(%w+)_(%a+)_(%a+)$")
  if not shape then return nil end
  local acc = name:find("_acc16_") and "f16" or t == "f64" and "f64" or (t == "s8" or t == "u8") and "s32" or "f32"
  local c_type, constraint, n = fragment("d", shape, acc)
  local ab_type, ab, na = operand(shape, "a", t)
  local _, _, nb = operand(shape, "b", t)
  return { uses = {}, text = ([[
static __device__ __forceinline__ void %s(%s *d, const %s *a, const %s *b) {
  asm volatile("wmma.mma.sync.aligned.%s.%s.%s%s.%s "
               "%s, "
               "%s, %s, "
               "%s;"
               : %s
               : %s,
                 %s);
}]]):format(name, c_type, ab_type, ab_type, a_layout, b_layout, shape, t == "f64" and ".rn" or "", types(t, acc),
    registers(0, n), registers(n, na), registers(n + na, nb), registers(0, n),
    list(0, n, ('"+%s"(d[#])'):format(constraint)), list(0, na, ('"%s"(a[#])'):format(ab)),
    list(0, nb, ('"%s"(b[#])'):format(ab))) }
end

-- The definition of a primitive by its name, or nil.
return function(name) return load(name) or store(name) or mma(name) end
