-- ring.lua - a ring of stages that threads fill themselves: what its copies, waits and offsets have in common in
-- pipeline.lua and stream.lua.

local names = use("names")
local copy = use("copy")
local share = use("product").share

local ring = {}

function ring.new(p, A, B, product)
  local r = { p = p, A = A, B = B, product = product }
  r.steps = product.steps(p)
  r.guarded = p.variant ~= "full"
  r.staged = not A.async or not B.async
  r.asynchronous = A.async or B.async
  r.rolled = p.unroll_k < r.steps
  return r
end

-- Groups of lines, one for each copy: cp.async of a k tile into the stage at `stage`; loads into registers;
-- stores of what those hold. guarded: k may end in the tile.
local function fetch(r, async, guarded, stage)
  local groups = {}
  for _, c in ipairs { r.A, r.B } do
    if c.async == async then groups = copy.join(groups, copy.fetch(c, guarded, stage)) end
  end
  return groups
end

function ring.async_fetch(r, guarded, stage) return fetch(r, true, guarded, stage) end
function ring.staged_fetch(r, guarded) return fetch(r, false, guarded) end
function ring.staged_store(r, stage) return copy.join(copy.store(r.A, stage), copy.store(r.B, stage)) end

function ring.commit(r) return r.asynchronous and { "gg_cp_async_commit();" } or {} end

function ring.wait(r)
  if not r.asynchronous then return {} end
  return { ("gg_cp_async_wait_%d();"):format(r.p.stages - 2) }
end

-- Copies of one iteration, shared out over the k steps but the last: stores of staged registers first, then
-- their next loads; cp.async over all of them. Yields the groups of step kk.
function ring.shared_out(r, guarded, write)
  local final = math.max(0, r.steps - 2)
  local middle = math.max(1, r.steps // 2)
  local store, load = ring.staged_store(r, write), ring.staged_fetch(r, guarded)
  local async = ring.async_fetch(r, guarded, write)
  return function(kk)
    return copy.join(share(async, 0, final, kk), share(store, 0, math.min(middle - 1, final), kk),
      share(load, math.min(middle, final), final, kk))
  end
end

-- The stage before the one at rs, which is written meanwhile.
function ring.written_stage(r)
  return ("const unsigned ws = rs != 0 ? rs - STAGE_BYTES : %s; // stage that is written"):format(
    names.stage(r.p.stages - 1))
end

-- The next stage becomes the one that is read.
function ring.next_stage(r)
  return ("rs = rs != %s ? rs + STAGE_BYTES : 0;"):format(names.stage(r.p.stages - 1))
end

-- Offsets, as text, of the stages that are read, written and read next: those around number `stage` where the
-- ring is written out, else around rs. What is written may be nil, the first.
function ring.offsets(r, stage)
  if not stage then return "rs", "ws", "rs" end
  local stages = r.p.stages
  return names.stage(stage) or "", names.stage((stage + stages - 1) % stages), names.stage((stage + 1) % stages) or ""
end

return ring
