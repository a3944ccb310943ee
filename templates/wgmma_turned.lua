-- wgmma_turned.lua - D that the tensor cores compute transposed (B is their first operand): the methods of
-- wgmma_store.lua, where a lane has sums of neighbouring columns of D, in rows 8 j + lane % 4 * 2 (+ 1).
--
-- Chunks are rows of D: each warp stores its columns of them into one of the panels that stand side by side.

local names = use("names")
local outputs = use("outputs")
local steps = use("steps")

local turned = { methods = { "apply", "store", "lane_columns", "lane_offsets", "turned_rows" } }

-- Where a lane's columns lie, in order, from its first.
function turned:lane_offsets()
  local offsets = {}
  for i = 0, self.blocks - 1 do
    for half = 0, 1 do offsets[#offsets + 1] = self:instruction_row(i, half) end
  end
  return offsets
end

-- A lane's sums of row 8 j + lane % 4 * 2 + e, in the order of its columns.
function turned:lane_columns(j, e)
  local sums = {}
  for i = 0, self.blocks - 1 do
    for half = 0, 1 do sums[#sums + 1] = self:out(i, 4 * j + 2 * half + e) end
  end
  return sums
end

-- Pointers to a lane's part of matrices of D's shape: { name, operand, dtype, ld, written }.
local function matrices(p, what)
  local list = {}
  if what.c then list[#list + 1] = { "c", "c", p.type_c, "ldc" } end
  if what.rest and p.residual then list[#list + 1] = { "residual", "residual", p.type_d, "ld_residual" } end
  if what.store then list[#list + 1] = { "d", "d", p.type_d, "ldd", true } end
  return list
end

-- The epilogue's steps on one sum, v columns from the lane's first; inside: whether that lies in D. Whole sums go
-- through x, whose bits then take their place.
local function one(w, what, acc, v, inside)
  local p, lines = w.p, {}
  local x = w.bits and "x" or acc
  local where = { row = "", column = tostring(v), inside = inside, residual = "residual_raw" }
  for _, m in ipairs(matrices(p, what)) do
    local name, dtype = m[1], m[3]
    if not m[5] then
      lines[#lines + 1] = ("%s_raw = %s;"):format(name, names.memory_zero(dtype))
      lines[#lines + 1] = ("if (%s) gg_ld_%s(&%s_raw, %s + %d);"):format(inside, names.memory_name(dtype), name, name,
        v)
    end
  end
  where.acc = w.bits and what.scale and acc or nil
  local value = what.scale and steps.scaled(p, x, where) or w.bits and ("gg_as_f32((unsigned)%s)"):format(acc) or x
  if what.c then value = steps.plus_c(p, value, "c_raw") end
  if value ~= x then lines[#lines + 1] = ("%s = %s;"):format(x, value) end
  if what.rest then names.append(lines, steps.rest(p, x, where)) end
  if what.store then
    lines[#lines + 1] = ("if (%s) gg_st_%s(d + %d, %s);"):format(inside, names.memory_name(p.type_d), v,
      names.narrowed(p.type_d, x, p.type_epilogue))
  elseif w.bits then
    lines[#lines + 1] = ("%s = (int)gg_as_u32(x);"):format(acc)
  end
  return lines
end

-- Lines behind declarations of the variables that they, or a later declaration, use.
local function declared(variables, lines)
  local all = {}
  local function used(name)
    for _, line in ipairs(all) do
      if line:find("%f[%w_]" .. name .. "%f[^%w_]") then return true end
    end
    return false
  end
  names.append(all, lines)
  for i = #variables, 1, -1 do
    local name, value = variables[i][1], variables[i][2]
    if used(name) then table.insert(all, 1, ("  const gg_i64 %s = %s;"):format(name, value)) end
  end
  return all
end

-- As in wgmma_store.lua.
function turned:apply(what)
  local p, lines = self.p, {}
  local any = what.c or what.store or what.rest and steps.any(p)
    or what.scale and (self.bits or steps.scaled(p, "x", {}) ~= "x")
  if not any then return lines end
  local function add(list) for _, line in ipairs(list) do lines[#lines + 1] = "  " .. line end end
  if self.bits then add { "float x;" } end
  local octets = p.tile_m // p.cluster_k // 8 -- of rows that this block finishes
  local columns = steps.has_columns(p) and (what.rest or what.scale)
  if not (columns or steps.has_rows(p) or #matrices(p, what) > 0 or what.rest and p.absmax) then -- the same everywhere
    for j = 0, octets - 1 do
      for e = 0, 1 do
        for _, acc in ipairs(self:lane_columns(j, e)) do names.append(lines, one(self, what, acc, 0)) end
      end
    end
    if self.bits then
      table.insert(lines, 1, "{")
      lines[#lines + 1] = "}"
    end
    return lines
  end
  for _, m in ipairs(matrices(p, what)) do
    local T, const = names.memory_type(m[3]), m[5] and "" or "const "
    local pointer = ("%s%s *"):format(const, T)
    add { ("%s%s = (%s)p.%s + batch * p.stride_%s + row * p.%s + column;"):format(pointer, m[1], pointer, m[2], m[2],
      m[4]) }
    if not m[5] then add { ("%s %s_raw;"):format(T, m[1]) } end
  end
  if columns then
    for _, v in ipairs(self:lane_offsets()) do
      add(steps.column(p, tostring(v), ("(column + %d)"):format(v), ("%d < left"):format(v)))
    end
  end
  for j = 0, octets - 1 do
    for e = 0, 1 do
      local at = 8 * j + e
      if steps.has_rows(p) then
        add { "{" }
        add(steps.row(p, "", ("(row + %d)"):format(at), ("%d < rows"):format(at)))
      end
      local offsets = self:lane_offsets()
      for i, acc in ipairs(self:lane_columns(j, e)) do
        add(one(self, what, acc, offsets[i], ("%d < rows && %d < left"):format(at, offsets[i])))
      end
      if steps.has_rows(p) then add { "}" } end
      for _, m in ipairs(matrices(p, what)) do
        add { ("%s += %sp.%s;"):format(m[1], e == 0 and "" or "7 * ", m[4]) }
      end
    end
  end
  lines = declared({
    { "row", (self.split and "d_m" or "m0") .. " + lane % 4 * 2" },
    { "column", ("n0 + group * %d + %s"):format(p.group_n, self:lane_row()) },
    { "rows", "p.m - row" },
    { "left", "p.n - column" },
  }, lines)
  table.insert(lines, 1, "{")
  lines[#lines + 1] = "}"
  return lines
end

-- D in chunks of rows. Lanes lane / 4 stand along columns, lane % 4 along pairs of rows.
function turned:store()
  local p, lines = self.p, {}
  local function add(text) lines[#lines + 1] = text end
  local tma = p.path_d == "tma"
  local width = 2 * self.blocks
  local column = self:lane_row()
  add(("const unsigned staged = D_AT + (unsigned)(group * %d) * CHUNK_BYTES;"):format(p.chunks))
  add(("const int column = %s;"):format(column))
  add("const int pair = lane % 4 * 2; // of rows")
  add("const int turn = column % 32 / 4 ^ pair; // of the swizzle, in even rows")
  add("const unsigned even = staged + (unsigned)(column / 32) * PANEL_BYTES + (unsigned)(pair * 128 + turn * 16)"
    .. (width == 2 and " + (unsigned)(column % 4 * 4);" or ";"))
  add("const unsigned odd = even + (unsigned)(128 + (turn ^ 1) * 16) - (unsigned)(turn * 16);")
  for q = 0, self.all_chunks - 1 do
    local buffer = q % p.chunks
    add(("// rows %d..%d"):format(q * p.panel_m, (q + 1) * p.panel_m - 1))
    if p.persistent and (q == 0 or p.chunks < self.all_chunks) then
      -- the buffer's last store has been read
      if tma then add(("if (in_group == 0) gg_bulk_wait_read_%d();"):format(q == 0 and 0 or p.chunks - 1)) end
      add("gg_bar_sync(STORE + group, 128);")
    end
    for j = 0, p.panel_m // 8 - 1 do
      for e = 0, 1 do
        local at = (e == 0 and "even" or "odd") .. (buffer > 0 and (" + %d * CHUNK_BYTES"):format(buffer) or "")
          .. (j > 0 and " + " .. j * 8 * 128 or "")
        local sums = self:lane_columns(q * p.panel_m // 8 + j, e)
        add(("gg_sts_f32x%d(%s, %s);"):format(width, at, table.concat(sums, ", ")))
      end
    end
    if tma then
      add("gg_fence_proxy_async();")
      add("gg_bar_sync(STORE + group, 128);")
      add("if (in_group == 0) {")
      for panel = 0, p.chunk - 1 do
        local n = ("n0 + group * %d%s"):format(p.group_n, panel > 0 and " + " .. panel * 32 or "")
        add(("  if (m0 + %d < p.m && %s < p.n)"):format(q * p.panel_m, n))
        add(("    gg_tma_store_3d(&p.map_d, staged + %d * PANEL_BYTES, (int)(%s), (int)m0 + %d, (int)batch);"):format(
          buffer * p.chunk + panel, n, q * p.panel_m))
      end
      add("  gg_bulk_commit();")
      add("}")
    else
      add("gg_bar_sync(STORE + group, 128);")
      names.append(lines, self:turned_rows(q, buffer))
    end
  end
  return lines
end

-- Each warp stores every fourth row of a chunk, a lane an element: whole sectors whatever D's pitch.
function turned:turned_rows(q, buffer)
  local p = self.p
  local d = names.memory_name(p.type_d)
  return {
    ("for (int row = warp; row < %d; row += 4) {"):format(p.panel_m),
    ("  const gg_i64 d_row = m0 + %d + row;"):format(q * p.panel_m),
    ("  const gg_i64 d_column = n0 + group * %d;"):format(p.group_n),
    "  const gg_i64 left = d_row < p.m ? p.n - d_column : 0;",
    "  " .. outputs.pointer(p, "d", "d_row", "d_column"),
    ("  for (int c = lane; c < %d; c += 32) {"):format(p.group_n),
    ("    const unsigned from = staged + (unsigned)(%d + c / 32) * PANEL_BYTES + (unsigned)(row * 128);"):format(
      buffer * p.chunk),
    ("    %s x;"):format(names.memory_type(p.type_d)),
    ("    gg_lds_%s(&x, from + (unsigned)((c %% 32 / 4 ^ row %% 8) * 16 + c %% 4 * 4));"):format(d),
    ("    if (c < left) gg_st_%s(d + c, x);"):format(d),
    "  }",
    "}",
  }
end

return turned
