-- Kernels whose activation test_activation.c takes out of their text.
gpu "h100-sxm"
for _, type in ipairs { "f32", "f64" } do
  gemm {
    family = "naive", dtype = type, layout = "nn",
    epilogue = { alpha = 1, beta = 0, activation = { "gelu", "silu", "gelu_tanh" } },
  }
end
