-- wgmma_loader.lua - the copying warpgroup where it turns the second operand on its way: 32 rows of k of global
-- memory become K-major rows of 128 bytes, 4 x 4 elements at a time in a thread's registers.
--
-- Lanes lane % 4 stand along k, lane / 4 along n (m): a load of a warp is 4 rows of 128 bytes, a store meets each
-- bank once in the swizzled rows. Loads run one k block ahead of the stores for each set of registers.

local names = use("names")

local loader = { methods = { "loader", "loader_begin", "load_block", "store_unit", "unit_place" } }

local QUAD = 4 -- rows and columns of what a thread turns at once

-- Unit u of a thread: its first row of k, and its first column besides the warp's and the lane's.
function loader.unit_place(_, u) return u % 2 * 16, u // 2 * 128 end

local function plus(n) return n > 0 and " + " .. n or "" end

local function register(set, u, r, c) return ("t%d_%d_%d%d"):format(set, u, r, c) end

-- What a thread keeps: pointer to its column of the second operand, place of its stores, registers.
function loader:loader_begin()
  local o, lines = self.second, {}
  local begin = { a = "0", b = "A_BYTES" }
  names.append(lines, {
    "const int lane = tid % 32;",
    "const int column = tid / 32 * 32 + lane / 4 * 4; // of the tile, first of the thread's four",
    "const int row = lane % 4 * 4; // of the k block, first of the thread's four",
    ("const unsigned first = %s + (unsigned)(column * 128 + (lane %% 4 ^ column %% 8) * 16); // of its chunks")
      :format(begin[o]),
  })
  for set = 0, self.sets - 1 do
    for u = 0, self.units - 1 do
      local items = {}
      for r = 0, QUAD - 1 do
        for c = 0, QUAD - 1 do items[#items + 1] = register(set, u, r, c) end
      end
      names.append(lines, names.declare("unsigned", items))
    end
  end
  return lines
end

-- Loads of all units of the block of k that begins at k0; outside the matrix lie zeros. One pointer walks over
-- the rows: an address for each would take as many registers as the elements.
function loader:load_block(set, k0)
  local o, lines = self.second, {}
  local function add(text) lines[#lines + 1] = text end
  local function move(rows) add(("  line += %sp.ld%s;"):format(rows > 1 and rows .. " * " or "", o)) end
  local many = self.units > 2
  add("{")
  for n = 0, self.units - 1, 2 do
    local _, n_unit = self:unit_place(n)
    add(("  %sline = from + (gg_i64)(%s + row) * p.ld%s%s;"):format(n == 0 and "const unsigned *" or "", k0, o,
      plus(n_unit)))
    add(("  %sleft = rows%s - (%s) - row;"):format(n == 0 and "int " or "", many and n // 2 or "", k0))
    for u = n, n + 1 do
      local k_unit = self:unit_place(u)
      if k_unit > 0 then move(k_unit - QUAD + 1) end
      for r = 0, QUAD - 1 do
        local to, zero = {}, {}
        for c = 0, QUAD - 1 do
          to[#to + 1] = "&" .. register(set, u, r, c)
          zero[#zero + 1] = register(set, u, r, c) .. " = "
        end
        add(("  %s0;"):format(table.concat(zero)))
        add(("  if (%d < left) gg_ldg_u32x4(%s, line);"):format(k_unit + r, table.concat(to, ", ")))
        if r < QUAD - 1 then move(1) end
      end
    end
  end
  add("}")
  return lines
end

-- Four columns of k become four chunks of rows.
function loader:store_unit(set, u)
  local k_unit, n_unit = self:unit_place(u)
  local lines = {}
  for c = 0, QUAD - 1 do
    local values = {}
    local chunk = k_unit // QUAD ~ c -- of the row, against the first row's first
    for r = 0, QUAD - 1 do values[#values + 1] = register(set, u, r, c) end
    lines[#lines + 1] = ("gg_sts_u32x4(%s%s, %s);"):format(chunk > 0 and ("(to ^ %d)"):format(chunk * 16) or "to",
      plus((n_unit + c) * 128), table.concat(values, ", "))
  end
  return lines
end

-- All k blocks of one tile.
function loader:loader()
  local p, o, lines = self.p, self.second, {}
  local mn = o == "a" and "m" or "n"
  local T = names.memory_type("s32")
  local function add(text) lines[#lines + 1] = text end
  local function indented(by, more)
    for _, line in ipairs(more) do add(by .. line) end
  end
  add(("const %s *const from = (const %s *)p.%s + batch * p.stride_%s + %s0 + column;"):format(T, T, o, o, mn))
  for n = 0, self.units - 1, 2 do
    local _, n_unit = self:unit_place(n)
    add(("const int rows%s = %s0 + column%s < p.%s ? (int)k : 0; // of k in the thread's columns"):format(
      self.units > 2 and n // 2 or "", mn, plus(n_unit), mn))
  end
  for set = 0, self.sets - 1 do names.append(lines, self:load_block(set, set * p.tile_k)) end
  add("for (int kb = 0; kb < k_blocks;) {")
  for set = 0, self.sets - 1 do
    if set > 0 then add("  if (kb == k_blocks) break;") end
    add("  {")
    add("    const unsigned at = (unsigned)stage * STAGE_BYTES;")
    add("    const unsigned to = at + first;")
    add("    const unsigned full = FULL_AT + 8 * (unsigned)stage;")
    add("    gg_mbar_wait(EMPTY_AT + 8 * (unsigned)stage, parity);")
    add("    if (tid == 0) {")
    add(("      gg_mbar_arrive_expect_tx(full, %s);"):format(o == "b" and "A_BYTES" or "STAGE_BYTES - A_BYTES"))
    indented("      ", self:copies())
    add("    }")
    for u = 0, self.units - 1 do indented("    ", self:store_unit(set, u)) end
    add("    gg_fence_proxy_async();")
    add("    gg_syncwarp();")
    add("    if (lane == 0) gg_mbar_arrive(full);")
    indented("    ", self:load_block(set, ("(kb + %d) * %d"):format(self.sets, p.tile_k)))
    indented("    ", self:advance("stage", "parity"))
    add("    ++kb;")
    add("  }")
  end
  add("}")
  return lines
end

return loader
