-- f32 on H100 and H200, left to the model: strict IEEE sums on CUDA cores.
--
-- Try:  gemmgen explain specs/auto_h100_f32.lua
--       gemmgen specs/auto_h100_f32.lua -o out/
--
-- Nothing but types, layouts and GPU: the model chooses the rest, and explain prints why (docs/model.md).

gpu "h100-sxm"

gemm { dtype = "f32", layout = { "nn", "nt", "tn", "tt" } }
