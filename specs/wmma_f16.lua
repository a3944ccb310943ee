-- The wmma ladder: f16 on tensor cores with the instructions that tutorials begin with, rung by rung.
--
-- Try:  gemmgen specs/wmma_f16.lua -o out/
--       gemmgen explain specs/wmma_f16.lua --gpu t4
--
-- Each rung is a kernel you can read, verify and time; docs/wmma.md has what each of them gained. The
-- last one leaves its numbers to the plan and so fits every card from V100 on (--gpu v100-sxm2, t4,
-- a100-sxm-80, rtx-4090 ...); cards without cp.async refuse three stages.

gpu "h100-sxm"

-- What later rungs mend needs no warning: one stage, and rows that begin in the same bank.
local one = { "ring-synchronous", "bank-conflict" }

-- 1. One warp, one fragment of D: every product waits for two loads of its own.
gemm { family = "wmma", dtype = "f16", layout = "nt", tile = { m = 16, n = 16, k = 16 }, stages = 1, allow = one }

-- 2. One warp, 4 x 2 fragments of D: each fragment of A serves two products, each of B four.
gemm { family = "wmma", dtype = "f16", layout = "nt", tile = { m = 64, n = 32, k = 64 }, stages = 1, allow = one }

-- 3. Eight such warps share what a block copies; rows of shared memory as they come: 8 rows of a
--    fragment begin in the same bank.
gemm {
  family = "wmma", dtype = "f16", layout = "nt", tile = { m = 128, n = 128, k = 64 }, stages = 1,
  padding = 0, allow = one,
}

-- 4. Rows padded by 16 bytes: the 8 rows lie in different banks.
gemm { family = "wmma", dtype = "f16", layout = "nt", tile = { m = 128, n = 128, k = 64 }, stages = 1, allow = one }

-- 5. A ring of three stages: cp.async brings the tiles after the next while this one is computed. All
--    of it is what the plan chooses; in every layout, since wmma reads rows and columns alike.
gemm { family = "wmma", dtype = "f16", layout = { "nn", "nt", "tn", "tt" } }
