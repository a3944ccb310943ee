-- Small kernels of every family and copy path, for faults to be seeded into.
gpu "h100-sxm"
local f32 = { a = "f32", b = "f32", d = "f32", acc = "f32" }
local small = { m = 32, n = 32, k = 8, thread = { m = 4, n = 4 } }
gemm { family = "naive", dtype = f32, layout = "nn" }
gemm { family = "naive", dtype = "u8", layout = "nt", dispatch = { repack = true } }
gemm { family = "gemv", dtype = "bf16", layout = "nt", tile = { m = 2 } }
gemm { family = "smem", dtype = f32, layout = "nn", dispatch = { split = true } }
gemm { family = "simt", dtype = f32, layout = { "nn", "tn" }, tile = small, stages = 3 }
gemm { family = "simt", dtype = f32, layout = "nn", tile = small, stages = 1 }
gemm { family = "simt", dtype = f32, layout = "nn", tile = small, stages = 3, k_slices = 2 }
gemm { family = "wgmma", dtype = "bf16", layout = "nt", tile = { m = 128, n = 128 }, stages = 3 }
gemm { family = "wgmma", dtype = "bf16", layout = "tn", tile = { m = 64, n = 128 }, stages = 4, schedule = "pingpong" }
gemm { family = "wgmma", dtype = "bf16", layout = "nn", tile = { m = 128, n = 128 }, stages = 3, persistent = false }
gemm { family = "wgmma", dtype = "bf16", layout = "tt", tile = { m = 128, n = 64 }, stages = 3, cluster = { k = 2 } }
-- Kernels whose epilogue has steps: layouts that no other kernel here has.
gemm {
  family = "simt", dtype = { a = "f32", d = "f16" }, layout = "nt", tile = small, stages = 3,
  epilogue = {
    bias = "n", activation = "relu", residual = true, absmax = true,
    scale = { a = "tensor", b = "vector", d = "tensor" },
  },
}
gemm { family = "smem", dtype = f32, layout = "tn", epilogue = { bias = "m", activation = "gelu", residual = true } }
gemm {
  family = "naive", dtype = { a = "e4m3", d = "bf16" }, layout = "tt",
  epilogue = { scale = { a = "group", b = "block", d = "tensor" }, activation = "silu", absmax = true },
}
gemm {
  family = "naive", dtype = { a = "s8", d = "s8" }, layout = "nt",
  epilogue = { scale = { a = "vector", b = "vector" } },
}
gemm {
  family = "wmma", dtype = "f16", layout = "nt", tile = { m = 32, n = 32, k = 32, warp = { m = 32, n = 16 } },
  stages = 3,
}
-- Operands that are not of 16 bits.
local alone = { edge = false, repack = false }
local e4m3 = { a = "e4m3" }
gemm {
  family = "wgmma", dtype = e4m3, layout = "nt", tile = { m = 128, n = 64 }, stages = 3, dispatch = alone,
  epilogue = { scale = { a = "group", b = "block" } },
}
gemm { family = "wgmma", dtype = "tf32", layout = "nn", tile = { m = 64, n = 128 }, stages = 3, dispatch = alone }
gemm {
  family = "wgmma", dtype = "tf32", layout = "tt", tile = { m = 64, n = 64 }, stages = 3, persistent = false,
  dispatch = alone,
}
gemm { family = "wgmma", dtype = "tf32", layout = "tn", tile = { m = 128, n = 128 }, stages = 3, dispatch = alone }
-- Tiles of A and B that the blocks of a cluster share.
gemm {
  family = "wgmma", dtype = "f16", layout = "nt", tile = { m = 64, n = 64 }, stages = 3, cluster = { m = 2 },
  dispatch = alone,
}
gemm {
  family = "wgmma", dtype = "f16", layout = "tn", tile = { m = 64, n = 64 }, stages = 4, cluster = { m = 2, n = 2 },
  schedule = "pingpong", dispatch = alone,
}
gemm {
  family = "wgmma", dtype = { a = "e5m2" }, layout = "nt", tile = { m = 64, n = 128 }, stages = 3, cluster = { n = 2 },
  persistent = false, epilogue = { scale = { a = "block", b = "block" } }, dispatch = alone,
}
-- mma.sync: a ring of cp.async that goes on into the next tile of D, and sums of fp8 in parts.
gemm {
  family = "mma", dtype = "bf16", layout = "nt", tile = { m = 32, n = 32, k = 32, warp = { m = 16, n = 32 } },
  stages = 3, copy = { path = "async" },
}
gemm {
  family = "mma", dtype = { a = "e4m3", d = "f32" }, layout = "tn",
  tile = { m = 32, n = 32, k = 64, warp = { m = 32, n = 16 } }, stages = 3, copy = { path = "async" },
  epilogue = { scale = { a = "group", b = "block" }, bias = "n", residual = true },
}
-- The same fed by TMA, with two boxes of B.
gemm {
  family = "mma", dtype = "bf16", layout = "nn", tile = { m = 32, n = 128, k = 64, warp = { m = 16, n = 64 } },
  stages = 3, copy = { path = "tma" }, allow = { "ring-short" },
}
-- Fewer rows than an instruction: D is computed transposed.
gemm {
  family = "wgmma", dtype = "f16", layout = "nn", tile = { m = 24, n = 128 }, stages = 3, dispatch = alone,
}
gemm {
  family = "wgmma", dtype = { a = "e4m3", b = "e5m2" }, layout = "nt", tile = { m = 16, n = 128 }, stages = 3,
  epilogue = { scale = { a = "group", b = "group" } }, dispatch = alone,
}
gemm {
  family = "wgmma", dtype = { a = "s8", d = "f32" }, layout = "nt", tile = { m = 8, n = 64 }, min_blocks = 4,
  persistent = false, dispatch = alone,
}
-- mma.sync with k steps as a loop and the ring written out.
gemm {
  family = "mma", dtype = "f16", layout = "nn", tile = { m = 32, n = 32, k = 128, warp = { m = 16, n = 32 } },
  stages = 3, copy = { path = "async" }, unroll = { k = 2, stages = true }, allow = { "rolled-loop", "tile-k-large" },
}
gemm {
  family = "wgmma", dtype = { a = "u8" }, layout = "nt", tile = { m = 16, n = 64 }, stages = 3, cluster = { k = 2 },
  dispatch = alone,
}
