-- wmma.lua - lines of family wmma: fragments, the products of a k step, the way of the sums to D.

local names = use("names")
local outputs = use("outputs")
local scalars = use("scalars")
local steps = use("steps")
local vectors = use("vectors")

local wmma = {}

local function shape(p) return ("m%dn%dk%d"):format(p.inst_m, p.inst_n, p.inst_k) end

-- Order in which an operand lies in memory: A as written (n) is row-major, stored transposed (t) col.
local function order(p, o)
  local transposed = p.layout:sub(o == "a" and 1 or 2, o == "a" and 1 or 2) == "t"
  return transposed and "col" or "row"
end

local function rows(p) return p.warp_m // p.inst_m end
local function columns(p) return p.warp_n // p.inst_n end

-- Registers of a fragment of A or B: C type and how many. f16 fragments hold each element twice.
local function fragment(p, o)
  if p.type_a == "f64" then return "double", 1 end
  if p.type_a == "f16" then return "unsigned", 8 end
  local side = o == "a" and p.inst_m or p.inst_n
  return "unsigned", math.max(1, side * p.inst_k * p.element // 128)
end

local sums = { f32 = { "float", 8 }, f16 = { "unsigned", 4 }, s32 = { "int", 8 }, f64 = { "double", 2 } }

-- -- What pipeline.lua asks of a k step -----------------------------------------------------------

function wmma.steps(p) return p.tile_k // p.inst_k end

function wmma.caption(p, kk)
  return ("// k-step %s: acc[0..%d][0..%d] += a[0..%d] * b[0..%d], fragments of %dx%dx%d"):format(kk, rows(p) - 1,
    columns(p) - 1, rows(p) - 1, columns(p) - 1, p.inst_m, p.inst_n, p.inst_k)
end

-- Loads of the fragments of A and B for k step kk from the stage at byte offset `base`.
function wmma.loads(p, _, kk, base)
  local lines = {}
  for _, o in ipairs { "a", "b" } do
    local side = o == "a" and p.inst_m or p.inst_n
    for i = 0, (o == "a" and rows(p) or columns(p)) - 1 do
      local row, column = i * side, kk * p.inst_k
      if not names.contiguous_k(p, o) then row, column = column, row end
      lines[#lines + 1] = ("gg_wmma_load_%s_%s_%s_%s_shared(%s%d, r%s%s%s, %s_PITCH / %d);"):format(o, shape(p),
        p["type_" .. o], order(p, o), o, i, o, base ~= "" and " + " .. base or "",
        names.offset(o, row, column * p.element), o:upper(), p.element)
    end
  end
  return lines
end

-- Products of a k step; copies: groups of lines, copy_gap products apart.
function wmma.step(p, _, _, copies, _)
  local lines, done = {}, 0
  local name = ("gg_wmma_mma_%s_%s%s_%s_%s"):format(shape(p), p.type_a, p.type_acc == "f16" and "_acc16" or "",
    order(p, "a"), order(p, "b"))
  for i = 0, rows(p) - 1 do
    for x = 0, columns(p) - 1 do
      local j = i % 2 == 1 and columns(p) - 1 - x or x -- there and back: neighbours share b
      lines[#lines + 1] = ("%s(acc%d_%d, a%d, b%d);"):format(name, i, j, i, j)
      if #lines % p.copy_gap == 0 and copies[done + 1] then
        done = done + 1
        names.append(lines, copies[done])
      end
    end
  end
  for x = done + 1, #copies do names.append(lines, copies[x]) end
  return lines
end

-- -- Declarations -----------------------------------------------------------------------------------

-- Byte offset of the warp's first element of A and B in a stage: ra, rb.
function wmma.fragment_bases(p)
  local lines = {}
  for _, o in ipairs { "a", "b" } do
    local mn = o == "a" and "m" or "n"
    local apart = names.contiguous_k(p, o) and o:upper() .. "_PITCH" or p.element
    lines[#lines + 1] = ("const unsigned r%s = (unsigned)(%swarp_%s * %d * %s);"):format(o,
      o == "a" and "" or "A_BYTES + ", mn, p["warp_" .. mn], apart)
  end
  return lines
end

function wmma.declare_fragments(p)
  local lines = {}
  for _, o in ipairs { "a", "b" } do
    local c_type, n = fragment(p, o)
    local items = {}
    for i = 0, (o == "a" and rows(p) or columns(p)) - 1 do items[#items + 1] = ("%s%d[%d]"):format(o, i, n) end
    names.append(lines, names.declare(c_type, items))
  end
  return lines
end

function wmma.declare_accumulators(p)
  local lines, c_type, n = {}, table.unpack(sums[p.type_acc])
  for i = 0, rows(p) - 1 do
    local items = {}
    for j = 0, columns(p) - 1 do items[#items + 1] = ("acc%d_%d[%d] = {0}"):format(i, j, n) end
    names.append(lines, names.declare(c_type, items))
  end
  return lines
end

-- -- Epilogue ---------------------------------------------------------------------------------------

-- Section 2: the strips of D.
function wmma.memory_map(p)
  local size, count = names.bytes(p.type_acc), p.threads // 32
  local strip = p.d_bytes // count
  return {
    ("// After the last k tile: a strip for each of %d warps, %d rows of %d + %d sums."):format(count, p.inst_m,
      p.warp_n, p.pitch_d - p.warp_n),
    "enum {",
    ("  %-11s = %5d, // (%d + %d) * %d bytes between rows of sums"):format("D_PITCH", p.pitch_d * size, p.warp_n,
      p.pitch_d - p.warp_n, size),
    ("  %-11s = %5d, // %d * D_PITCH: a warp's strip"):format("D_BYTES", strip, p.inst_m),
    "};",
  }
end

-- The warp's strip, its first element of D, C and the residual.
function wmma.declare_output(p)
  local lines = {
    ("const unsigned strip = %s;"):format(p.threads > 32 and "(unsigned)(warp * D_BYTES)" or "0"),
    ("const gg_i64 d_m = m0 + warp_m * %d;"):format(p.warp_m),
    ("const gg_i64 d_n = n0 + warp_n * %d;"):format(p.warp_n),
  }
  names.append(lines, outputs.pointers(p, "d_m", "d_n"))
  return names.append(lines, outputs.left(p, "d_m", "d_n"))
end

-- Sums of row i of the warp's fragments into the strip.
local function stage(p, i, add)
  local size = names.bytes(p.type_acc)
  for j = 0, columns(p) - 1 do
    add(("gg_wmma_store_d_%s_%s_row_shared(strip%s, acc%d_%d, D_PITCH / %d);"):format(shape(p), p.type_acc,
      j > 0 and " + " .. j * p.inst_n * size or "", i, j, size))
  end
end

-- Variables x0 .. of the epilogue's type, and the lane's sums at (row, column) of the strip as expressions.
local function take(p, add)
  local v, size, E = p.vector, names.bytes(p.type_acc), names.c_type(p.type_epilogue)
  local at = ("strip + (unsigned)(row * D_PITCH + column * %d)"):format(size)
  local own = {}
  if p.type_acc == p.type_epilogue and p.type_acc ~= "s32" then
    add(("%s %s;"):format(E, names.list("x", 0, v - 1)))
    add(("gg_lds_%s(%s, %s);"):format(names.vector(p.type_acc, v), names.list("&x", 0, v - 1), at))
    for e = 0, v - 1 do own[e + 1] = "x" .. e end
    return own
  end
  local words, load, list = outputs.sums(p, v, at)
  add(words)
  add(load)
  add(("%s %s;"):format(E, names.list("x", 0, v - 1)))
  return list
end

-- The steps for the lane's elements, all of which lie in D, and their store.
local function finish(p, own, row, add)
  local v, last = p.vector, p.vector - 1
  local function at(text, ld)
    return ("%s + %s * p.%s + column"):format(text, row:find(" ") and "(" .. row .. ")" or row, ld)
  end
  local function each(lines, indent)
    for _, line in ipairs(lines) do add((indent or "") .. line) end
  end
  for e = 0, last do
    each(steps.column(p, e, ("(d_n + column + %d)"):format(e)))
    local value = steps.scaled(p, "x" .. e, { acc = own[e + 1], row = "", column = e })
    if value ~= "x" .. e then add(("x%d = %s;"):format(e, value)) end
  end
  local reads = scalars.reads_c(p)
  if reads then
    add(reads == "" and "{" or "if (" .. reads .. ") {")
    local lines, c = vectors.load(p.type_c, v, "c", at("c", "ldc"))
    each(lines, "  ")
    for e = 0, last do add(("  x%d = %s;"):format(e, steps.plus_c(p, "x" .. e, c[e + 1]))) end
    add("}")
  end
  local residual = {}
  if p.residual then
    local lines
    lines, residual = vectors.load(p.type_d, v, "r", at("residual", "ld_residual"))
    each(lines)
  end
  local values = {}
  for e = 0, last do
    each(steps.rest(p, "x" .. e, { row = "", column = e, residual = residual[e + 1] }))
    values[e + 1] = "x" .. e
  end
  each(vectors.store(p, p.type_d, values, "y", at("d", "ldd"), p.type_epilogue))
end

-- Row i of the warp's fragments: sums to the strip, then each lane takes p.vector neighbours at a time.
function wmma.deliver(p, i)
  local lines, indent = {}, ""
  local function add(text) lines[#lines + 1] = indent .. text end
  local guarded, first_row = p.variant ~= "full", i * p.inst_m
  if i > 0 then add("gg_syncwarp(); // the strip has been read") end
  stage(p, i, add)
  add("gg_syncwarp(); // the strip has been written")
  local lanes = p.warp_n // p.vector
  local rounds = p.inst_m * lanes // 32
  add(("for (int turn = 0; turn < %d; ++turn) { // %d x %d outputs, %d a lane and turn"):format(rounds, p.inst_m,
    p.warp_n, p.vector))
  indent = "  "
  add(("const int row = (turn * 32 + lane) / %d;"):format(lanes))
  add(("const int column = (turn * 32 + lane) %% %d * %d;"):format(lanes, p.vector))
  local row = first_row > 0 and ("%d + row"):format(first_row) or "row"
  if guarded then
    add(("if (%s < m_left && column < n_left) {"):format(row))
    indent = "    "
  end
  local own = take(p, add)
  for _, line in ipairs(steps.row(p, "", ("(d_m + %s)"):format(row))) do add(line) end
  finish(p, own, row, add)
  if guarded then
    indent = "  "
    add("}")
  end
  indent = ""
  add("}")
  return lines
end

return wmma
