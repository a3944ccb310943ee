-- repack.lua - lines of a pass that copies an operand: aligned granules of 16 bytes, the bytes of two
-- granules shifted together, elements of a ragged granule gathered by a warp, 16-byte stores.

local names = use("names")

local repack = {}
repack.__index = repack

local GRANULE = 16

local memory = {
  { c = "unsigned char", name = "u8" }, { c = "unsigned short", name = "u16" }, nil,
  { c = "unsigned", name = "u32" },
}

function repack.new(p)
  local r = setmetatable({ p = p, e = p.element, per_granule = GRANULE // p.element }, repack)
  r.c, r.name = memory[p.element].c, memory[p.element].name
  r.turned = p.turn_a
  r.last_word = p.element == 4 and 6 or 7 -- of two granules; a shift inside a word takes one more
  r.row_bytes = p.tile_n * p.element
  return r
end

-- elements -> bytes, as an expression
function repack:bytes(elements) return self.e == 1 and elements or ("%s * %d"):format(elements, self.e) end

-- "at + 512"
function repack.plus(pointer, bytes) return bytes > 0 and pointer .. " + " .. bytes or pointer end

-- A sum in brackets.
local function grouped(text) return text:find(" ", 1, true) and "(" .. text .. ")" or text end
repack.grouped = grouped

-- The lane that holds the row's next granule; a row's last lane asks its first.
function repack:next_lane()
  local lanes = self.p.copy_lanes_a
  if lanes == 32 then return "(lane + 1) % 32" end
  return ("lane / %d * %d + (lane + 1) %% %d"):format(lanes, lanes, lanes)
end

-- The words of granule `name`, for whoever loads nothing.
function repack.declare(name)
  local items = {}
  for i = 0, 3 do items[#items + 1] = ("%s_%d = 0"):format(name, i) end
  return ("unsigned %s;"):format(table.concat(items, ", "))
end

-- Loads granule `name` from `at` where the row needs it and it lies inside the matrix.
function repack.load(name, at, to, condition)
  local pointers = {}
  for i = 0, 3 do pointers[#pointers + 1] = ("&%s_%d"):format(name, i) end
  return {
    ("if (%s%s < %s && %s >= first && %s + 16 <= last)"):format(condition and condition .. " && " or "", at,
      to, at, at),
    ("  gg_ldg_u32x4(%s, (const unsigned *)%s);"):format(table.concat(pointers, ", "), grouped(at)),
  }
end

-- Elements as one word, the first in its lowest bytes.
local function word(items, e)
  local parts = {}
  for i, item in ipairs(items) do
    local shift = 8 * e * (i - 1)
    parts[i] = shift > 0 and ("%s << %d"):format(item, shift) or item
  end
  return table.concat(parts, " | ")
end

-- Words e_0 .. e_3 of the granule at `at`, of which only elements inside the matrix are read.
function repack:gather(at)
  local lines = {
    ("const %s *const one = (const %s *)%s + lane;"):format(self.c, self.c, at),
    ("%s e = 0;"):format(self.c),
    ("if (lane < %d && (const unsigned char *)one >= first && (const unsigned char *)one < last)"):format(
      self.per_granule),
    ("  gg_ldg_%s(&e, one);"):format(self.name),
  }
  for i = 0, self.per_granule - 1 do
    lines[#lines + 1] = ("const unsigned e%d = gg_shfl_sync_idx_u32(e, %d);"):format(i, i)
  end
  local per_word = 4 // self.e
  for w = 0, 3 do
    local items = {}
    for i = 0, per_word - 1 do items[i + 1] = "e" .. w * per_word + i end
    lines[#lines + 1] = ("const unsigned e_%d = %s;"):format(w, word(items, self.e))
  end
  return lines
end

-- Granule `name` is the gathered one where `condition` holds.
function repack.take(name, condition)
  local lines = { ("if (%s) {"):format(condition) }
  for i = 0, 3 do lines[#lines + 1] = ("  %s_%d = e_%d;"):format(name, i, i) end
  lines[#lines + 1] = "}"
  return lines
end

-- The 16 bytes from byte `shift` of the words name_0 .. name_7 on: name_o0 .. name_o3. Words are
-- chosen by halves of the distance, then bytes across two words.
function repack:shift(name, shift)
  local lines = {}
  local function add(...) lines[#lines + 1] = (...):format(select(2, ...)) end
  local last = self.last_word - 3
  for i = 0, last + 1 do
    add("const unsigned %s_y%d = %s & 8 ? %s_%d : %s_%d;", name, i, shift, name, i + 2, name, i)
  end
  for i = 0, last do
    add("%s %s_%s%d = %s & 4 ? %s_y%d : %s_y%d;", self.e == 4 and "unsigned" or "const unsigned", name,
      self.e == 4 and "o" or "z", i, shift, name, i + 1, name, i)
  end
  for i = 0, self.e == 4 and -1 or 3 do
    add("unsigned %s_o%d = gg_prmt(%s_z%d, %s_z%d, %s_bytes);", name, i, name, i, name, i + 1, shift)
  end
  return lines
end

-- Selector of gg_prmt for four bytes from byte shift % 4 of two words on.
function repack:byte_selector(shift)
  if self.e == 4 then return {} end
  return { ("const unsigned %s_bytes = 0x3210 + 0x1111 * (%s %% 4);"):format(shift, shift) }
end

-- Zeroes what lies behind the row's last element: left bytes of the 16 belong to it.
function repack:cut(name)
  local lines = { "if (left < 16) {" }
  local function add(...) lines[#lines + 1] = (...):format(select(2, ...)) end
  if self.e < 4 then add("  const unsigned keep = (1u << 8 * (left %% 4)) - 1;") end
  for i = 0, 3 do
    local part = self.e < 4 and ("left > %d ? %s_o%d & keep : 0"):format(4 * i, name, i) or "0"
    add("  %s_o%d = left >= %d ? %s_o%d : %s;", name, i, 4 * i + 4, name, i, part)
  end
  lines[#lines + 1] = "}"
  return lines
end

function repack.outputs(name) return names.list(name .. "_o", 0, 3) end

-- c<x>_0 .. c<x>_3: the elements of column x, of those in one word, in a chunk's rows from shared offset
-- `at` on.
function repack:turn(at)
  local lines, count = {}, self.per_granule
  local function add(...) lines[#lines + 1] = (...):format(select(2, ...)) end
  local function prmt(name, a, b, selector)
    add("const unsigned %s = gg_prmt(%s, %s, 0x%s);", name, a, b, selector)
  end
  add("unsigned %s;", names.list("w", 0, count - 1))
  for i = 0, count - 1 do add("gg_lds_u32(&w%d, %s);", i, repack.plus(at, self.row_bytes * i)) end
  for o = 0, 3 do
    if self.e == 4 then
      add("const unsigned c0_%d = w%d;", o, o)
    elseif self.e == 2 then
      local a, b = "w" .. 2 * o, "w" .. 2 * o + 1
      prmt("c0_" .. o, a, b, "5410")
      prmt("c1_" .. o, a, b, "7632")
    else
      local w = 4 * o
      for half, selector in ipairs { "5140", "7362" } do
        local t = ("t%d_%d_"):format(o, half)
        prmt(t .. "0", "w" .. w, "w" .. w + 1, selector)
        prmt(t .. "1", "w" .. w + 2, "w" .. w + 3, selector)
        prmt(("c%d_%d"):format(2 * half - 2, o), t .. "0", t .. "1", "5410")
        prmt(("c%d_%d"):format(2 * half - 1, o), t .. "0", t .. "1", "7632")
      end
    end
  end
  return lines
end

function repack:memory_map()
  if not self.turned then return { "// None: a warp shifts its granules by shuffles." } end
  local p = self.p
  return {
    ("// %d B: one row of %d bytes for each of %d rows of the source"):format(p.shared_bytes, self.row_bytes,
      p.tile_m),
    "//",
    ("//   0 .. %d  row r at %d r, as it lies in the source from the tile's first column on"):format(
      p.shared_bytes, self.row_bytes),
    "//",
    ("// 16-byte chunk c of row r lies at chunk c ^ (r / %d %% 8): the %d rows of one chunk of the copy"):format(
      self.per_granule, self.per_granule),
    "// are read by one lane, and its neighbours' lie in other banks.",
  }
end

-- What the header says instead of a product.
function repack:about(job)
  local p = self.p
  local kind = ("%d-byte elements"):format(self.e)
  if self.e == 1 then kind = "bytes" end
  return {
    ("// Spec    D%s = A[m,n], bit by bit, %s; A at any element's address, D aligned to %d bytes"):format(
      self.turned and "[n,m]" or "[m,n]", kind, p.align_d),
    ("//         A stored m x n, D stored %s, rows filled up to 16 bytes with zeros"):format(
      self.turned and "n x m (turned)" or "m x n"),
    ("// Plan    sm_%d  block %dx%d of A  chunks of 16 B a lane %d  threads %d"):format(p.arch, p.tile_m,
      p.tile_n, p.copies_a, p.threads),
    ("// Budget  shared %d / %d B   registers <= %d   blocks/SM %d   code <= %d B"):format(p.shared_bytes,
      job.shared_block, p.register_limit, p.blocks_sm, p.code_bytes),
    ("// Model   %.1f us + bytes read and written / %d GB/s (%s)"):format(p.overhead_ns / 1000, p.copy_gbs,
      job.gpu),
  }
end

return repack
