-- mma_tma.lua - the ring of family mma where TMA brings A and B: one thread asks for the boxes of a whole stage, whose
-- bytes its full mbarrier counts; each warp waits for that on its own, and gives the stage back at the empty one when
-- its last fragment of it is in registers. No barrier of the block is in the main loop, so warps drift apart, and one
-- computes while another waits for its loads.
--
-- The warps ask in turn, a k tile each: in the middle of k tile j for the stage of k tile j - 1, which the slowest
-- warp has by then had half a k tile to leave. Copies thus run stages - 1 k tiles ahead, and on into the block's next
-- tile of D. What a k step computes is mma.lua's business.

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

-- Directs the copies at tile `ahead` of D, if there is one.
local function aim(r)
  local inner = raster.tile(r.p, "ahead")
  names.append(inner, { "ahead_m = (int)m0;", "ahead_n = (int)n0;", "ahead_batch = (int)batch;" })
  return names.append({ "copying = k_tiles > 0 && ahead < tiles;" }, names.block("if (copying)", inner))
end

-- The copies go on to the next k tile, at the end of a tile of D to the next one.
local function advance(r)
  return names.block("if (++ahead_kt == k_tiles)", names.append({ "ahead_kt = 0;", "ahead += gridDim.x;" }, aim(r)))
end

-- TMA loads of k tile ahead_kt into the stage at `at`.
local function loads(r)
  local p, lines = r.p, {}
  for _, o in ipairs { "a", "b" } do
    local mn = o == "a" and "m" or "n"
    local base = o == "a" and "at" or "at + A_BYTES"
    local width = 128 // p.element -- of a box
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

-- One stage is asked for: number `stage`, text; before: lines before that, where it was read before.
local function ask(r, stage, before)
  local lines = {
    ("const unsigned at = (unsigned)%s * STAGE_BYTES;"):format(stage),
    ("const unsigned full = FULL_AT + 8 * (unsigned)%s;"):format(stage),
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

-- Where the copies are, before the first tile of D.
function ring.declare(r)
  local lines = {
    "unsigned ahead = blockIdx.x; // tile of D whose operands are copied",
    "int ahead_kt = 0; // and its k tile",
    "int ahead_m = 0, ahead_n = 0, ahead_batch = 0; // its first row, first column and matrix",
    "int copying;",
  }
  return names.append(lines, aim(r))
end

-- All stages but one.
function ring.prologue(r)
  local inner = names.block("if (copying && tid == 0)", ask(r, "s", {}))
  return names.block(("for (int s = 0; s < %d; ++s)"):format(r.p.stages - 1), names.append(inner, advance(r)))
end

-- The stage that was read before the one at hand is asked for again, by a warp whose turn it is.
local function refill(r)
  local turn = r.warps > 1 and (" && kt %% %d == warp"):format(r.warps) or ""
  return names.block(("if (copying%s && lane == 0)"):format(turn), ask(r, "last_stage", {
    -- Passes of the ring: the stage is given back in the pass in which it was read, the first finds it empty.
    "gg_mbar_wait(EMPTY_AT + 8 * (unsigned)last_stage, stage != 0 ? parity : parity ^ 1);",
  }))
end

-- -- Products ----------------------------------------------------------------------------------------

-- The first fragments of a tile of D: to load them before the epilogue would keep their registers through it.
function ring.first_loads(r)
  local lines = { "gg_mbar_wait(FULL_AT + 8 * (unsigned)stage, parity);",
    "const unsigned rs = (unsigned)stage * STAGE_BYTES;" }
  return names.block("if (k_tiles > 0)", names.append(lines, r.product.loads(r.p, 0, 0, "rs")))
end

-- The stage has been read: this warp gives it back, and goes on to the next one.
local function turn_over(r)
  return {
    "gg_syncwarp(); // the stage's last fragments are in registers",
    "if (lane == 0) gg_mbar_arrive(EMPTY_AT + 8 * (unsigned)stage);",
    ("if (++stage == %d) {"):format(r.p.stages),
    "  stage = 0;",
    "  parity ^= 1;",
    "}",
    "if (more) gg_mbar_wait(FULL_AT + 8 * (unsigned)stage, parity); // the next one is here",
    "const unsigned next = (unsigned)stage * STAGE_BYTES;",
  }
end

-- One k tile: products of one stage, and the copies into the one before it.
function ring.body(r)
  local p, lines, last = r.p, {}, r.steps - 1
  local middle = math.max(0, (last - 1) // 2) -- step in which the stage before is asked for
  lines[1] = "const int more = kt + 1 < k_tiles;"
  lines[2] = "const unsigned rs = (unsigned)stage * STAGE_BYTES;"
  lines[3] = ("const int last_stage = stage != 0 ? stage - 1 : %d;"):format(p.stages - 1)
  for kk = 0, last - 1 do
    lines[#lines + 1] = r.product.caption(p, kk)
    local copies = kk == middle and { refill(r) } or {}
    names.append(lines, r.product.step(p, kk % 2, r.product.loads(p, (kk + 1) % 2, kk + 1, "rs"), copies, 0))
  end
  if last == 0 then names.append(lines, refill(r)) end
  names.append(lines, advance(r))
  lines[#lines + 1] = r.product.caption(p, last)
  names.append(lines, turn_over(r))
  local loads_next = r.product.guarded(r.product.loads(p, 1 - last % 2, 0, "next"))
  return names.append(lines, r.product.step(p, last % 2, loads_next, {}, 2))
end

return ring
