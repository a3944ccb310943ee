gpu "h100-sxm"
for i = 1, 5000 do
  gemm { family = "naive", dtype = "f32" }
end
--! exit 2
--! | too_many_calls.lua:3: error: more than 4096 combinations in one file; split the file (4097th gemm) [too-many-points]
