-- stream.lua - the ring of stages of persistent blocks. Copies run stages - 1 k tiles ahead of the
-- products and on into the block's next tile of D, so that neither its first k tiles nor the epilogue
-- leave the copies idle.
--
-- In each iteration one stage is read while the one before it is written: cp.async operands are copied
-- into it; staged operands, loaded into registers one iteration before, are stored into it, and the
-- k tile behind theirs is loaded. One barrier an iteration, before the last k step's products: it
-- publishes the next stage and frees this one, which belongs to the epilogue if the tile of D ends here.
--
-- What a k step computes is another module's business, as pipeline.lua says of it; besides,
-- loads(...).by has the loads by operand and group, guarded(loads) puts each under the condition `more`, and
-- late(p) says that a fragment is loaded again into its own registers behind the last product that reads it.
-- Where k steps are a loop, first_turn(base) and next_turn(p, base) set the offsets that loads(..., "t") go by.
--
-- A ring that is written out (unroll_stages) stands in the text once more: a turn from its first stage on,
-- which offsets need no register for, and whose loads of the next stage need no condition but the last.

local names = use("names")
local copy = use("copy")
local raster = use("raster")
local ring = use("ring")

local stream = {}

stream.new = ring.new

-- Directs the copies at tile `ahead` of D, if there is one.
local function aim(r)
  local inner = raster.tile(r.p, "ahead")
  names.append(inner, copy.aim(r.A))
  names.append(inner, copy.aim(r.B))
  return names.append({ "copying = k_tiles > 0 && ahead < tiles;" }, names.block("if (copying)", inner))
end

-- The copies go on to the next k tile, at the end of a tile of D to the next one.
local function advance(r)
  local inner = names.append({ "ahead_kt = 0;", "ahead += gridDim.x;" }, aim(r))
  return names.append(r.staged and { "holding = copying;" } or {}, names.block("if (++ahead_kt == k_tiles)", inner))
end

-- What of k is left for the k tile that is copied.
local function k_left(r)
  if not r.guarded then return {} end
  local left = ("k - (gg_i64)ahead_kt * %d"):format(r.p.tile_k)
  return { ("const int k_left = %s < %d ? (int)(%s) : %d;"):format(left, r.p.tile_k, left, r.p.tile_k) }
end

-- Where the copies are, before the first tile of D.
function stream.declare(r)
  local lines = {
    "unsigned ahead = blockIdx.x; // tile of D whose operands are copied",
    "int ahead_kt = 0; // and its k tile",
    "int copying;",
  }
  if r.staged then lines[#lines + 1] = "int holding = 0; // registers hold a k tile" end
  return names.append(lines, aim(r))
end

-- Fills all stages but one, and the registers of staged operands.
function stream.prologue(r)
  local p, inner = r.p, k_left(r)
  local filled = p.stages - 1
  if r.asynchronous then
    names.append(inner, copy.flat(ring.async_fetch(r, r.guarded, "ws")))
    names.append(inner, ring.commit(r))
    names.append(inner, advance(r))
  else
    -- The tile that registers hold when the loop begins is the stage's that the loop writes first.
    filled = p.stages
    names.append(inner, copy.flat(ring.staged_fetch(r, r.guarded)))
    names.append(inner, advance(r))
    inner[#inner + 1] = ("if (ws == %s) break;"):format(names.stage(p.stages - 1))
    names.append(inner, copy.flat(ring.staged_store(r, "ws")))
  end
  local lines = names.block(("for (unsigned ws = 0; ws < %s; ws += STAGE_BYTES)"):format(names.stage(filled)), inner)
  names.append(lines, ring.wait(r))
  lines[#lines + 1] = "gg_syncthreads(); // the first stage is here"
  return lines
end

-- The first fragments of a tile of D. Its first stage was waited for before the last products of the
-- tile before; to load them there would keep their registers through the epilogue.
function stream.first_loads(r)
  return names.block("if (k_tiles > 0)", r.product.loads(r.p, 0, 0, "rs"))
end

-- All k steps of a tile but the last, with the copies between them.
local function plain_steps(r, read, write)
  local p, lines, last = r.p, {}, r.steps - 1
  local copies = ring.shared_out(r, r.guarded, write)
  for kk = 0, last - 1 do
    lines[#lines + 1] = r.product.caption(p, kk)
    names.append(lines, r.product.step(p, kk % 2, r.product.loads(p, (kk + 1) % 2, kk + 1, read), copies(kk), 0))
  end
  if last == 0 then names.append(lines, copy.flat(copies(0))) end
  return names.append(lines, ring.commit(r))
end

-- The same as a loop of unroll_k steps a turn behind all copies; the last turn, but for its last step,
-- stands behind the loop.
local function rolled_steps(r, read, write)
  local p, u, turn, rest = r.p, r.p.unroll_k, {}, {}
  local function step(lines, s, next, number)
    lines[#lines + 1] = r.product.caption(p, number)
    if next == 0 then names.append(lines, r.product.next_turn(p, read)) end
    names.append(lines, r.product.step(p, s % 2, r.product.loads(p, (s + 1) % 2, next, "", "t"), {}, 0))
  end
  for s = 0, u - 1 do step(turn, s, (s + 1) % u, ("turn * %d + %d"):format(u, s)) end
  for s = 0, u - 2 do step(rest, s, s + 1, r.steps - u + s) end
  local lines = copy.flat(ring.async_fetch(r, r.guarded, write), ring.staged_store(r, write),
    ring.staged_fetch(r, r.guarded))
  names.append(lines, ring.commit(r))
  names.append(lines, { r.product.first_turn(read), "#pragma unroll 1" })
  names.append(lines, names.block(("for (unsigned turn = 0; turn < %d; ++turn)"):format(r.steps // u - 1), turn))
  return names.append(lines, rest)
end

-- One k tile: products of one stage, copies into the one before it. stage: its number where the ring is
-- written out, in a whole turn of it; else the one at rs.
function stream.body(r, stage)
  local p, lines, last = r.p, {}, r.steps - 1
  local function add(text) lines[#lines + 1] = text end
  local read, write, following = ring.offsets(r, stage)
  local certain = stage and stage < p.stages - 1
  if not stage then add(ring.written_stage(r)) end
  if not certain then add("const int more = kt + 1 < k_tiles;") end
  names.append(lines, k_left(r))
  names.append(lines, (r.rolled and rolled_steps or plain_steps)(r, read, write))
  names.append(lines, advance(r))
  if not stage then add(ring.next_stage(r)) end
  add(r.product.caption(p, last))
  names.append(lines, ring.wait(r))
  add("gg_syncthreads(); // the next stage is here, this one is free")
  local set = (r.rolled and p.unroll_k - 1 or last) % 2
  local loads = r.product.loads(p, 1 - set, 0, following)
  if not certain then loads = r.product.guarded(loads) end
  return names.append(lines, r.product.step(p, set, loads, {}, 4))
end

return stream
