-- copy.lua - an operand's tile from global to shared memory: cp.async, or loads into registers and
-- shared stores. A tile is a grid of copies: x along the axis that is contiguous in global memory,
-- y across it; the threads stand as tx x ty over the grid and make rounds (i along y, j along x).

local names = use("names")
local swizzle = use("swizzle")

local copy = {}

-- What the lines below need to know of operand o ("a" or "b"). k_rows: shared memory holds one row
-- along m or n for each k (offset k * pitch + mn), else one row along k (mn * pitch + k).
-- skip: what lies outside m and n is not read, zeros take its place (else the last row or column is
-- read again there), and nothing is while `copying` is 0. One pointer then serves all rounds, and
-- copy.aim directs it at a tile.
function copy.operand(p, o, k_rows, skip)
  local c = { p = p, o = o, k_rows = k_rows, skip = skip, guarded = p.variant ~= "full" }
  c.mn = o == "a" and "m" or "n"
  c.ld = "p.ld" .. o
  c.along_k = names.contiguous_k(p, o)
  c.async = p["path_" .. o] == "cp.async"
  c.turned = p["turn_" .. o]
  c.bytes = p["copy_" .. o]
  c.v = c.bytes // p.element
  -- Several elements, each loaded alone, that one shared store puts down.
  c.gathers = skip and not c.async and c.v == 1 and p.element < 4
  if c.gathers then c.v = 4 // p.element end
  c.tile_mn = p["tile_" .. c.mn]
  c.extent = c.along_k and p.tile_k or c.tile_mn
  c.rows = c.along_k and c.tile_mn or p.tile_k
  c.tx = p["copy_lanes_" .. o]
  c.ty = p.threads // c.tx
  c.rx = c.extent // c.v // c.tx
  c.ry = (c.rows + c.ty - 1) // c.ty
  c.partial = c.ry * c.ty > c.rows -- the last round has rows for some of the threads only
  c.base = o == "a" and "" or "A_BYTES + "
  c.dtype = p["type_" .. o]
  c.type = names.memory_type(c.dtype)
  -- What a staged copy holds in registers: elements, or words of several where elements are narrow.
  c.unit, c.units = names.memory_name(c.dtype), c.v
  if p.element < 4 and c.bytes >= 4 and not c.turned then c.unit, c.units = "u32", c.bytes // 4 end
  c.flip = skip and p.swizzle and p["flip_" .. o]
  c.unit_type = c.unit == "u32" and "unsigned" or c.type
  c.vector = names.vector(c.unit, c.units)
  -- One pointer serves all rounds along an axis unless each has a clamp or a row of its own.
  c.pointer_rounds = skip and 1 or c.along_k and c.ry or (c.guarded and c.rx or 1)
  return c
end

local function pointer(c, i, j)
  if c.pointer_rounds == 1 then return "g" .. c.o end
  return "g" .. c.o .. (c.along_k and i or j)
end

-- Element of round (i, j) that this copy begins with, relative to the thread's own: k and m or n.
local function offsets(c, i, j)
  if c.along_k then return j * c.tx * c.v, i * c.ty end
  return i * c.ty, j * c.tx * c.v
end

