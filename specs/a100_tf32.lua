-- tf32 on the tensor cores of the A100: f32 in memory, of which the tensor cores read 10 bits of fraction,
-- f32 sums, f32 out. Family mma, mma.sync fed by cp.async.
--
-- Try:  gemmgen specs/a100_tf32.lua -o out/
--       gemmgen check specs/a100_tf32.lua --problem 256x256x256
--       gemmgen explain specs/a100_tf32.lua --sweep --problem 4096x4096x4096
--
-- Where k is contiguous ldmatrix brings fragments; elsewhere it would tear 32-bit elements apart, so that
-- operand is loaded element by element. The tiles are those that the model ranks first (--sweep) for
-- squares, few rows and small problems. Checked on the emulated GPU; not timed: no such card was at hand.

gpu "a100-sxm-80"

local all = { "nn", "nt", "tn", "tt" }

-- Large problems: the largest tile that registers and shared memory hold (3 stages are 144 of 163 KiB).
gemm { family = "mma", dtype = "tf32", layout = all, tile = { m = 128, n = 256 } }

-- Less than a wave of those (2048^3 has 128 of them, the card 108 SMs): two blocks an SM.
gemm { family = "mma", dtype = "tf32", layout = all, tile = { m = 64, n = 128 } }

-- Small problems: more tiles of less work, three blocks an SM.
gemm { family = "mma", dtype = "tf32", layout = all, tile = { m = 64, n = 64 } }

-- Few rows: memory is the limit, so 6 stages keep enough of B in flight.
gemm {
  family = "mma", dtype = "tf32", layout = { "nt", "nn" }, tile = { m = 16, n = 64 }, stages = 6,
  allow = { "ring-short" }, -- of one block; there are two on an SM
}
