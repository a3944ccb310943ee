-- wgmma_product.lua - how family wgmma brings operands to the tensor cores: TMA boxes, descriptors,
-- accumulators, instructions. The functions are methods of wgmma.lua's object.
--
-- All lengths follow from rows of 128 bytes: 32 elements of tf32, 64 of 16 bits, 128 of 8 bits.

local names = use("names")

local product = {
  methods = {
    "copies", "descriptors", "accumulators", "clear", "instruction", "products", "begin_loop", "k_block", "end_loop",
  },
}

local ROW = 128 -- bytes of a swizzled row

-- TMA loads of one k block: x is the coordinate along the operand's contiguous axis.
function product:copies()
  local p, lines = self.p, {}
  local box, box_bytes = ROW // p.element, p.tile_k * ROW -- of a turned operand
  for _, o in ipairs { "a", "b" } do
    local mn = o == "a" and "m" or "n"
    local base = o == "a" and "at" or "at + A_BYTES"
    local z = ("p.stride_%s ? (int)batch : 0"):format(o)
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
  end
  return lines
end

-- Descriptors of the warpgroup's rows of A and of B in stage 0.
-- K-major: 8 rows of 128 bytes are 1024 apart. MN-major: blocks of 64 are 8192 apart, 8 k 1024.
function product:descriptors()
  local function one(o, base, turned)
    return ("const gg_u64 %s0 = gg_wgmma_desc(%s, %d, 1024, 1); // 128-byte swizzle"):format(o, base,
      turned and 8192 or 16)
  end
  local rows = self.turned_a and self.blocks * 8192 or self.rows * ROW
  return {
    one("desc_a", self.pingpong and "0" or ("(unsigned)group * %d"):format(rows), self.turned_a),
    one("desc_b", "A_BYTES", self.turned_b),
  }
end

-- Sums of each instruction tile; part: those of one k block, before they are added in full precision.
function product:accumulators()
  local T, lines = names.c_type(self.p.type_acc), {}
  for i = 0, self.blocks - 1 do lines[#lines + 1] = ("%s acc%d[%d];"):format(T, i, self.count) end
  if self.promoted then lines[#lines + 1] = ("%s part[%d];"):format(T, self.count) end
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

-- The types in an instruction's name: A's, and B's where it is another.
local function types(p) return p.type_a == p.type_b and p.type_a or p.type_a .. "_" .. p.type_b end

local function plus(n) return n > 0 and " + " .. n or "" end

-- One instruction: instruction tile i, step s of a k block; add: whether to what the accumulator holds.
function product:instruction(i, s, accumulator, add)
  local p = self.p
  local suffix = (self.turned_a or self.turned_b)
    and "_" .. (self.turned_a and "t" or "n") .. (self.turned_b and "t" or "n") or ""
  local name = ("gg_wgmma_m64n%dk%d_%s_ss%s"):format(p.inst_n, p.inst_k, types(p), suffix)
  -- Descriptors count in 16 bytes. One step of k is 32 bytes of a row, or 16 rows of 128 bytes.
  local function step(turned) return s * (turned and 2048 or 32) // 16 end
  local row = i * 64 * ROW // 16 -- 64 rows of 128 bytes, or one block of 64 x 64
  return ("%s(%s, desc_a0 + stage_at%s, desc_b0 + stage_at%s, %s);"):format(name, accumulator,
    plus(row + step(self.turned_a)), plus(step(self.turned_b)), add)
end

local STAGE_AT = "const gg_u64 stage_at = (gg_u64)stage * (STAGE_BYTES / 16);"

-- The instructions of one k block.
function product:products()
  local p, lines = self.p, { STAGE_AT }
  for s = 0, p.tile_k // p.inst_k - 1 do
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
  if self.promoted then return self:clear() end
  return { "int before = stage;" }
end

-- acc += part
local function promote(self, i)
  local lines = {}
  for x = 0, self.count - 1 do
    lines[#lines + 1] = ("acc%d[%d] = gg_add_f32(acc%d[%d], part[%d]);"):format(i, x, i, x, x)
  end
  return lines
end

function product:k_block()
  if self.promoted then
    local lines = { STAGE_AT }
    for i = 0, self.blocks - 1 do
      lines[#lines + 1] = "gg_wgmma_fence();"
      for s = 0, self.p.tile_k // self.p.inst_k - 1 do
        lines[#lines + 1] = self:instruction(i, s, "part", s == 0 and "0" or "1")
      end
      names.append(lines, { "gg_wgmma_commit();", "gg_wgmma_wait_0();" })
      if i == self.blocks - 1 then names.append(lines, self:release("stage")) end
      names.append(lines, promote(self, i))
    end
    return lines
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
  local lines = { "gg_wgmma_wait_0();" }
  names.append(lines, self:release("before", "k_blocks > 0"))
  lines[#lines + 1] = "if (k_blocks == 0) {"
  for _, line in ipairs(self:clear()) do lines[#lines + 1] = "  " .. line end
  lines[#lines + 1] = "}"
  return lines
end

return product
