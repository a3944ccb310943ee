-- vectors.lua - a few neighbouring elements of C or D at once: one load or store of up to 16 bytes,
-- and what it takes to get at elements narrower than its words.

local names = use("names")

local vectors = {}

-- Words of v elements of dtype: primitive suffix, C type, how many. Floats as wide as words stay floats.
function vectors.words(dtype, v)
  local bytes = names.bytes(dtype)
  if bytes >= 4 then return names.memory_name(dtype), names.memory_type(dtype), v end
  if v == 1 then return names.memory_name(dtype), names.memory_type(dtype), 1 end
  if v * bytes == 2 then return "u16", "unsigned short", 1 end
  return "u32", "unsigned", v * bytes // 4
end

local function pointer(dtype, c_type, text, const)
  return c_type == names.memory_type(dtype) and text or names.cast(const .. c_type, text)
end

-- The v elements in words called `name`0 .., as expressions of the type that memory has.
function vectors.elements(dtype, v, name)
  local _, _, n = vectors.words(dtype, v)
  local elements, bits, T = {}, 8 * names.bytes(dtype), names.memory_type(dtype)
  for e = 0, v - 1 do
    local text, shift = name .. e * n // v, e * bits % 32
    if n < v then text = ("(%s)%s"):format(T, shift > 0 and ("(%s >> %d)"):format(text, shift) or text) end
    elements[e + 1] = text
  end
  return elements
end

-- Lines that load v elements of dtype by gg_ld from `address` into words called `name`0 .., and the
-- elements.
function vectors.load(dtype, v, name, address)
  local suffix, c_type, n = vectors.words(dtype, v)
  local lines = {
    ("%s %s;"):format(c_type, names.list(name, 0, n - 1)),
    ("gg_ld_%s(%s, %s);"):format(names.vector(suffix, n), names.list("&" .. name, 0, n - 1),
      pointer(dtype, c_type, address, "const ")),
  }
  return lines, vectors.elements(dtype, v, name)
end

-- One word of neighbouring elements, from variables of type `from`, the first in the low bits.
local function packed(p, dtype, values, from)
  if (dtype == "f16" or dtype == "bf16") and from == "f32" and p.arch >= 80 then
    return names.packed(dtype, values[1], values[2])
  end
  local parts, bits = {}, 8 * names.bytes(dtype)
  for i, value in ipairs(values) do
    local one = "(unsigned)" .. names.narrowed(dtype, value, from)
    parts[i] = i > 1 and ("%s << %d"):format(one, (i - 1) * bits) or one
  end
  return table.concat(parts, " | ")
end

-- Lines that store the variables `values`, of type `from`, as elements of dtype to `address`, by way of
-- words called `name`0 .. where several share one.
function vectors.store(p, dtype, values, name, address, from)
  local v = #values
  local suffix, c_type, n = vectors.words(dtype, v)
  local lines, items = {}, {}
  for w = 0, n - 1 do
    local mine = table.move(values, w * v // n + 1, (w + 1) * v // n, 1, {})
    if #mine == 1 then
      items[w + 1] = names.narrowed(dtype, mine[1], from)
    else
      items[w + 1] = name .. w
      lines[#lines + 1] = ("const %s %s%d = %s;"):format(c_type, name, w, packed(p, dtype, mine, from))
    end
  end
  lines[#lines + 1] = ("gg_st_%s(%s, %s);"):format(names.vector(suffix, n), pointer(dtype, c_type, address, ""),
    table.concat(items, ", "))
  return lines
end

return vectors
