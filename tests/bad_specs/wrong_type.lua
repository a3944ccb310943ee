gpu "h100-sxm"
gemm {
  family = 3,
  tile = 64,
  stages = "3",
  padding = true,
  copy = { a = {} },
  unroll = { stages = 1 },
  epilogue = { alpha = 2, beta = "x" },
  layout = { "nn", 5 },
}
--! exit 2
--! | wrong_type.lua:3: error: family: 3 where a name in quotes belongs, like "naive" [wrong-type]
--! | wrong_type.lua:4: error: tile: 64 where a table belongs, like { m = ... } [wrong-type]
--! | wrong_type.lua:5: error: stages: "3" where a number belongs; use 1 to 16 [wrong-type]
--! | wrong_type.lua:6: error: padding: true where a number belongs; use 0 to 64 [wrong-type]
--! | wrong_type.lua:7: error: copy.a: an empty list; give a value [wrong-type]
--! | wrong_type.lua:8: error: unroll.stages: 1 where true or false belongs [wrong-type]
--! | wrong_type.lua:9: error: epilogue.alpha: 2 cannot be compiled in; use 0, 1, or true for a value at run time [wrong-value]
--! | wrong_type.lua:9: error: epilogue.beta: "x" cannot be compiled in; use 0, 1, or true for a value at run time [wrong-value]
--! | wrong_type.lua:10: error: layout: 5 where a name in quotes belongs, like "nn" [wrong-type]
