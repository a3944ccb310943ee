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
-- loads(...).by has the loads by operand and group, and late(p) says that a fragment is loaded again
-- into its own registers behind the last product that reads it. Where k steps are a loop, first_turn(base)
-- and next_turn(p, base) set the offsets that loads(..., "t") go by.
--
-- A ring that is written out (unroll_stages) stands in the text once more: a turn from its first stage on,
-- which offsets need no register for, and whose loads of the next stage need no condition but the last.

local names = use("names")
local copy = use("copy")
local raster = use("raster")
local share = use("product").share

local stream = {}

function stream.new(p, A, B, product)
  local r = { p = p, A = A, B = B, product = product }
  r.steps = product.steps(p)
  r.guarded = p.variant ~= "full"
  r.staged = not A.async or not B.async
  r.asynchronous = A.async or B.async
  r.rolled = p.unroll_k < r.steps
  return r
end

local function operands(r, want_async)
  local list = {}
  for _, c in ipairs { r.A, r.B } do
    if c.async == want_async then list[#list + 1] = c end
  end
  return list
end

-- Groups of lines: cp.async of the k tile, stores of what registers hold, loads into registers.
local function async_fetch(r, stage)
  local groups = {}
  for _, c in ipairs(operands(r, true)) do groups = copy.join(groups, copy.fetch(c, r.guarded, stage)) end
  return groups
end

local function staged_fetch(r)
  local groups = {}
  for _, c in ipairs(operands(r, false)) do groups = copy.join(groups, copy.fetch(c, r.guarded)) end
  return groups
end

local function staged_store(r, stage)
  local groups = {}
  for _, c in ipairs(operands(r, false)) do groups = copy.join(groups, copy.store(c, stage)) end
  return groups
end

local function commit(r) return r.asynchronous and { "gg_cp_async_commit();" } or {} end

local function wait(r)
  if not r.asynchronous then return {} end
  return { ("gg_cp_async_wait_%d();"):format(r.p.stages - 2) }
end

-- Directs the copies at tile `ahead` of D, if there is one.
local function aim(r)
  local lines = { "copying = k_tiles > 0 && ahead < tiles;", "if (copying) {" }
  local inner = raster.tile(r.p, "ahead")
  names.append(inner, copy.aim(r.A))
  names.append(inner, copy.aim(r.B))
  names.append(lines, names.indented(inner, "  "))
  lines[#lines + 1] = "}"
  return lines
end

-- The copies go on to the next k tile, at the end of a tile of D to the next one.
local function advance(r)
  local lines = {}
  if r.staged then lines[1] = "holding = copying;" end
  names.append(lines, { "if (++ahead_kt == k_tiles) {", "  ahead_kt = 0;", "  ahead += gridDim.x;" })
  names.append(lines, names.indented(aim(r), "  "))
  lines[#lines + 1] = "}"
  return lines
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
  local p, lines = r.p, {}
  local function add(text) lines[#lines + 1] = text end
  if r.asynchronous then
    add(("for (unsigned ws = 0; ws < %s; ws += STAGE_BYTES) {"):format(names.stage(p.stages - 1)))
    names.append(lines, names.indented(k_left(r), "  "))
    names.append(lines, names.indented(copy.flat(async_fetch(r, "ws")), "  "))
    names.append(lines, names.indented(commit(r), "  "))
    names.append(lines, names.indented(advance(r), "  "))
    add("}")
  else
    -- The tile that registers hold when the loop begins is the stage's that the loop writes first.
    add(("for (unsigned ws = 0; ws < %s; ws += STAGE_BYTES) {"):format(p.stages .. " * STAGE_BYTES"))
    names.append(lines, names.indented(k_left(r), "  "))
    names.append(lines, names.indented(copy.flat(staged_fetch(r)), "  "))
    names.append(lines, names.indented(advance(r), "  "))
    add(("  if (ws == %s) break;"):format(names.stage(p.stages - 1)))
    names.append(lines, names.indented(copy.flat(staged_store(r, "ws")), "  "))
    add("}")
  end
  names.append(lines, wait(r))
  add("gg_syncthreads(); // the first stage is here")
  return lines
end

-- The first fragments of a tile of D. Its first stage was waited for before the last products of the
-- tile before; to load them there would keep their registers through the epilogue.
function stream.first_loads(r)
  local lines = { "if (k_tiles > 0) {" }
  names.append(lines, names.indented(r.product.loads(r.p, 0, 0, "rs"), "  "))
  lines[#lines + 1] = "}"
  return lines
end

-- Copies of one iteration, shared out over the k steps but the last: stores of staged registers first,
-- then their next loads.
local function shared_out(r, write)
  local final = math.max(0, r.steps - 2)
  local middle = math.max(1, r.steps // 2)
  local store, load, async = staged_store(r, write), staged_fetch(r), async_fetch(r, write)
  return function(kk)
    return copy.join(share(async, 0, final, kk), share(store, 0, math.min(middle - 1, final), kk),
      share(load, math.min(middle, final), final, kk))
  end
end

-- The loads of a k step, each under a condition.
local function guarded_loads(r, set, base)
  local loads = r.product.loads(r.p, set, 0, base)
  local function guard(lines) for i, line in ipairs(lines) do lines[i] = "if (more) " .. line end end
  guard(loads)
  if loads.by then
    for _, o in ipairs { "a", "b" } do
      local group = 0
      while loads.by[o .. group] do
        guard(loads.by[o .. group])
        group = group + 1
      end
    end
  end
  return loads
end

-- All k steps of a tile but the last, with the copies between them.
local function plain_steps(r, read, write)
  local p, lines, last = r.p, {}, r.steps - 1
  local copies = shared_out(r, write)
  for kk = 0, last - 1 do
    lines[#lines + 1] = r.product.caption(p, kk)
    names.append(lines, r.product.step(p, kk % 2, r.product.loads(p, (kk + 1) % 2, kk + 1, read), copies(kk), 0))
  end
  if last == 0 then names.append(lines, copy.flat(copies(0))) end
  return names.append(lines, commit(r))
end

-- The same as a loop of unroll_k steps a turn behind all copies; the last turn, but for its last step,
-- stands behind the loop.
local function rolled_steps(r, read, write)
  local p, u, lines = r.p, r.p.unroll_k, copy.flat(async_fetch(r, write), staged_store(r, write), staged_fetch(r))
  local function step(s, next, loop)
    local here = { r.product.caption(p, loop and ("turn * %d + %d"):format(u, s) or r.steps - u + s) }
    if next == 0 then names.append(here, r.product.next_turn(p, read)) end
    names.append(here, r.product.step(p, s % 2, r.product.loads(p, (s + 1) % 2, next, "", "t"), {}, 0))
    names.append(lines, loop and names.indented(here) or here)
  end
  names.append(lines, commit(r))
  names.append(lines, { r.product.first_turn(read), "#pragma unroll 1",
    ("for (unsigned turn = 0; turn < %d; ++turn) {"):format(r.steps // u - 1) })
  for s = 0, u - 1 do step(s, (s + 1) % u, true) end
  lines[#lines + 1] = "}"
  for s = 0, u - 2 do step(s, s + 1, false) end
  return lines
end

-- One k tile: products of one stage, copies into the one before it. stage: its number where the ring is
-- written out, in a whole turn of it; else the one at rs.
function stream.body(r, stage)
  local p, lines, last = r.p, {}, r.steps - 1
  local function add(text) lines[#lines + 1] = text end
  local end_stage = names.stage(p.stages - 1)
  local read, write, following, certain = "rs", "ws", "rs", false
  if stage then
    read, write = names.stage(stage) or "", names.stage((stage + p.stages - 1) % p.stages)
    following, certain = names.stage((stage + 1) % p.stages) or "", stage < p.stages - 1
  else
    add(("const unsigned ws = rs != 0 ? rs - STAGE_BYTES : %s; // stage that is written"):format(end_stage))
  end
  if not certain then add("const int more = kt + 1 < k_tiles;") end
  names.append(lines, k_left(r))
  names.append(lines, (r.rolled and rolled_steps or plain_steps)(r, read, write))
  names.append(lines, advance(r))
  if not stage then add(("rs = rs != %s ? rs + STAGE_BYTES : 0;"):format(end_stage)) end
  add(r.product.caption(p, last))
  names.append(lines, wait(r))
  add("gg_syncthreads(); // the next stage is here, this one is free")
  local set = (r.rolled and p.unroll_k - 1 or last) % 2
  local loads = certain and r.product.loads(p, 1 - set, 0, following) or guarded_loads(r, 1 - set, following)
  return names.append(lines, r.product.step(p, set, loads, {}, 4))
end

return stream
