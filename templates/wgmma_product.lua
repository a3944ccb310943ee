-- wgmma_product.lua - how family wgmma brings operands to the tensor cores: TMA boxes, descriptors,
-- accumulators, instructions. The functions are methods of wgmma.lua's object.
--
-- All lengths follow from rows of 128 bytes: 32 elements of tf32, 64 of 16 bits, 128 of 8 bits.

local names = use("names")

local product = {
  methods = {
    "copies", "descriptors", "fragments", "accumulators", "clear", "instruction", "products", "begin_loop",
    "load_fragments", "scale_pointers", "load_factors", "promote", "k_block", "end_loop", "loop_text",
  },
}

local ROW = 128 -- bytes of a swizzled row

-- Scales that come every 128 of k.
local function by_block(scaling) return scaling == "group" or scaling == "block" end

-- TMA loads of one k block: x is the coordinate along the operand's contiguous axis.
function product:copies()
  local p, lines = self.p, {}
  local box, box_bytes = ROW // p.element, p.tile_k * ROW -- of a turned operand
  local operands = p.path_b == "staged" and { "a" } or { "a", "b" } -- staged: see wgmma_loader.lua
  for _, o in ipairs(operands) do
    local mn = o == "a" and "m" or "n"
    local base = o == "a" and "at" or "at + A_BYTES"
    local z = ("p.stride_%s ? (int)batch : 0"):format(o)
    if p[o == "a" and "cluster_n" or "cluster_m"] > 1 then
      names.append(lines, self:shared_copies(o, z))
      goto next
    end
    local function load(at, x, y)
      lines[#lines + 1] = ("gg_tma_load_3d(%s, &p.map_%s, %s, %s, %s, full);"):format(at, o, x, y, z)
    end
    if p["turn_" .. o] then
      for i = 0, p["tile_" .. mn] // box - 1 do
        load(i > 0 and ("%s + %d * %d"):format(base, i, box_bytes) or base,
          ("(int)%s0%s"):format(mn, i > 0 and " + " .. i * box or ""), ("kb * %d"):format(p.tile_k))
      end
    else
      load(base, ("kb * %d"):format(p.tile_k), ("(int)%s0"):format(mn))
    end
    ::next::
  end
  return lines
end

-- Descriptors of the warpgroup's rows of the first operand and of all of the second in stage 0.
-- K-major: 8 rows of 128 bytes are 1024 apart. MN-major: blocks of 64 are 8192 apart, 8 k 1024.
function product:descriptors()
  local function one(o, offset)
    local turned = self.p["turn_" .. o]
    return ("const gg_u64 desc_%s0 = gg_wgmma_desc(%s, %d, 1024, 1); // 128-byte swizzle"):format(o, offset,
      turned and 8192 or 16)
  end
  local begin = { a = "0", b = "A_BYTES" }
  if self.p.from_registers then return names.append(self:fragments(), { one(self.second, begin[self.second]) }) end
  local first, second = self.first, self.second
  local rows = self.p["turn_" .. first] and self.blocks * 8192 or self.blocks * 64 * ROW
  local at = (first == "b" and "A_BYTES + " or "") .. ("(unsigned)group * %d"):format(rows)
  return { one(first, self.pingpong and begin[first] or at), one(second, begin[second]) }
end

-- Where a lane finds its part of the first operand, which lies in boxes of 32 rows (k) x 128 bytes: in rows
-- lane % 4 and + 4 of each 8, of 2 or 4 neighbours along m (n). Which lanes stand side by side is free, since it
-- only orders D's rows: loads of rows k and stores of D both meet each bank once where the chunks of lane / 4 =
-- 0, 1 differ in bits 0 and 2.
function product:fragments()
  local o, p = self.first, self.p
  local four = self.blocks == 2
  local box = p.tile_k * ROW
  local first = (o == "b" and "A_BYTES + " or "") .. ("(unsigned)group * %d + (unsigned)(%s) * %d"):format(
    self.blocks * 2 * box, four and "warp" or "warp / 2", box)
  return {
    four and "const int chunk = (lane / 4 % 2 * 5) ^ (lane / 8); // of 16 bytes: a lane's 4 neighbours"
      or "const int chunk = (lane / 8 % 2 * 5) ^ (lane / 16) ^ (warp % 2 * 2); // of 16 bytes, half a lane's",
    "const int step_k = lane % 4; // rows step_k and step_k + 4 of each 8",
    ("const unsigned %s_box = %s%s;"):format(o, first, four and "" or " + (unsigned)(lane / 4 % 2 * 8)"),
    ("const unsigned %s_low = %s_box + (unsigned)(step_k * 128 + (chunk ^ step_k) * 16);"):format(o, o),
    ("const unsigned %s_high = %s_box + (unsigned)(step_k * 128 + 512 + (chunk ^ (step_k + 4)) * 16);"):format(o, o),
  }
end

-- Sums of each instruction tile; part: those of one k block, before they are added in full precision.
function product:accumulators()
  local T, lines = names.c_type(self.p.type_acc), {}
  for i = 0, self.blocks - 1 do lines[#lines + 1] = ("%s acc%d[%d];"):format(T, i, self.count) end
  if self.promoted then lines[#lines + 1] = ("%s part[%d];"):format(T, self.count) end
  if self.p.from_registers then
    for i = 0, self.blocks - 1 do
      local steps = {}
      for s = 0, self.steps - 1 do steps[#steps + 1] = ("%s%d_%d[4]"):format(self.first, i, s) end
      names.append(lines, names.declare("unsigned", steps))
    end
  end
  return lines
end

function product:clear()
  local lines, zero = {}, names.zero(self.p.type_acc)
  for i = 0, self.blocks - 1 do
    for x = 0, self.count - 1, 4 do
      lines[#lines + 1] = ("acc%d[%d] = acc%d[%d] = acc%d[%d] = acc%d[%d] = %s;"):format(i, x, i, x + 1, i,
        x + 2, i, x + 3, zero)
    end
  end
  return lines
end

-- The types in an instruction's name: the first operand's, and the second's where it is another.
local function types(self)
  local first, second = self.p["type_" .. self.first], self.p["type_" .. self.second]
  return first == second and first or first .. "_" .. second
end

local function plus(n) return n > 0 and " + " .. n or "" end

-- One instruction: instruction tile i, step s of a k block; add: whether to what the accumulator holds.
function product:instruction(i, s, accumulator, add)
  local p = self.p
  -- Descriptors count in 16 bytes. One step of k is 32 bytes of a row, or 16 rows of 128 bytes.
  local function step(turned) return s * (turned and 2048 or 32) // 16 end
  local function descriptor(o, row)
    return ("desc_%s0 + stage_at%s"):format(o, plus(row + step(p["turn_" .. o])))
  end
  local second = descriptor(self.second, 0)
  local shape = ("gg_wgmma_m64n%dk%d_%s"):format(p.inst_n, p.inst_k, types(self))
  if p.from_registers then
    return ("%s_rs(%s, %s%d_%d, %s, %s);"):format(shape, accumulator, self.first, i, s, second, add)
  end
  local turned = { p["turn_" .. self.first], p["turn_" .. self.second] }
  local suffix = (turned[1] or turned[2]) and "_" .. (turned[1] and "t" or "n") .. (turned[2] and "t" or "n") or ""
  local row = i * 64 * ROW // 16 -- 64 rows of 128 bytes, or one block of 64 x 64
  return ("%s_ss%s(%s, %s, %s, %s);"):format(shape, suffix, accumulator, descriptor(self.first, row), second, add)
end

local STAGE_AT = "const gg_u64 stage_at = (gg_u64)stage * (STAGE_BYTES / 16);"

-- The instructions of one k block.
function product:products()
  local lines = { STAGE_AT }
  for s = 0, self.steps - 1 do
    for i = 0, self.blocks - 1 do
      lines[#lines + 1] = self:instruction(i, s, "acc" .. i, s == 0 and "kb > 0" or "1")
    end
  end
  return lines
end

-- The loop over the k blocks of a tile: a stage is released one block later, when the instructions that
-- read it are known to be done while the next ones already run. Promoted sums are read after each block, so
-- that there is nothing to wait for later: while one warpgroup adds, the instructions of another run.
function product:begin_loop()
  if self.promoted then return names.append(self:clear(), self:scale_pointers()) end
  return self.p.from_registers and {} or { "int before = stage;" }
end

-- Where the scales of each 128 of k lie for the tile.
function product:scale_pointers()
  local p, lines = self.p, {}
  local first = ("m0 + %s"):format(self:first_row())
  local all = self.split and "k_all" or "k_blocks"
  if p.scale_a == "group" then
    names.append(lines, {
      ("const gg_i64 first = %s%s;"):format(first, self:lane_row()),
      ("const float *const scales_a = (const float *)p.scale_a + batch * %s * p.m + first;"):format(all),
    })
  elseif p.scale_a == "block" then
    names.append(lines, {
      "const gg_i64 blocks_m = (p.m + 127) / 128;",
      ("const gg_i64 first = %s0;"):format(first),
      ("const float *const scales_a = (const float *)p.scale_a + batch * %s * blocks_m;"):format(all),
    })
  end
  if p.scale_b == "block" then
    names.append(lines, {
      "const gg_i64 blocks_n = (p.n + 127) / 128;",
      ("const float *const scales_b = (const float *)p.scale_b + batch * %s * blocks_n + n0 / 128;"):format(all),
    })
  end
  return lines
end

-- What the plan makes of it, for the comment above the loop.
function product:loop_text()
  local p = self.p
  local text = ("%d instructions of k %d a block; "):format(self.steps, p.inst_k)
  if self.promoted then
    return text .. ("each %d of k are %sadded in f32"):format(p.promote_k,
      (by_block(p.scale_a) or by_block(p.scale_b)) and "scaled and " or "")
  end
  if p.from_registers then
    return text .. ("%s comes through registers, loaded while another warpgroup computes"):format(self.first:upper())
  end
  return text .. "the block before is released while this one runs"
end

-- Registers of the first operand in one k block: a0..a3 of an instruction are rows g, g + 8 of k t, then of t + 4.
function product:load_fragments()
  local o, lines = self.first, { "const unsigned from = (unsigned)stage * STAGE_BYTES;" }
  for s = 0, self.steps - 1 do
    for high = 0, 1 do
      local to = {}
      for i = 0, self.blocks - 1 do
        for half = 0, 1 do to[#to + 1] = ("&%s%d_%d[%d]"):format(o, i, s, 2 * high + half) end
      end
      lines[#lines + 1] = ("gg_lds_u32x%d(%s, %s_%s + from%s);"):format(#to, table.concat(to, ", "), o,
        high == 1 and "high" or "low", plus(s * 8 * ROW))
    end
  end
  return lines
end

-- Scales of a k block: of a lane's rows (group) or of 128 of them, and of the tile's columns, which lie in one
-- block. They are on their way while the products run.
function product:load_factors()
  local p, lines = self.p, {}
  local kb = self.split and "(k_first + kb)" or "kb"
  local function add(text) lines[#lines + 1] = text end
  for i = 0, self.blocks - 1 do
    if p.scale_a == "group" then
      for half = 0, 1 do
        local row = self:instruction_row(i, half)
        add(("float factor%d_%d = 0.0f;"):format(i, half))
        add(("if (first%s < p.m) gg_ldg_f32(&factor%d_%d, scales_a + %s * p.m%s);"):format(plus(row), i, half, kb,
          plus(row)))
      end
    elseif p.scale_a == "block" then
      local row = plus(i * 64)
      add(("float factor%d_0 = 0.0f;"):format(i))
      add(("if (first%s < p.m) gg_ldg_f32(&factor%d_0, scales_a + %s * blocks_m + (first%s) / 128);"):format(row, i, kb,
        row))
    end
  end
  if p.scale_b == "block" then
    if p.cluster_n > 1 then -- a tile of the cluster may lie wholly outside of D
      add("float factor_b = 0.0f;")
      add(("if (n0 < p.n) gg_ldg_f32(&factor_b, scales_b + %s * blocks_n);"):format(kb))
    else
      add("float factor_b;")
      add(("gg_ldg_f32(&factor_b, scales_b + %s * blocks_n);"):format(kb))
    end
  end
  return lines
end

-- acc += part, each 128 of k by its scales.
function product:promote(i)
  local p, lines = self.p, {}
  local of_a, of_b = by_block(p.scale_a), p.scale_b == "block"
  if of_a and of_b then
    for half = 0, p.scale_a == "group" and 1 or 0 do
      local name = ("factor%d_%d"):format(i, half)
      lines[#lines + 1] = ("%s = gg_mul_f32(%s, factor_b);"):format(name, name)
    end
  end
  for x = 0, self.count - 1 do
    local acc = ("acc%d[%d]"):format(i, x)
    local factor = of_a and ("factor%d_%d"):format(i, p.scale_a == "group" and x // 2 % 2 or 0) or "factor_b"
    lines[#lines + 1] = (of_a or of_b) and ("%s = fmaf(part[%d], %s, %s);"):format(acc, x, factor, acc)
      or ("%s = gg_add_f32(%s, part[%d]);"):format(acc, acc, x)
  end
  return lines
end

function product:k_block()
  if self.promoted then
    local lines = self:load_factors()
    lines[#lines + 1] = STAGE_AT
    for i = 0, self.blocks - 1 do
      lines[#lines + 1] = "gg_wgmma_fence();"
      for s = 0, self.steps - 1 do
        lines[#lines + 1] = self:instruction(i, s, "part", s == 0 and "0" or "1")
      end
      names.append(lines, { "gg_wgmma_commit();", "gg_wgmma_wait_0();" })
      if i == self.blocks - 1 then names.append(lines, self:release("stage")) end
      names.append(lines, self:promote(i))
    end
    return lines
  end
  if self.p.from_registers then
    local lines = self:load_fragments()
    lines[#lines + 1] = "gg_wgmma_fence();"
    names.append(lines, self:products())
    names.append(lines, { "gg_wgmma_commit();", "gg_wgmma_wait_0();" })
    return names.append(lines, self:release("stage"))
  end
  local lines = { "gg_wgmma_fence();" }
  names.append(lines, self:products())
  names.append(lines, { "gg_wgmma_commit();", "gg_wgmma_wait_1();" })
  names.append(lines, self:release("before", "kb > 0"))
  lines[#lines + 1] = "before = stage;"
  return lines
end

function product:end_loop()
  if self.promoted then return {} end
  local lines = {}
  if not self.p.from_registers then
    lines[1] = "gg_wgmma_wait_0();"
    names.append(lines, self:release("before", "k_blocks > 0"))
  end
  lines[#lines + 1] = "if (k_blocks == 0) {"
  for _, line in ipairs(self:clear()) do lines[#lines + 1] = "  " .. line end
  lines[#lines + 1] = "}"
  return lines
end

return product
