-- f64 on the tensor cores of Hopper (H100, H200): DMMA, that is mma.sync m16n8k8, fed by cp.async.
-- Every product and sum is a fused multiply-add in f64.
--
-- Try:  gemmgen specs/h100_f64.lua -o out/
--       gemmgen check specs/h100_f64.lua --problem 128x128x128
--       gemmgen explain specs/h100_f64.lua --sweep --problem 4096x4096x4096
--
-- Twice the rate of the CUDA cores, which h100_f64_simt.lua uses. wgmma does not multiply f64. speed and
-- overhead_k are measured (H200, docs/mma.md).

gpu "h100-sxm"

local function tile(m, n, k, warp_m, stages, speed, overhead_k)
  gemm {
    family = "mma", dtype = "f64", layout = { "nn", "nt", "tn", "tt" },
    tile = { m = m, n = n, k = k, warp = { m = warp_m, n = 32 } }, stages = stages,
    dispatch = { speed = speed, overhead_k = overhead_k },
  }
end

-- Large problems: warps of 32 x 32 leave registers for two blocks on an SM, of which one computes while the other
-- waits or stores.
tile(64, 128, 16, 32, 4, 1207, 75)

-- One wave of 128 x 128 (2048^3 has 256 tiles): warps of 64 x 32 take 128 registers of sums, which leaves room for
-- one set of fragments; each is loaded again behind its last product.
tile(128, 128, 32, 64, 3, 1110, 25)

-- Small problems: more tiles of less work.
tile(64, 64, 16, 32, 4, 1072, 25)
gemm { family = "mma", dtype = "f64", layout = { "nn", "nt", "tn", "tt" }, tile = { m = 32, n = 64 } }

-- Few rows: memory is the limit, so 6 stages keep enough of B in flight.
gemm { family = "mma", dtype = "f64", layout = { "nt", "nn" }, tile = { m = 16, n = 64 }, stages = 6 }
