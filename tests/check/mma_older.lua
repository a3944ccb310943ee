-- Family mma without cp.async and without the packed conversions of newer cards.
gpu "t4"
local all = { "nn", "nt", "tn", "tt" }
local quiet = { "ring-short", "f16-sums", "bank-conflict", "rolled-loop", "tile-k-large" }
local function mma(spec)
  spec.family, spec.allow = "mma", quiet
  gemm(spec)
end
mma { dtype = "f16", layout = all, tile = { m = 32, n = 32, k = 32, warp = { m = 16, n = 32 } } }
mma {
  dtype = { a = "f16", acc = "f16" }, layout = "tt", tile = { m = 32, n = 48, k = 32 },
  padding = 8, epilogue = { bias = "m", activation = "silu" },
}
-- Integers, by instructions of 8 rows.
mma { dtype = { a = "s8" }, layout = all, tile = { m = 32, n = 48, k = 64, warp = { m = 16, n = 48 } } }
mma {
  dtype = { a = "u8", b = "s8", d = "f16" }, layout = "tn",
  tile = { m = 48, n = 32, k = 32, warp = { m = 48, n = 16 } }, unroll = { order = "column", fragments = 1 },
  epilogue = { scale = { a = "vector", b = "tensor" }, bias = "n", beta = 1 },
}
-- k steps as a loop, the ring written out.
mma { dtype = "f16", layout = all, tile = { m = 32, n = 32, k = 64, warp = { m = 16, n = 32 } }, unroll = { k = 2 } }
mma {
  dtype = "f16", layout = all, tile = { m = 32, n = 32, k = 64, warp = { m = 16, n = 32 } },
  unroll = { k = 1, stages = true },
}
