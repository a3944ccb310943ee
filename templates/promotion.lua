-- promotion.lua - sums of fp8 in family mma: those of each 128 of k are formed in the tensor core from
-- zero (part), then added in f32 to the accumulators, by one FMA where scales hold for each 128 of k.
-- What the plan leaves in the tensor core (promote_k = 0) yields no lines here.

local names = use("names")
local steps = use("steps")

local promotion = {}

local function by_block(scaling) return scaling == "group" or scaling == "block" end

-- k tiles that one part takes.
local function turns(p) return p.promote_k // p.tile_k end

local function plus(text, n) return n > 0 and text .. " + " .. n or text end

-- What scales of operand o belong to: its rows of A or columns of B.
local function side(p, o)
  local s = { o = o, scaling = p["scale_" .. o], mn = o == "a" and "m" or "n" }
  s.first, s.warp, s.extent = s.mn .. "0", "warp_" .. s.mn, p["warp_" .. s.mn]
  s.interleaved = p["load_" .. o] == "ldmatrix_trans_bytes"
  return s
end

local function sides(p)
  local list = {}
  for _, o in ipairs { "a", "b" } do
    local s = side(p, o)
    if by_block(s.scaling) then list[#list + 1] = s end
  end
  return list
end

-- A lane's rows (columns), counted from its first one: those of its accumulators in this order.
local function offsets(s)
  local list = {}
  if s.o == "a" then
    for eighth = 0, s.extent // 8 - 1 do
      list[#list + 1] = s.interleaved and eighth // 2 * 16 + eighth % 2 or eighth * 8
    end
    return list
  end
  for j = 0, s.extent // 8 - 1 do
    for c = 0, 1 do list[#list + 1] = s.interleaved and (j - j % 2) * 8 + 2 * c + j % 2 or j * 8 + c end
  end
  return list
end

-- The lane's first row (column) inside the warp's.
local function lane_offset(s)
  if s.o == "a" then return s.interleaved and "lane / 4 * 2" or "lane / 4" end
  return s.interleaved and "lane % 4 * 4" or "lane % 4 * 2"
end

-- Before a tile's first k tile: pointers to its scales of the first 128 of k. batch, m0 and n0 are known.
function promotion.declare(p)
  local lines = {}
  local function add(format, ...) lines[#lines + 1] = format:format(...) end
  for _, s in ipairs(sides(p)) do
    local blocks = s.scaling == "block"
    local place = ("%s + %s * %d"):format(s.first, s.warp, s.extent)
    add("const gg_i64 %s_first = %s%s;", s.mn, place, blocks and "" or " + " .. lane_offset(s))
    add("const gg_i64 %s_scales = %s; // of each 128 of k", s.mn, blocks and ("(p.%s + 127) / 128"):format(s.mn)
      or "p." .. s.mn)
    add("const float *scales_%s = (const float *)p.scale_%s + batch * ((p.k + 127) / 128) * %s_scales + %s_first%s;",
      s.o, s.o, s.mn, s.mn, blocks and " / 128" or "")
  end
  return lines
end

local function factor(s, index)
  return s.scaling == "block" and "factor_" .. s.o or ("factor_%s%d"):format(s.o, index)
end

-- Registers of what the next lines load.
local function declare_factors(s)
  local items = {}
  if s.scaling == "block" then return { ("float factor_%s = 0.0f;"):format(s.o) } end
  for x = 0, #offsets(s) - 1 do items[x + 1] = factor(s, x) .. " = 0.0f" end
  return names.declare("float", items)
end

local function load_factors(p, s)
  local lines = {}
  local list = s.scaling == "block" and { 0 } or offsets(s)
  for x, offset in ipairs(list) do
    local guard = p.variant ~= "full" and ("if (%s < p.%s) "):format(plus(s.mn .. "_first", offset), s.mn) or ""
    lines[x] = ("%sgg_ldg_f32(&%s, %s);"):format(guard, factor(s, x - 1), plus("scales_" .. s.o, offset))
  end
  return lines
end

-- Lines for each of a lane's sums: f(i, j, e).
local function each(p, f)
  local lines = {}
  for i = 0, p.warp_m // p.inst_m - 1 do
    for j = 0, p.warp_n // 8 - 1 do
      for e = 0, 3 do lines[#lines + 1] = f(i, j, e) end
    end
  end
  return lines
end

local function clear(p)
  local lines = {}
  for i = 0, p.warp_m // p.inst_m - 1 do
    for j = 0, p.warp_n // 8 - 1 do
      local part = ("part%d_%d"):format(i, j)
      lines[#lines + 1] = ("%s[0] = %s[1] = %s[2] = %s[3] = 0.0f;"):format(part, part, part, part)
    end
  end
  return lines
end

-- Before the products of a k tile. Scales are on their way while the last products of their 128 run.
function promotion.begin(p)
  if p.promote_k == 0 then return {} end
  local lines, loads = {}, {}
  if turns(p) > 1 then
    lines[1] = ("const int ends = (kt + 1) %% %d == 0 || kt + 1 == k_tiles; // the last k tile of %d of k"):format(
      turns(p), p.promote_k)
  end
  for _, s in ipairs(sides(p)) do
    names.append(lines, declare_factors(s))
    names.append(loads, load_factors(p, s))
  end
  if turns(p) == 1 then
    names.append(lines, loads)
    return names.append(lines, clear(p))
  end
  local function under(condition, inner)
    if #inner > 0 then names.append(lines, names.block(("if (%s)"):format(condition), inner)) end
  end
  under("ends", loads)
  under(("kt %% %d == 0"):format(turns(p)), clear(p))
  return lines
end

-- The factor of a sum as an expression; nil where there is none.
local function factor_of(A, B, i, j, e)
  local a, b = A.by and factor(A, 2 * i + e // 2), B.by and factor(B, 2 * j + e % 2)
  return a and b and ("gg_mul_f32(%s, %s)"):format(a, b) or a or b or nil
end

-- Behind the products of a k tile.
function promotion.finish(p)
  if p.promote_k == 0 then return {} end
  local A, B = side(p, "a"), side(p, "b")
  A.by, B.by = by_block(A.scaling), by_block(B.scaling)
  local inner = {}
  -- A block's scale of B is the same for all: it goes into A's factors.
  if A.by and B.scaling == "block" then
    for x = 0, A.scaling == "block" and 0 or #offsets(A) - 1 do
      inner[#inner + 1] = ("%s = gg_mul_f32(%s, factor_b);"):format(factor(A, x), factor(A, x))
    end
    B.by = false
  end
  names.append(inner, each(p, function(i, j, e)
    local acc, part, f = ("acc%d_%d[%d]"):format(i, j, e), ("part%d_%d[%d]"):format(i, j, e), factor_of(A, B, i, j, e)
    return f and ("%s = fmaf(%s, %s, %s);"):format(acc, part, f, acc) or ("%s = gg_add_f32(%s, %s);"):format(acc, acc,
      part)
  end))
  for _, s in ipairs(sides(p)) do inner[#inner + 1] = ("scales_%s += %s_scales;"):format(s.o, s.mn) end
  local what = steps.has_parts(p) and "scaled and added" or "added"
  local lines = { ("// sums of %d of k are %s in f32"):format(p.promote_k, what) }
  return names.append(lines, turns(p) == 1 and inner or names.block("if (ends)", inner))
end

return promotion
