-- fp8 on the tensor cores of the RTX 4090 (sm_89): e4m3 and e5m2 in, bf16 out. Family mma.
--
-- Try:  gemmgen specs/rtx4090_fp8.lua -o out/
--       gemmgen check specs/rtx4090_fp8.lua --problem 256x256x256
--       gemmgen explain specs/rtx4090_fp8.lua --sweep --problem 4096x4096x4096
--
-- The tensor cores' own sums of fp8 keep about 14 bits. Each 128 of k is therefore added to f32 registers,
-- unless fast_accum is asked (and the call allows it). Operands that lie along k (layout nt) are read as they
-- are, others are turned in registers, two prmt a pair of registers. The tiles are those that the model ranks
-- first (--sweep). Checked on the emulated GPU; not timed: no such card was at hand.

gpu "rtx-4090"

local e4m3 = { a = "e4m3", d = "bf16" }
local all = { "nt", "nn", "tn", "tt" }

local function tile(m, n, more)
  local point = {
    family = "mma",
    dtype = more.dtype or e4m3,
    layout = more.layout or "nt",
    tile = { m = m, n = n, k = more.k },
    stages = more.stages,
    fast_accum = more.fast,
    epilogue = { scale = more.scale },
  }
  gemm(point)
end

-- Large problems: sums of which a lane holds two sets leave registers for warps of 64 x 32.
tile(128, 128, { layout = all })
-- Small problems: more tiles of less work.
tile(32, 64, { layout = all })
-- Few rows (a decoder's batch): device memory is the limit, and two blocks of 4 stages keep it busy.
tile(16, 64, { stages = 4 })
-- One set of sums: the largest tile, whose 4 stages of k = 64 are 96 of the 99 KiB that a block may have.
tile(128, 256, { k = 64, fast = true })

-- One scale for A and one for B, read on the device. (Known on the host they travel in alpha.)
local device = { a = "tensor", b = "tensor" }
tile(128, 128, { scale = device })
tile(32, 64, { scale = device })
tile(16, 64, { stages = 4, scale = device })

-- A scale for each row of A (token) and each row of B as stored (output).
tile(128, 128, { scale = { a = "vector", b = "vector" } })

-- A scale for each row and 128 of k of A (1 x 128), and for each 128 x 128 of B: part of the promotion.
tile(128, 128, { scale = { a = "group", b = "block" } })

-- Gradients are e5m2.
tile(128, 128, { dtype = { a = "e5m2", b = "e4m3", d = "bf16" }, scale = device })
