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
    persistent = more.persistent, schedule = more.schedule,
    dispatch = { edge = more.edge or false, speed = speed, overhead_k = overhead_k },
  }
end

local once = { persistent = false }

-- Large problems; one wave of them, where D takes the place of the ring, which leaves a fourth stage.
s8(128, 256, 3, 965, 1835, { layout = all, edge = true })
-- D has 4 bytes an element: warpgroups in turn hide its stores, and widths are those that fill waves.
-- (Not 176, whose panels of D are half as wide: ptxas spills 12 bytes.)
for _, n in ipairs { 160, 192 } do s8(128, n, 4, 950, 1500, { schedule = "pingpong" }) end
s8(128, 128, 5, 930, 1250, { schedule = "pingpong" })
s8(128, 256, 4, 973, 1225, once)

-- Between, and small problems: more tiles of less work.
s8(128, 192, 5, 938, 970, once)
s8(128, 128, 7, 855, 1570, once)
s8(64, 128, 9, 806, 1475, once)
s8(64, 64, 14, 528, 2280, once)

-- Activations that are never negative.
gemm { family = "wgmma", dtype = { a = "u8", b = "s8" }, layout = "nt", dispatch = { edge = false } }

-- Quantised layers: a scale for each token (row of A) and each output (row of B as stored), a bias, bf16 out.
-- C and beta are left out. 128 x 128, since the scales' loads take the registers that more sums would need.
gemm {
  family = "wgmma", dtype = { a = "s8", d = "bf16" }, layout = "nt", tile = { m = 128, n = 128 },
  epilogue = { scale = { a = "vector", b = "vector" }, bias = "n", beta = 0 }, dispatch = { edge = false },
}

-- Few rows (decoding: up to 32 tokens): D is computed transposed (docs/wgmma.md, "Few rows"). speed is left to the
-- plan: memory is the limit.
for _, n in ipairs { 64, 128 } do
  for _, m in ipairs { 16, 32 } do
    gemm {
      family = "wgmma", dtype = { a = "s8" }, layout = "nt", tile = { m = m, n = n },
      -- 32 x 128: planned 502, which is ahead of 64 x 64 at m = 128
      dispatch = { edge = false, speed = m == 32 and n == 128 and 440 or nil },
    }
  end
end
