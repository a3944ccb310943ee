-- primitives_wgmma.lua - wgmma as inline PTX: every shape, type and source of A that an emitted file may
-- name (docs/primitives.md).

local wgmma = {}

-- Elements of one instruction along k are 32 bytes; the accumulator's type; may operands be MN-major?
local types = {
  bf16 = { k = 16, acc = "f32", turns = true }, f16 = { k = 16, acc = "f32", turns = true },
  tf32 = { k = 8, acc = "f32" },
  e4m3 = { k = 32, acc = "f32" }, e5m2 = { k = 32, acc = "f32" },
  s8 = { k = 32, acc = "s32" }, u8 = { k = 32, acc = "s32" },
}
local registers = { f32 = { c = "float", constraint = "f" }, s32 = { c = "int", constraint = "r" } }

-- "e4m3_e5m2" -> A's type, B's type.
local function pair(text)
  local a, b = text:match("^(%w+)_(%w+)$")
  return a or text, b or text
end

-- Definition of a primitive by its name, or nil where it is no wgmma.
function wgmma.definition(name)
  local n, k, text, source, order = name:match("^gg_wgmma_m64n(%d+)k(%d+)_([%w_]-)_([rs]s)_?([nt]*)$")
  if not n then return nil end
  n, k = tonumber(n), tonumber(k)
  local a, b = pair(text)
  local type_a = types[a]
  if not type_a or not types[b] or type_a.k ~= k then return nil end
  local acc = registers[type_a.acc]
  local count = n // 2
  local from_registers = source == "rs"
  local operands = from_registers and 5 or 2 -- that stand behind the accumulators
  local lines = {}
  local function add(line) lines[#lines + 1] = line end
  local function row(first, format, separator)
    local items = {}
    for i = first, math.min(first + 7, count - 1) do items[#items + 1] = (format:gsub("#", tostring(i))) end
    return table.concat(items, separator)
  end

  add(("static __device__ __forceinline__ void %s(%s *d, %s, gg_u64 b, int add) {"):format(name, acc.c,
    from_registers and "const unsigned *a" or "gg_u64 a"))
  add('  asm volatile("{\\n"')
  add('               ".reg .pred p;\\n"')
  add(('               "setp.ne.b32 p, %%%d, 0;\\n"'):format(count + operands))
  add(('               "wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s {"'):format(n, k, type_a.acc, a, b))
  for i = 0, count - 1, 8 do
    add(('               "%s%s"'):format(row(i, "%#", ", "), i + 8 < count and ", " or "}, "))
  end
  local first = from_registers and ("{%%%d, %%%d, %%%d, %%%d}"):format(count, count + 1, count + 2, count + 3)
    or "%" .. count
  -- Integers have no scales; which operands lie MN-major is said of 16-bit types alone.
  local scales = type_a.acc == "s32" and "" or ", 1, 1"
  local function turned(i) return order:sub(i, i) == "t" and 1 or 0 end
  local orders = not type_a.turns and "" or from_registers and (", %d"):format(turned(1))
    or (", %d, %d"):format(turned(1), turned(2))
  add(('               "%s, %%%d, p%s%s;\\n"'):format(first, count + operands - 1, scales, orders))
  add('               "}"')
  for i = 0, count - 1, 8 do
    add(("               %s%s%s"):format(i == 0 and ": " or "  ", row(i, ('"+%s"(d[#])'):format(acc.constraint), ", "),
      i + 8 < count and "," or ""))
  end
  local inputs = from_registers and '"r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])' or '"l"(a)'
  add(('               : %s, "l"(b), "r"(add));'):format(inputs))
  add("}")
  return { uses = {}, text = table.concat(lines, "\n") }
end

return wgmma
