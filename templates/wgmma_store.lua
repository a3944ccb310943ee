-- wgmma_store.lua - how family wgmma turns sums into D: parts of k added up over a cluster, alpha, beta and
-- C where the accumulators lie, then through shared memory in panels.
--
-- Warp w of a warpgroup has rows 16 w + lane / 4 (+ 8) of each 64, columns lane % 4 * 2 (+ 1) of each 8.

local names = use("names")
local outputs = use("outputs")
local scalars = use("scalars")
local steps = use("steps")

local store = {
  methods = { "out", "value", "first_row", "first_column", "sum_parts", "apply", "epilogue", "store",
    "store_panel", "store_rows" },
}

-- The x-th of a thread's sums in rows 64 i .. of the warpgroup.
function store:out(i, x) return (self.split and "sum%d[%d]" or "acc%d[%d]"):format(i, x) end

-- The same behind the epilogue's steps, as an expression of their type: the bits of f32 take the place of whole
-- sums.
function store:value(i, x)
  local out = self:out(i, x)
  return self.bits and ("gg_as_f32((unsigned)%s)"):format(out) or out
end

-- Row of the tile where the warpgroup's begin, to be followed by a sum's next term; D's first column.
function store:first_row() return self.pingpong and "" or ("group * %d + "):format(self.rows) end
function store:first_column() return self.split and "d_n" or "n0" end

