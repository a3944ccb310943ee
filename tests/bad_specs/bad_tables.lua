gpu "h100-sxm"
gemm { "simt", "f32" }
gemm { family = "simt", tile = { 64, 64, k = 8 } }
sweep { family = "simt", stages = { 2, nil, 3 } }
sweep { family = "simt", stages = { { 2 }, 3 } }
sweep { family = "simt", stages = {} }
gemm { family = "simt", tile = { [1.5] = 2 } }
gemm { [true] = 1 }
--! exit 2
--! | bad_tables.lua:2: error: a list where named fields belong, like tile = { ... } [wrong-type]
--! | bad_tables.lua:3: error: tile: a table with holes, or with keys that are neither all names nor all 1, 2, 3 [wrong-type]
--! | bad_tables.lua:4: error: stages: a table with holes, or with keys that are neither all names nor all 1, 2, 3 [wrong-type]
--! | bad_tables.lua:5: error: stages: a list inside a list [wrong-type]
--! | bad_tables.lua:6: error: stages: an empty list; give a value [wrong-type]
--! | bad_tables.lua:7: error: tile: a table with holes, or with keys that are neither all names nor all 1, 2, 3 [wrong-type]
--! | bad_tables.lua:8: error: a table with holes, or with keys that are neither all names nor all 1, 2, 3 [wrong-type]
