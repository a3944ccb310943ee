-- bf16 on the A100, left to the model; no such card was at hand.
--
-- Try:  gemmgen explain specs/auto_a100_bf16.lua
--       gemmgen specs/auto_a100_bf16.lua -o out/
--
-- Nothing but types, layouts and GPU: the model chooses the rest, and explain prints why (docs/model.md).

gpu "a100-sxm-80"

gemm { dtype = "bf16", layout = { "nn", "nt", "tn", "tt" } }
