-- names.lua - spelling of types, operands and values that several modules share.

local names = {}

-- Types of values in registers; f16 sums are packed in pairs.
local c_types = { f32 = "float", f64 = "double", s32 = "int", f16 = "unsigned" }
-- Values narrower than f32 travel as raw integers, and so does s32; primitives convert them.
local memory_types = {
  f64 = "double", f32 = "float", tf32 = "float", f16 = "unsigned short", bf16 = "unsigned short",
  e4m3 = "unsigned char", e5m2 = "unsigned char", s8 = "unsigned char", u8 = "unsigned char", s32 = "unsigned",
}
local memory_names = {
  f64 = "f64", f32 = "f32", tf32 = "f32", f16 = "u16", bf16 = "u16", e4m3 = "u8", e5m2 = "u8", s8 = "u8",
  u8 = "u8", s32 = "u32",
}
local element_bytes = { f64 = 8, f32 = 4, tf32 = 4, s32 = 4, f16 = 2, bf16 = 2, e4m3 = 1, e5m2 = 1, s8 = 1, u8 = 1 }
local zeros = { f32 = "0.0f", f64 = "0.0", s32 = "0" }
local fmas = { f32 = "fmaf", f64 = "fma", s32 = "gg_mad_s32" }

function names.c_type(dtype) return c_types[dtype] end
function names.zero(dtype) return zeros[dtype] end
function names.fma(dtype) return fmas[dtype] end
function names.bytes(dtype) return element_bytes[dtype] end

-- Type and primitive suffix of an element in memory, and its zero.
function names.memory_type(dtype) return memory_types[dtype] end
function names.memory_name(dtype) return memory_names[dtype] end
function names.memory_zero(dtype) return zeros[memory_names[dtype]] or "0" end

-- s8 and s32 as they lie in memory are unsigned; casts give them back their sign.
local integers = { s8 = "(int)(signed char)%s", u8 = "(int)%s", s32 = "(int)%s" }

-- Expression that widens x from memory to register type `to` (f32 unless given): exact, but for
-- s32 in f32, which is rounded to nearest even.
function names.widened(dtype, x, to)
  to = to or "f32"
  if dtype == to and dtype ~= "s32" then return x end
  if integers[dtype] then
    local whole = integers[dtype]:format(x)
    if to == "s32" then return whole end
    return to == "f32" and ("gg_f32_from_s32(%s)"):format(whole) or ("(double)(%s)"):format(whole)
  end
  local single = (dtype == "f32" or dtype == "tf32") and x or ("gg_f32_from_%s(%s)"):format(dtype, x)
  return to == "f64" and ("(double)%s"):format(single) or single
end

-- Expression that rounds x of register type `from` (f32 unless given) to a value in memory: to
-- nearest even; e4m3, e5m2 and integers saturate.
function names.narrowed(dtype, x, from)
  from = from or "f32"
  if dtype == "s32" then return (from == "s32" and "(unsigned)%s" or "(unsigned)gg_cvt_s32(%s)"):format(x) end
  if dtype == from then return x end
  if dtype == "f32" or dtype == "tf32" then return from == "f64" and ("gg_f32_from_f64(%s)"):format(x) or x end
  if dtype == "s8" or dtype == "u8" then return ("(unsigned char)gg_cvt_%s(%s)"):format(dtype, x) end
  return ("gg_cvt_%s(%s)"):format(dtype, x)
end

-- An accumulator of type acc as the epilogue's type; f16: the low half of an integer.
function names.from_accumulator(acc, x, to)
  if acc == to then return x end
  if acc == "s32" then return ("gg_f32_from_s32(%s)"):format(x) end
  return names.widened(acc, x, to)
end

-- Two f32 as one 32-bit register of two narrow floats, the first in the low half.
function names.packed(dtype, low, high) return ("gg_cvt_%sx2(%s, %s)"):format(dtype, low, high) end

-- Is the operand's contiguous axis k? A as written (n) and B transposed (t) are contiguous in k.
function names.contiguous_k(p, operand)
  if operand == "a" then return p.layout:sub(1, 1) == "n" end
  return p.layout:sub(2, 2) == "t"
end

-- The lines, each behind `by` (two blanks unless given).
function names.indented(lines, by)
  local out = {}
  for i, line in ipairs(lines) do out[i] = (by or "  ") .. line end
  return out
end

-- The lines in braces behind `head`, "" for none.
function names.block(head, lines)
  local out = { head ~= "" and head .. " {" or "{" }
  names.append(out, names.indented(lines))
  out[#out + 1] = "}"
  return out
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

-- A pointer expression as one to another type.
function names.cast(c_type, pointer)
  return ("(%s *)%s"):format(c_type, pointer:find("%W") and "(" .. pointer .. ")" or pointer)
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
