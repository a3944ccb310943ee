-- epilogue.lua - from a thread tile of accumulators to D, for family simt.

local names = use("names")
local outputs = use("outputs")
local scalars = use("scalars")
local steps = use("steps")

local epilogue = {}

-- Row or column offset of element i inside the warp tile: vectors of the lanes lie side by side.
local function offset(p, i, lanes) return i // p.vector * lanes * p.vector + i % p.vector end

local function term(text, constant) return constant > 0 and text .. " + " .. constant or text end

-- How a vector of v elements of a matrix lies in registers: 16-bit types in pairs.
local function packing(dtype, v)
  local pairs_ = names.bytes(dtype) == 2 and v > 1
  return {
    unit = pairs_ and 2 or 1,
    -- A pointer to elements as one that the primitive takes.
    cast = function(qualifier, address)
      return pairs_ and ("(%sunsigned *)(%s)"):format(qualifier, address) or address
    end,
    type = pairs_ and "unsigned" or names.memory_type(dtype),
    zero = pairs_ and "0" or names.memory_zero(dtype),
    suffix = pairs_ and names.vector("u32", v // 2) or names.vector(names.memory_name(dtype), v),
  }
end

-- Element j of a row of registers `name`.
local function element(pack, name, j)
  if pack.unit == 1 then return name .. j end
  return j % 2 == 0 and name .. j or ("%s%d >> 16"):format(name, j - 1)
end

-- A matrix of D's shape that is read: its registers are NAMEi_j, those of the rows since `first`.
local matrices = {
  c = { type = "type_c", ld = "ldc" },
  residual = { type = "type_d", ld = "ld_residual" },
}

-- Calls body(i, j, mo, no, indent, condition) for each vector of v elements of rows first .. last.
local function each(p, first, last, v, lines, body)
  local guarded = p.variant ~= "full"
  for i = first, last do
    local mo, indent = offset(p, i, p.lanes_m), ""
    if guarded then
      lines[#lines + 1] = ("if (%d < m_left) {"):format(mo)
      indent = "  "
    end
    for j = 0, p.thread_n - 1, v do
      local no = offset(p, j, p.lanes_n)
      lines[#lines + 1] = indent .. body(i, j, mo, no, guarded and ("if (%d < n_left) "):format(no) or "")
    end
    if guarded then lines[#lines + 1] = "}" end
  end
end

local function load(p, name, first, last, lines)
  local matrix = matrices[name]
  local v = p.store_vector
  local pack = packing(p[matrix.type], v)
  if p.variant ~= "full" then
    for i = first, last do
      local row = {}
      for j = 0, p.thread_n - 1, pack.unit do row[#row + 1] = ("%s%d_%d = "):format(name, i - first, j) end
      lines[#lines + 1] = table.concat(row) .. pack.zero .. ";"
    end
  end
  each(p, first, last, v, lines, function(i, j, mo, no, condition)
    local items = {}
    for e = 0, v - 1, pack.unit do items[#items + 1] = ("&%s%d_%d"):format(name, i - first, j + e) end
    return ("%sgg_ld_%s(%s, %s);"):format(condition, pack.suffix, table.concat(items, ", "),
      pack.cast("const ", term(("%s + %d * p.%s"):format(name, mo, matrix.ld), no)))
  end)
end

local function declare_registers(p, name, rows)
  local pack, items = packing(p[matrices[name].type], p.store_vector), {}
  for i = 0, rows - 1 do
    for j = 0, p.thread_n - 1, pack.unit do items[#items + 1] = ("%s%d_%d"):format(name, i, j) end
  end
  return names.declare(pack.type, items)
end

-- Lines for each accumulator of rows first .. last: f(acc, at) yields those of one.
local function accumulators(p, first, last, lines, f)
  local c, d = packing(p.type_c, p.store_vector), packing(p.type_d, p.store_vector)
  for i = first, last do
    for j = 0, p.thread_n - 1 do
      local at = { row = i, column = j, c = element(c, ("c%d_"):format(i - first), j) }
      at.residual = element(d, ("residual%d_"):format(i - first), j)
      if p.variant ~= "full" then
        at.inside = ("%d < m_left && %d < n_left"):format(offset(p, i, p.lanes_m), offset(p, j, p.lanes_n))
      end
      names.append(lines, f(("acc%d_%d"):format(i, j), at))
    end
  end
end

-- acc = alpha * acc [+ beta * C].
local function scale(p, first, last, lines, with_c)
  accumulators(p, first, last, lines, function(acc, at)
    local x = steps.scaled(p, acc, at)
    if with_c then x = steps.plus_c(p, x, at.c) end
    return x ~= acc and { ("%s = %s;"):format(acc, x) } or {}
  end)
end

local function store(p, first, last, lines)
  local v, t = p.store_vector, p.type_d
  local pack = packing(t, v)
  each(p, first, last, v, lines, function(i, j, mo, no, condition)
    local items = {}
    for e = 0, v - 1, pack.unit do
      local acc = ("acc%d_%d"):format(i, j + e)
      items[#items + 1] = pack.unit == 2 and names.packed(t, acc, ("acc%d_%d"):format(i, j + e + 1))
        or names.narrowed(t, acc, p.type_epilogue)
    end
    return ("%sgg_st_%s(%s, %s);"):format(condition, pack.suffix,
      pack.cast("", term(("d + %d * p.ldd"):format(mo), no)), table.concat(items, ", "))
  end)
end

-- Rows first .. last with steps beside alpha and beta: these stand once, whether C is read or not.
local function rows_with_steps(p, first, last)
  local lines, reads = {}, scalars.reads_c(p)
  local function indented(list)
    for _, line in ipairs(list) do lines[#lines + 1] = "  " .. line end
  end
  if p.residual then load(p, "residual", first, last, lines) end
  for i = first, last do
    local mo = offset(p, i, p.lanes_m)
    names.append(lines, steps.row(p, i, term("d_m", mo), p.variant ~= "full" and ("%d < m_left"):format(mo) or nil))
  end
  if reads then
    local inner = {}
    load(p, "c", first, last, inner)
    scale(p, first, last, inner, true)
    lines[#lines + 1] = reads == "" and "{" or ("if (%s) {"):format(reads)
    indented(inner)
    if reads ~= "" then
      inner = {}
      scale(p, first, last, inner, false)
      if #inner > 0 then lines[#lines + 1] = "} else {" end
      indented(inner)
    end
    lines[#lines + 1] = "}"
  else
    scale(p, first, last, lines, false)
  end
  accumulators(p, first, last, lines, function(acc, at) return steps.rest(p, acc, at) end)
  store(p, first, last, lines)
  return lines
end

-- Rows first .. last; with_c: C is loaded for all of them before it is used.
local function rows(p, first, last, with_c)
  local lines = {}
  if with_c then load(p, "c", first, last, lines) end
  scale(p, first, last, lines, with_c)
  store(p, first, last, lines)
  return lines
end

-- All rows, `together` of them at a time: their loads of C are in flight at once.
local function tile(p, together, f)
  local lines = {}
  for first = 0, p.thread_m - 1, together do
    local last = first + together - 1
    lines[#lines + 1] = together > 1 and ("// rows %d..%d of the thread tile"):format(first, last)
      or ("// row %d of the thread tile"):format(first)
    names.append(lines, f(p, first, last))
  end
  return lines
end

-- Pointers to the thread's first element of D and C, how much of the matrix lies from there on, and
-- what belongs to its columns.
local function declare(p)
  local lines, guarded = outputs.pointers(p, "d_m", "d_n"), p.variant ~= "full"
  names.append(lines, outputs.left(p, "d_m", "d_n"))
  names.append(lines, steps.declare(p))
  for j = 0, p.thread_n - 1 do
    local no = offset(p, j, p.lanes_n)
    names.append(lines, steps.column(p, j, term("d_n", no), guarded and ("%d < n_left"):format(no) or nil))
  end
  return lines
end

-- All lines behind d_m and d_n, the place of the thread's first element.
function epilogue.lines(p)
  local lines, reads = declare(p), scalars.reads_c(p)
  if steps.any(p) then
    if p.residual then names.append(lines, declare_registers(p, "residual", p.epilogue_rows)) end
    if reads then names.append(lines, declare_registers(p, "c", p.epilogue_rows)) end
    names.append(lines, tile(p, p.epilogue_rows, rows_with_steps))
    return names.append(lines, steps.finish(p))
  end
  local function branch(with_c, indent)
    local inner = with_c and declare_registers(p, "c", p.vector) or {}
    names.append(inner, tile(p, p.vector, function(_, first, last) return rows(p, first, last, with_c) end))
    for _, line in ipairs(inner) do lines[#lines + 1] = indent .. line end
  end
  if reads and reads ~= "" then
    lines[#lines + 1] = ("if (%s) {"):format(reads)
    branch(true, "  ")
    lines[#lines + 1] = "} else {"
    branch(false, "  ")
    lines[#lines + 1] = "}"
  else
    branch(reads ~= nil, "")
  end
  return lines
end

return epilogue
