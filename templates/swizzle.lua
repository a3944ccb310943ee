-- swizzle.lua - where 16-byte chunks of a shared row lie: chunk c of row r at c XOR flip(r), inside 128
-- bytes. flip(r) is made of bits of r, so rows and chunks that differ in bits of their own flip apart.

local swizzle = {}

local NONE = 15 -- this bit of a flip takes no bit of the row

-- Bit of the row that bit j of the flip takes; a plan has them four bits each, the lowest first.
local function source(code, j) return code >> 4 * j & 15 end

-- The flip of a row whose number is known.
function swizzle.flip(code, row)
  local flip = 0
  for j = 0, 2 do
    if source(code, j) ~= NONE then flip = flip | (row >> source(code, j) & 1) << j end
  end
  return flip
end

-- The same as an expression of the row's name: "row % 8", "row / 2 % 4", "row % 2 + row / 4 % 4 * 2".
function swizzle.text(code, row)
  local terms, j = {}, 0
  while j < 3 do
    local first, length = source(code, j), 1
    if first ~= NONE then
      while j + length < 3 and source(code, j + length) == first + length do length = length + 1 end
      local term = first == 0 and row or ("%s / %d"):format(row, 1 << first)
      term = ("%s %% %d"):format(term, 1 << length)
      terms[#terms + 1] = j == 0 and term or ("%s * %d"):format(term, 1 << j)
    end
    j = j + length
  end
  return #terms == 0 and "0" or table.concat(terms, " + ")
end

-- Offset, from a thread's own place, of something `rows` rows and `bytes` bytes further, as two
-- numbers: bits that are flipped and bytes that are added. Needs what power-of-two tiles give: a
-- thread's own row and byte have none of these bits.
function swizzle.offset(code, rows, bytes)
  return swizzle.flip(code, rows) * 16 ~ bytes & 0x70, bytes & ~0x70
end

return swizzle
