-- mma_tma.lua - the ring of family mma where TMA brings A and B: one thread asks for the boxes of a whole stage, whose
-- bytes its full mbarrier counts; each warp waits for that on its own, and gives the stage back at the empty one when
-- its last fragment of it is in registers. No barrier of the block is in the main loop, so warps drift apart, and one
-- computes while another waits for its loads.
--
-- The warps ask in turn, a k tile each: in the middle of k tile j for the stage of k tile j - 1, which the slowest
-- warp has by then had half a k tile to leave. Copies thus run stages - 1 k tiles ahead, and on into the block's next
-- tile of D. Each warp knows only where the k tiles are that it asks for, every so many as there are warps. What a k
-- step computes is mma.lua's business.

local names = use("names")
local raster = use("raster")

local ring = {}

function ring.new(p, product)
  return { p = p, product = product, steps = product.steps(p), warps = p.threads // 32 }
end

-- -- Memory ------------------------------------------------------------------------------------------

local function boxes(p, o, mn)
  local along_k = names.contiguous_k(p, o)
  local count, rows, along = p["copies_" .. o], along_k and mn or "k", along_k and "k" or mn
  return ("%s: %d box%s of %d rows (%s) x 128 bytes (%s)"):format(o:upper(), count, count > 1 and "es" or "",
    p["box_" .. o], rows, along)
end

function ring.memory_map(p)
  local lines = { "//   offset   bytes  what" }
  local function add(text) lines[#lines + 1] = text end
  local function place(at, bytes, text) add(("//   %6d  %6d  %s"):format(at, bytes, text)) end
  for s = 0, p.stages - 1 do
    place(s * p.stage_bytes, p.bytes_a, ("stage %d  "):format(s) .. boxes(p, "a", "m"))
    place(s * p.stage_bytes + p.bytes_a, p.bytes_b, ("stage %d  "):format(s) .. boxes(p, "b", "n"))
  end
  local d_at = p.stages * p.stage_bytes
  local full_at = d_at + p.d_bytes
  place(d_at, p.d_bytes, ("D: %d rows of each warp"):format(p.d_rows))
  place(full_at, 8 * p.stages, "full mbarriers")
  place(full_at + 8 * p.stages, 8 * p.stages, "empty mbarriers")
  add("// Swizzle of 128 bytes: 16-byte chunk c of row r lies at chunk c ^ (r % 8) of its row.")
  add("")
  add("enum {")
  local function constant(name, value, why) add(("  %-11s = %6d, // %s"):format(name, value, why)) end
  for _, o in ipairs { "a", "b" } do
    constant(o:upper() .. "_PITCH", p["pitch_" .. o] * p.element, ("bytes between rows of %s"):format(o:upper()))
    if p["copies_" .. o] > 1 or not names.contiguous_k(p, o) then
      constant(o:upper() .. "_BOX", p["box_" .. o] * 128, ("%d rows x 128: between boxes of %s"):format(p["box_" .. o],
        o:upper()))
    end
  end
  constant("A_BYTES", p.bytes_a, "where B begins in a stage")
  constant("STAGE_BYTES", p.stage_bytes, ("A_BYTES + %d: what one stage's copies bring"):format(p.bytes_b))
  constant("FULL_AT", full_at, ("%d stages, and D"):format(p.stages))
  constant("EMPTY_AT", full_at + 8 * p.stages, ("FULL_AT + 8 * %d"):format(p.stages))
  add("};")
  return lines
end

-- -- Copies ------------------------------------------------------------------------------------------

-- Finds k tile ahead_kt, counted from the first of tile `ahead` of D on, in the tile that has it; behind the last one
-- the warp has no turn any more. some: a condition for there being k tiles at all, where that is not certain.
local function find(r, some)
  local inner = { "ahead_kt -= k_tiles;", "ahead += gridDim.x;" }
  local lines = names.block(("while (%sahead_kt >= k_tiles)"):format(some), inner)
  local aim = raster.tile(r.p, "ahead")
  names.append(aim, { "ahead_m = (int)m0;", "ahead_n = (int)n0;", "ahead_batch = (int)batch;" })
  lines[#lines + 1] = ("if (%sahead < tiles) {"):format(some)
  names.append(lines, names.indented(aim))
  names.append(lines, { "} else {", "  turn = 0x7fffffff;", "}" })
  return lines
end

-- On to the warp's next k tile.
local function advance(r)
  local lines = { ("turn += %d;"):format(r.warps), ("ahead_kt += %d;"):format(r.warps) }
  return names.append(lines, names.block("if (ahead_kt >= k_tiles)", find(r, "")))
end

-- TMA loads of k tile ahead_kt into the stage at `at`.
local function loads(r)
  local p, lines = r.p, {}
  for _, o in ipairs { "a", "b" } do
    local mn = o == "a" and "m" or "n"
    local base = o == "a" and "at" or "at + A_BYTES"
    local width = p.box_width
    for i = 0, p["copies_" .. o] - 1 do
      local to, along = base, ""
      if i > 0 then
        to = ("%s + %s%s_BOX"):format(base, i > 1 and i .. " * " or "", o:upper())
        along = " + " .. i * width
      end
      local k, side = ("ahead_kt * %d"):format(p.tile_k), "ahead_" .. mn
      local x, y = k .. along, side
      if not names.contiguous_k(p, o) then x, y = side .. along, k end
      local z = ("p.stride_%s ? ahead_batch : 0"):format(o)
      lines[#lines + 1] = ("gg_tma_load_3d(%s, &p.map_%s, %s, %s, %s, full);"):format(to, o, x, y, z)
    end
  end
  return lines
end

-- Offset of the barrier of a stage that a variable or a number gives.
local function barrier(kind, stage)
  if type(stage) == "string" then return ("%s_AT + 8 * (unsigned)%s"):format(kind, stage) end
  return kind .. "_AT" .. (stage > 0 and " + " .. 8 * stage or "")
end

-- Offset of such a stage, "" for the first.
local function offset(stage)
  if type(stage) == "string" then return ("(unsigned)%s * STAGE_BYTES"):format(stage) end
  return names.stage(stage) or ""
end

-- One stage is asked for; before: lines that come first, where it was read before.
local function ask(r, stage, before)
  local at = offset(stage)
  local lines = {
    ("const unsigned at = %s;"):format(at ~= "" and at or "0"),
    ("const unsigned full = %s;"):format(barrier("FULL", stage)),
  }
  names.append(lines, before)
  lines[#lines + 1] = "gg_mbar_arrive_expect_tx(full, STAGE_BYTES);"
  return names.append(lines, loads(r))
end

function ring.barriers(r)
  return names.block("if (tid == 0)", {
    "gg_prefetch_tensormap(&p.map_a);",
    "gg_prefetch_tensormap(&p.map_b);",
    ("for (int s = 0; s < %d; ++s) {"):format(r.p.stages),
    "  gg_mbar_init(FULL_AT + 8 * s, 1);",
    ("  gg_mbar_init(EMPTY_AT + 8 * s, %d);"):format(r.warps),
    "}",
    "gg_fence_mbarrier_init();",
  })
end

-- The k tiles that this warp asks for, and the first of them, into stages that nobody has read yet.
function ring.declare(r)
  local ahead = r.p.stages - 1
  local lines = {
    "unsigned ahead = blockIdx.x; // tile of D whose operands this warp asks for",
    ("int ahead_kt = %s; // and its k tile"):format(r.warps > 1 and "warp" or "0"),
    "int ahead_m = 0, ahead_n = 0, ahead_batch = 0; // its first row, first column and matrix",
    ("int turn = %s - %d; // k tiles until it asks"):format(r.warps > 1 and "warp" or "0", ahead),
  }
  names.append(lines, find(r, "k_tiles > 0 && "))
  local inner = names.block("if (lane == 0)", ask(r, ("(turn + %d)"):format(ahead), {}))
  return names.append(lines, names.block("while (turn < 0)", names.append(inner, advance(r))))
end

-- The stage that was read before the one at hand is asked for again, by a warp whose turn it is. Passes of the ring:
-- it is given back in the pass in which it was read, the first pass finds it empty.
local function refill(r, stage)
  local last, parity = "last_stage", "stage != 0 ? parity : parity ^ 1"
  if stage then
    last = (stage + r.p.stages - 1) % r.p.stages
    parity = stage > 0 and "parity" or "parity ^ 1"
  end
  local inner = names.block("if (lane == 0)", ask(r, last, {
    ("gg_mbar_wait(%s, %s);"):format(barrier("EMPTY", last), parity),
  }))
  inner[#inner + 1] = "gg_syncwarp(); // before what the warp does as one"
  return names.block("if (turn-- == 0)", names.append(inner, advance(r)))
end

-- -- Products ----------------------------------------------------------------------------------------

-- The first fragments of a tile of D: to load them before the epilogue would keep their registers through it.
function ring.first_loads(r)
  local lines = {
    ("gg_mbar_wait(%s, parity);"):format(barrier("FULL", "stage")),
    ("const unsigned rs = %s;"):format(offset("stage")),
  }
  return names.block("if (k_tiles > 0)", names.append(lines, r.product.loads(r.p, 0, 0, "rs")))
end

-- What follows the stage at hand: its number and parity, and whether it is there already, which is asked a k step
-- before it is needed. Returns the lines, its number and its offset.
local function look_ahead(r, stage)
  local stages, lines, following = r.p.stages, {}, "next_stage"
  local function add(text) lines[#lines + 1] = text end
  if stage then
    following = (stage + 1) % stages
    if following == 0 then add("const unsigned next_parity = parity ^ 1;") end
  else
    add(("const int next_stage = stage != %d ? stage + 1 : 0;"):format(stages - 1))
    add("const unsigned next_parity = next_stage != 0 ? parity : parity ^ 1;")
  end
  local parity = (not stage or following == 0) and "next_parity" or "parity"
  add(("const int ready = gg_mbar_test(%s, %s); // the next stage, soon needed"):format(barrier("FULL", following),
    parity))
  return lines, following
end

-- The stage has been read: this warp gives it back, and goes on to the next one.
local function turn_over(stage, following, certain)
  local lines = {
    "gg_syncwarp(); // the stage's last fragments are in registers",
    ("if (lane == 0) gg_mbar_arrive(%s);"):format(barrier("EMPTY", stage or "stage")),
  }
  local function add(text) lines[#lines + 1] = text end
  if not stage then
    add("stage = next_stage;")
    following = "stage"
  end
  if not stage or following == 0 then add("parity = next_parity;") end
  add(("if (%s!ready) gg_mbar_wait(%s, parity);"):format(certain and "" or "more && ", barrier("FULL", following)))
  if not stage then add(("const unsigned next = %s;"):format(offset("stage"))) end
  return lines
end

-- One k tile: products of one stage, and the copies into the one before it. stage: its number where the ring is
-- written out, in a whole turn of it, in which only the last can be the tile's last; else that of the variable.
function ring.body(r, stage)
  local p, lines, last = r.p, {}, r.steps - 1
  local function add(text) lines[#lines + 1] = text end
  local middle = math.max(0, (last - 1) // 2) -- step in which the stage before is asked for
  local certain, read = stage and stage < p.stages - 1, "rs"
  if not certain then add("const int more = kt + 1 < k_tiles;") end
  if stage then
    read = offset(stage)
  else
    add(("const unsigned rs = %s;"):format(offset("stage")))
    add(("const int last_stage = stage != 0 ? stage - 1 : %d;"):format(p.stages - 1))
  end
  local ahead, following = look_ahead(r, stage)
  for kk = 0, last - 1 do
    add(r.product.caption(p, kk))
    if kk == last - 1 then names.append(lines, ahead) end
    local copies = kk == middle and { refill(r, stage) } or {}
    names.append(lines, r.product.step(p, kk % 2, r.product.loads(p, (kk + 1) % 2, kk + 1, read), copies, 0))
  end
  if last == 0 then
    names.append(lines, refill(r, stage))
    names.append(lines, ahead)
  end
  add(r.product.caption(p, last))
  names.append(lines, turn_over(stage, following, certain))
  local first = r.product.loads(p, 1 - last % 2, 0, stage and offset(following) or "next")
  if not certain then first = r.product.guarded(first) end
  return names.append(lines, r.product.step(p, last % 2, first, {}, 2))
end

return ring
