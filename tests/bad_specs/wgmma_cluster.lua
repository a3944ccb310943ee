-- Clusters of family wgmma that cannot share tiles.
gpu "h100-sxm"
gemm { family = "wgmma", dtype = "bf16", layout = "nt", cluster = { m = 3 } }
gemm { family = "wgmma", dtype = "bf16", layout = "nt", cluster = { m = 4, n = 2 } }
gemm { family = "wgmma", dtype = "bf16", layout = "nt", cluster = { n = 8 } }
gemm { family = "wgmma", dtype = "bf16", layout = "nt", cluster = { m = 2, k = 2 } }
gemm { family = "wgmma", dtype = "bf16", layout = "nt", cluster = { m = 2 }, tile = { m = 192, n = 200 } }
gemm { family = "wgmma", dtype = "bf16", layout = "nt", cluster = { m = 4 }, tile = { m = 64, n = 24 } }
gemm { family = "wgmma", dtype = "tf32", layout = "tn", cluster = { n = 2 }, tile = { n = 128 } }
gemm { family = "wgmma", dtype = "bf16", layout = "nt", cluster = { m = 2 }, raster = { along = "m", group = 5 } }
gemm { family = "wgmma", dtype = "bf16", layout = "nt", cluster = { n = 4 }, raster = { along = "n", group = 6 } }
--! exit 2
--! | wgmma_cluster.lua:3: error: cluster.m: 3 x 1 blocks share no tiles: clusters of 2 and 4 find places on the SMs; use 2 x 1, 1 x 2, 2 x 2, 4 x 1 or 1 x 4 [cluster]
--! | wgmma_cluster.lua:4: error: cluster.m: 4 x 2 blocks share no tiles: clusters of 2 and 4 find places on the SMs; use 2 x 1, 1 x 2, 2 x 2, 4 x 1 or 1 x 4 [cluster]
--! | wgmma_cluster.lua:5: error: cluster.n: 1 x 8 blocks share no tiles: clusters of 2 and 4 find places on the SMs; use 2 x 1, 1 x 2, 2 x 2, 4 x 1 or 1 x 4 [cluster]
--! | wgmma_cluster.lua:6: error: cluster.k: the blocks of a cluster share tiles of A and B (m, n) or one tile of D (k), not both; use 1 [cluster]
--! | wgmma_cluster.lua:7: error: tile.n: each of 2 blocks copies tile.n / 2 rows of B, a multiple of 8; use 192 [cluster]
--! | wgmma_cluster.lua:8: error: tile.n: each of 4 blocks copies tile.n / 4 rows of B, a multiple of 8; use 32 [cluster]
--! | wgmma_cluster.lua:9: error: cluster.n: in layout tn each block turns its own tile of B in registers (tf32); use 1 [cluster]
--! | wgmma_cluster.lua:10: error: raster.group: 5 tiles are not a multiple of the 2 that a cluster takes at once; use 6 [cluster]
--! | wgmma_cluster.lua:11: error: raster.group: 6 tiles are not a multiple of the 4 that a cluster takes at once; use 8 [cluster]
