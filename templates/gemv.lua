-- gemv.lua - lines of family gemv: chunks of k of one row of B and a few of A, and sums over a block.

local names = use("names")
local vectors = use("vectors")

local gemv = {}

-- "acc0 = 0.0f, acc1 = 0.0f"
function gemv.sums(rows, value)
  local items = {}
  for r = 0, rows - 1 do items[r + 1] = "acc" .. r .. (value or "") end
  return table.concat(items, ", ")
end

local function add(t, x, y)
  if t == "s32" then return ("gg_mad_s32(%s, 1, %s)"):format(x, y) end
  return ("gg_add_%s(%s, %s)"):format(t, y, x)
end

local function plus(pointer, elements) return elements > 0 and ("%s + %d"):format(pointer, elements) or pointer end
local function bits(t, x) return t == "s32" and "(unsigned)" .. x or ("gg_as_u32(%s)"):format(x) end
local function number(t, x) return t == "s32" and "(int)" .. x or ("gg_as_f32(%s)"):format(x) end

-- `count` chunks of a thread: all of B's loads first, then chunk after chunk with A's rows.
function gemv.round(p, count)
  local lines, V, t = {}, p.vector, p.type_acc
  local function put(...) lines[#lines + 1] = (...):format(select(2, ...)) end
  local chunks = {}
  for u = 0, count - 1 do
    local text, elements = vectors.load(p.type_b, V, ("b%d_"):format(u), plus("gb", u * p.threads * V), nil, "gg_ldg")
    names.append(lines, text)
    chunks[u] = elements
  end
  for u = 0, count - 1 do
    put("{")
    local b = {}
    for e, element in ipairs(chunks[u]) do
      b[e] = names.widened(p.type_b, element, t)
      if p.tile_m > 1 and b[e] ~= element then
        put("  const %s y%d = %s;", names.c_type(t), e - 1, b[e])
        b[e] = "y" .. e - 1
      end
    end
    for r = 0, p.tile_m - 1 do
      local address = plus(r > 0 and ("ga + %d * p.lda"):format(r) or "ga", u * p.threads * V)
      local text, elements = vectors.load(p.type_a, V, ("a%d_"):format(r), address,
        r > 0 and ("%d < rows"):format(r) or nil, "gg_ldg")
      for _, line in ipairs(text) do put("  %s", line) end
      for e, element in ipairs(elements) do
        put("  acc%d = %s(%s, %s, acc%d);", r, names.fma(t), names.widened(p.type_a, element, t), b[e], r)
      end
    end
    put("}")
  end
  put("ga += %d;", count * p.threads * V)
  put("gb += %d;", count * p.threads * V)
  return lines
end

-- Each lane's sums and those of the lane `other` away.
function gemv.lanes(p)
  local lines, t = {}, p.type_acc
  for r = 0, p.tile_m - 1 do
    local far = number(t, ("gg_shfl_sync_idx_u32(%s, lane ^ other)"):format(bits(t, "acc" .. r)))
    lines[#lines + 1] = ("acc%d = %s;"):format(r, add(t, far, "acc" .. r))
  end
  return lines
end

function gemv.publish(p)
  local lines = {}
  for r = 0, p.tile_m - 1 do
    local place = plus(p.tile_m > 1 and ("warp * %d"):format(p.tile_m) or "warp", r)
    lines[#lines + 1] = ("gg_sts_u32((unsigned)(%s) * 4, %s);"):format(place, bits(p.type_acc, "acc" .. r))
  end
  return lines
end

-- The warps' sums of row `mine`, in acc.
function gemv.collect(p)
  local lines, t = {}, p.type_acc
  local warps = p.threads // 32
  lines[1] = ("unsigned %s;"):format(names.list("part", 0, warps - 1))
  for w = 0, warps - 1 do
    lines[#lines + 1] = ("gg_lds_u32(&part%d, (unsigned)(%s) * 4);"):format(w, plus("mine", w * p.tile_m))
  end
  for w = 0, warps - 1 do lines[#lines + 1] = ("acc = %s;"):format(add(t, number(t, "part" .. w), "acc")) end
  return lines
end

return gemv
