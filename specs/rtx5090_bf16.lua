-- bf16 on the tensor cores of the RTX 5090 (sm_120): family mma, mma.sync with ldmatrix, f32 sums. This card
-- has neither wgmma nor tcgen05.
--
-- Try:  gemmgen specs/rtx5090_bf16.lua -o out/
--       gemmgen check specs/rtx5090_bf16.lua --problem 256x256x256
--       gemmgen explain specs/rtx5090_bf16.lua --sweep --problem 4096x4096x4096
--
-- A block has 99 KiB of shared memory at most. f32 sums run at half the rate of f16 sums, so the tensor
-- cores are the limit from 32 x 64 tiles on, and tiles are chosen by how they fill 170 SMs. The tiles are
-- those that the model ranks first (--sweep). Checked on the emulated GPU; not timed: no such card was at
-- hand.

gpu "rtx-5090"

local all = { "nn", "nt", "tn", "tt" }

-- Large problems: the largest tile reads shared memory and L2 least; 4 stages of k = 32 are 96 of the 99 KiB. Their
-- rows of 64 bytes are none of TMA's, which the other tiles use where its rows of 128 bytes fit.
gemm {
  family = "mma", dtype = "bf16", layout = all, tile = { m = 128, n = 256, k = 32 }, copy = { path = "async" },
}

-- Between, and where the largest leave a wave half empty (4096^3: 512 of them are 3.01 waves).
gemm { family = "mma", dtype = "bf16", layout = all, tile = { m = 64, n = 64 } }

-- Small problems: more tiles of less work.
gemm { family = "mma", dtype = "bf16", layout = all, tile = { m = 32, n = 32 } }

-- Few rows (a decoder's batch): device memory is the limit, and 6 stages keep it busy.
gemm { family = "mma", dtype = "bf16", layout = { "nt", "nn" }, tile = { m = 16, n = 64 }, stages = 6 }
