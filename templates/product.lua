-- product.lua - fragments and FMAs of a k step: which registers, in which order, and how loads and
-- copies stand between the FMAs.

local names = use("names")

local product = {}

-- k steps of a tile that one slice computes.
function product.steps(p) return p.tile_k // p.k_slices end

-- Order of each plan's FMAs, and the lines of its k steps by register set.
local orders = setmetatable({}, { __mode = "k" })
local fma_lines = setmetatable({}, { __mode = "k" })

-- Pairs (row, column) of a thread tile in the order the plan asks for. In serpentine and row order
-- the inner loop runs along the shorter side, so that a row of products shares one operand and, in
-- serpentine, the turn at its end shares the other.
function product.order(p)
  if orders[p] then return orders[p] end
  local products, tm, tn = {}, p.thread_m, p.thread_n
  orders[p] = products
  local function add(i, j) products[#products + 1] = { i, j } end
  local along_n = tn <= tm
  if p.order == "column" then along_n = not along_n end
  local outer, inner = along_n and tm or tn, along_n and tn or tm
  for x = 0, outer - 1 do
    for y = 0, inner - 1 do
      local z = (p.order == "serpentine" and x % 2 == 1) and inner - 1 - y or y
      if along_n then add(x, z) else add(z, x) end
    end
  end
  return products
end

-- Name of element i of operand o's fragment in register set `set`.
local function fragment(p, o, set, i)
  if p.fragments == 1 then return o .. i end
  return o .. set .. "_" .. i
end

-- Declarations of all fragment registers.
function product.declare_fragments(p)
  local lines = {}
  for set = 0, p.fragments - 1 do
    for _, o in ipairs { "a", "b" } do
      local items = {}
      for i = 0, p["thread_" .. (o == "a" and "m" or "n")] - 1 do
        items[#items + 1] = fragment(p, o, set, i)
      end
      names.append(lines, names.declare(names.c_type(p.type_acc), items))
    end
  end
  return lines
end

function product.declare_accumulators(p)
  local lines, zero = {}, names.zero(p.type_acc)
  for i = 0, p.thread_m - 1 do
    local items = {}
    for j = 0, p.thread_n - 1 do items[#items + 1] = ("acc%d_%d = %s"):format(i, j, zero) end
    names.append(lines, names.declare(names.c_type(p.type_acc), items))
  end
  return lines
end

-- Loads of operand o's fragment for k step kk. base: text of the byte offset that k step 0 of this
-- stage (or of this turn of a rolled loop) has.
local function fragment_loads(p, o, set, kk, base)
  local lines, mn = {}, o == "a" and "m" or "n"
  local lanes, v = p["lanes_" .. mn], p.vector
  for q = 0, p["thread_" .. mn] - 1, v do
    local items = {}
    for e = 0, v - 1 do items[#items + 1] = "&" .. fragment(p, o, set, q + e) end
    local bytes, thread = q * lanes * p.element, "r" .. o
    if p.swizzle then
      local chunk = 16 // p.element
      local chunks = q * lanes // chunk
      bytes = chunks // 8 * 128 + q * lanes % chunk * p.element
      local flip = (kk % 8 ~ chunks % 8) * 16
      if flip ~= 0 then thread = ("(r%s ^ %d)"):format(o, flip) end
    end
    lines[#lines + 1] = ("gg_lds_%s(%s, %s%s%s);"):format(names.vector(p.type_acc, v),
      table.concat(items, ", "), thread, base ~= "" and " + " .. base or "", names.offset(o, kk, bytes))
  end
  return lines
end

-- All fragment loads of a k step: the first of A, those of B, the rest of A, which is the order in
-- which the FMAs need them.
function product.loads(p, set, kk, base_a, base_b)
  local a = fragment_loads(p, "a", set, kk, base_a)
  local b = fragment_loads(p, "b", set, kk, base_b or base_a)
  local lines = { a[1] }
  names.append(lines, b)
  for i = 2, #a do lines[#lines + 1] = a[i] end
  return lines
end

-- The FMAs of one k step on register set `set`, in order, one a line.
function product.fmas(p, set)
  fma_lines[p] = fma_lines[p] or {}
  if fma_lines[p][set] then return fma_lines[p][set] end
  local lines, fma = {}, names.fma(p.type_acc)
  for x, pair in ipairs(product.order(p)) do
    local i, j = pair[1], pair[2]
    lines[x] = ("acc%d_%d = %s(%s, %s, acc%d_%d);"):format(i, j, fma, fragment(p, "a", set, i),
      fragment(p, "b", set, j), i, j)
  end
  fma_lines[p][set] = lines
  return lines
end

-- Products, one a line, with other lines between them. loads: fragment_gap products apart, beginning
-- at product `first`; copies: groups of lines, copy_gap apart.
function product.interleave(p, products, loads, copies, first)
  local at = {}
  local function put(position, lines)
    if position > #products then position = #products end
    at[position] = at[position] or {}
    names.append(at[position], lines)
  end
  for x, line in ipairs(loads) do put(first + (x - 1) * p.fragment_gap, { line }) end
  for x, group in ipairs(copies) do
    local gap = p.copy_gap
    if #copies * gap > #products then gap = #products // #copies end
    put(6 + (x - 1) * gap, group)
  end
  local lines = {}
  for x = 1, #products do
    if at[x - 1] then names.append(lines, at[x - 1]) end
    lines[#lines + 1] = products[x]
  end
  if at[#products] then names.append(lines, at[#products]) end
  return lines
end

-- Lines of one k step.
function product.step(p, set, loads, copies, first)
  return product.interleave(p, product.fmas(p, set), loads, copies, first)
end

-- "// k-step 3: acc += a[0..15] (outer) b[0..7]"
function product.caption(p, kk)
  return ("// k-step %s: acc += a[0..%d] (outer) b[0..%d]"):format(kk, p.thread_m - 1, p.thread_n - 1)
end

-- Shares the copies of a tile out over k steps first .. last: list of groups for step kk.
function product.share(groups, first, last, kk)
  local mine, n = {}, last - first + 1
  for x, group in ipairs(groups) do
    if first + (x - 1) * n // #groups == kk then mine[#mine + 1] = group end
  end
  return mine
end

return product
