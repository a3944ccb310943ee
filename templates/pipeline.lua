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
local ring = use("ring")

local pipeline = {}

function pipeline.new(p, A, B, product)
  local r = ring.new(p, A, B, product)
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

-- if (condition) { lines }
local function block(condition, lines) return names.block(("if (%s)"):format(condition), lines) end

local function k_left(r, tile)
  if not r.guarded then return {} end
  if tile == "0" then return { "const gg_i64 k_left = k;" } end
  return { ("const gg_i64 k_left = k - (gg_i64)(%s) * %d;"):format(tile, r.p.tile_k) }
end

-- Tile `stage` into stage `stage`, before the loop.
function pipeline.prologue(r, stage)
  local lines = k_left(r, tostring(stage))
  local at = names.stage(stage)
  names.append(lines, copy.flat(ring.async_fetch(r, r.guarded, at), ring.staged_fetch(r, r.guarded),
    ring.staged_store(r, at)))
  local out = block(("%d < k_tiles"):format(stage), lines)
  return names.append(out, ring.commit(r))
end

-- Registers of the first staged tile, the first barrier, the first fragments.
function pipeline.prologue_end(r)
  local p, out = r.p, {}
  if r.staged then
    local lines = k_left(r, tostring(p.stages - 1))
    names.append(lines, copy.flat(ring.staged_fetch(r, r.guarded)))
    names.append(out, block(("%d < k_tiles"):format(p.stages - 1), lines))
  end
  if p.fragments == 2 then
    names.append(out, ring.wait(r))
    out[#out + 1] = "gg_syncthreads();"
    names.append(out, block("k_tiles > 0", r.product.loads(p, 0, 0, "")))
  end
  return out
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
      names.append(lines, names.indented(r.product.step(p, set, r.product.loads(p, 1 - set, s + 1, "ka", "kb"), {}, 0)))
    else
      names.append(lines, names.indented(r.product.loads(p, 0, s, "ka", "kb")))
      names.append(lines, names.indented(r.product.step(p, 0, {}, {}, 0)))
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
  local opening = ring.wait(r)
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

-- One iteration of the main loop. stage: written-out stage (literal offsets) or nil (rs).
function pipeline.body(r, stage)
  local p, lines = r.p, {}
  local read, write, following = ring.offsets(r, stage)
  if p.fragments == 1 then
    names.append(lines, ring.wait(r))
    lines[#lines + 1] = "gg_syncthreads(); // tile kt is here, the stage before it is free"
  end
  if not stage then
    lines[#lines + 1] = ring.written_stage(r)
  end
  if r.rolled then
    names.append(lines, copy.flat(ring.async_fetch(r, false, write), ring.staged_store(r, write),
      ring.staged_fetch(r, false)))
    names.append(lines, ring.commit(r))
    names.append(lines, rolled_steps(r, read == "" and "0" or read))
    names.append(lines, rolled_tail(r))
  else
    local copies = ring.shared_out(r, false, write)
    local last = p.fragments == 2 and r.steps - 2 or r.steps - 1
    names.append(lines, plain_steps(r, 0, last, read, copies))
    names.append(lines, ring.commit(r))
  end
  if not stage then lines[#lines + 1] = ring.next_stage(r) end
  if p.fragments == 2 then names.append(lines, last_step(r, r.steps - 1, following, false)) end
  return lines
end

-- One iteration of the last tiles: copies only while there are tiles left, all at the top.
function pipeline.drain(r)
  local p, lines = r.p, {}
  local stages = p.stages
  if p.fragments == 1 then
    names.append(lines, ring.wait(r))
    lines[#lines + 1] = "gg_syncthreads(); // tile kt is here, the stage before it is free"
  end
  if r.drain_copies then
    lines[#lines + 1] = ring.written_stage(r)
    local copies = r.asynchronous and k_left(r, ("kt + %d"):format(stages - 1)) or {}
    names.append(copies, copy.flat(ring.async_fetch(r, r.guarded, "ws"), ring.staged_store(r, "ws")))
    names.append(lines, block(("kt + %d < k_tiles"):format(stages - 1), copies))
    if r.staged then
      local loads = k_left(r, ("kt + %d"):format(stages))
      names.append(loads, copy.flat(ring.staged_fetch(r, r.guarded)))
      names.append(lines, block(("kt + %d < k_tiles"):format(stages), loads))
    end
  end
  names.append(lines, ring.commit(r))
  if r.rolled then
    names.append(lines, rolled_steps(r, "rs"))
    names.append(lines, rolled_tail(r))
  else
    local last = p.fragments == 2 and r.steps - 2 or r.steps - 1
    names.append(lines, plain_steps(r, 0, last, "rs", no_copies))
  end
  lines[#lines + 1] = ring.next_stage(r)
  if p.fragments == 2 then names.append(lines, last_step(r, r.steps - 1, "rs", true)) end
  return lines
end

-- One tile with a single stage: copy, barrier, compute, barrier.
function pipeline.synchronous(r, guarded)
  local p = r.p
  local lines = guarded and { ("const gg_i64 k_left = k - (gg_i64)kt * %d;"):format(p.tile_k) } or {}
  names.append(lines, copy.flat(ring.staged_fetch(r, guarded)))
  lines[#lines + 1] = "gg_syncthreads(); // the tile before has been read"
  names.append(lines, copy.flat(ring.staged_store(r)))
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
