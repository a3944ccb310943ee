-- Architectures that no spec in specs/ is for, one plain kernel of each family.
for _, name in ipairs { "v100", "t4", "rtx-3090", "rtx-4090" } do
  gpu(name)
  gemm { family = "naive" }
  gemm { family = "smem" }
  gemm { family = "simt" }
end