-- Shared offset of the element (dk, dmn) away from the thread's own k and m or n, in the stage at
-- byte offset `stage` (text, or nil for the first).
local function shared_offset(c, dk, dmn, stage)
  local element, thread = c.p.element, "w" .. c.o
  local row, column = dk, dmn
  if not c.k_rows then row, column = dmn, dk end
  local bytes = column * element
  if c.flip then
    local flip
    flip, bytes = swizzle.offset(c.flip, row, bytes)
    if flip ~= 0 then thread = ("(%s ^ %d)"):format(thread, flip) end
  elseif c.p.swizzle then
    -- The thread's chunk c0 lies at c0 ^ (k0 % 8); powers of two keep dk and dmn in bits of their own.
    local chunk = 16 // element
    local flip = ((dk % 8) ~ (dmn // chunk % 8)) * 16
    bytes = dmn // (8 * chunk) * 128 + dmn % chunk * element
    if flip ~= 0 then thread = ("(%s ^ %d)"):format(thread, flip) end
  end
  return thread .. (stage and " + " .. stage or "") .. names.offset(c.o, row, bytes)
end

-- Pointers to the thread's first copies of all rounds, rows and columns beyond the last held back.
local function clamped_pointers(c, k, mn)
  local p, o, lines = c.p, c.o, {}
  local function add(text) lines[#lines + 1] = text end
  local first = c.mn .. "0"
  if c.along_k then
    for i = 0, c.ry - 1 do
      local row = ("%s + %s%s"):format(first, mn, i > 0 and " + " .. i * c.ty or "")
      if c.guarded then
        add(("const gg_i64 %s_row%d = %s < p.%s ? %s : p.%s - 1;"):format(o, i, row, c.mn, row, c.mn))
        row = ("%s_row%d"):format(o, i)
      else
        row = "(" .. row .. ")"
      end
      add(("const %s *%s = %s + %s * %s + %s;"):format(c.type, pointer(c, i, 0), o, row, c.ld, k))
    end
  else
    for j = 0, c.pointer_rounds - 1 do
      local column = ("%s + %s%s"):format(first, mn, j > 0 and " + " .. j * c.tx * c.v or "")
      if c.guarded then
        add(("const gg_i64 %s_column%d = %s < p.%s ? %s : p.%s - %d;"):format(o, j, column, c.mn,
          column, c.mn, c.v))
        column = ("%s_column%d"):format(o, j)
      end
      add(("const %s *%s = %s + %s * %s + %s;"):format(c.type, pointer(c, 0, j), o, k, c.ld, column))
    end
    if c.ry > 1 then
      add(("const gg_i64 %s_step = %d * %s; // to the next round's row"):format(o, c.ty, c.ld))
    end
    if c.ry == 1 or c.partial then
      add(("const gg_i64 %s_last = %d * %s; // to the next tile"):format(o,
        p.tile_k - (c.ry - 1) * c.ty, c.ld))
    end
  end
  return lines
end

-- A pointer that walks over the rounds of a tile and on to the next k tile, and how much of m or n the
-- tile has; copy.aim gives them their values.
local function walking_pointer(c)
  local p, o, lines = c.p, c.o, {}
  local function add(text) lines[#lines + 1] = text end
  add(("const %s *g%s = (const %s *)p.%s;"):format(c.type, o, c.type, o))
  if c.ry > 1 then
    add(("const gg_i64 %s_step = %d * %s; // to the next round's row"):format(o, c.ty, c.ld))
  end
  if not c.along_k and (c.ry == 1 or c.partial) then
    add(("const gg_i64 %s_last = %d * %s; // to the next k tile"):format(o, p.tile_k - (c.ry - 1) * c.ty, c.ld))
  elseif c.along_k and c.ry > 1 then
    add(("const gg_i64 %s_last = %d - %d * %s_step; // to the next k tile"):format(o, p.tile_k, c.ry - 1, o))
  end
  if c.guarded then add(("int %s_left = 0; // %s behind the thread's first one, inside %s and the tile"):format(o,
    c.along_k and "rows" or "columns", o:upper())) end
  return lines
end

-- Directs the pointer at the first k of the tile at m0, n0 of `batch`.
function copy.aim(c)
  local o, k, mn, first = c.o, c.o .. "_k", c.o .. "_" .. c.mn, c.mn .. "0"
  local row, column = ("(%s + %s)"):format(first, mn), k
  if not c.along_k then row, column = k, ("(%s + %s)"):format(first, mn) end
  local lines = { ("g%s = (const %s *)p.%s + batch * p.stride_%s + %s * %s + %s;"):format(o, c.type, o, o, row, c.ld,
    column) }
  if c.guarded then
    lines[2] = ("%s_left = (p.%s - %s < %d ? (int)(p.%s - %s) : %d) - %s;"):format(o, c.mn, first, c.tile_mn, c.mn,
      first, c.tile_mn, mn)
  end
  return lines
end

-- Declarations before the k loop: who copies what, and pointers to the first tile.
function copy.declare(c)
  local p, o, lines = c.p, c.o, {}
  local function add(text) lines[#lines + 1] = text end
  local k, mn = o .. "_k", o .. "_" .. c.mn
  local x, y = c.along_k and k or mn, c.along_k and mn or k
  add(("const int %s = tid %% %d%s;"):format(x, c.tx, c.v > 1 and " * " .. c.v or ""))
  add(("const int %s = tid / %d;"):format(y, c.tx))
  -- where the thread's first copy lands
  if c.flip then
    local row, column = k, mn
    if not c.k_rows then row, column = mn, k end
    add(("const unsigned w%s = (unsigned)(%s%s * %s_PITCH + ((%s * %d) ^ ((%s) * 16)));"):format(o, c.base,
      row, o:upper(), column, p.element, swizzle.text(c.flip, row)))
  elseif p.swizzle then
    local chunk = 16 // p.element
    local inside = chunk > 1 and (" + %s %% %d * %d"):format(mn, chunk, p.element) or ""
    add(("const unsigned w%s = (unsigned)(%s%s * %s_PITCH + ((%s / %d) ^ (%s %% 8)) * 16%s);"):format(o,
      c.base, k, o:upper(), mn, chunk, k, inside))
  else
    local row, column = k, mn
    if not c.k_rows then row, column = mn, k end
    add(("const unsigned w%s = (unsigned)(%s%s * %s_PITCH + %s * %d);"):format(o, c.base, row,
      o:upper(), column, p.element))
  end
  if c.skip then
    names.append(lines, walking_pointer(c))
  else
    add(("const %s *const %s = (const %s *)p.%s + batch * p.stride_%s;"):format(c.type, o, c.type, o, o))
    names.append(lines, clamped_pointers(c, k, mn))
  end
  if not c.async then
    for i = 0, c.ry - 1 do
      for j = 0, c.rx - 1 do
        add(("%s %s; // of copy %d"):format(c.unit_type, names.list(("s%s%d_%d_"):format(o, i, j), 0,
          (c.gathers and c.v or c.units) - 1), i * c.rx + j))
      end
    end
  end
  return lines
end

-- Statements that move the pointers after round i.
local function advance(c, i, lines)
  if c.skip and c.along_k then
    local step = i < c.ry - 1 and c.o .. "_step" or c.ry > 1 and c.o .. "_last" or c.p.tile_k
    lines[#lines + 1] = ("g%s += %s;"):format(c.o, step)
    return
  end
  if c.along_k then
    if i == c.ry - 1 then
      for r = 0, c.ry - 1 do lines[#lines + 1] = ("%s += %d;"):format(pointer(c, r, 0), c.p.tile_k) end
    end
    return
  end
  local step = (i == c.ry - 1 and (c.ry == 1 or c.partial)) and c.o .. "_last" or c.o .. "_step"
  for j = 0, c.pointer_rounds - 1 do
    lines[#lines + 1] = ("%s += %s;"):format(pointer(c, 0, j), step)
  end
end

local function global_address(c, i, j)
  local constant = 0
  if c.along_k then constant = j * c.tx * c.v
  elseif c.pointer_rounds == 1 then constant = j * c.tx * c.v end
  return pointer(c, i, j) .. (constant > 0 and " + " .. constant or "")
end

-- Condition that round i exists for this thread, or nil. flag: says whether there is a tile at all.
local function row_condition(c, i, flag)
  local text = c.skip and flag or nil
  if not c.partial or i < c.ry - 1 then return text end
  local y = c.along_k and c.o .. "_" .. c.mn or c.o .. "_k"
  local row = ("%s%s < %d"):format(y, i > 0 and " + " .. i * c.ty or "", c.rows)
  return text and text .. " && " .. row or row
end

local function k_condition(c, dk)
  return ("%s_k%s < k_left"):format(c.o, dk > 0 and " + " .. dk or "")
end

-- Conditions under which element e of copy (i, j) lies inside the operand, as a list. last: of the
-- tile in which k ends.
local function inside(c, i, j, e, last)
  local conditions = {}
  local dk, dmn = offsets(c, i, j)
  if c.along_k then dk = dk + e else dmn = dmn + e end
  if c.skip and c.guarded then
    conditions[1] = ("%s_left > %d"):format(c.o, dmn)
  end
  if last then conditions[#conditions + 1] = k_condition(c, dk) end
  return conditions
end

local function async_copy(c, i, j, last, stage)
  local dk, dmn = offsets(c, i, j)
  local off, address = shared_offset(c, dk, dmn, stage), global_address(c, i, j)
  local row, conditions = row_condition(c, i, "copying"), inside(c, i, j, 0, last)
  local prefix = row and ("if (%s) "):format(row) or ""
  if #conditions == 0 then return { ("%sgg_cp_async_%d(%s, %s);"):format(prefix, c.bytes, off, address) } end
  return { ("%sgg_cp_async_zfill_%d(%s, %s, %s ? %d : 0);"):format(prefix, c.bytes, off, address,
    table.concat(conditions, " && "), c.bytes) }
end

-- Loads of copy (i, j) into its registers: all at once, or element by element.
local function staged_load(c, i, j, last)
  local lines, prefix = {}, ("s%s%d_%d_"):format(c.o, i, j)
  local row, address = row_condition(c, i, "copying"), global_address(c, i, j)
  local count, each = 1, c.units
  if c.gathers then count, each = c.v, 1 end
  if c.unit_type ~= c.type then address = names.cast("const " .. c.unit_type, address) end
  for e = 0, count - 1 do
    local load = ("gg_ldg_%s(%s, %s%s);"):format(names.vector(c.unit, each), names.list("&" .. prefix, e,
      e + each - 1), address, e > 0 and " + " .. e or "")
    local conditions = inside(c, i, j, e, last)
    if #conditions > 0 then
      local zeros = {}
      for x = e, e + each - 1 do zeros[#zeros + 1] = prefix .. x .. " = " end
      lines[#lines + 1] = table.concat(zeros) .. (names.zero(c.unit) or "0") .. ";"
    end
    if row then table.insert(conditions, 1, row) end
    lines[#lines + 1] = (#conditions > 0 and ("if (%s) "):format(table.concat(conditions, " && ")) or "") .. load
  end
  return lines
end

-- Copies of one tile, as a list of groups of lines, each group one copy and what belongs to it.
-- last: k_left rows of k are valid, the rest becomes zeros. stage: where cp.async lands.
-- Async operands copy; staged operands load into their registers.
function copy.fetch(c, last, stage)
  local groups = {}
  for i = 0, c.ry - 1 do
    for j = 0, c.rx - 1 do
      local group = c.async and async_copy(c, i, j, last, stage) or staged_load(c, i, j, last)
      if j == c.rx - 1 then advance(c, i, group) end
      groups[#groups + 1] = group
    end
  end
  return groups
end

-- Elements of a gathered copy as one word, the first in the lowest bits.
local function word(c, prefix)
  local parts, bits = {}, 8 * c.p.element
  for e = 0, c.v - 1 do
    parts[#parts + 1] = ("(unsigned)%s%d%s"):format(prefix, e, e > 0 and " << " .. e * bits or "")
  end
  return table.concat(parts, " | ")
end

-- Shared stores of a staged operand's registers into the stage at byte offset `stage`. skip: where
-- `holding` is not 0.
function copy.store(c, stage)
  local groups = {}
  if c.async then return groups end
  for i = 0, c.ry - 1 do
    local row = row_condition(c, i, "holding")
    local condition = row and ("if (%s) "):format(row) or ""
    for j = 0, c.rx - 1 do
      local dk, dmn = offsets(c, i, j)
      local prefix = ("s%s%d_%d_"):format(c.o, i, j)
      if c.turned then
        for e = 0, c.v - 1 do
          local k_step, mn_step = c.along_k and e or 0, c.along_k and 0 or e
          groups[#groups + 1] = { ("%sgg_sts_%s(%s, %s%d);"):format(condition, c.unit,
            shared_offset(c, dk + k_step, dmn + mn_step, stage), prefix, e) }
        end
      elseif c.gathers then
        groups[#groups + 1] = { ("%sgg_sts_u32(%s, %s);"):format(condition, shared_offset(c, dk, dmn, stage),
          word(c, prefix)) }
      else
        groups[#groups + 1] = { ("%sgg_sts_%s(%s, %s);"):format(condition, c.vector,
          shared_offset(c, dk, dmn, stage), names.list(prefix, 0, c.units - 1)) }
      end
    end
  end
  return groups
end

-- Groups of several operands one after the other, as plain lines.
function copy.flat(...)
  local lines = {}
  for n = 1, select("#", ...) do
    for _, group in ipairs((select(n, ...))) do names.append(lines, group) end
  end
  return lines
end

-- All groups in one list.
function copy.join(...)
  local all = {}
  for n = 1, select("#", ...) do
    for _, group in ipairs((select(n, ...))) do all[#all + 1] = group end
  end
  return all
end

-- Section 2: the map of shared memory and the constants that address it.
function copy.memory_map(p)
  local lines = { "//   offset   bytes  what" }
  local function add(text) lines[#lines + 1] = text end
  local function place(offset, bytes, text)
    add(("//   %6d  %6d  %s"):format(offset, bytes, text))
  end
  -- Rows of shared memory run along k where turning, or not, brings them there.
  local function along_k(o) return names.contiguous_k(p, o) ~= p["turn_" .. o] end
  local function rows(o, mn)
    local turned = p["turn_" .. o] and "turned on its way" or "as in global memory"
    local count, extent, across, along = p.tile_k, p["tile_" .. mn], "k", mn
    if along_k(o) then count, extent, across, along = extent, count, mn, "k" end
    return ("%s: %d rows (%s) of %d + %d elements (%s), %s"):format(o:upper(), count, across, extent,
      p["pad_" .. o], along, turned)
  end
  for stage = 0, p.stages - 1 do
    place(stage * p.stage_bytes, p.bytes_a, ("stage %d  "):format(stage) .. rows("a", "m"))
    place(stage * p.stage_bytes + p.bytes_a, p.bytes_b, ("stage %d  "):format(stage) .. rows("b", "n"))
  end
  if p.k_slices > 1 then
    place(0, p.reduce_bytes, "after the last k tile: partial sums of the k slices")
  end
  if p.swizzle and p.family == "simt" then add("// 16-byte chunk c of row k lies at chunk c ^ (k % 8) of that row.") end
  for _, o in ipairs(p.swizzle and p.family ~= "simt" and { "a", "b" } or {}) do
    local flip = swizzle.text(p["flip_" .. o], "r")
    if flip ~= "0" then
      add(("// 16-byte chunk c of row r of %s lies at chunk c ^ (%s) of that row."):format(o:upper(), flip))
    end
  end
  add("")
  add("enum {")
  local function constant(name, value, why) add(("  %-11s = %5d, // %s"):format(name, value, why)) end
  constant("A_PITCH", p.pitch_a * p.element, ("(%d + %d) * %d bytes between rows of A"):format(
    p.pitch_a - p.pad_a, p.pad_a, p.element))
  constant("B_PITCH", p.pitch_b * p.element, ("(%d + %d) * %d bytes between rows of B"):format(
    p.pitch_b - p.pad_b, p.pad_b, p.element))
  local rows_a = along_k("a") and p.tile_m or p.tile_k
  local rows_b = along_k("b") and p.tile_n or p.tile_k
  constant("A_BYTES", p.bytes_a, ("%d * A_PITCH, in steps of 128: where B begins in a stage"):format(rows_a))
  if p.stages > 1 then
    constant("STAGE_BYTES", p.stage_bytes, ("A_BYTES + %d * B_PITCH, in steps of 128"):format(rows_b))
  end
  if p.k_slices > 1 then
    constant("SUM_PITCH", p.threads // p.k_slices * p.element, ("%d threads of a slice * %d bytes"):format(
      p.threads // p.k_slices, p.element))
    constant("SUM_BYTES", p.tile_m * p.tile_n * p.element, ("%d * %d sums of a slice * %d bytes"):format(
      p.tile_m, p.tile_n, p.element))
  end
  add("};")
  return lines
end

return copy
