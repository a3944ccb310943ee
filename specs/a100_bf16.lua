-- bf16 on the tensor cores of the A100: family mma, mma.sync with ldmatrix, f32 sums.
--
-- Try:  gemmgen specs/a100_bf16.lua -o out/
--       gemmgen check specs/a100_bf16.lua
--       gemmgen explain specs/a100_bf16.lua
--
-- The plan chooses warp tiles, ring and swizzle from the card's registers and shared memory. Checked on the
-- emulated GPU; not timed: no such card was at hand.

gpu "a100-sxm-80"

local all = { "nn", "nt", "tn", "tt" }

-- Large problems: the largest tile that registers and shared memory hold.
gemm { family = "mma", dtype = "bf16", layout = all }

-- Small ones: more tiles of less work.
gemm { family = "mma", dtype = "bf16", layout = all, tile = { m = 64, n = 64 } }
