gpu "h100-sxm"
gemm {
  family = "simt"
  stages = 2,
}
--! exit 2
--! | syntax_error.lua:4: error: '}' expected (to close '{' at line 2) near 'stages' [syntax]
