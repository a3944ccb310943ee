-- 8-bit integers on the tensor cores of the T4 (sm_75): family mma, mma.sync m8n8k16, exact sums in s32.
--
-- Try:  gemmgen specs/t4_int8.lua -o out/
--       gemmgen check specs/t4_int8.lua --problem 256x256x256
--       gemmgen explain specs/t4_int8.lua --sweep --problem 4096x4096x4096
--
-- The T4 multiplies integers twice as fast as f16, and has no cp.async: copies pass through registers into
-- two stages (specs/t4_f16.lua). The tiles are those that the model ranks first (--sweep). Operands that
-- are not contiguous along k are turned on their way to registers, in pairs of bytes that are then sorted.
-- Checked on the emulated GPU; not timed: no such card was at hand.

gpu "t4"

local all = { "nt", "nn", "tn", "tt" }

-- Large problems, s8 in, s32 out: warps of 64 x 64 with one set of fragments; a second would leave no
-- registers for copies.
gemm { family = "mma", dtype = { a = "s8" }, layout = all, tile = { m = 128, n = 256, k = 64 } }

-- Small problems: more tiles of less work, two blocks an SM.
gemm { family = "mma", dtype = { a = "s8" }, layout = all, tile = { m = 64, n = 64 } }

-- Few rows: device memory is the limit, three blocks an SM keep it busy.
gemm { family = "mma", dtype = { a = "s8" }, layout = { "nt", "nn" }, tile = { m = 16, n = 64 } }

-- Activations that are never negative.
gemm { family = "mma", dtype = { a = "u8", b = "s8" }, layout = "nt", tile = { m = 128, n = 128 } }

-- Quantised layers: a scale for each token (row of A) and each output (row of B as stored), a bias, f16 out.
-- C and beta are left out.
gemm {
  family = "mma", dtype = { a = "s8", d = "f16" }, layout = "nt", tile = { m = 128, n = 128 },
  epilogue = { scale = { a = "vector", b = "vector" }, bias = "n", beta = 0 },
}
