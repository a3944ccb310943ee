-- f16 on the tensor cores of the T4 (sm_75): family mma, mma.sync m16n8k8 with ldmatrix, f32 sums.
--
-- Try:  gemmgen specs/t4_f16.lua -o out/
--       gemmgen check specs/t4_f16.lua --problem 256x256x256
--       gemmgen explain specs/t4_f16.lua --sweep --problem 4096x4096x4096
--
-- The T4 has no cp.async: copies pass through registers into two stages, one tile waiting in registers
-- while another is computed. They share the registers with sums and fragments, and 64 KiB of shared memory
-- is all an SM has. The tiles are those that the model ranks first (--sweep). Checked on the emulated GPU;
-- not timed: no such card was at hand.

gpu "t4"

local all = { "nn", "nt", "tn", "tt" }

-- Large problems: warps of 64 x 64 with one set of fragments; a second would leave no registers for copies.
gemm { family = "mma", dtype = "f16", layout = all, tile = { m = 128, n = 256, k = 32 } }

-- Small problems: more tiles of less work, two blocks an SM.
gemm { family = "mma", dtype = "f16", layout = all, tile = { m = 64, n = 64 } }

-- Few rows: device memory is the limit, three blocks an SM keep it busy.
gemm { family = "mma", dtype = "f16", layout = { "nt", "nn" }, tile = { m = 16, n = 64 } }
