-- wgmma.lua - lines of family wgmma: memory, coordinates, epilogue; products are in wgmma_product.lua.

local names = use("names")
local raster = use("raster")
local scalars = use("scalars")
local product = use("wgmma_product")

local wgmma = {}
wgmma.__index = wgmma
for _, name in ipairs(product.methods) do wgmma[name] = product[name] end

function wgmma.new(p)
  local w = setmetatable({ p = p }, wgmma)
  w.rows = p.tile_m // p.groups
  w.blocks = w.rows // 64 -- instruction tiles of a warpgroup
  w.turned_a, w.turned_b = p.turn_a, p.turn_b
  w.count = p.tile_n // 2 -- accumulators of one instruction tile
  w.promoted = p.promote_k > 0
  return w
end

function wgmma:memory_map()
  local p, lines = self.p, { "//   offset   bytes  what" }
  local function add(text) lines[#lines + 1] = text end
  local function place(at, bytes, text) add(("//   %6d  %6d  %s"):format(at, bytes, text)) end
  local function operand(o, mn, turned)
    if turned then
      return ("%s: %d blocks of 64 rows (k) x 128 bytes (%s), swizzled"):format(o, p["tile_" .. mn] // 64, mn)
    end
    return ("%s: %d rows (%s) x 128 bytes (k), swizzled"):format(o, p["tile_" .. mn], mn)
  end
  for s = 0, p.stages - 1 do
    place(s * p.stage_bytes, p.bytes_a, ("stage %d  "):format(s) .. operand("A", "m", self.turned_a))
    place(s * p.stage_bytes + p.bytes_a, p.bytes_b, ("stage %d  "):format(s) .. operand("B", "n", self.turned_b))
  end
  local d_at = p.stages * p.stage_bytes
  place(d_at, p.d_bytes, ("D: %d warpgroups x %d panels of %d rows x 128 bytes, swizzled"):format(p.groups,
    p.panels, self.rows))
  place(d_at + p.d_bytes, 8 * p.stages, "full mbarriers")
  place(d_at + p.d_bytes + 8 * p.stages, 8 * p.stages, "empty mbarriers")
  add("// Swizzle: 16-byte chunk c of row r lies at chunk c ^ (r % 8) of its 128 bytes.")
  add("")
  add("enum {")
  local function constant(name, value, why) add(("  %-11s = %6d, // %s"):format(name, value, why)) end
  constant("A_BYTES", p.bytes_a, ("%d x 128: where B begins in a stage"):format(p.tile_m))
  constant("STAGE_BYTES", p.stage_bytes, ("A_BYTES + %d x 128: what one stage's copies bring"):format(p.tile_n))
  constant("D_AT", d_at, ("%d * STAGE_BYTES"):format(p.stages))
  constant("PANEL_BYTES", p.panel_bytes, ("%d rows x 128"):format(self.rows))
  constant("FULL_AT", d_at + p.d_bytes, ("D_AT + %d * %d * PANEL_BYTES"):format(p.groups, p.panels))
  constant("EMPTY_AT", d_at + p.d_bytes + 8 * p.stages, ("FULL_AT + 8 * %d"):format(p.stages))
  add("};")
  return lines
end

-- batch, m0 and n0 of a tile.
function wgmma:coordinates(tile)
  return raster.tile(self.p, tile)
end

function wgmma:advance(stage, parity)
  return {
    ("if (++%s == %d) {"):format(stage, self.p.stages),
    ("  %s = 0;"):format(stage),
    ("  %s ^= 1;"):format(parity),
    "}",
  }
end

-- A warpgroup gives a stage back, where the condition holds (nil: always).
function wgmma.release(_, stage, condition)
  local when = condition and condition .. " && " or ""
  return { ("if (%sin_group == 0) gg_mbar_arrive(EMPTY_AT + 8 * (unsigned)%s);"):format(when, stage) }
end

function wgmma:each(f)
  for i = 0, self.blocks - 1 do
    for x = 0, self.count - 1 do f(i, x) end
  end
end

function wgmma:scale()
  local lines = {}
  if self.p.alpha ~= "one" then
    self:each(function(i, x)
      lines[#lines + 1] = ("acc%d[%d] = %s;"):format(i, x, scalars.scaled(self.p, ("acc%d[%d]"):format(i, x)))
    end)
  end
  return lines
end

-- alpha * acc + beta * C, C read where the accumulators lie: row lane / 4 (+ 8), columns lane % 4 * 2 + (0, 1)
-- of each 8 x 8 block.
function wgmma:add_c()
  local p, lines = self.p, {}
  local function add(text) lines[#lines + 1] = text end
  local T, t = names.memory_type(p.type_c), p.type_c
  for i = 0, self.blocks - 1 do
    for half = 0, 1 do
      add("{")
      add(("  const gg_i64 row = m0 + group * %d + %d + warp * 16 + lane / 4;"):format(self.rows, i * 64 + half * 8))
      add("  const gg_i64 column = n0 + lane % 4 * 2;")
      add("  const gg_i64 left = row < p.m ? p.n - column : 0;")
      add(("  const %s *const c = (const %s *)p.c + batch * p.stride_c + row * p.ldc + column;"):format(T, T))
      add(("  %s x;"):format(T))
      for j = 0, p.tile_n // 8 - 1 do
        for e = 0, 1 do
          local acc = ("acc%d[%d]"):format(i, 4 * j + 2 * half + e)
          local at = 8 * j + e
          add(("  x = 0;"))
          add(("  if (%d < left) gg_ld_%s(&x, c%s);"):format(at, names.memory_name(t), at > 0 and " + " .. at or ""))
          add(("  %s = %s;"):format(acc, scalars.plus_c(p, scalars.scaled(p, acc), names.widened(t, "x"))))
        end
      end
      add("}")
    end
  end
  return lines
end

-- Panels of D through shared memory. Lane l of a warp gives row l % 16 and 8 columns of it (l / 16).
function wgmma:store()
  local p, lines = self.p, {}
  local function add(text) lines[#lines + 1] = text end
  local all = p.tile_n // p.panel
  add("const int row = warp * 16 + lane % 16;")
  add(("const unsigned to = D_AT + (unsigned)(group * %d) * PANEL_BYTES + (unsigned)row * 128;"):format(p.panels))
  add("const int turn = row % 8; // of the swizzle")
  add("const int high = lane / 16;")
  add("unsigned r[4];")
  for q = 0, all - 1 do
    local buffer = q % p.panels
    add(("// panel %d: columns %d..%d"):format(q, q * p.panel, q * p.panel + p.panel - 1))
    if buffer == 0 and q == 0 or p.panels < all then
      -- the buffer's last store has been read
      local pending = p.panels == all and 0 or p.panels - 1
      add(("if (in_group == 0) gg_bulk_wait_read_%d();"):format(q == 0 and 0 or pending))
      add("gg_bar_sync(1 + group, 128);")
    end
    for i = 0, self.blocks - 1 do
      for j = 0, 3 do
        local first = q * 32 + j * 8
        for e = 0, 3 do
          add(("r[%d] = %s;"):format(e, names.packed(p.type_d, ("acc%d[%d]"):format(i, first + 2 * e),
            ("acc%d[%d]"):format(i, first + 2 * e + 1))))
        end
        add(("gg_stmatrix_x4(to%s%s + (unsigned)((%d + high) ^ turn) * 16, r);"):format(
          buffer > 0 and (" + %d * PANEL_BYTES"):format(buffer) or "", i > 0 and " + " .. i * 8192 or "", 2 * j))
      end
    end
    add("gg_fence_proxy_async();")
    add("gg_bar_sync(1 + group, 128);")
    add("if (in_group == 0) {")
    add(("  if (m0 + group * %d < p.m && n0 + %d < p.n)"):format(self.rows, q * p.panel))
    add(("    gg_tma_store_3d(&p.map_d, %s, (int)n0 + %d, (int)m0 + group * %d, (int)batch);"):format(
      ("D_AT + (unsigned)(group * %d + %d) * PANEL_BYTES"):format(p.panels, buffer), q * p.panel, self.rows))
    add("  gg_bulk_commit();")
    add("}")
  end
  return lines
end

return wgmma
