-- fp8 on Hopper's tensor cores (H100, H200): e4m3 and e5m2 in, bf16 out.
--
-- Try:  gemmgen specs/h100_fp8.lua -o out/
--       gemmgen check specs/h100_fp8.lua --kernel sm90a_wgmma_e4m3_nt_128x128x128_w2_s6_sa_tensor_sb_tensor_full
--       gemmgen explain specs/h100_fp8.lua
--
-- The tensor cores' own sums of fp8 keep about 14 bits. Each 128 of k is therefore added to f32 registers,
-- unless fast_accum is asked (and the call allows it: gg_problem.fast_accum). They read fp8 K-major alone,
-- which is layout nt; operands that lie otherwise are turned by a pass first (docs/repack.md).

gpu "h100-sxm"

local e4m3 = { a = "e4m3", d = "bf16" }
local all = { "nt", "nn", "tn", "tt" }

local function tile(m, n, more)
  gemm {
    family = "wgmma",
    dtype = more.dtype or e4m3,
    layout = more.layout or "nt",
    tile = { m = m, n = n },
    stages = more.stages,
    persistent = more.persistent,
    cluster = more.cluster,
    fast_accum = more.fast,
    epilogue = { scale = more.scale },
    dispatch = { edge = more.edge or false, speed = more.speed, overhead_k = more.overhead_k },
  }
end

-- One scale for A and one for B: known on the host they travel in alpha, else they are read on the device.
-- speed and overhead_k are measured (H200, docs/wgmma.md).
local device = { a = "tensor", b = "tensor" }
for _, scale in ipairs { {}, device } do
  -- Large problems. Registers hold the sums and those of one k block, so 128 x 192 and 256 x 128 at most.
  tile(256, 128, { scale = scale, stages = 3, speed = 904, overhead_k = 745, layout = all })
  tile(128, 192, { scale = scale, stages = 4, cluster = { m = 2 }, speed = 953, overhead_k = 1445 })
  tile(128, 176, { scale = scale, stages = 4, speed = 879, overhead_k = 830 })
  tile(128, 128, { scale = scale, stages = 6, speed = 827, overhead_k = 1175, edge = true })

  -- Small problems: more tiles of less work.
  tile(128, 96, { scale = scale, stages = 6, speed = 727, overhead_k = 985 })
  tile(128, 64, { scale = scale, stages = 9, persistent = false, speed = 850, overhead_k = 1900 })
  tile(128, 48, { scale = scale, stages = 9, persistent = false, speed = 583, overhead_k = 1255 })
  tile(64, 64, { scale = scale, stages = 14, persistent = false, speed = 582, overhead_k = 1490 })

  -- Few tiles and long k: two blocks take halves of k and add up through shared memory.
  tile(128, 64, { scale = scale, stages = 8, persistent = false, cluster = { k = 2 }, speed = 757, overhead_k = 1070 })

  tile(128, 256, { scale = scale, fast = true })
  tile(128, 128, { scale = scale, fast = true })
end

-- A scale for each row of A (token) and each row of B as stored (output): 128 x 128, since the scales' loads
-- take the registers that more sums would need.
tile(128, 128, { scale = { a = "vector", b = "vector" }, edge = true })

-- A scale for each row and 128 of k of A (1 x 128), and for each 128 x 128 of B: part of the promotion.
local blocks = { a = "group", b = "block" }
tile(256, 128, { scale = blocks })
tile(128, 128, { scale = blocks, edge = true })

-- Gradients are e5m2.
tile(256, 128, { dtype = { a = "e5m2", b = "e4m3", d = "bf16" }, scale = device })

-- Few rows (decoding: up to 32 tokens): D is computed transposed (docs/wgmma.md, "Few rows"). speed is left to the
-- plan: memory is the limit.
for _, scale in ipairs { {}, device } do
  for _, n in ipairs { 64, 128 } do
    tile(16, n, { scale = scale, speed = n == 128 and 348 or nil }) -- of 128 columns a quarter more, as in h100_bf16
    tile(32, n, { scale = scale, speed = n == 128 and 440 or nil }) -- planned: 502, ahead of 128 x 96 at 1024^3
  end
end
