-- Everything is left open, and no family multiplies these.
gpu "t4"
gemm { dtype = { a = "bf16", d = "f32" } }
--! exit 2
--! | open_type.lua:3: error: dtype.a: mma.sync takes bf16 from sm_80 on, t4 is sm_75; use f16 [dtype-gpu]
