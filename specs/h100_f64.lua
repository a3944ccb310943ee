-- f64 on the tensor cores of Hopper (H100, H200): DMMA, that is mma.sync m16n8k8, fed by cp.async.
-- Every product and sum is a fused multiply-add in f64.
--
-- Try:  gemmgen specs/h100_f64.lua -o out/
--       gemmgen check specs/h100_f64.lua --problem 128x128x128
--       gemmgen explain specs/h100_f64.lua --sweep --problem 4096x4096x4096
--
-- Twice the rate of the CUDA cores, which h100_f64_simt.lua uses. wgmma does not multiply f64. Checked on
-- the emulated GPU; not timed: no such card was at hand when these tiles were chosen, by the model
-- (--sweep).

gpu "h100-sxm"

local all = { "nn", "nt", "tn", "tt" }

-- Large problems: 128 x 128 moves 16 bytes a cycle and SM through L2, half of what 64 x 64 does. A warp's
-- 64 x 32 sums take 128 registers, which leaves room for one set of fragments: each is loaded again behind
-- its last product.
gemm { family = "mma", dtype = "f64", layout = all, tile = { m = 128, n = 128 } }

-- 1024^3 is less than a wave of those: half the tile, two sets of fragments.
gemm { family = "mma", dtype = "f64", layout = all, tile = { m = 64, n = 128 } }

-- Small problems: more tiles of less work.
gemm { family = "mma", dtype = "f64", layout = all, tile = { m = 32, n = 64 } }

-- Few rows: memory is the limit, so 6 stages keep enough of B in flight.
gemm { family = "mma", dtype = "f64", layout = { "nt", "nn" }, tile = { m = 16, n = 64 }, stages = 6 }
