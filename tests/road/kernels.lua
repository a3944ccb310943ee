-- One product kernel a type, for one layout; passes bring every other call to it, and cut a long k.
gpu "h200"
gemm { family = "wgmma", dtype = "f16", layout = "nt", tile = { m = 64, n = 64 }, stages = 3,
  dispatch = { split = true } }
gemm { family = "wgmma", dtype = { a = "e4m3", d = "bf16" }, layout = "nt", tile = { m = 64, n = 64 }, stages = 3 }
-- Few rows, computed transposed, in parts of k. They are called slow, so that cutting pays where f16 still counts.
gemm { family = "wgmma", dtype = { a = "e4m3", d = "f16" }, layout = "nt", tile = { m = 16, n = 64 }, stages = 3,
  persistent = false, dispatch = { edge = false, repack = false, split = true, speed = 50, overhead_k = 100 } }