-- Every block writes its sums for the others, then adds up those of its own columns, or rows of a tile of few.
function store:sum_parts()
  local p, lines = self.p, {}
  local function add(text) lines[#lines + 1] = text end
  local threads = 128 * p.groups
  local row = 16 * threads -- bytes between quads of accumulators
  local mine = p.swap and p.panel_m or p.part_n -- of an instruction's columns
  local quads, part = self.count // 4, mine // 8
  local whole = p.type_acc == "s32" -- whose bits travel as f32
  local T, zero = names.c_type(p.type_acc), names.zero(p.type_acc)
  add("// a thread's sums lie in quads, each quad beside those of the other threads")
  add("const unsigned mine = (unsigned)(group * 128 + in_group) * 16;")
  add(("gg_bar_sync(STORE, %d); // the ring is spent: sums take its place"):format(threads))
  for i = 0, self.blocks - 1 do
    for q = 0, quads - 1 do
      local sums = {}
      for e = 0, 3 do sums[#sums + 1] = ("%sacc%d[%d]"):format(whole and "(unsigned)" or "", i, 4 * q + e) end
      add(("gg_sts_%sx4(mine + %d, %s);"):format(whole and "u32" or "f32", (i * quads + q) * row,
        table.concat(sums, ", ")))
    end
  end
  add("gg_cluster_arrive();")
  add("gg_cluster_wait();")
  for i = 0, self.blocks - 1 do add(("%s sum%d[%d];"):format(T, i, mine // 2)) end
  for i = 0, self.blocks - 1 do
    for x = 0, mine // 2 - 1, 4 do
      add(("sum%d[%d] = sum%d[%d] = sum%d[%d] = sum%d[%d] = %s;"):format(i, x, i, x + 1, i, x + 2, i, x + 3, zero))
    end
  end
  add(("for (unsigned source = 0; source < %d; ++source) {"):format(p.cluster_k))
  add("  float x0, x1, x2, x3;")
  add(("  const unsigned from = gg_mapa(mine + rank * %d, source);"):format(part * row))
  for i = 0, self.blocks - 1 do
    for q = 0, part - 1 do
      add(("  gg_ld_cluster_f32x4(&x0, &x1, &x2, &x3, from + %d);"):format((i * quads + q) * row))
      for e = 0, 3 do
        local sum = ("sum%d[%d]"):format(i, 4 * q + e)
        local x = (whole and "(int)gg_as_u32(x%d)" or "x%d"):format(e)
        add(("  %s = gg_add_%s(%s, %s);"):format(sum, p.type_acc, sum, x))
      end
    end
  end
  add("}")
  add("gg_cluster_arrive();")
  add(("const gg_i64 d_%s = %s0 + rank * %d;"):format(p.swap and "m" or "n", p.swap and "m" or "n", mine))
  return lines
end

-- How C and the residual are read: pairs of 16 bits where D leaves by TMA, whose rows are even then.
local function pairs_of(p, dtype) return p.path_d == "tma" and names.bytes(dtype) == 2 end

-- Declares a pointer to the matrix and NAME_raw.
local function matrix(p, name, dtype)
  return {
    outputs.pointer(p, name, "row", "column"),
    ("%s %s_raw;"):format(pairs_of(p, dtype) and "unsigned" or names.memory_type(dtype), name),
  }
end

-- Loads element `at` of it where that lies in D; the second of a pair has been loaded with the first.
local function load(p, name, dtype, at)
  local from = at > 0 and name .. " + " .. at or name
  if not pairs_of(p, dtype) then
    return { ("%s_raw = %s;"):format(name, names.memory_zero(dtype)),
      ("if (%d < left) gg_ld_%s(&%s_raw, %s);"):format(at, names.memory_name(dtype), name, from) }
  end
  if at % 2 == 1 then return {} end
  return { name .. "_raw = 0;", ("if (%d < left) gg_ld_u32(&%s_raw, (const unsigned *)(%s));"):format(at, name, from) }
end

local function element(p, name, dtype, at)
  if not pairs_of(p, dtype) then return name .. "_raw" end
  return ("(unsigned short)%s"):format(at % 2 == 0 and name .. "_raw" or ("(%s_raw >> 16)"):format(name))
end

-- The epilogue's steps on a thread's sums, where they lie. what.scale: alpha and scales; what.c: C is read;
-- what.rest: the steps behind C; what.store: D is written there and then, since it may be C or the residual and
-- no other thread must come between.
function store:apply(what)
  local p, lines = self.p, {}
  local residual = what.rest and p.residual
  local columns = steps.has_columns(p) and (what.rest or what.scale)
  local scales = what.scale and (self.bits or steps.scaled(p, "x", {}) ~= "x")
  if not (what.c or what.store or what.rest and steps.any(p) or scales) then return lines end
  local indent = ""
  local function add(list) for _, line in ipairs(list) do lines[#lines + 1] = indent .. line end end
  local d = names.memory_name(p.type_d)
  -- One sum through the steps, in place or, where the type changes, in x.
  local function steps_of(i, n, at, where)
    local acc = self:out(i, n)
    local x = self.bits and "x" or acc
    local value = self:value(i, n)
    if what.scale then
      where.acc = self.bits and acc or nil
      value = steps.scaled(p, x, where)
    end
    if what.c then value = steps.plus_c(p, value, element(p, "c", p.type_c, at)) end
    if value ~= x then add { ("%s = %s;"):format(x, value) } end
    if what.rest then add(steps.rest(p, x, where)) end
    if what.store then
      add { ("if (%d < left) gg_st_%s(d%s, %s);"):format(at, d, at > 0 and " + " .. at or "",
        names.narrowed(p.type_d, x, p.type_epilogue)) }
    elseif self.bits then
      add { ("%s = (int)gg_as_u32(x);"):format(acc) }
    end
  end
  if self.bits then add { "{", "  float x;" } indent = "  " end
  local bounded = what.c or residual or columns or what.store or what.rest and p.absmax
  if not bounded and not steps.has_rows(p) then -- the same everywhere
    for i = 0, self.blocks - 1 do
      for n = 0, p.part_n // 2 - 1 do steps_of(i, n, 0, {}) end
    end
    if self.bits then lines[#lines + 1] = "}" end
    return lines
  end
  local outer = indent
  for i = 0, self.blocks - 1 do
    for half = 0, 1 do
      add { "{" }
      indent = outer .. "  "
      add {
        ("const gg_i64 row = m0 + %s%d + %s;"):format(self:first_row(), self:instruction_row(i, half), self:lane_row()),
      }
      if bounded then
        add {
          ("const gg_i64 column = %s + lane %% 4 * 2;"):format(self:first_column()),
          "const int left = row < p.m ? (int)(p.n - column) : 0; // below 2^31, as all that TMA addresses",
        }
      end
      if steps.has_rows(p) then add(steps.row(p, "", "row", "row < p.m")) end
      if what.c then add(matrix(p, "c", p.type_c)) end
      if residual then add(matrix(p, "residual", p.type_d)) end
      if what.store then add { outputs.pointer(p, "d", "row", "column") } end
      for j = 0, p.part_n // 8 - 1 do
        for e = 0, 1 do
          local at = 8 * j + e
          local where = { row = "", column = "", inside = ("%d < left"):format(at) }
          if columns then
            add { "{" }
            add(steps.column(p, "", ("(column + %d)"):format(at), where.inside))
          end
          if what.c then add(load(p, "c", p.type_c, at)) end
          if residual then
            add(load(p, "residual", p.type_d, at))
            where.residual = element(p, "residual", p.type_d, at)
          end
          steps_of(i, 4 * j + 2 * half + e, at, where)
          if columns then add { "}" } end
        end
      end
      indent = outer
      add { "}" }
    end
  end
  if self.bits then lines[#lines + 1] = "}" end
  return lines
end

-- From sums to D. C is read where the scalars ask for it.
function store:epilogue()
  local p, lines = self.p, {}
  local reads = scalars.reads_c(p)
  local tma = p.path_d == "tma"
  local function add(indent, list) for _, line in ipairs(list) do lines[#lines + 1] = indent .. line end end
  if not reads or reads == "" then
    local direct = not tma and (reads or p.residual)
    add("", self:apply { scale = true, c = reads, rest = true, store = direct })
    if not direct then add("", self:store()) end
    return lines
  end
  add("", { ("if (%s) {"):format(reads) })
  add("  ", self:apply { scale = true, c = true, rest = not tma, store = not tma })
  add("", { "} else {" })
  add("  ", self:apply { scale = true, rest = not tma, store = not tma and p.residual })
  if not tma and not p.residual then add("  ", self:store()) end
  add("", { "}" })
  if tma then
    add("", self:apply { rest = true })
    add("", self:store())
  end
  return lines
end

-- The chunk a row's 16-byte chunks are turned by, for a panel's swizzle.
local turns = { [128] = "row % 8", [64] = "row / 2 % 4", [32] = "row / 4 % 2" }

-- D in chunks of panels. Lane l of a warp gives row l % 16 and 8 columns of it (l / 16).
function store:store()
  local p, lines = self.p, {}
  local function add(text) lines[#lines + 1] = text end
  local tma = p.path_d == "tma"
  -- A warp stores the rows that it has staged, unless they came through registers.
  local all_written = p.from_registers and "gg_bar_sync(STORE + group, 128);" or "gg_syncwarp();"
  add(("const unsigned staged = D_AT + (unsigned)(group * %d) * CHUNK_BYTES;"):format(p.chunks))
  if p.element_d == 4 then
    names.append(lines, self:begin_wide())
  else
    add("const int row = warp * 16 + lane % 16;")
    add(("const unsigned to = staged + (unsigned)row * %d;"):format(p.panel * p.element_d))
    if p.panel_swizzle > 0 then add(("const int turn = %s; // of the swizzle"):format(turns[p.panel_swizzle])) end
    if p.panel >= 16 then add("const int high = lane / 16;") end -- 8 columns: half a warp's addresses count
    add("unsigned r[4];")
  end
  for q = 0, self.all_chunks - 1 do
    local buffer = q % p.chunks
    local first = q * p.chunk
    local last = math.min(first + p.chunk, self.all_panels) - 1
    add(("// columns %d..%d"):format(first * p.panel, (last + 1) * p.panel - 1))
    if p.persistent and (q == 0 or p.chunks < self.all_chunks) then
      if tma then -- the buffer's last store has been read
        add(("if (in_group == 0) gg_bulk_wait_read_%d();"):format(q == 0 and 0 or p.chunks - 1))
        add("gg_bar_sync(STORE + group, 128);")
      else
        add(all_written)
      end
    end
    for panel = first, last do names.append(lines, self:store_panel(panel, buffer * p.chunk + panel - first)) end
    if tma then
      add("gg_fence_proxy_async();")
      add("gg_bar_sync(STORE + group, 128);")
      add("if (in_group == 0) {")
      for panel = first, last do
        add(("  if (m0 + %s0 < p.m && %s + %d < p.n)"):format(self:first_row(), self:first_column(), panel * p.panel))
        add(("    gg_tma_store_3d(&p.map_d, staged + %d * PANEL_BYTES, (int)%s + %d, (int)m0 + %s0, (int)batch);")
          :format(buffer * p.chunk + panel - first, self:first_column(), panel * p.panel, self:first_row()))
      end
      add("  gg_bulk_commit();")
      add("}")
    else
      add(all_written)
      names.append(lines, self:store_rows(first, last, buffer))
    end
  end
  return lines
end

-- The warpgroup's part of a panel, into the place-th of those that are staged.
function store:store_panel(panel, place)
  local p, lines = self.p, {}
  if p.element_d == 4 then return self:wide_panel(panel, place) end
  local pitch = p.panel * p.element_d
  local function add(text) lines[#lines + 1] = text end
  for i = 0, self.blocks - 1 do
    local at = (place > 0 and (" + %d * PANEL_BYTES"):format(place) or "") .. (i > 0 and " + " .. i * 64 * pitch or "")
    for column = 0, p.panel - 1, 16 do
      local first = (panel * p.panel + column) // 2
      local matrices = column + 16 <= p.panel and 4 or 2
      for e = 0, matrices - 1 do
        local low, high = self:value(i, first + 2 * e), self:value(i, first + 2 * e + 1)
        add(("r[%d] = %s;"):format(e, names.packed(p.type_d, low, high)))
      end
      local chunk = column // 8
      local byte = p.panel_swizzle > 0 and ("(unsigned)((%d + high) ^ turn) * 16"):format(chunk)
        or matrices == 4 and ("(unsigned)(%d + high) * 16"):format(chunk) or tostring(chunk * 16)
      add(("gg_stmatrix_x%d(to%s + %s, r);"):format(matrices, at, byte))
    end
  end
  return lines
end

-- Each warp stores the rows that it has staged, a lane an element: whole sectors whatever D's pitch.
function store:store_rows(first, last, buffer)
  local p, lines = self.p, {}
  local function add(text) lines[#lines + 1] = text end
  local pitch = p.panel * p.element_d
  local columns = (last - first + 1) * p.panel
  local T = names.memory_type(p.type_d)
  for i = 0, self.blocks - 1 do
    add("for (int r16 = 0; r16 < 16; ++r16) {")
    add(("  const int row = %s + r16;"):format(i > 0 and ("%d + warp * 16"):format(64 * i) or "warp * 16"))
    add(("  const gg_i64 d_row = m0 + %srow;"):format(self:first_row()))
    add(("  const gg_i64 column = %s + %d;"):format(self:first_column(), first * p.panel))
    add("  const gg_i64 left = d_row < p.m ? p.n - column : 0;")
    add("  " .. outputs.pointer(p, "d", "d_row", "column"))
    if p.panel_swizzle > 0 then add(("  const int turn = %s;"):format(turns[p.panel_swizzle])) end
    add(("  for (int c = lane; c < %d; c += 32) {"):format(columns))
    add(("    const unsigned from = staged + (unsigned)(%d + c / %d) * PANEL_BYTES + (unsigned)row * %d;"):format(
      buffer * p.chunk, p.panel, pitch))
    local byte = ("c %% %d * %d"):format(p.panel, p.element_d)
    add(("    const int byte = %s;"):format(byte))
    add(("    %s x;"):format(T))
    local at = p.panel_swizzle > 0 and "(unsigned)((byte / 16 ^ turn) * 16 + byte % 16)" or "(unsigned)byte"
    add(("    gg_lds_%s(&x, from + %s);"):format(names.memory_name(p.type_d), at))
    add(("    if (c < left) gg_st_%s(d + c, x);"):format(names.memory_name(p.type_d)))
    add("  }")
    add("}")
  end
  return lines
end

return store
