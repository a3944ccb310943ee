-- mma.lua - fragments and products of family mma: what a warp loads from shared memory, and the
-- instructions of a k step. The ring around it is stream.lua's.
--
-- With g = lane / 4, t = lane % 4 and e elements in a register: register q of A's fragment holds row
-- g (+ 8 for odd q) and columns e t .. of the instruction's k, 4 e further for each pair; B's likewise
-- with columns g; accumulators hold row g (+ 8), columns 2t and 2t + 1.

local names = use("names")
local product = use("product")
local swizzle = use("swizzle")

local mma = {}

-- What is alike for both operands; `load` says how fragments are read:
--   ldmatrix              rows along k: four 8 x 16-byte matrices an instruction
--   ldmatrix_trans        rows along m or n: the same, turned on the way
--   ldmatrix_trans_bytes  rows along m or n, 8-bit: pairs of bytes are turned, then sorted
--   lds                   element by element
local function operand(p, o)
  local f = { o = o, load = p["load_" .. o], flip = p.swizzle and p["flip_" .. o] or nil }
  f.mn = o == "a" and "m" or "n"
  f.along_k = names.contiguous_k(p, o)
  f.extent = p["warp_" .. f.mn]
  f.groups = f.extent // 16 -- fragments of 16 rows of A or columns of B
  f.element = p.element
  f.base = o == "a" and "" or "A_BYTES + "
  f.boxed = p["path_" .. o] == "tma" -- rows of 128 bytes, boxes of them side by side
  -- registers of one group in one k step
  f.type = p.type_a == "f64" and "double" or "unsigned"
  f.words = 16 * p.step_k * p.element // 32 // (p.type_a == "f64" and 8 or 4)
  return f
end

local function operands(p) return operand(p, "a"), operand(p, "b") end

function mma.steps(p) return p.tile_k // p.step_k end

mma.share = product.share

local function array(p, o, set, group)
  if p.fragments == 1 then return o .. group end
  return o .. set .. "_" .. group
end

