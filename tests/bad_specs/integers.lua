gpu "h100-sxm"
gemm {
  family = "simt",
  tile = { m = 0 / 0, n = 1 / 0, k = 7.5 },
  stages = -1,
  padding = 1e300,
  copy = { a = 9223372036854775807, b = math.mininteger },
  min_blocks = 0,
  k_slices = 4 / 2, -- a whole number is one, however it was made
}
--! exit 2
--! | integers.lua:4: error: tile.m: nan is not a whole number; use 1 to 1024 [not-integer]
--! | integers.lua:4: error: tile.n: inf is not a whole number; use 1 to 1024 [not-integer]
--! | integers.lua:4: error: tile.k: 7.5 is not a whole number; use 1 to 1024 [not-integer]
--! | integers.lua:5: error: stages: -1 is out of range; use 1 to 16 [out-of-range]
--! | integers.lua:6: error: padding: 1e+300 is out of range; use 0 to 64 [out-of-range]
--! | integers.lua:7: error: copy.a: 9223372036854775807 is out of range; use 1 to 16 [out-of-range]
--! | integers.lua:7: error: copy.b: -9223372036854775808 is out of range; use 1 to 16 [out-of-range]
--! | integers.lua:8: error: min_blocks: 0 is out of range; use 1 to 32 [out-of-range]
