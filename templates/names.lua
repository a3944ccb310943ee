-- names.lua - spelling of types, operands and values that several modules share.

local names = {}

local c_types = { f32 = "float", f64 = "double", s32 = "int" }
-- Narrow floats travel as raw integers; primitives convert them.
local memory_types = { f32 = "float", f64 = "double", f16 = "unsigned short", bf16 = "unsigned short" }
local memory_names = { f32 = "f32", f64 = "f64", f16 = "u16", bf16 = "u16" }
local zeros = { f32 = "0.0f", f64 = "0.0" }
local fmas = { f32 = "fmaf", f64 = "fma" }

function names.c_type(dtype) return c_types[dtype] end
function names.zero(dtype) return zeros[dtype] end
function names.fma(dtype) return fmas[dtype] end

-- Type and primitive suffix of an element in memory.
function names.memory_type(dtype) return memory_types[dtype] end
function names.memory_name(dtype) return memory_names[dtype] end

local function narrow(dtype) return dtype == "f16" or dtype == "bf16" end

-- Expression that widens x from memory to the accumulator's type, and back.
function names.widened(dtype, x) return narrow(dtype) and ("gg_f32_from_%s(%s)"):format(dtype, x) or x end
function names.narrowed(dtype, x) return narrow(dtype) and ("gg_cvt_%s(%s)"):format(dtype, x) or x end

-- Two f32 as one 32-bit register of two narrow floats, the first in the low half.
function names.packed(dtype, low, high) return ("gg_cvt_%sx2(%s, %s)"):format(dtype, low, high) end

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
  return table.move(b, 1, #b, #a + 1, a)
end

-- " + 3 * A_PITCH + 64": a byte offset of rows of operand o's shared memory and bytes; "" for none.
function names.offset(o, rows, bytes)
  local text = ""
  if rows > 0 then text = (" + %d * %s_PITCH"):format(rows, o:upper()) end
  if bytes > 0 then text = text .. " + " .. bytes end
  return text
end

-- x / n and x % n, as short as they can be said.
function names.quotient(x, n) return n == 1 and x or ("%s / %d"):format(x, n) end
function names.modulo(x, n) return n == 1 and "0" or ("%s %% %d"):format(x, n) end

-- Byte offset of a stage of the ring; nil for the first.
function names.stage(number)
  if number == 0 then return nil end
  return number == 1 and "STAGE_BYTES" or number .. " * STAGE_BYTES"
end

-- Lines "T x, y, z;" for many names, none longer than 100 columns with 6 of indentation.
function names.declare(c_type, items)
  local lines, line = {}, nil
  for _, item in ipairs(items) do
    if line and #line + 2 + #item > 92 then
      lines[#lines + 1] = line .. ";"
      line = nil
    end
    line = line and line .. ", " .. item or c_type .. " " .. item
  end
  if line then lines[#lines + 1] = line .. ";" end
  return lines
end

-- Suffix of a vector primitive: f32x4, f64.
function names.vector(dtype, n) return n == 1 and dtype or dtype .. "x" .. n end

return names
