-- f16 on the tensor cores of the RTX 4090 (sm_89): family mma, mma.sync with ldmatrix, f32 sums.
--
-- Try:  gemmgen specs/rtx4090_f16.lua -o out/
--       gemmgen check specs/rtx4090_f16.lua --problem 256x256x256
--       gemmgen explain specs/rtx4090_f16.lua --sweep --problem 4096x4096x4096
--
-- A block has 99 KiB of shared memory at most, and f32 sums run at half the rate of f16 sums: the tensor
-- cores are the limit from 32 x 64 tiles on, and its L2 of 72 MB holds most problems. The tiles are those
-- that the model ranks first (--sweep). Checked on the emulated GPU; not timed: no such card was at hand.

gpu "rtx-4090"

local all = { "nn", "nt", "tn", "tt" }

-- Large problems: the largest tile, whose 4 stages of k = 32 are 96 of the 99 KiB.
gemm { family = "mma", dtype = "f16", layout = all, tile = { m = 128, n = 256, k = 32 } }

-- Between: 8 warps, 3 stages.
gemm { family = "mma", dtype = "f16", layout = all, tile = { m = 64, n = 128, warp = { m = 32, n = 32 } } }

-- Small problems: more tiles of less work, two blocks an SM.
gemm { family = "mma", dtype = "f16", layout = all, tile = { m = 32, n = 64 } }

-- Few rows (a decoder's batch): device memory is the limit, and two blocks of 4 stages keep it busy.
gemm { family = "mma", dtype = "f16", layout = { "nt", "nn" }, tile = { m = 16, n = 64 }, stages = 4 }
