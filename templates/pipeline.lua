-- pipeline.lua - the ring of stages that threads fill themselves: prologue, loop body, drain.
--
-- What a k step computes is another module's business (product.lua, wmma.lua): steps(p), the number
-- of k steps of a tile; loads(p, set, kk, base...), the lines that load a step's fragments into
-- register set `set`; step(p, set, loads, copies, first), its products with such lines between them;
-- caption(p, kk).
--
-- In iteration kt the stage of tile kt is read while tile kt + stages - 1 is written: cp.async
-- operands are copied into it; staged operands, loaded into registers one iteration before, are
-- stored into it, and tile kt + stages is loaded. One barrier an iteration, in its last k step: it
-- publishes tile kt + 1 and frees the stage of tile kt.

local names = use("names")
local copy = use("copy")
local share = use("product").share

local pipeline = {}

function pipeline.new(p, A, B, product)
  local r = { p = p, A = A, B = B, product = product }
  r.steps = product.steps(p)
  r.guarded = p.variant ~= "full"
  r.staged = not A.async or not B.async
  r.asynchronous = A.async or B.async
  r.rolled = p.unroll_k < r.steps
  -- tiles that the loop body runs ahead of the one it computes
  r.ahead = r.staged and p.stages or p.stages - 1
  r.full_tiles = r.guarded and "k_tiles - 1" or "k_tiles"
  r.drain_copies = r.guarded or r.staged or p.unroll_stages
  return r
end

-- Byte offsets of the thread's fragments: ra, rb.
function pipeline.fragment_bases(r)
  local p, lines = r.p, {}
  for _, o in ipairs { "a", "b" } do
    local mn = o == "a" and "m_in" or "n_in"
    local base = o == "a" and "" or "A_BYTES + "
    local slice = p.k_slices > 1 and (" + slice * %d * %s_PITCH"):format(r.steps, o:upper()) or ""
    lines[#lines + 1] = ("const unsigned r%s = (unsigned)(%s%s * %d%s);"):format(o, base, mn,
      p.element, slice)
  end
  return lines
end

local function wait(r)
  if not r.asynchronous then return {} end
  return { ("gg_cp_async_wait_%d();"):format(r.p.stages - 2) }
end

local function commit(r)
  return r.asynchronous and { "gg_cp_async_commit();" } or {}
end

local function indent(lines, by)
  local out = {}
  for i, line in ipairs(lines) do out[i] = by .. line end
  return out
end

