-- The passes over operands of two bytes, as they lie and turned, beside a kernel that asks for them.
gpu "h200"
gemm { family = "naive", dtype = "bf16", layout = "nn", dispatch = { repack = true } }
