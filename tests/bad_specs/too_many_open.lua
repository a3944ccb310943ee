-- Each gemm that leaves everything open costs a search.
gpu "h100-sxm"
local types = { "f16", "bf16", "f32", "f64", "tf32" }
for _, a in ipairs(types) do
  for _, bias in ipairs { "none", "n", "m" } do
    for _, residual in ipairs { true, false } do
      gemm { dtype = a, layout = { "nn", "nt", "tn", "tt" }, epilogue = { bias = bias, residual = residual } }
    end
  end
end
--! exit 2
--! | too_many_open.lua:7: error: more than 64 gemms leave everything open; name a family or a tile in the others [too-many-open]
