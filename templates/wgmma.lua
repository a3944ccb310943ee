-- wgmma.lua - lines of family wgmma: memory, tiles, ring. Products are in wgmma_product.lua, the way of D
-- in wgmma_store.lua.

local raster = use("raster")
local product = use("wgmma_product")
local store = use("wgmma_store")
local wide = use("wgmma_wide")
local transposed = use("wgmma_turned")
local loader = use("wgmma_loader")
local cluster = use("wgmma_cluster")
local few = use("wgmma_few")

local wgmma = {}
wgmma.__index = wgmma
for _, name in ipairs(product.methods) do wgmma[name] = product[name] end
for _, name in ipairs(store.methods) do wgmma[name] = store[name] end
for _, name in ipairs(wide.methods) do wgmma[name] = wide[name] end
for _, name in ipairs(loader.methods) do wgmma[name] = loader[name] end
for _, name in ipairs(cluster.methods) do wgmma[name] = cluster[name] end

function wgmma.new(p)
  local w = setmetatable({ p = p }, wgmma)
  w.rows = p.group_m
  w.first, w.second = "a", "b" -- operands of an instruction: rows in blocks of 64, and columns
  if p.swap then w.first, w.second = "b", "a" end
  w.blocks = (p.swap and p.group_n or p.group_m) // 64 -- instruction tiles of a warpgroup
  w.steps = p.tile_k // p.inst_k -- instructions of one of them in a k block
  w.turned_a, w.turned_b = p.turn_a, p.turn_b
  w.count = p.inst_n // 2 -- accumulators of one instruction tile
  w.promoted = p.promote_k > 0
  w.bits = p.type_acc == "s32" and p.type_epilogue == "f32" -- of f32 replace whole sums
  w.pingpong, w.split = p.schedule == "pingpong", p.cluster_k > 1
  w.shared = p.cluster_m * p.cluster_n > 1 -- tiles of A or B, by the blocks of a cluster
  w.ring_bytes = p.stages * p.stage_bytes
  -- D's place: behind the ring, or in it when the ring is spent.
  w.d_at = p.persistent and w.ring_bytes or p.partial_bytes
  w.chunk_bytes = p.chunk * p.panel_bytes
  w.all_panels = p.part_n // p.panel
  w.all_chunks = (w.all_panels + p.chunk - 1) // p.chunk
  if p.swap then
    w.all_chunks = p.tile_m // p.cluster_k // p.panel_m
    for _, name in ipairs(transposed.methods) do w[name] = transposed[name] end
    if not p.from_registers then
      for _, name in ipairs(few.methods) do w[name] = few[name] end
    end
  end
  -- D takes the ring's place: has every warp done with it? One warpgroup's products end together, but where an operand
  -- comes through registers its warps may still be loading.
  w.meet = not p.persistent and not w.split and (p.groups > 1 or p.from_registers)
  w.staged = p.path_b == "staged" -- B is turned by those who copy
  -- Does the thread that makes the barriers also begin to copy, before the others know of them?
  w.ahead = not w.staged
  if w.staged then w.units, w.sets = p.copies_b // 4, p.fragments end
  if p.from_registers then w.order = wide.registers_order(w.blocks) end
  return w
end

