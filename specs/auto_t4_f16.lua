-- f16 on the T4, left to the model; no such card was at hand.
--
-- Try:  gemmgen explain specs/auto_t4_f16.lua
--       gemmgen specs/auto_t4_f16.lua -o out/
--
-- Nothing but types, layouts and GPU: the model chooses the rest, and explain prints why (docs/model.md).

gpu "t4"

gemm { dtype = "f16", layout = { "nn", "nt", "tn", "tt" } }
