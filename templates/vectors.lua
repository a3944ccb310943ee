-- vectors.lua - a few neighbouring elements of C or D at once: one load or store of up to 16 bytes,
-- and what it takes to get at elements narrower than its words.

local names = use("names")

local vectors = {}

-- Words of v elements of dtype: primitive suffix, C type, how many. Floats as wide as words stay floats.
local function words(dtype, v)
  local bytes = names.bytes(dtype)
  if bytes >= 4 then return names.memory_name(dtype), names.memory_type(dtype), v end
  if v == 1 then return names.memory_name(dtype), names.memory_type(dtype), 1 end
  if v * bytes == 2 then return "u16", "unsigned short", 1 end
  return "u32", "unsigned", v * bytes // 4
end

-- The same with the suffix of all of them: "u32x4", "unsigned", 4.
function vectors.words(dtype, v)
  local suffix, c_type, n = words(dtype, v)
  return names.vector(suffix, n), c_type, n
end

-- A pointer to elements of dtype as one to the words of v of them. const: "const " or "".
function vectors.pointer(dtype, v, text, const)
  local _, c_type = words(dtype, v)
  return c_type == names.memory_type(dtype) and text or names.cast(const .. c_type, text)
end

-- The v elements in words called `name`0 .., as expressions of the type that memory has.
function vectors.elements(dtype, v, name)
  local _, _, n = words(dtype, v)
  local elements, bits = {}, 8 * names.bytes(dtype)
  for e = 0, v - 1 do
    local word, shift = e * n // v, e * bits % 32
    local text = name .. word
    if n < v then
      local T = names.memory_type(dtype)
      text = shift > 0 and ("(%s)(%s >> %d)"):format(T, text, shift) or ("(%s)%s"):format(T, text)
    end
    elements[e + 1] = text
  end
  return elements
end

-- Lines that load v elements of dtype by `primitive` (gg_ld unless given) from `address` into words called
-- `name`0 .., where condition, if there is one, holds: else they are zero. Also the elements.
function vectors.load(dtype, v, name, address, condition, primitive)
  local suffix, c_type, n = vectors.words(dtype, v)
  local items = {}
  for w = 0, n - 1 do items[w + 1] = name .. w .. (condition and " = " .. names.memory_zero(dtype) or "") end
  return {
    ("%s %s;"):format(c_type, table.concat(items, ", ")),
    ("%s%s_%s(%s, %s);"):format(condition and ("if (%s) "):format(condition) or "", primitive or "gg_ld", suffix,
      names.list("&" .. name, 0, n - 1), vectors.pointer(dtype, v, address, "const ")),
  }, vectors.elements(dtype, v, name)
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

-- The variables `values`, of type `from`, rounded to dtype: lines that declare words called `name`0 ..
-- where several elements share one, and the words.
function vectors.rounded(p, dtype, values, name, from)
  local v = #values
  local _, c_type, n = words(dtype, v)
  local lines, items = {}, {}
  for w = 0, n - 1 do
    local mine = table.move(values, w * v // n + 1, (w + 1) * v // n, 1, {})
    if #mine == 1 then
      items[w + 1] = names.narrowed(dtype, mine[1], from)
    else
      items[w + 1] = name .. w
      lines[#lines + 1] = ("const %s %s%d = %s;"):format(c_type, name, w,
        c_type == "unsigned short" and ("(unsigned short)(%s)"):format(packed(p, dtype, mine, from))
          or packed(p, dtype, mine, from))
    end
  end
  return lines, items
end

-- Lines that store the variables `values`, of type `from`, as elements of dtype to `address`, by way of
-- words called `name`0 .. where several share one.
function vectors.store(p, dtype, values, name, address, from)
  local lines, items = vectors.rounded(p, dtype, values, name, from)
  lines[#lines + 1] = ("gg_st_%s(%s, %s);"):format((vectors.words(dtype, #values)),
    vectors.pointer(dtype, #values, address, ""), table.concat(items, ", "))
  return lines
end

return vectors
