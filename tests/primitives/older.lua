-- Kernels for a card without fp8 and bf16: extract.sh takes the conversions out of their text.
gpu "t4"
for _, type in ipairs { "e4m3", "e5m2", "bf16" } do
  gemm { family = "naive", dtype = type, layout = "nn", epilogue = { residual = true } }
end
