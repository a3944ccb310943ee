-- epilogue.lua - D = alpha * acc + beta * C from a thread tile of accumulators.

local names = use("names")
local scalars = use("scalars")

local epilogue = {}

-- Row or column offset of element i inside the warp tile: vectors of the lanes lie side by side.
local function offset(p, i, lanes) return i // p.vector * lanes * p.vector + i % p.vector end

local function term(text, constant) return constant > 0 and text .. " + " .. constant or text end

-- Lines of rows first .. last; with_c: C is loaded for all of them before it is used.
local function rows(p, first, last, with_c)
  local lines = {}
  local t, v, guarded = p.type_d, p.store_vector, p.variant ~= "full"
  local suffix = names.vector(t, v)
  local function add(indent, text) lines[#lines + 1] = indent .. text end
  local function each(row_body)
    for i = first, last do
      local mo, indent = offset(p, i, p.lanes_m), ""
      if guarded then
        add("", ("if (%d < m_left) {"):format(mo))
        indent = "  "
      end
      for j = 0, p.thread_n - 1, v do
        local no = offset(p, j, p.lanes_n)
        row_body(i, j, mo, no, indent, guarded and ("if (%d < n_left) "):format(no) or "")
      end
      if guarded then add("", "}") end
    end
  end
  if with_c then
    if guarded then
      for i = first, last do
        local row = {}
        for j = 0, p.thread_n - 1 do row[#row + 1] = ("c%d_%d = "):format(i - first, j) end
        add("", table.concat(row) .. names.zero(t) .. ";")
      end
    end
    each(function(i, j, mo, no, indent, condition)
      local items = {}
      for e = 0, v - 1 do items[#items + 1] = ("&c%d_%d"):format(i - first, j + e) end
      add(indent, ("%sgg_ld_%s(%s, %s);"):format(condition, suffix, table.concat(items, ", "),
        term(("c + %d * p.ldc"):format(mo), no)))
    end)
  end
  for i = first, last do
    for j = 0, p.thread_n - 1 do
      local acc = ("acc%d_%d"):format(i, j)
      local x = scalars.scaled(p, acc)
      if with_c then x = scalars.plus_c(p, x, ("c%d_%d"):format(i - first, j)) end
      if x ~= acc then add("", ("%s = %s;"):format(acc, x)) end
    end
  end
  each(function(i, j, mo, no, indent, condition)
    local items = {}
    for e = 0, v - 1 do items[#items + 1] = ("acc%d_%d"):format(i, j + e) end
    add(indent, ("%sgg_st_%s(%s, %s);"):format(condition, suffix,
      term(("d + %d * p.ldd"):format(mo), no), table.concat(items, ", ")))
  end)
  return lines
end

-- Pointers to the thread's first element of D and C, and how much of the matrix lies from there on.
function epilogue.declare(p)
  local t = names.c_type(p.type_d)
  local lines = {
    ("%s *const d = (%s *)p.d + batch * p.stride_d + d_m * p.ldd + d_n;"):format(t, t),
  }
  if scalars.reads_c(p) then
    lines[#lines + 1] = ("const %s *const c = (const %s *)p.c + batch * p.stride_c + d_m * p.ldc + d_n;")
      :format(t, t)
  end
  if p.variant ~= "full" then
    lines[#lines + 1] = "const gg_i64 m_left = p.m - d_m;"
    lines[#lines + 1] = "const gg_i64 n_left = p.n - d_n;"
  end
  return lines
end

-- All rows, those of one vector of rows together: their loads of C are in flight at once.
function epilogue.tile(p, with_c)
  local lines = {}
  local together = p.vector
  if with_c then
    local items = {}
    for i = 0, together - 1 do
      for j = 0, p.thread_n - 1 do items[#items + 1] = ("c%d_%d"):format(i, j) end
    end
    names.append(lines, names.declare(names.c_type(p.type_d), items))
  end
  for first = 0, p.thread_m - 1, together do
    local last = first + together - 1
    lines[#lines + 1] = ("// rows %d..%d of the thread tile"):format(first, last)
    names.append(lines, rows(p, first, last, with_c))
  end
  return lines
end

return epilogue
