-- 8-bit integers on Hopper's tensor cores (H100, H200): exact sums in s32.
--
-- Try:  gemmgen specs/h100_int8.lua -o out/
--       gemmgen check specs/h100_int8.lua --kernel sm90a_wgmma_s8_nt_128x256x128_w2_s3_full
--       gemmgen explain specs/h100_int8.lua
--
-- The tensor cores read 8-bit operands K-major alone, which is layout nt; operands that lie otherwise are
-- turned by a pass first (docs/repack.md).

gpu "h100-sxm"

local all = { "nt", "nn", "tn", "tt" }

-- s8 in, s32 out. speed and overhead_k are measured (H200, docs/wgmma.md).
local function s8(m, n, stages, speed, overhead_k, more)
  gemm {
    family = "wgmma", dtype = { a = "s8" }, layout = more.layout or "nt", tile = { m = m, n = n }, stages = stages,
    persistent = more.persistent,
    dispatch = { edge = more.edge or false, speed = speed, overhead_k = overhead_k },
  }
end

-- Large problems; one wave of them, where D takes the place of the ring, which leaves a fourth stage.
s8(128, 256, 3, 994, 2270, { layout = all, edge = true })
s8(128, 256, 4, 978, 1360, { persistent = false })

-- Between, and small problems: more tiles of less work.
s8(128, 192, 5, 974, 1125, { persistent = false })
s8(128, 128, 7, 858, 1610, { persistent = false })
s8(64, 128, 9, 806, 1540, { persistent = false })
s8(64, 64, 14, 522, 2185, { persistent = false })

-- Activations that are never negative.
gemm { family = "wgmma", dtype = { a = "u8", b = "s8" }, layout = "nt", dispatch = { edge = false } }

-- Quantised layers: a scale for each token (row of A) and each output (row of B as stored), a bias, bf16 out.
-- C and beta are left out. 128 x 128, since the scales' loads take the registers that more sums would need.
gemm {
  family = "wgmma", dtype = { a = "s8", d = "bf16" }, layout = "nt", tile = { m = 128, n = 128 },
  epilogue = { scale = { a = "vector", b = "vector" }, bias = "n", beta = 0 }, dispatch = { edge = false },
}

-- Few rows (decoding: up to 16 or 32 tokens): D is computed transposed (docs/wgmma.md, "Few rows"), a tile a block,
-- by one block an SM with a deep ring or by more with a short one. Not timed.
local function few(m, n, blocks)
  gemm {
    family = "wgmma", dtype = { a = "s8" }, layout = "nt", tile = { m = m, n = n }, persistent = false,
    min_blocks = blocks, dispatch = { edge = false },
  }
end
few(16, 64)
few(16, 64, 2)
few(16, 64, 4)
few(16, 128)
few(32, 64)
few(32, 64, 4)