function wgmma:memory_map()
  local p, lines = self.p, { "//   offset   bytes  what" }
  local function add(text) lines[#lines + 1] = text end
  local function place(at, bytes, text) add(("//   %6d  %6d  %s"):format(at, bytes, text)) end
  local function operand(o, mn, turned)
    if turned then
      return ("%s: %d boxes of %d rows (k) x 128 bytes (%s), swizzled"):format(o, p["tile_" .. mn] * p.element // 128,
        p.tile_k, mn)
    end
    return ("%s: %d rows (%s) x 128 bytes (k), swizzled"):format(o, p["tile_" .. mn], mn)
  end
  for s = 0, p.stages - 1 do
    place(s * p.stage_bytes, p.bytes_a, ("stage %d  "):format(s) .. operand("A", "m", self.turned_a))
    place(s * p.stage_bytes + p.bytes_a, p.bytes_b, ("stage %d  "):format(s) .. operand("B", "n", self.turned_b))
  end
  local pitch = p.panel * p.element_d
  local swizzled = p.panel_swizzle > 0 and ", swizzled" or ""
  if self.split then
    place(0, p.partial_bytes, ("then: sums of a part of k, %d x %d %s"):format(p.tile_m, p.tile_n, p.type_acc))
  end
  place(self.d_at, p.groups * p.chunks * self.chunk_bytes, ("%sD: %d warpgroups x %d panels of %d rows x %d bytes%s")
    :format(p.persistent and "" or "then: ", p.groups, p.chunks * p.chunk, p.panel_m, pitch, swizzled))
  local full_at = self.ring_bytes + p.d_bytes
  place(full_at, 8 * p.stages, "full mbarriers")
  place(full_at + 8 * p.stages, 8 * p.stages, "empty mbarriers")
  add("// Swizzle of 128 bytes: 16-byte chunk c of row r lies at chunk c ^ (r % 8) of its row.")
  add("")
  add("enum {")
  local function constant(name, value, why) add(("  %-11s = %6d, // %s"):format(name, value, why)) end
  constant("A_BYTES", p.bytes_a, ("%d x 128: where B begins in a stage"):format(p.tile_m))
  constant("STAGE_BYTES", p.stage_bytes, ("A_BYTES + %d x 128: what one stage's copies bring"):format(p.tile_n))
  for _, part in ipairs(self:parts()) do constant(part.constant, part.bytes, part.why) end
  constant("D_AT", self.d_at, p.persistent and ("%d * STAGE_BYTES"):format(p.stages) or "in the ring, when it is spent")
  constant("PANEL_BYTES", p.panel_bytes, ("%d rows x %d"):format(p.panel_m, pitch))
  constant("CHUNK_BYTES", self.chunk_bytes, ("%d panel%s"):format(p.chunk, p.chunk > 1 and "s" or ""))
  constant("FULL_AT", full_at, ("%d stages%s"):format(p.stages, p.d_bytes > 0 and " and D" or ""))
  constant("EMPTY_AT", full_at + 8 * p.stages, ("FULL_AT + 8 * %d"):format(p.stages))
  constant("STORE", 1, "barriers 1..: a warpgroup's own")
  if self.pingpong then constant("TURN", 4, "barriers 4 and 5: a warpgroup's turn to compute") end
  if self.meet then constant("ALL", 4, "all that compute") end
  add("};")
  return lines
end

-- Rows of the warpgroup's first operand that a lane has sums of: lane_row() + instruction_row(i, half).
function wgmma:lane_row()
  if not self.p.from_registers then return "warp * 16 + lane / 4" end
  return self.blocks == 2 and "warp * 32 + chunk * 4" or "warp / 2 * 32 + chunk * 4 + lane / 4 % 2 * 2"
end

function wgmma:instruction_row(i, half)
  return self.p.from_registers and 2 * i + half or i * 64 + half * 8
end

-- Which warpgroups compute, with the verb.
function wgmma:computing()
  local groups = self.p.groups
  return groups > 1 and ("warpgroups 1..%d compute"):format(groups) or "warpgroup 1 computes"
end

-- Opens the block of what is done for a tile: of this warpgroup (mine), or of the thread that copies for all.
function wgmma:each_tile(mine)
  if not self.p.persistent then return "{" end
  local first, step = self:walk()
  if mine and self.pingpong then
    return ("for (unsigned tile = %s + (unsigned)group * %s; tile < tiles; tile += 2 * %s) {"):format(first, step, step)
  end
  return ("for (unsigned tile = %s; tile < tiles; tile += %s) {"):format(first, step)
end

-- First tile of a block that takes tile after tile, and how many others lie before its next.
function wgmma:walk()
  if self.shared then return "cluster", "clusters" end
  return "blockIdx.x", "gridDim.x"
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

-- Arrivals that fill a stage: of the thread that issues TMA loads, and of each warp that stores to it.
function wgmma:writers() return self.staged and 5 or 1 end

-- Arrivals that empty a stage, of one tile: a warpgroup's one thread, or one of each warp where warps load
-- from the stage themselves.
function wgmma:readers()
  return (self.pingpong and 1 or self.p.groups) * (self.p.from_registers and 4 or 1) * self:peers()
end

-- A warpgroup gives a stage back, where the condition holds (nil: always).
function wgmma:release(stage, condition)
  if self.p.from_registers then
    if self.shared then return { "gg_syncwarp();", self:release_everywhere("lane", stage) } end
    return { "gg_syncwarp();", ("if (lane == 0) gg_mbar_arrive(EMPTY_AT + 8 * (unsigned)%s);"):format(stage) }
  end
  local when = condition and condition .. " && " or ""
  if self.shared then return { self:release_everywhere(when .. "in_group", stage) } end
  return { ("if (%sin_group == 0) gg_mbar_arrive(EMPTY_AT + 8 * (unsigned)%s);"):format(when, stage) }
end

-- Over the k blocks of another warpgroup's tile.
function wgmma:skip(stage, parity)
  return {
    ("%s += k_blocks;"):format(stage),
    ("%s ^= (unsigned)(%s / %d) & 1;"):format(parity, stage, self.p.stages),
    ("%s %%= %d;"):format(stage, self.p.stages),
  }
end

return wgmma
