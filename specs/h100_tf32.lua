-- tf32 on Hopper's tensor cores (H100, H200): f32 in memory, of which the tensor cores read 10 bits of
-- fraction, f32 sums, f32 out.
--
-- Try:  gemmgen specs/h100_tf32.lua -o out/
--       gemmgen check specs/h100_tf32.lua --problem 256x256x256
--       gemmgen explain specs/h100_tf32.lua
--
-- The tensor cores read tf32 K-major alone. What lies otherwise is turned inside the kernel (docs/wgmma.md):
-- one operand on its way into registers (nn, tt), the other (tn) by the warpgroup that copies.

gpu "h100-sxm"

local all = { "nt", "nn", "tn", "tt" }

gemm { family = "wgmma", dtype = "tf32", layout = all, tile = { m = 128, n = 256 } }
gemm { family = "wgmma", dtype = "tf32", layout = all, tile = { m = 128, n = 128 }, dispatch = { edge = false } }
gemm { family = "wgmma", dtype = "tf32", layout = all, tile = { m = 64, n = 128 }, dispatch = { edge = false } }
gemm {
  family = "wgmma", dtype = "tf32", layout = { "nt", "nn", "tt" }, tile = { m = 64, n = 64 },
  dispatch = { edge = false },
}
