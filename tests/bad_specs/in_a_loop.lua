gpu "h100-sxm"
for _, m in ipairs { 64, 128, "256" } do
  gemm {
    family = "naive",
    tile = {
      m = m,
    },
  }
end
--! exit 2
--! | in_a_loop.lua:6: error: tile.m: "256" where a number belongs; use 1 to 1024 (3rd gemm) [wrong-type]
--! | in_a_loop.lua:6: error: tile.m: 128 x 16 = 2048 threads; a block takes a multiple of 32 up to 1024 (2nd gemm) [threads]
