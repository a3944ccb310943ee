-- Sums in a type that the tensor cores do not sum the operands in.
gpu "h100-sxm"
gemm { family = "wmma", dtype = { a = "bf16", acc = "f16" } }
gemm { family = "wmma", dtype = { a = "tf32", acc = "f16" } }
gemm { family = "wmma", dtype = { a = "f16", acc = "f64" } }
gemm { family = "wmma", dtype = { a = "f16", acc = "s32" } }
gemm { family = "wmma", dtype = { a = "f64", acc = "f32" } }
gemm { family = "wmma", dtype = { a = "s8", acc = "f32" } }
gemm { family = "wmma", dtype = "f16", epilogue = { scale = { a = "group" } } }
--! exit 2
--! | wmma_sums.lua:3: error: dtype.acc: f16 where wmma sums bf16 in f32; use that [dtype-family]
--! | wmma_sums.lua:4: error: dtype.acc: f16 where wmma sums tf32 in f32; use that [dtype-family]
--! | wmma_sums.lua:5: error: dtype.acc: f64 where wmma sums f16 in f32; use that [dtype-family]
--! | wmma_sums.lua:6: error: dtype.acc: s32 where wmma sums f16 in f32; use that [dtype-family]
--! | wmma_sums.lua:7: error: dtype.acc: f32 where wmma sums f64 in f64; use that [dtype-family]
--! | wmma_sums.lua:8: error: dtype.acc: f32 where wmma sums s8 in s32; use that [dtype-family]
--! | wmma_sums.lua:9: error: epilogue.scale.a: group: scales every 128 of k, where family wmma forms one sum over all of k; use "tensor" or "vector", or family naive [scaling]
