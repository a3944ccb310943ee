-- The ladder: f32 from the naive kernel to the fast one, each rung one change. Measured figures stand
-- in docs/ladder.md; the emulated GPU counts the conflicts of each (gemmgen check specs/ladder_f32.lua).

gpu "h100-sxm"

-- Some rungs are slow on purpose; `allow` silences the warning that says so.
local one_stage = { "ring-synchronous" }

-- Rung 1. One output a thread, straight from global memory: two loads for each FMA.
gemm { family = "naive", layout = "tn" }

-- Rung 2. One output a thread through shared memory: the global traffic falls, two shared loads stay.
gemm { family = "smem", layout = "tn", tile = { m = 32, n = 32, k = 32 } }

-- Rung 3. 4 x 4 outputs a thread: half a shared load for each FMA; needs 256 B/cycle at full rate.
local small = { m = 64, n = 64, k = 16, thread = { m = 4, n = 4 } }
gemm { family = "simt", layout = "tn", tile = small, stages = 1, unroll = { fragments = 1 },
  allow = one_stage }

-- Rung 4. 8 x 8 outputs a thread: 128 B/cycle. A is stored k-contiguous here (nn), is turned on its
-- way to shared memory, and unpadded rows make those stores collide in the banks.
local tile = { m = 128, n = 128, k = 8, thread = { m = 8, n = 8 } }
gemm { family = "simt", layout = "nn", tile = tile, stages = 1, padding = 0, unroll = { fragments = 1 },
  allow = { "ring-synchronous", "bank-conflict" } }

-- Rung 5. The same with padded rows: the stores meet different banks.
gemm { family = "simt", layout = "nn", tile = tile, stages = 1, padding = 4, unroll = { fragments = 1 },
  allow = one_stage }

-- Rung 6. Two stages and two fragment sets: copies and shared loads run beside the FMAs.
gemm { family = "simt", layout = "tn", tile = tile, stages = 2 }

-- Rung 7, 8. Three and four stages: the latency of device memory is covered.
gemm { family = "simt", layout = "tn", tile = tile, stages = 3 }
gemm { family = "simt", layout = "tn", tile = tile, stages = 4 }

-- Rung 9. 16 x 8 outputs a thread: 96 B/cycle, the largest that the registers hold.
local large = { m = 128, n = 128, k = 8, thread = { m = 16, n = 8 } }
gemm { family = "simt", layout = "tn", tile = large, stages = 3 }

-- Beside rung 9: the k loop rolled to one and to two steps, and the order of FMAs.
gemm { family = "simt", layout = "tn", tile = large, stages = 3, unroll = { k = 1 },
  allow = { "rolled-loop" } }
gemm { family = "simt", layout = "tn", tile = large, stages = 3, unroll = { k = 2 } }
gemm { family = "simt", layout = "tn", tile = large, stages = 3, unroll = { order = "row" } }
gemm { family = "simt", layout = "tn", tile = large, stages = 3, unroll = { order = "column" } }
