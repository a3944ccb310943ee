-- Scales that a family, or D, has not.
gpu "h100-sxm"
gemm { family = "simt", epilogue = { scale = { a = "group" } } }
gemm { family = "smem", epilogue = { scale = { b = "block" } } }
gemm { family = "naive", epilogue = { scale = { d = "vector" } } }
gemm { family = "naive", epilogue = { activation = "tanh" } }
--! exit 2
--! | epilogue_scales.lua:3: error: epilogue.scale.a: group: scales every 128 of k, where family simt forms one sum over all of k; use "tensor" or "vector", or family naive [scaling]
--! | epilogue_scales.lua:4: error: epilogue.scale.b: block: scales every 128 of k, where family smem forms one sum over all of k; use "tensor" or "vector", or family naive [scaling]
--! | epilogue_scales.lua:5: error: epilogue.scale.d: D has one scale for all of it; use "tensor" [scaling]
--! | epilogue_scales.lua:6: error: epilogue.activation: unknown name 'tanh'; known: none, relu, gelu, silu, gelu_tanh [unknown-value]
