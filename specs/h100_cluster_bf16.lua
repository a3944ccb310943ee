-- Clusters that share tiles by TMA multicast, beside the same kernels without.
--
-- Try:  gemmgen explain specs/h100_cluster_bf16.lua        bytes through L2 a stage: part_a and part_b
--       gemmgen specs/h100_cluster_bf16.lua -o out/        build out/ with CUDA, then
--       gemmbench --all --problem 8192x8192x8192           each kernel, forced (docs/wgmma.md, "Clusters")
--
-- cluster = { m = 2 }: two blocks, one above the other, need the same tile of B. Each copies half of it and
-- multicasts that half to both, so that B comes through L2 once instead of twice. cluster = { n = 2 } shares A in
-- the same way; 2 x 2 both. speed and overhead_k of a tile alone are measured (specs/h100_bf16.lua), those of clusters
-- left to the plan, which takes a cluster of 2 to be as fast as its tile; what an H200 says: docs/wgmma.md, "Clusters".
-- Copy into a spec of yours what wins on your card.

gpu "h100-sxm"

-- A tile alone, and in clusters.
local function beside(m, n, stages, clusters, more)
  for i = 0, #clusters do
    gemm {
      family = "wgmma",
      dtype = "bf16",
      layout = "nt",
      tile = { m = m, n = n },
      stages = stages,
      schedule = more.schedule,
      persistent = more.persistent,
      cluster = clusters[i],
      dispatch = { edge = false, speed = i == 0 and more.speed or nil, overhead_k = i == 0 and more.overhead_k or nil },
    }
  end
end

local pair_m, pair_n, square, column = { m = 2 }, { n = 2 }, { m = 2, n = 2 }, { m = 4 }

-- The larger operand of a tile is the one to share: B of 128x256, A of 256x128.
beside(128, 256, 3, { pair_m, pair_n, square }, { speed = 970, overhead_k = 225 })
beside(256, 128, 3, { pair_n }, {})

-- Warpgroups in turn. Of 128x208, 4 blocks would copy 52 rows of B each, which is no multiple of 8.
beside(128, 208, 4, { pair_m }, { schedule = "pingpong", speed = 987, overhead_k = 425 })
beside(128, 128, 5, { pair_m, square, column }, { schedule = "pingpong", speed = 954, overhead_k = 450 })

-- One tile a block: small tiles come through L2 the most, for what they compute.
beside(64, 128, 9, { pair_m, square }, { persistent = false, speed = 843, overhead_k = 625 })
