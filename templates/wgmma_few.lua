-- wgmma_few.lua - D of tiles with fewer rows than an instruction's first operand, computed transposed from both
-- operands in shared memory: the way into panels that replaces wgmma_turned.lua's.
--
-- Warp w has columns 16 w + lane / 4 (+ 8) of each 64, lanes lane % 4 rows 2 (lane % 4) (+ 1) of each 8.

local names = use("names")
local outputs = use("outputs")

local few = { methods = { "store", "turned_rows", "scale_pointers", "load_factors", "promote", "first_d" } }

-- 2-byte elements: stmatrix turns 8 x 8 of them, two columns of eight and up to two rows of eight at once.
local function store_turned(w)
  local p, lines = w.p, {}
  local function add(text) lines[#lines + 1] = text end
  add("const int row = lane / 16 * 8 + lane % 8; // a lane's of each 16")
  add("const unsigned to = staged + (unsigned)(row * 128 + (warp * 2 + lane / 8 % 2 ^ lane % 8) * 16);")
  add("unsigned r[4];")
  return lines, function(i)
    local stores = {}
    for j = 0, p.panel_m // 8 - 1, 2 do
      local matrices = j + 1 < p.panel_m // 8 and 4 or 2
      for e = 0, matrices - 1 do
        local x = 4 * j + 2 * e
        stores[#stores + 1] = ("r[%d] = %s;"):format(e, names.packed(p.type_d, w:value(i, x), w:value(i, x + 1)))
      end
      stores[#stores + 1] = ("gg_stmatrix_x%d_trans(to%s%s, r);"):format(matrices,
        i > 0 and (" + %d * PANEL_BYTES"):format(i) or "", j > 0 and " + " .. j * 8 * 128 or "")
    end
    return stores
  end
end

-- 4-byte elements: 8 columns of 4 rows at once, which the swizzle spreads over all banks.
local function store_wide(w)
  local p, lines = w.p, {}
  local function add(text) lines[#lines + 1] = text end
  add("const int pair = lane % 4 * 2; // of rows")
  add("const int chunk = warp % 2 * 4 + lane / 16; // of the lane's first column")
  add("const unsigned to = staged + (unsigned)(warp / 2) * PANEL_BYTES + (unsigned)(pair * 128 + lane / 4 % 4 * 4);")
  for half = 0, 1 do
    for e = 0, 1 do
      add(("const unsigned to%d_%d = to%s + (unsigned)((chunk%s) ^ (pair%s)) * 16;"):format(half, e,
        e > 0 and " + 128" or "", half > 0 and " + 2" or "", e > 0 and " + 1" or ""))
    end
  end
  return lines, function(i)
    local stores = {}
    for j = 0, p.panel_m // 8 - 1 do
      for half = 0, 1 do
        for e = 0, 1 do
          stores[#stores + 1] = ("gg_sts_%s(to%d_%d%s%s, %s);"):format(names.memory_name(p.type_d), half, e,
            i > 0 and (" + %d * PANEL_BYTES"):format(2 * i) or "", j > 0 and " + " .. j * 8 * 128 or "",
            names.narrowed(p.type_d, w:value(i, 4 * j + 2 * half + e), p.type_epilogue))
        end
      end
    end
    return stores
  end
end

-- First row of D that the block finishes.
function few:first_d() return self.split and "d_m" or "m0" end

-- Scales that come every 128 of k: of rows of A, two of each 8, and of columns of B, two of each 64; or one of a block
-- of 128 x 128, in which the tile lies whole.
function few:scale_pointers()
  local p, lines = self.p, {}
  local function pointer(o, extent, first)
    lines[#lines + 1] = ("const float *const scales_%s = (const float *)p.scale_%s + batch * %s * %s + %s;")
      :format(o, o, self.split and "k_all" or "k_blocks", extent, first)
  end
  local column = ("group * %d + %s"):format(p.group_n, self:lane_row())
  for _, side in ipairs { { "a", "m", "lane % 4 * 2" }, { "b", "n", column } } do
    local o, mn, place = side[1], side[2], side[3]
    if p["scale_" .. o] == "group" then
      lines[#lines + 1] = ("const gg_i64 first_%s = %s0 + %s;"):format(mn, mn, place)
      pointer(o, "p." .. mn, "first_" .. mn)
    elseif p["scale_" .. o] == "block" then
      lines[#lines + 1] = ("const gg_i64 blocks_%s = (p.%s + 127) / 128;"):format(mn, mn)
      pointer(o, "blocks_" .. mn, mn .. "0 / 128")
    end
  end
  return lines
end

-- Names and offsets of an operand's scales in a lane: a row's is e of pair j, a column's half of block i.
local function factors(w, o)
  local p, list = w.p, {}
  if p["scale_" .. o] == "block" then return { { "factor_" .. o, 0 } } end
  if p["scale_" .. o] ~= "group" then return list end
  for outer = 0, (o == "a" and p.tile_m // 8 or w.blocks) - 1 do
    for inner = 0, 1 do
      list[#list + 1] = { ("factor_%s%d_%d"):format(o, outer, inner),
        o == "a" and 8 * outer + inner or w:instruction_row(outer, inner) }
    end
  end
  return list
end

function few:load_factors()
  local p, lines = self.p, {}
  local kb = self.split and "(k_first + kb)" or "kb"
  for _, o in ipairs { "a", "b" } do
    local mn = o == "a" and "m" or "n"
    local group = p["scale_" .. o] == "group"
    for _, factor in ipairs(factors(self, o)) do
      local name, at = factor[1], factor[2] > 0 and " + " .. factor[2] or ""
      local inside = group and ("first_%s%s"):format(mn, at) or mn .. "0"
      lines[#lines + 1] = ("float %s = 0.0f;"):format(name)
      lines[#lines + 1] = ("if (%s < p.%s) gg_ldg_f32(&%s, scales_%s + %s * %s%s);"):format(inside, mn, name, o, kb,
        (group and "p." or "blocks_") .. mn, at)
    end
  end
  return lines
end

-- acc += part, each 128 of k by its scales; a block's scale goes into those of the other operand first.
function few:promote(i)
  local lines = {}
  local a, b = factors(self, "a"), factors(self, "b")
  local into = #a > 0 and #b > 0 and (#b == 1 and a or #a == 1 and b)
  if into and i == 0 then
    for _, factor in ipairs(into) do
      lines[#lines + 1] = ("%s = gg_mul_f32(%s, %s);"):format(factor[1], factor[1], into == a and b[1][1] or a[1][1])
    end
  end
  if into == a then b = {} elseif into == b then a = {} end
  local function factor(list, outer, inner) return (list[2 * outer + inner + 1] or list[1])[1] end
  for x = 0, self.count - 1 do
    local of_a = #a > 0 and factor(a, x // 4, x % 2)
    local of_b = #b > 0 and factor(b, i, x // 2 % 2)
    local acc = ("acc%d[%d]"):format(i, x)
    if of_a and of_b then
      lines[#lines + 1] = ("const float factor%d_%d = gg_mul_f32(%s, %s);"):format(i, x, of_a, of_b)
      of_a = ("factor%d_%d"):format(i, x)
    end
    lines[#lines + 1] = (of_a or of_b) and ("%s = fmaf(part[%d], %s, %s);"):format(acc, x, of_a or of_b, acc)
      or ("%s = gg_add_f32(%s, part[%d]);"):format(acc, acc, x)
  end
  return lines
end

-- D, all rows at once: the tile's, or those of them that this block of a cluster finishes.
function few:store()
  local p, lines = self.p, {}
  local function add(text) lines[#lines + 1] = text end
  local tma = p.path_d == "tma"
  add("const unsigned staged = D_AT + (unsigned)group * CHUNK_BYTES;")
  local begin, block = (p.element_d == 4 and store_wide or store_turned)(self)
  names.append(lines, begin)
  if p.persistent then -- the last store has been read
    if tma then add("if (in_group == 0) gg_bulk_wait_read_0();") end
    add("gg_bar_sync(STORE + group, 128);")
  end
  for i = 0, self.blocks - 1 do names.append(lines, block(i)) end
  if not tma then
    add("gg_bar_sync(STORE + group, 128);")
    return names.append(lines, self:turned_rows())
  end
  add("gg_fence_proxy_async();")
  add("gg_bar_sync(STORE + group, 128);")
  add("if (in_group == 0) {")
  for panel = 0, p.chunk - 1 do
    local n = ("n0 + group * %d%s"):format(p.group_n, panel > 0 and " + " .. panel * p.panel or "")
    add(("  if (%s < p.m && %s < p.n)"):format(self:first_d(), n))
    add(("    gg_tma_store_3d(&p.map_d, staged + %d * PANEL_BYTES, (int)(%s), (int)%s, (int)batch);"):format(panel, n,
      self:first_d()))
  end
  add("  gg_bulk_commit();")
  add("}")
  return lines
end

-- Each warp stores every fourth row, a lane an element: whole sectors whatever D's pitch.
function few:turned_rows()
  local p = self.p
  local d = names.memory_name(p.type_d)
  local chunk = 16 // p.element_d -- elements
  return {
    ("for (int d_at = warp; d_at < %d; d_at += 4) {"):format(p.panel_m),
    ("  const gg_i64 d_row = %s + d_at;"):format(self:first_d()),
    ("  const gg_i64 d_column = n0 + group * %d;"):format(p.group_n),
    "  const gg_i64 left = d_row < p.m ? p.n - d_column : 0;",
    "  " .. outputs.pointer(p, "d", "d_row", "d_column"),
    ("  for (int c = lane; c < %d; c += 32) {"):format(p.group_n),
    ("    const unsigned from = staged + (unsigned)(c / %d) * PANEL_BYTES + (unsigned)(d_at * 128);"):format(p.panel),
    ("    %s x;"):format(names.memory_type(p.type_d)),
    ("    gg_lds_%s(&x, from + (unsigned)((c %% %d / %d ^ d_at %% 8) * 16 + c %% %d * %d));"):format(d, p.panel, chunk,
      chunk, p.element_d),
    ("    if (c < left) gg_st_%s(d + c, x);"):format(d),
    "  }",
    "}",
  }
end

return few
