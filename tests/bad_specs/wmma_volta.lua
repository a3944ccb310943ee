-- The first tensor cores: f16 alone, and no cp.async.
gpu "v100"
gemm { family = "wmma", dtype = { a = "s8" } }
gemm { family = "wmma", dtype = "f16", stages = 3 }
gemm { family = "wmma", dtype = "f16", tile = { k = 256 } }
--! exit 2
--! | wmma_volta.lua:3: error: dtype.a: wmma takes s8 from sm_72 on, v100 is sm_70; use f16 [dtype-gpu]
--! | wmma_volta.lua:4: error: stages: 3 stages need cp.async (sm_80 and later), v100 is sm_70; use 1 or 2 [stages]
--! | wmma_volta.lua:5: error: tile.k: 2 stages of 137216 B are 274432 B of shared memory, more than the 98304 B a block of v100 may have; use fewer stages or a smaller tile.k [shared-memory]
