-- mma_epilogue.lua - D from the accumulators of family mma, through shared memory: each warp puts rows
-- of its tile into its own part and stores them from there, whole rows at a time.
--
-- Two ways: "direct", where alpha is all there is to do, rounds the accumulators first and moves D;
-- "sums" moves the accumulators, and the lane that stores an element does the epilogue's steps, so that
-- C and the residual are read as wide as D is written, by the thread that overwrites them.

local names = use("names")
local outputs = use("outputs")
local scalars = use("scalars")
local steps = use("steps")
local vectors = use("vectors")

local epilogue = {}

local function plus_rows(name, rows, ld) return rows > 0 and ("%s + %d * %s"):format(name, rows, ld) or name end

local function plus(text, n) return n > 0 and text .. " + " .. n or text end

-- Is the direct way there, and the other one?
local function has_direct(p) return not steps.any(p) and p.beta ~= "one" end
local function has_sums(p) return steps.any(p) or p.beta ~= "zero" end

-- 8-bit operands that were turned in pairs of bytes interleave rows of A, columns of B.
local function interleaved(p, o) return p["load_" .. o] == "ldmatrix_trans_bytes" end

-- Neighbouring columns that a lane holds.
local function run_length(p) return interleaved(p, "b") and 4 or 2 end

-- What a lane holds of row half h of instruction row i: runs of neighbouring columns, each with its
-- first column, beside the lane's own, and its accumulators {instruction column, element}.
local function runs(p, h)
  local list = {}
  for j = 0, p.warp_n // 8 - 1, run_length(p) // 2 do
    local run = { column = 8 * j }
    for e = 0, run_length(p) - 1 do
      run[e + 1] = interleaved(p, "b") and { j + e % 2, 2 * h + e // 2 } or { j, 2 * h + e }
    end
    list[#list + 1] = run
  end
  return list
end

-- The accumulator's value; f16: in the low half of an integer.
local function accumulator(p, i, acc)
  if p.type_acc == "f16" then
    return ("acc%d_%d[%d]%s"):format(i, acc[1], acc[2] // 2, acc[2] % 2 > 0 and " >> 16" or "")
  end
  return ("acc%d_%d[%d]"):format(i, acc[1], acc[2])
end

-- Section 2: each warp's part, and the constants that address it.
function epilogue.memory_map(p)
  local lines = { "" }
  local function add(format, ...) lines[#lines + 1] = format:format(...) end
  local function constants(name, pitch, element, what)
    add("  %-11s = %5d, // (%d + %d) * %d bytes between staged rows of %s", name .. "_PITCH", pitch * element, p.warp_n,
      pitch - p.warp_n, element, what)
  end
  add("// In %s each warp has a part of its own for %d rows of %s.", p.d_reuses and
    "the stage that is free after a tile's last products" or "what is behind the ring", p.d_rows,
    not has_sums(p) and "D" or not has_direct(p) and "sums" or "sums or D")
  add("enum {")
  if has_direct(p) then constants("D", p.pitch_d, p.element_d, "D") end
  if has_sums(p) then constants("SUM", p.pitch_sums, names.bytes(p.type_acc), "sums") end
  local warps = p.threads // 32
  add("  %-11s = %5d, // %d warp%s %d", "WARP_BYTES", p.d_bytes // warps, warps, warps == 1 and " has" or "s have",
    p.d_bytes)
  if not p.d_reuses then add("  %-11s = %5d, // %d * STAGE_BYTES", "D_AT", p.stages * p.stage_bytes, p.stages) end
  add("};")
  return lines
end

-- A way's geometry: elements a lane moves at once, lanes along a row, pitch and bytes of an element.
local function way(p, direct)
  local w = { p = p, guarded = p.variant ~= "full" }
  w.v = direct and p.store_vector or p.sum_vector
  w.element = direct and p.element_d or names.bytes(p.type_acc)
  w.pitch = direct and "D_PITCH" or "SUM_PITCH"
  w.across = p.warp_n // w.v
  w.even = w.across <= 32 and 32 % w.across == 0 -- a lane keeps its columns
  w.stores = p.d_rows * w.across // 32
  w.batch = direct and p.store_batch or p.sum_batch
  w.apart = interleaved(p, "a") and 2 or 1 -- rows of D that neighbouring staged rows are apart
  return w
end

-- Stores are made w.batch at a time; where there are more, in turns of a loop over `part`: rows, or,
-- where a lane's columns change, 32 vectors for each store. Store q is the q-th of a turn.
local function turns(w) return w.stores > w.batch end

-- Vector number of store q among those of the rows at hand, where a lane's columns change.
local function number(w, q) return plus(turns(w) and "d_lane + part" or "d_lane", 32 * q) end

-- Staged rows of store q behind the lane's first one: text, "" for none.
local function rows_on(w, q)
  local rows = q * 32 // w.across
  if not turns(w) then return rows > 0 and tostring(rows) or "" end
  return rows > 0 and ("(part + %d)"):format(rows) or "part"
end

-- Row and column, inside the warp's tile, of store q of the rows from `first` on.
local function place(w, q, first)
  if w.even then
    local on = rows_on(w, q)
    if on ~= "" and w.apart > 1 then on = "2 * " .. on end
    return plus(on ~= "" and "d_row + " .. on or "d_row", first), "d_column"
  end
  local row = ("(%s) / %d%s"):format(number(w, q), w.across, w.apart > 1 and " * 2" or "")
  return plus(row, first), ("(%s) %% %d * %d"):format(number(w, q), w.across, w.v)
end

-- Shared offset of store q's vector.
local function from(w, q)
  if w.even then
    local on = rows_on(w, q)
    if on == "" then return "from" end
    return ("from + %s%s * %s"):format(turns(w) and "(unsigned)" or "", on, w.pitch)
  end
  local _, column = place(w, q, 0)
  return ("own + (unsigned)((%s) / %d * %s + %s * %d)"):format(number(w, q), w.across, w.pitch, column, w.element)
end

-- Address of store q's vector in D, C or the residual.
local function address(w, q, first, name, ld)
  if not w.even then
    local row, column = place(w, q, first)
    return ("%s + (%s) * %s + %s"):format(name, row, ld, column)
  end
  local on = rows_on(w, q)
  if not turns(w) then return plus_rows(name, first + q * 32 // w.across * w.apart, ld) end
  if w.apart > 1 then on = "2 * " .. on end
  return ("%s + (%s) * %s"):format(name, plus(on, first), ld)
end

local function condition(w, q, first)
  local row, column = place(w, q, first)
  return ("%s < m_left && %s < n_left"):format(row, column)
end

-- Calls body(q), lines of store q, or several such, for all stores, in a loop where there are many.
local function each_store(w, ...)
  local lines = {}
  for _, body in ipairs { ... } do
    for q = 0, w.batch - 1 do names.append(lines, body(q)) end
  end
  if not turns(w) then return lines end
  local unit = w.even and 32 // w.across or 32
  local head = ("for (int part = 0; part < %d; part += %d)"):format(w.stores * unit, w.batch * unit)
  return names.append({ "#pragma unroll 1" }, names.block(head, lines))
end

-- Declarations of a way: where the lane's accumulators go and what it stores.
local function declare(w)
  local p, lines = w.p, {}
  local function add(format, ...) lines[#lines + 1] = format:format(...) end
  local sums = w.pitch == "SUM_PITCH"
  add("const unsigned to = own + (unsigned)(d_lane / 4 * %s + column_in * %d);", w.pitch, w.element)
  local row, column = "warp_row", "warp_column"
  if w.even then
    add("const int d_row = d_lane / %d%s; // of the lane's first store", w.across, w.apart > 1 and " * 2" or "")
    add("const int d_column = %s;", w.across == 1 and "0" or ("d_lane %% %d * %d"):format(w.across, w.v))
    add("const unsigned from = own + (unsigned)(d_lane / %d * %s + d_column * %d);", w.across, w.pitch, w.element)
    row, column = "(warp_row + d_row)", "(warp_column + d_column)"
  end
  add("%s", outputs.pointer(p, "d", row, column))
  if sums and scalars.reads_c(p) then add("%s", outputs.pointer(p, "c", row, column)) end
  if sums and p.residual then add("%s", outputs.pointer(p, "residual", row, column, "r")) end
  return lines
end

-- -- The direct way ---------------------------------------------------------------------------------

local function direct_row(p, i, h, slot)
  local lines = {}
  local function add(format, ...) lines[#lines + 1] = format:format(...) end
  for x, run in ipairs(runs(p, h)) do
    for e, acc in ipairs(run) do
      add("const %s x%d_%d = %s;", names.c_type(p.type_epilogue), x - 1, e - 1,
        steps.scaled(p, nil, { acc = accumulator(p, i, acc) }))
    end
  end
  for x, run in ipairs(runs(p, h)) do
    -- A pair of f64 is as much as a store takes.
    local most = math.min(#run, 16 // p.element_d)
    for e = 0, #run - 1, most do
      local values = {}
      for y = 0, most - 1 do values[y + 1] = ("x%d_%d"):format(x - 1, e + y) end
      local off = plus(slot > 0 and ("to + %d * D_PITCH"):format(slot) or "to", (run.column + e) * p.element_d)
      local declarations, words = vectors.rounded(p, p.type_d, values, ("w%d_%d_"):format(x - 1, e), p.type_epilogue)
      names.append(lines, declarations)
      add("gg_sts_%s(%s, %s);", (vectors.words(p.type_d, most)), off, table.concat(words, ", "))
    end
  end
  return names.block("", lines)
end

local function direct_stores(w, first)
  local p = w.p
  local suffix, _, count = vectors.words(p.type_d, w.v)
  return each_store(w, function(q)
    return {
      ("gg_lds_%s(%s, %s);"):format(suffix, names.list("&y", 0, count - 1), from(w, q)),
      ("%sgg_st_%s(%s, %s);"):format(w.guarded and ("if (%s) "):format(condition(w, q, first)) or "", suffix,
        vectors.pointer(p.type_d, w.v, address(w, q, first, "d", "p.ldd"), ""), names.list("y", 0, count - 1)),
    }
  end)
end

-- -- The way of sums --------------------------------------------------------------------------------

local function sum_row(p, i, h, slot)
  local lines, bytes = {}, names.bytes(p.type_acc)
  for _, run in ipairs(runs(p, h)) do
    local off = slot > 0 and ("to + %d * SUM_PITCH"):format(slot) or "to"
    if p.type_acc == "f16" then -- both halves of a register
      lines[#lines + 1] = ("gg_sts_u32(%s, acc%d_%d[%d]);"):format(plus(off, run.column * 2), i, run[1][1], h)
    else
      local most = math.min(#run, 16 // bytes)
      for e = 0, #run - 1, most do
        local values = {}
        for y = e + 1, e + most do
          local value = accumulator(p, i, run[y])
          values[#values + 1] = p.type_acc == "s32" and ("(unsigned)%s"):format(value) or value
        end
        lines[#lines + 1] = ("gg_sts_%s(%s, %s);"):format(names.vector(names.memory_name(p.type_acc), most),
          plus(off, (run.column + e) * bytes), table.concat(values, ", "))
      end
    end
  end
  return lines
end

-- Loads of C or of the residual for store q, into c<q>_0 .. or r<q>_0 .. under a condition, "" for none.
local function load(w, o, dtype, ld, q, first, needed)
  local conditions = { needed ~= "" and needed or nil }
  if w.guarded then conditions[#conditions + 1] = condition(w, q, first) end
  return (vectors.load(dtype, w.v, ("%s%d_"):format(o, q), address(w, q, first, o, ld),
    #conditions > 0 and table.concat(conditions, " && ") or nil))
end

-- Store q: sums from shared memory, steps, D. reads: condition under which C is read, "" for always,
-- nil for never.
local function finish(w, q, first, reads)
  local p, lines = w.p, {}
  local function add(format, ...) lines[#lines + 1] = format:format(...) end
  local _, load_sums, sum = outputs.sums(p, w.v, from(w, q))
  lines[1] = load_sums
  local c = vectors.elements(p.type_c, w.v, ("c%d_"):format(q))
  local residual = vectors.elements(p.type_d, w.v, ("r%d_"):format(q))
  local function at(e)
    return { acc = sum[e + 1], row = "_" .. q, column = w.even and "_" .. e or ("_%d_%d"):format(q, e),
      residual = residual[e + 1] }
  end
  local function with_c(e, x) return steps.plus_c(p, x, c[e + 1]) end
  for e = 0, w.v - 1 do
    local value = steps.scaled(p, nil, at(e))
    add("x%d = %s;", e, reads == "" and with_c(e, value) or value)
  end
  if reads and reads ~= "" then
    local inner = {}
    for e = 0, w.v - 1 do inner[e + 1] = ("x%d = %s;"):format(e, with_c(e, "x" .. e)) end
    names.append(lines, names.block(("if (%s)"):format(reads), inner))
  end
  for e = 0, w.v - 1 do names.append(lines, steps.rest(p, "x" .. e, at(e))) end
  local values = {}
  for e = 0, w.v - 1 do values[e + 1] = "x" .. e end
  names.append(lines, vectors.store(p, p.type_d, values, ("w%d_"):format(q), address(w, q, first, "d", "p.ldd"),
    p.type_epilogue))
  return lines
end

-- What belongs to store q besides its sums.
local function fetch(w, q, first, reads)
  local p, lines = w.p, {}
  local row, column = place(w, q, first)
  local inside = w.guarded and condition(w, q, first) or nil
  names.append(lines, steps.row(p, "_" .. q, "warp_row + " .. row, inside))
  if not w.even then
    for e = 0, w.v - 1 do
      names.append(lines, steps.column(p, ("_%d_%d"):format(q, e), plus("warp_column + " .. column, e), inside))
    end
  end
  if reads then names.append(lines, load(w, "c", p.type_c, "p.ldc", q, first, reads)) end
  if p.residual then names.append(lines, load(w, "r", p.type_d, "p.ld_residual", q, first, "")) end
  return lines
end

local function sum_stores(w, first, reads)
  local lines = each_store(w, function(q) return fetch(w, q, first, reads) end, function(q)
    local inner = finish(w, q, first, reads)
    return w.guarded and names.block(("if (%s)"):format(condition(w, q, first)), inner) or inner
  end)
  return turns(w) and lines or names.block("", lines)
end

-- -- Both -------------------------------------------------------------------------------------------

-- All rows of the warp, d_rows at a time: eights of rows, one of each half of an instruction.
-- row(i, h, slot): lines that put one eight; stores(first): lines that store what begins at row `first`.
local function rows(p, row, stores)
  local lines, halves, eights = {}, p.inst_m // 8, p.d_rows // 8
  local function add(text) lines[#lines + 1] = text end
  for e = 0, p.warp_m // 8 - 1, eights do
    local first = interleaved(p, "a") and e // 2 * 16 + e % 2 or e * 8
    if e > 0 then add("gg_syncwarp(); // the rows before have been stored") end
    add(("// rows %d..%d of the warp's%s"):format(first, first + (interleaved(p, "a") and 14 or p.d_rows - 1),
      interleaved(p, "a") and ", every other one" or ""))
    for x = e, e + eights - 1 do names.append(lines, row(x // halves, x % halves, (x - e) * 8)) end
    add("gg_syncwarp(); // these rows have been written")
    names.append(lines, stores(first))
  end
  return lines
end

local function direct(p)
  local w = way(p, true)
  local lines = declare(w)
  local _, word, count = vectors.words(p.type_d, w.v)
  lines[#lines + 1] = ("%s %s;"):format(word, names.list("y", 0, count - 1))
  return names.append(lines, rows(p, function(i, h, slot) return direct_row(p, i, h, slot) end,
    function(first) return direct_stores(w, first) end))
end

local function sums(p, reads)
  local w = way(p, false)
  local lines = declare(w)
  lines[#lines + 1] = (outputs.sums(p, w.v, ""))
  lines[#lines + 1] = ("%s %s;"):format(names.c_type(p.type_epilogue), names.list("x", 0, w.v - 1))
  if w.even then
    for e = 0, w.v - 1 do
      names.append(lines, steps.column(p, "_" .. e, plus("warp_column + d_column", e),
        w.guarded and "d_column < n_left" or nil))
    end
  end
  return names.append(lines, rows(p, function(i, h, slot) return sum_row(p, i, h, slot) end,
    function(first) return sum_stores(w, first, reads) end))
end

function epilogue.tile(p)
  local m = p.warps_m > 1 and ("%s * %d"):format(names.quotient("d_warp", p.warps_n), p.warp_m) or "0"
  local n = p.warps_n > 1 and ("%s * %d"):format(names.modulo("d_warp", p.warps_n), p.warp_n) or "0"
  local lines = {
    -- Named anew by an exchange that changes nothing: the compiler would carry all that follows from
    -- them through the main loop, in registers that it has not.
    "const int d_tid = (int)gg_shfl_sync_idx_u32((unsigned)tid, tid); // tid, but known here only",
    "const int d_warp = d_tid / 32;",
    "const int d_lane = d_tid % 32;",
    ("const gg_i64 warp_row = m0 + %s;"):format(m),
    ("const gg_i64 warp_column = n0 + %s;"):format(n),
    ("const int column_in = d_lane %% 4 * %d;"):format(run_length(p)),
  }
  if p.variant ~= "full" then
    lines[#lines + 1] = "const gg_i64 m_left = p.m - warp_row; // of the warp's rows and columns, inside D"
    lines[#lines + 1] = "const gg_i64 n_left = p.n - warp_column;"
  end
  local at = "D_AT"
  if p.d_reuses then
    lines[#lines + 1] = ("const unsigned free_at = rs != 0 ? rs - STAGE_BYTES : %s; // the stage that was read last")
      :format(names.stage(p.stages - 1))
    at = "free_at"
  end
  lines[#lines + 1] = ("const unsigned own = %s + (unsigned)(d_warp * WARP_BYTES);"):format(at)
  local reads = scalars.reads_c(p)
  if has_direct(p) and has_sums(p) then
    lines[#lines + 1] = ("if (%s) {"):format(reads)
    names.append(lines, names.indented(sums(p, "")))
    lines[#lines + 1] = "} else {"
    names.append(lines, names.indented(direct(p)))
    lines[#lines + 1] = "}"
  else
    names.append(lines, has_direct(p) and direct(p) or sums(p, reads))
  end
  return lines
end

return epilogue