-- if (condition) { lines }
local function block(condition, lines)
  local out = { ("if (%s) {"):format(condition) }
  names.append(out, indent(lines, "  "))
  out[#out + 1] = "}"
  return out
end

local function async_fetch(r, guarded, stage)
  local groups = {}
  for _, c in ipairs { r.A, r.B } do
    if c.async then groups = copy.join(groups, copy.fetch(c, guarded, stage)) end
  end
  return groups
end

local function staged_fetch(r, guarded)
  local groups = {}
  for _, c in ipairs { r.A, r.B } do
    if not c.async then groups = copy.join(groups, copy.fetch(c, guarded)) end
  end
  return groups
end

local function staged_store(r, stage)
  return copy.join(copy.store(r.A, stage), copy.store(r.B, stage))
end

local function k_left(r, tile)
  if not r.guarded then return {} end
  if tile == "0" then return { "const gg_i64 k_left = k;" } end
  return { ("const gg_i64 k_left = k - (gg_i64)(%s) * %d;"):format(tile, r.p.tile_k) }
end

-- Tile `stage` into stage `stage`, before the loop.
function pipeline.prologue(r, stage)
  local lines = k_left(r, tostring(stage))
  local at = names.stage(stage)
  names.append(lines, copy.flat(async_fetch(r, r.guarded, at), staged_fetch(r, r.guarded),
    staged_store(r, at)))
  local out = block(("%d < k_tiles"):format(stage), lines)
  return names.append(out, commit(r))
end

-- Registers of the first staged tile, the first barrier, the first fragments.
function pipeline.prologue_end(r)
  local p, out = r.p, {}
  if r.staged then
    local lines = k_left(r, tostring(p.stages - 1))
    names.append(lines, copy.flat(staged_fetch(r, r.guarded)))
    names.append(out, block(("%d < k_tiles"):format(p.stages - 1), lines))
  end
  if p.fragments == 2 then
    names.append(out, wait(r))
    out[#out + 1] = "gg_syncthreads();"
    names.append(out, block("k_tiles > 0", r.product.loads(p, 0, 0, "")))
  end
  return out
end

-- The next stage becomes the one that is read.
local function next_stage(r)
  return ("rs = rs != %s ? rs + STAGE_BYTES : 0;"):format(names.stage(r.p.stages - 1))
end

local function written_stage(r)
  return ("const unsigned ws = rs != 0 ? rs - STAGE_BYTES : %s; // stage that is written"):format(
    names.stage(r.p.stages - 1))
end

-- k steps first .. last - 1 of a fully written-out body, without the tile's last one.
-- copies(kk): groups of copies in step kk.
local function plain_steps(r, first, last, base, copies)
  local p, lines = r.p, {}
  for kk = first, last do
    lines[#lines + 1] = r.product.caption(p, kk)
    if p.fragments == 2 then
      local set = kk % 2
      names.append(lines, r.product.step(p, set, r.product.loads(p, 1 - set, kk + 1, base), copies(kk), 0))
    else
      names.append(lines, r.product.loads(p, 0, kk, base))
      names.append(lines, r.product.step(p, 0, {}, copies(kk), 0))
    end
  end
  return lines
end

local function no_copies() return {} end

-- k steps as a loop of unroll_k steps each, relative to the bases ka and kb. With two fragment sets the
-- last unroll_k steps are left to rolled_tail and the caller.
local function rolled_steps(r, base)
  local p, u, lines = r.p, r.p.unroll_k, {}
  local turns = p.fragments == 2 and r.steps // u - 1 or r.steps // u
  lines[#lines + 1] = ("unsigned ka = %s, kb = %s;"):format(base, base)
  lines[#lines + 1] = "#pragma unroll 1"
  lines[#lines + 1] = ("for (int turn = 0; turn < %d; ++turn) {"):format(turns)
  for s = 0, u - 1 do
    lines[#lines + 1] = "  " .. r.product.caption(p, ("turn * %d + %d"):format(u, s))
    if p.fragments == 2 then
      local set = s % 2
      names.append(lines, indent(r.product.step(p, set, r.product.loads(p, 1 - set, s + 1, "ka", "kb"), {}, 0), "  "))
    else
      names.append(lines, indent(r.product.loads(p, 0, s, "ka", "kb"), "  "))
      names.append(lines, indent(r.product.step(p, 0, {}, {}, 0), "  "))
    end
  end
  lines[#lines + 1] = ("  ka += %d * A_PITCH;"):format(u)
  lines[#lines + 1] = ("  kb += %d * B_PITCH;"):format(u)
  lines[#lines + 1] = "}"
  return lines
end

-- With two fragment sets: the last turn's steps but the tile's very last.
local function rolled_tail(r)
  local p, lines = r.p, {}
  if p.fragments == 1 then return lines end
  for s = 0, p.unroll_k - 2 do
    lines[#lines + 1] = r.product.caption(p, r.steps - p.unroll_k + s)
    names.append(lines, r.product.step(p, s % 2, r.product.loads(p, 1 - s % 2, s + 1, "ka", "kb"), {}, 0))
  end
  return lines
end

-- The last k step of a tile with two fragment sets: publish the next tile, load its first fragments.
-- read: text of the next stage's offset.
local function last_step(r, kk, read, in_drain)
  local p = r.p
  local set = kk % 2
  local lines = { r.product.caption(p, kk) }
  local opening = wait(r)
  opening[#opening + 1] = ("gg_syncthreads(); // tile kt + 1 is here, the stage of tile kt is free")
  local loads = r.product.loads(p, 1 - set, 0, read)
  if in_drain then
    names.append(opening, loads)
    names.append(lines, block("kt + 1 < k_tiles", opening))
    return names.append(lines, r.product.step(p, set, {}, {}, 0))
  end
  names.append(lines, opening)
  return names.append(lines, r.product.step(p, set, loads, {}, 4))
end

-- Copies of one iteration, shared out over the k steps: stores of staged registers first, then
-- their next loads; cp.async over all steps but the last.
local function shared_out(r, write)
  local steps = r.steps
  local final = math.max(0, steps - 2) -- the last step that may hold copies
  local middle = math.max(1, steps // 2)
  local store, load = staged_store(r, write), staged_fetch(r, false)
  local async = async_fetch(r, false, write)
  return function(kk)
    return copy.join(
      share(async, 0, final, kk),
      share(store, 0, math.min(middle - 1, final), kk),
      share(load, math.min(middle, final), final, kk))
  end
end

-- One iteration of the main loop. stage: written-out stage (literal offsets) or nil (rs).
function pipeline.body(r, stage)
  local p, lines = r.p, {}
  local stages = p.stages
  local read, write, following = "rs", "ws", "rs"
  if stage then
    read = names.stage(stage) or ""
    write = names.stage((stage + stages - 1) % stages)
    following = names.stage((stage + 1) % stages) or ""
  end
  if p.fragments == 1 then
    names.append(lines, wait(r))
    lines[#lines + 1] = "gg_syncthreads(); // tile kt is here, the stage before it is free"
  end
  if not stage then
    lines[#lines + 1] = written_stage(r)
  end
  if r.rolled then
    names.append(lines, copy.flat(async_fetch(r, false, write), staged_store(r, write), staged_fetch(r, false)))
    names.append(lines, commit(r))
    names.append(lines, rolled_steps(r, read == "" and "0" or read))
    names.append(lines, rolled_tail(r))
  else
    local copies = shared_out(r, write)
    local last = p.fragments == 2 and r.steps - 2 or r.steps - 1
    names.append(lines, plain_steps(r, 0, last, read, copies))
    names.append(lines, commit(r))
  end
  if not stage then lines[#lines + 1] = next_stage(r) end
  if p.fragments == 2 then names.append(lines, last_step(r, r.steps - 1, following, false)) end
  return lines
end

-- One iteration of the last tiles: copies only while there are tiles left, all at the top.
function pipeline.drain(r)
  local p, lines = r.p, {}
  local stages = p.stages
  if p.fragments == 1 then
    names.append(lines, wait(r))
    lines[#lines + 1] = "gg_syncthreads(); // tile kt is here, the stage before it is free"
  end
  if r.drain_copies then
    lines[#lines + 1] = written_stage(r)
    local copies = r.asynchronous and k_left(r, ("kt + %d"):format(stages - 1)) or {}
    names.append(copies, copy.flat(async_fetch(r, r.guarded, "ws"), staged_store(r, "ws")))
    names.append(lines, block(("kt + %d < k_tiles"):format(stages - 1), copies))
    if r.staged then
      local loads = k_left(r, ("kt + %d"):format(stages))
      names.append(loads, copy.flat(staged_fetch(r, r.guarded)))
      names.append(lines, block(("kt + %d < k_tiles"):format(stages), loads))
    end
  end
  names.append(lines, commit(r))
  if r.rolled then
    names.append(lines, rolled_steps(r, "rs"))
    names.append(lines, rolled_tail(r))
  else
    local last = p.fragments == 2 and r.steps - 2 or r.steps - 1
    names.append(lines, plain_steps(r, 0, last, "rs", no_copies))
  end
  lines[#lines + 1] = next_stage(r)
  if p.fragments == 2 then names.append(lines, last_step(r, r.steps - 1, "rs", true)) end
  return lines
end

-- One tile with a single stage: copy, barrier, compute, barrier.
function pipeline.synchronous(r, guarded)
  local p = r.p
  local lines = guarded and { ("const gg_i64 k_left = k - (gg_i64)kt * %d;"):format(p.tile_k) } or {}
  names.append(lines, copy.flat(staged_fetch(r, guarded)))
  lines[#lines + 1] = "gg_syncthreads(); // the tile before has been read"
  names.append(lines, copy.flat(staged_store(r)))
  lines[#lines + 1] = "gg_syncthreads(); // this tile has been written"
  if r.rolled then
    if p.fragments == 2 then names.append(lines, r.product.loads(p, 0, 0, "")) end
    names.append(lines, rolled_steps(r, "0"))
    names.append(lines, rolled_tail(r))
    if p.fragments == 2 then
      lines[#lines + 1] = r.product.caption(p, r.steps - 1)
      names.append(lines, r.product.step(p, (p.unroll_k - 1) % 2, {}, {}, 0))
    end
    return lines
  end
  if p.fragments == 2 then
    names.append(lines, r.product.loads(p, 0, 0, ""))
    names.append(lines, plain_steps(r, 0, r.steps - 2, "", no_copies))
    lines[#lines + 1] = r.product.caption(p, r.steps - 1)
    return names.append(lines, r.product.step(p, (r.steps - 1) % 2, {}, {}, 0))
  end
  return names.append(lines, plain_steps(r, 0, r.steps - 1, "", no_copies))
end

return pipeline
