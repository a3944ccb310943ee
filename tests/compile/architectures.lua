-- Architectures that no spec in specs/ is for, one plain kernel of each family.
for _, name in ipairs { "v100", "t4", "rtx-3090", "rtx-4090" } do
  gpu(name)
  gemm { family = "naive" }
  gemm { family = "smem" }
  gemm { family = "simt" }
end

-- One warp a block, a loop of one step, 14 warps that quarters of an SM share unevenly.
gpu "a100-sxm-80"
gemm { layout = "nt", tile = { m = 32, n = 32 } }
gemm { family = "naive", layout = "tt", unroll = { k = 2 } }
gemm { layout = "tn", stages = 5, tile = { m = 48, n = 96, k = 5, thread = { m = 6, n = 12 } } }
gemm { family = "mma", dtype = "f16", tile = { m = 16, n = 16, k = 32, warp = { m = 16, n = 16 } } }
-- fp8 without the tensor cores of sm_89: widened on its way.
gpu "h100-sxm"
gemm { family = "mma", dtype = { a = "e4m3", d = "f32" }, layout = "nt", tile = { m = 64, n = 64 } }
