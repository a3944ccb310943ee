-- f64 on the tensor cores of Hopper (H100, H200): DMMA, that is mma.sync m16n8k8, fed by TMA.
-- Every product and sum is a fused multiply-add in f64.
--
-- Try:  gemmgen specs/h100_f64.lua -o out/
--       gemmgen check specs/h100_f64.lua --problem 128x128x128
--       gemmgen explain specs/h100_f64.lua --sweep --problem 4096x4096x4096
--
-- Twice the rate of the CUDA cores, which h100_f64_simt.lua uses. wgmma does not multiply f64. speed and
-- overhead_k are measured (H200, docs/mma.md).

gpu "h100-sxm"

local all = { "nn", "nt", "tn", "tt" }

local function tile(layout, m, n, k, warp_m, warp_n, stages, speed, overhead_k, path)
  gemm {
    family = "mma", dtype = "f64", layout = layout,
    tile = { m = m, n = n, k = k, warp = { m = warp_m, n = warp_n } }, stages = stages, copy = { path = path },
    dispatch = { speed = speed, overhead_k = overhead_k },
  }
end

-- Large problems: warps of 64 x 32 take 128 registers of sums, which leaves room for one set of fragments; each is
-- loaded again behind its last product. TMA is 2 to 4 % faster here than cp.async.
tile(all, 128, 128, 32, 64, 32, 3, 1200, 25, "tma")

-- Warps of 32 x 32 leave registers for two blocks on an SM, of which one computes while the other waits or stores.
-- Of 1024^3 TMA is 2 to 4 % faster in three layouts and 4 % slower in tn; of 64 x 64 (8192 x 64 x 8192) 19 % slower.
tile({ "nn", "nt" }, 64, 128, 16, 32, 32, 4, 1150, 75, "tma")
tile("tt", 64, 128, 16, 32, 32, 4, 1175, 75, "tma")
tile("tn", 64, 128, 16, 32, 32, 4, 1175, 75, "async")

-- Small problems: more tiles of less work.
tile(all, 64, 64, 16, 32, 32, 4, 1072, 25, "async")
gemm { family = "mma", dtype = "f64", layout = all, tile = { m = 32, n = 64 } }

-- Few rows: memory is the limit, so 6 stages keep enough of B in flight.
gemm {
  family = "mma", dtype = "f64", layout = { "nt", "nn" }, tile = { m = 16, n = 64 }, stages = 6,
  copy = { path = "async" }, -- as timed
}
