-- bf16 on H100 and H200, left to the model.
--
-- Try:  gemmgen explain specs/auto_h100_bf16.lua
--       gemmgen specs/auto_h100_bf16.lua -o out/
--
-- Nothing but types, layouts and GPU: the model chooses the rest, and explain prints why (docs/model.md).

gpu "h100-sxm"

gemm { dtype = "bf16", layout = { "nn", "nt", "tn", "tt" } }
