-- Family mma on small tiles: every type, layout, variant, way of copying and step, for the check to run.
local quiet = {
  "ring-short", "tile-k-large", "f16-sums", "bank-conflict", "loop-code", "ring-synchronous", "rolled-loop",
}
local function mma(spec)
  spec.family, spec.allow = "mma", quiet
  spec.copy = spec.copy or { path = "async" }
  gemm(spec)
end
local function square(m, n, k, warp_m, warp_n)
  return { m = m, n = n, k = k, warp = { m = warp_m, n = warp_n } }
end
local all = { "nn", "nt", "tn", "tt" }

gpu "h100-sxm"
mma { dtype = "bf16", layout = all, tile = square(32, 48, 32, 16, 48), stages = 2 }
mma { dtype = "f16", layout = all, tile = square(32, 32, 32, 16, 16), stages = 8 }
mma { dtype = "tf32", layout = all, tile = square(32, 32, 16, 32, 16), stages = 3 }
mma { dtype = "f64", layout = all, tile = square(16, 32, 16, 16, 16), stages = 4 }
mma { dtype = "s8", layout = all, tile = square(32, 32, 64, 16, 32), stages = 3 }
mma { dtype = { a = "e4m3", d = "f32" }, layout = all, tile = square(32, 32, 64, 16, 32) }

-- Other pairs of types, sums and results.
mma { dtype = { a = "s8", b = "u8", d = "s8" }, layout = "tn", tile = square(32, 32, 64, 32, 16) }
mma { dtype = { a = "u8", d = "f32" }, layout = "nt", tile = square(16, 32, 32, 16, 16) }
mma {
  dtype = { a = "e5m2", b = "e4m3", d = "e5m2" }, layout = "tt",
  tile = square(32, 16, 32, 16, 16), fast_accum = true,
}
mma { dtype = { a = "f16", acc = "f16" }, layout = "tn", tile = square(32, 32, 32, 32, 16) }
mma { dtype = { a = "s8" }, layout = "nn", tile = { m = 32, n = 32, k = 32, inst = { m = 8, k = 16 } } }
mma { dtype = { a = "u8", b = "s8" }, layout = "tt", tile = { m = 32, n = 32, k = 32, inst = { k = 16 } } }
mma { dtype = { a = "f16", c = "f32", d = "s32" }, layout = "nn", tile = square(16, 16, 32, 16, 16) }

-- Ways to copy, to load and to order.
mma { dtype = "bf16", layout = "tt", tile = square(48, 32, 32, 48, 16), padding = 8 }
mma { dtype = "bf16", layout = "nn", tile = square(32, 32, 32, 16, 16), copy = { a = 4, b = 8, path = "async" } }
mma {
  dtype = "tf32", layout = "nt", tile = square(32, 32, 24, 16, 32),
  unroll = { fragments = 1, order = "column" }, raster = { along = "n", group = 2 },
}
mma {
  dtype = "f16", layout = "nt", tile = { m = 32, n = 32, k = 48, inst = { k = 8 } },
  unroll = { fragments = 1, order = "row" }, raster = { along = "m", group = 1 }, min_blocks = 2,
}

-- Fed by TMA: rows along k, boxes side by side along m and n or k, warps that share a box.
local tma = { path = "tma" }
mma { dtype = "bf16", layout = all, tile = square(64, 128, 64, 32, 64), stages = 3, copy = tma }
mma {
  dtype = "f16", layout = { "tn", "nt" }, tile = square(64, 64, 64, 32, 32), stages = 2, copy = tma,
  unroll = { stages = true },
}
mma {
  dtype = "bf16", layout = { "nt", "tt" }, tile = square(64, 32, 128, 16, 32), stages = 2, copy = tma,
  unroll = { fragments = 1 }, epilogue = { bias = "m", activation = "relu", beta = 0 },
}
mma { dtype = "tf32", layout = all, tile = square(32, 64, 32, 16, 32), stages = 5, copy = tma }
mma { dtype = "f64", layout = all, tile = square(32, 32, 16, 16, 32), stages = 3, copy = tma }
mma { dtype = "f64", layout = "tn", tile = { m = 32, n = 64, k = 32, inst = { k = 4 } }, stages = 2, copy = tma }
mma { dtype = { a = "u8", b = "s8" }, layout = all, tile = square(128, 128, 128, 64, 32), stages = 2, copy = tma }
mma {
  dtype = { a = "e4m3", d = "f32" }, layout = "nt", tile = square(32, 32, 128, 32, 16), copy = tma,
}
mma {
  dtype = { a = "e4m3", b = "e5m2", d = "bf16" }, layout = "nt", tile = square(32, 64, 128, 16, 32), copy = tma,
  epilogue = { scale = { a = "group", b = "block" }, residual = true },
}

-- Steps of the epilogue, in a loop where they are long.
mma {
  dtype = "bf16", layout = "tn", tile = square(64, 32, 32, 32, 32),
  epilogue = {
    bias = "n", activation = "gelu", residual = true, absmax = true, scale = { a = "vector", b = "tensor" },
  },
}
mma {
  dtype = { a = "s8", d = "bf16" }, layout = "tt", tile = square(32, 48, 32, 16, 48),
  epilogue = { bias = "m", activation = "silu", beta = 1, scale = { a = "tensor", b = "vector", d = "tensor" } },
}
mma {
  dtype = "f64", layout = "nn", tile = square(32, 32, 8, 16, 32),
  epilogue = { activation = "gelu_tanh", beta = 0, alpha = 1, residual = true },
}
mma {
  dtype = { a = "e4m3", d = "bf16" }, layout = all, tile = square(32, 32, 32, 16, 32),
  epilogue = { scale = { a = "group", b = "group" }, activation = "relu" },
}
mma {
  dtype = { a = "e4m3", d = "f16" }, layout = "nt", tile = square(32, 64, 128, 16, 32),
  epilogue = { scale = { a = "block", b = "vector" }, beta = 0 },
}

-- k steps as a loop, the ring written out.
mma { dtype = "bf16", layout = all, tile = square(32, 32, 64, 16, 32), stages = 3, unroll = { k = 2, stages = true } }
mma { dtype = "f16", layout = all, tile = square(32, 32, 128, 16, 16), stages = 4, unroll = { k = 1 } }
mma { dtype = "f16", layout = { "nt", "tn" }, tile = square(32, 32, 64, 16, 16), unroll = { k = 2 }, padding = 8 }
mma { dtype = "tf32", layout = all, tile = square(32, 32, 64, 32, 16), stages = 2, unroll = { k = 1, stages = true } }
mma { dtype = "f64", layout = all, tile = square(16, 32, 32, 16, 16), stages = 4, unroll = { k = 2, stages = true } }
mma { dtype = { a = "s8" }, layout = { "nt", "tn" }, tile = square(32, 32, 192, 16, 32), unroll = { k = 3 } }
mma { dtype = { a = "e4m3", d = "bf16" }, layout = "nn", tile = square(32, 32, 128, 16, 32), unroll = { k = 2 } }
mma { dtype = { a = "s8" }, layout = "tt", tile = square(32, 32, 64, 16, 32), stages = 5, unroll = { stages = true } }
