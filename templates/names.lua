-- names.lua - spelling of types, operands and values that several modules share.

local names = {}

local c_types = { f32 = "float", f64 = "double" }
local zeros = { f32 = "0.0f", f64 = "0.0" }
local fmas = { f32 = "fmaf", f64 = "fma" }

function names.c_type(dtype) return c_types[dtype] end
function names.zero(dtype) return zeros[dtype] end
function names.fma(dtype) return fmas[dtype] end

-- Is the operand's contiguous axis k? A as written (n) and B transposed (t) are contiguous in k.
function names.contiguous_k(p, operand)
  if operand == "a" then return p.layout:sub(1, 1) == "n" end
  return p.layout:sub(2, 2) == "t"
end

-- "x0, x1, x2" for a prefix and a range.
function names.list(prefix, first, last, suffix)
  local items = {}
  for i = first, last do items[#items + 1] = prefix .. i .. (suffix or "") end
  return table.concat(items, ", ")
end

-- Appends the lines of b to a.
function names.append(a, b)
  for _, line in ipairs(b) do a[#a + 1] = line end
  return a
end

-- Suffix of a vector primitive: f32x4, f64.
function names.vector(dtype, n) return n == 1 and dtype or dtype .. "x" .. n end

return names
