-- f16 on the RTX 4090, left to the model; no such card was at hand.
--
-- Try:  gemmgen explain specs/auto_rtx4090_f16.lua
--       gemmgen specs/auto_rtx4090_f16.lua -o out/
--
-- Nothing but types, layouts and GPU: the model chooses the rest, and explain prints why (docs/model.md).

gpu "rtx-4090"

gemm { dtype = "f16", layout = { "nn", "nt", "tn", "tt" } }