-- Where a warp's part of rows along m or n begins: its byte in a row. Boxes are 128 bytes wide, and the byte is that
-- in the box; text of the box's offset too, "" for none.
local function warp_begin(f)
  local bytes, warp = f.extent * f.element, "warp_" .. f.mn
  if not f.boxed then return ("%s * %d + "):format(warp, bytes), "" end
  local box = f.o:upper() .. "_BOX + "
  if bytes == 128 then return "", ("%s * %s"):format(warp, box) end
  if bytes > 128 then return "", ("%s * %d * %s"):format(warp, bytes // 128, box) end
  return ("%s %% %d * %d + "):format(warp, 128 // bytes, bytes), ("%s / %d * %s"):format(warp, 128 // bytes, box)
end

-- Row and byte in it that the lane reads first, both of the warp's part of a stage.
local function lane_place(f)
  local a = f.o == "a"
  local warp = ("warp_%s * %d"):format(f.mn, f.extent)
  local begin = warp_begin(f)
  if f.load == "ldmatrix" then
    if a then return warp .. " + lane % 16", "lane / 16 * 16" end
    return warp .. " + lane / 16 * 8 + lane % 8", "lane / 8 % 2 * 16"
  elseif f.load == "ldmatrix_trans" then
    if a then return "lane / 16 * 8 + lane % 8", begin .. "lane / 8 % 2 * 16" end
    return "lane % 16", begin .. "lane / 16 * 16"
  elseif f.load == "ldmatrix_trans_bytes" then
    -- Rows 4i, 4i + 1 and 4i + 2, 4i + 3 make two matrices: together four bytes along k. In boxes, whose chunks are
    -- flipped by row % 8, they change places for i > 1: the 8 rows of a matrix then differ there.
    local which = f.boxed and "(lane / 8 + lane % 8 / 4) % 2" or "lane / 8 % 2"
    return "lane / 16 * 16 + " .. which .. " * 2 + lane % 8 / 2 * 4 + lane % 2",
      begin == "" and "0" or begin:sub(1, -4)
  end
  -- Which k a lane takes is free, where it is the same for A and B: in boxes 5 t and, of other registers, 5 t flipped.
  local k = not f.boxed and "lane % 4" or f.element == 8 and "lane % 4 * 5" or "lane % 4 * 5 % 8"
  if f.along_k then return warp .. " + lane / 4", ("%s * %d"):format(k, f.element) end
  return k, ("%slane / 4 * %d"):format(begin, f.element)
end

-- Byte offsets of the lane's first fragment: ra, rb.
function mma.fragment_bases(p)
  local lines = {}
  for _, f in ipairs { operands(p) } do
    local row, byte = lane_place(f)
    lines[#lines + 1] = ("const int %s_row = %s;"):format(f.o, row)
    if f.flip then byte = ("((%s) ^ (%s) * 16)"):format(byte, swizzle.text(f.flip, f.o .. "_row"))
    else byte = "(" .. byte .. ")" end
    local box = f.along_k and "" or select(2, warp_begin(f))
    lines[#lines + 1] = ("const unsigned r%s = (unsigned)(%s%s%s_row * %s_PITCH + %s);"):format(f.o, f.base, box, f.o,
      f.o:upper(), byte)
  end
  return lines
end

-- Offset of what lies `rows` rows and `bytes` bytes further, in the stage at `base`. own: first letter of
-- the lane's offset there, "r", or "t" for that of a turn. flips: bits of that which are turned round as well, nil for
-- none.
local function at(f, rows, bytes, base, own, flips)
  local thread, flip, box = (own or "r") .. f.o, 0, ""
  if f.boxed and bytes >= 128 then
    box = (" + %s%s_BOX"):format(bytes >= 256 and bytes // 128 .. " * " or "", f.o:upper())
    bytes = bytes % 128
  end
  if f.flip then flip, bytes = swizzle.offset(f.flip, rows, bytes) end
  flip = flip ~ (flips or 0)
  if flip ~= 0 then thread = ("(%s ^ %d)"):format(thread, flip) end
  return thread .. (base ~= "" and " + " .. base or "") .. box .. names.offset(f.o, rows, bytes)
end

-- A loop over turns of unroll_k steps: the lane's offsets of a turn's first fragments, in the stage at `base`.
function mma.first_turn(base)
  local function first(o) return ("t%s = r%s%s"):format(o, o, base ~= "" and " + " .. base or "") end
  return ("unsigned %s, %s; // of the turn's first fragments"):format(first("a"), first("b"))
end

-- Those of the turn behind `turn`. Along k chunks are flipped by bits that are a turn's own; of rows of k only
-- those of one step flip anything (plan_mma_shared.c).
function mma.next_turn(p, base)
  local lines, stage = {}, base ~= "" and " + " .. base or ""
  local k = p.unroll_k * p.step_k
  for _, f in ipairs { operands(p) } do
    local o, bytes, last = f.o, k * f.element, p.tile_k - k
    local function add(format, ...) lines[#lines + 1] = ("t%s "):format(o) .. format:format(...) end
    if not f.along_k then
      add("+= %d * %s_PITCH;", k, o:upper())
    elseif not f.flip or bytes >= 128 then
      add("+= %d;", bytes)
    elseif last * f.element < 128 then
      add("= (r%s ^ (turn + 1) * %d)%s;", o, bytes, stage)
    else
      local along = ("(turn + 1) * %d"):format(bytes)
      add("= (r%s ^ (%s & 112))%s + (%s & ~112u);", o, along, stage, along)
    end
  end
  return lines
end

-- Loads of group `group` in k step kk.
local function group_loads(p, f, set, group, kk, base, own)
  local name, lines = array(p, f.o, set, group), {}
  local k, mn = kk * p.step_k, group * 16
  local function place(dk, dmn)
    if f.along_k then return at(f, mn + dmn, (k + dk) * f.element, base, own) end
    return at(f, k + dk, (mn + dmn) * f.element, base, own)
  end
  if f.load ~= "lds" then
    local trans = f.load == "ldmatrix" and "" or "_trans"
    return { ("gg_ldmatrix_x4%s(%s, %s);"):format(trans, name, place(0, 0)) }
  end
  local type = f.type == "double" and "f64" or "u32"
  local per_k = p.step_k // 4
  if f.boxed then
    -- Fours of k are told apart by flips of bits inside a period, of 16 (f64) or 8.
    function place(dk, dmn)
      local period = f.element == 8 and 16 or 8
      local whole, four = (k + dk) // period * period, (k + dk) % period // 4
      if f.along_k then return at(f, mn + dmn, whole * f.element, base, own, four * f.element) end
      return at(f, whole, (mn + dmn) * f.element, base, own, four * 128 ~ swizzle.flip(f.flip, four) * 16)
    end
  end
  for q = 0, f.words - 1 do
    -- A: rows alternate before k moves on; B: the k of 8 columns, then the next 8.
    local dk, dmn = q // 2 * 4, q % 2 * 8
    if f.o == "b" then dk, dmn = q % per_k * 4, q // per_k * 8 end
    lines[q + 1] = ("gg_lds_%s(&%s[%d], %s);"):format(type, name, q, place(dk, dmn))
  end
  return lines
end

-- With one set of registers a fragment is loaded again behind the last product that reads it.
function mma.late(p) return p.fragments == 1 end

-- All fragment loads of a k step, in the order in which the products need them: the first of A, those
-- of B, the rest of A. by.a0, by.b0 ..: the same by operand and group. own: as for `at`.
function mma.loads(p, set, kk, base, own)
  local A, B = operands(p)
  local by, lines = {}, {}
  for _, f in ipairs { A, B } do
    for group = 0, f.groups - 1 do by[f.o .. group] = group_loads(p, f, set, group, kk, base, own) end
  end
  names.append(lines, by.a0)
  for group = 0, B.groups - 1 do names.append(lines, by["b" .. group]) end
  for group = 1, A.groups - 1 do names.append(lines, by["a" .. group]) end
  lines.by = by
  return lines
end

-- The same, each under the condition that there is a next k tile.
function mma.guarded(loads)
  local function guard(lines) for i, line in ipairs(lines) do lines[i] = "if (more) " .. line end end
  guard(loads)
  for _, o in ipairs { "a", "b" } do
    local group = 0
    while loads.by[o .. group] do
      guard(loads.by[o .. group])
      group = group + 1
    end
  end
  return loads
end

-- Are bytes sorted in registers?
function mma.sorts(p) return p.load_a == "ldmatrix_trans_bytes" or p.load_b == "ldmatrix_trans_bytes" end

-- Accumulators of a lane and instruction; f16: in pairs.
local function accumulators(p) return p.inst_m // 4 // (p.type_acc == "f16" and 2 or 1) end

-- Declarations of fragments and accumulators; part: sums that promotion.lua adds to those.
function mma.declare(p)
  local lines = {}
  for _, f in ipairs { operands(p) } do
    for set = 0, p.fragments - 1 do
      local items = {}
      for group = 0, f.groups - 1 do items[group + 1] = ("%s[%d]"):format(array(p, f.o, set, group), f.words) end
      names.append(lines, names.declare(f.type, items))
    end
  end
  for _, name in ipairs(p.promote_k > 0 and { "acc", "part" } or { "acc" }) do
    for i = 0, p.warp_m // p.inst_m - 1 do
      local items = {}
      for j = 0, p.warp_n // 8 - 1 do items[j + 1] = ("%s%d_%d[%d]"):format(name, i, j, accumulators(p)) end
      names.append(lines, names.declare(names.c_type(p.type_acc), items))
    end
  end
  if mma.sorts(p) then lines[#lines + 1] = "unsigned pair0, pair1; // bytes on their way" end
  if mma.sorts(p) and p.path_a == "tma" then
    names.append(lines, {
      "const unsigned even = lane % 4 < 2 ? 0x6420 : 0x2064; // bytes of two registers, which have changed places in",
      "const unsigned odd = lane % 4 < 2 ? 0x7531 : 0x3175; // half of the lanes",
    })
  end
  return lines
end

-- Accumulators become zero.
function mma.clear(p)
  local lines, zero = {}, p.type_acc == "f16" and "0" or names.zero(p.type_acc)
  for i = 0, p.warp_m // p.inst_m - 1 do
    for j = 0, p.warp_n // 8 - 1 do
      local items = {}
      for e = 0, accumulators(p) - 1 do items[e + 1] = ("acc%d_%d[%d] = "):format(i, j, e) end
      lines[#lines + 1] = table.concat(items) .. zero .. ";"
    end
  end
  return lines
end

-- 8-bit fragments that were turned in pairs: bytes of even and of odd rows (columns) are told apart,
-- four along k in each register.
local function sort_bytes(p, set)
  local lines = {}
  for _, f in ipairs { operands(p) } do
    if f.load == "ldmatrix_trans_bytes" then
      for group = 0, f.groups - 1 do
        local r = array(p, f.o, set, group)
        local low, high = "0x6420", "0x7531"
        if f.boxed then low, high = "even", "odd" end
        local even, odd = f.o == "a" and { 0, 2 } or { 0, 1 }, f.o == "a" and { 1, 3 } or { 2, 3 }
        lines[#lines + 1] = ("pair0 = gg_prmt(%s[0], %s[1], %s);"):format(r, r, high)
        lines[#lines + 1] = ("pair1 = gg_prmt(%s[2], %s[3], %s);"):format(r, r, high)
        lines[#lines + 1] = ("%s[0] = gg_prmt(%s[0], %s[1], %s);"):format(r, r, r, low)
        lines[#lines + 1] = ("%s[%d] = gg_prmt(%s[2], %s[3], %s);"):format(r, even[2], r, r, low)
        lines[#lines + 1] = ("%s[%d] = pair0;"):format(r, odd[1])
        lines[#lines + 1] = ("%s[%d] = pair1;"):format(r, odd[2])
      end
    end
  end
  return lines
end

local function plus(name, offset) return offset > 0 and name .. " + " .. offset or name end

-- Name of the instruction's primitive.
function mma.instruction(p)
  local types = p.type_a == p.type_b and p.type_a or p.type_a .. "_" .. p.type_b
  return ("gg_mma_m%dn8k%d_%s%s"):format(p.inst_m, p.inst_k, types, p.type_acc == "f16" and "_acc16" or "")
end

-- The products of one k step on register set `set`, in the order that the plan asks for: rows (or
-- columns) of instructions one after the other. In serpentine order each turns where the one before
-- ended, but a step begins in the direction in which the step before ended: what was loaded first is
-- needed first. Also the groups of A and B that each product is the last to read.
local function products(p, set)
  local A, B = operands(p)
  local lines, ends, parts = {}, {}, p.step_k // p.inst_k
  local rows, columns = p.warp_m // p.inst_m, p.warp_n // 8
  local name = mma.instruction(p)
  -- An instruction's share of a group's registers; instructions of 8 rows take turns.
  local turns = 16 // p.inst_m
  local words_a, words_b = A.words // parts // turns, B.words // parts // 2
  local last = {}
  local function add(part, i, j)
    local group_a, group_b = i // turns, j // 2
    local in_b = j % 2 * words_b * parts
    local a = plus(array(p, "a", set, group_a), (part * turns + i % turns) * words_a)
    local b = plus(array(p, "b", set, group_b), in_b + part * words_b)
    lines[#lines + 1] = ("%s(%s%d_%d, %s, %s);"):format(name, p.promote_k > 0 and "part" or "acc", i, j, a, b)
    last["a" .. group_a], last["b" .. group_b] = #lines, #lines
  end
  local along_n = p.order ~= "column"
  local outer, inner = along_n and rows or columns, along_n and columns or rows
  for part = 0, parts - 1 do
    for x = 0, outer - 1 do
      for y = 0, inner - 1 do
        local back = p.order == "serpentine" and (x + set * (outer - 1)) % 2 == 1
        local z = back and inner - 1 - y or y
        if along_n then add(part, x, z) else add(part, z, x) end
      end
    end
  end
  for _, f in ipairs { A, B } do
    for group = 0, f.groups - 1 do
      local line = last[f.o .. group]
      ends[line] = ends[line] or {}
      table.insert(ends[line], f.o .. group)
    end
  end
  return lines, ends
end

function mma.step(p, set, loads, copies, first)
  local lines, ends = products(p, set)
  if mma.late(p) and #loads > 0 then
    for number, line in ipairs(lines) do
      local late = {}
      for _, group in ipairs(ends[number] or {}) do names.append(late, loads.by[group]) end
      if #late > 0 then lines[number] = { line, late } end
    end
    loads = {}
  end
  local out = sort_bytes(p, set)
  for _, line in ipairs(product.interleave(p, lines, loads, copies, first)) do
    if type(line) == "table" then
      out[#out + 1] = line[1]
      names.append(out, line[2])
    else
      out[#out + 1] = line
    end
  end
  return out
end

function mma.caption(p, kk)
  return ("// k-step %s: %d x %d instructions of %dx8x%d"):format(kk, p.warp_m // p.inst_m, p.warp_n // 8, p.inst_m,
    p.inst_k)
end

return mma
