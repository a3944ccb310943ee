-- One product kernel a type, for one layout; passes bring every other call to it, and cut a long k.
gpu "h200"
gemm { family = "wgmma", dtype = "f16", layout = "nt", tile = { m = 64, n = 64 }, stages = 3,
  dispatch = { split = true } }
gemm { family = "wgmma", dtype = { a = "e4m3", d = "bf16" }, layout = "nt", tile = { m = 64, n = 64 }, stages = 3 }
