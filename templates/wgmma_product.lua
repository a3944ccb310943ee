-- wgmma_product.lua - how family wgmma brings operands to the tensor cores: TMA boxes, descriptors,
-- accumulators, instructions. The functions are methods of wgmma.lua's object.

local names = use("names")

local product = {
  methods = { "copies", "descriptors", "accumulators", "clear", "products", "begin_loop", "k_block", "end_loop" },
}

-- TMA loads of one k block: x is the coordinate along the operand's contiguous axis.
function product:copies()
  local p, lines = self.p, {}
  for _, o in ipairs { "a", "b" } do
    local mn = o == "a" and "m" or "n"
    local base = o == "a" and "at" or "at + A_BYTES"
    local z = ("p.stride_%s ? (int)batch : 0"):format(o)
    local function load(at, x, y)
      lines[#lines + 1] = ("gg_tma_load_3d(%s, &p.map_%s, %s, %s, %s, full);"):format(at, o, x, y, z)
    end
    if p["turn_" .. o] then
      for i = 0, p["tile_" .. mn] // 64 - 1 do
        load(i > 0 and ("%s + %d * 8192"):format(base, i) or base,
          ("(int)%s0%s"):format(mn, i > 0 and " + " .. i * 64 or ""), ("kb * %d"):format(p.tile_k))
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
  local rows = self.turned_a and self.blocks * 8192 or self.rows * 128
  return {
    one("desc_a", ("(unsigned)group * %d"):format(rows), self.turned_a),
    one("desc_b", "A_BYTES", self.turned_b),
  }
end

function product:accumulators()
  local lines = {}
  for i = 0, self.blocks - 1 do lines[#lines + 1] = ("float acc%d[%d];"):format(i, self.count) end
  return lines
end

function product:clear()
  local lines = {}
  for i = 0, self.blocks - 1 do
    for x = 0, self.count - 1, 4 do
      lines[#lines + 1] = ("acc%d[%d] = acc%d[%d] = acc%d[%d] = acc%d[%d] = 0.0f;"):format(i, x, i, x + 1, i,
        x + 2, i, x + 3)
    end
  end
  return lines
end

-- The instructions of one k block. Descriptors count in 16 bytes.
function product:products()
  local p, lines = self.p, {}
  local suffix = (self.turned_a or self.turned_b)
    and "_" .. (self.turned_a and "t" or "n") .. (self.turned_b and "t" or "n") or ""
  local name = ("gg_wgmma_m64n%dk%d_%s_ss%s"):format(p.inst_n, p.inst_k, p.type_a, suffix)
  lines[#lines + 1] = "const gg_u64 stage_at = (gg_u64)stage * (STAGE_BYTES / 16);"
  local function step(turned, s) return s * (turned and 2048 or 32) // 16 end
  local function plus(n) return n > 0 and " + " .. n or "" end
  for i = 0, self.blocks - 1 do
    local row = i * (64 * 128) // 16 -- 64 rows of 128 bytes, or one block of 64 x 64
    for s = 0, p.tile_k // p.inst_k - 1 do
      lines[#lines + 1] = ("%s(acc%d, desc_a0 + stage_at%s, desc_b0 + stage_at%s, %s);"):format(name, i,
        plus(row + step(self.turned_a, s)), plus(step(self.turned_b, s)), s == 0 and "kb > 0" or "1")
    end
  end
  return lines
end

-- The loop over the k blocks of a tile: a stage is released one block later, when the instructions that
-- read it are known to be done while the next ones already run.
function product:begin_loop()
  return { "int before = stage;" }
end

function product:k_block()
  local lines = { "gg_wgmma_fence();" }
  names.append(lines, self:products())
  names.append(lines, { "gg_wgmma_commit();", "gg_wgmma_wait_1();" })
  names.append(lines, self:release("before", "kb > 0"))
  lines[#lines + 1] = "before = stage;"
  return lines
end

function product:end_loop()
  local lines = { "gg_wgmma_wait_0();" }
  names.append(lines, self:release("before", "k_blocks > 0"))
  lines[#lines + 1] = "if (k_blocks == 0) {"
  for _, line in ipairs(self:clear()) do lines[#lines + 1] = "  " .. line end
  lines[#lines + 1] = "}"
  return lines
end

return product
