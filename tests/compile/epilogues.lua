-- Steps and types that no spec in specs/ has, in kernels that compile fast; T4 lacks fp8, bf16 and redux.
local small = { m = 32, n = 64, k = 8, thread = { m = 4, n = 4 } }
gpu "t4"
gemm {
  family = "naive", dtype = { a = "e4m3", b = "e5m2", d = "bf16" },
  epilogue = { scale = { a = "group", b = "block" }, absmax = true },
}
gemm { family = "naive", dtype = { a = "bf16", d = "e5m2" }, epilogue = { bias = "m", activation = "silu" } }
gpu "a100-sxm-80"
gemm { family = "naive", dtype = { a = "f16", acc = "f16" }, epilogue = { residual = true, activation = "relu" } }
gemm { family = "naive", dtype = { a = "f32", b = "bf16", d = "f32", acc = "f64" }, epilogue = { activation = "gelu" } }
gemm { family = "smem", dtype = "f64", epilogue = { bias = "n", activation = "gelu_tanh", absmax = true } }
gemm {
  family = "simt", dtype = { a = "f32", d = "bf16" }, layout = "nt", tile = small,
  epilogue = { bias = "n", activation = "gelu", residual = true, scale = { a = "vector", b = "tensor", d = "tensor" } },
}
gpu "h100-sxm"
gemm { family = "naive", dtype = "tf32" }
gemm { family = "naive", dtype = { a = "s8", b = "u8" } }
gemm { family = "naive", dtype = { a = "u8", d = "s8" }, epilogue = { scale = { a = "vector", b = "vector" } } }
gemm { family = "naive", dtype = { a = "e5m2", d = "e4m3" }, epilogue = { scale = { a = "block", b = "group" } } }
gemm { family = "smem", dtype = { a = "f32", d = "e4m3" }, epilogue = { scale = { d = "tensor" }, absmax = true } }
gemm {
  family = "simt", dtype = "f64", layout = "nn", tile = small,
  epilogue = {
    bias = "m", activation = "silu", residual = true, absmax = true, scale = { a = "tensor", b = "vector" },
  },
}
gemm { family = "simt", dtype = { a = "f32", d = "f16" }, layout = "tn", tile = small }
