gpu "h100-sxm"
gemm {
  family = "simt",
  dtype = { a = "f32", b = "f32", c = "f32", d = "f32", acc = "f32" },
  layout = { "nt", "nn" },
  tile = { m = 128, n = 128, k = 16, thread = { m = 8, n = 8 }, lanes = { m = 4, n = 8 } },
  stages = 3, padding = 4, copy = { a = 16, b = 16 },
  unroll = { k = "full", stages = true, fragments = 2, order = "serpentine" },
  raster = { along = "m", group = 8 }, min_blocks = 1, k_slices = 1,
  epilogue = { alpha = true, beta = 0 },
  
  budget = { loop_bytes = 32768, block_fmas = 2048, enforce = false },
  allow = { "loop-code" },
}
