gpu "h100-sxm"
gemm {
  family = "simt",
  stages = { 2, 3 },
  tile = { { m = 64 }, { m = 128 } },
}
--! exit 2
--! | list_in_gemm.lua:4: error: stages: a list where gemm takes one value; write sweep instead of gemm [list-in-gemm]
--! | list_in_gemm.lua:5: error: tile: a list where gemm takes one value; write sweep instead of gemm [list-in-gemm]
