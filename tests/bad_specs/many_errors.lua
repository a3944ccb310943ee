gpu "h100-sxm"
for i = 1, 100 do
  gemm { family = "naive", stages = -i }
end
--! exit 2
--! | many_errors.lua:3: error: stages: -1 is out of range; use 1 to 16 (1st gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -2 is out of range; use 1 to 16 (2nd gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -3 is out of range; use 1 to 16 (3rd gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -4 is out of range; use 1 to 16 (4th gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -5 is out of range; use 1 to 16 (5th gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -6 is out of range; use 1 to 16 (6th gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -7 is out of range; use 1 to 16 (7th gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -8 is out of range; use 1 to 16 (8th gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -9 is out of range; use 1 to 16 (9th gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -10 is out of range; use 1 to 16 (10th gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -11 is out of range; use 1 to 16 (11th gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -12 is out of range; use 1 to 16 (12th gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -13 is out of range; use 1 to 16 (13th gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -14 is out of range; use 1 to 16 (14th gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -15 is out of range; use 1 to 16 (15th gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -16 is out of range; use 1 to 16 (16th gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -17 is out of range; use 1 to 16 (17th gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -18 is out of range; use 1 to 16 (18th gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -19 is out of range; use 1 to 16 (19th gemm) [out-of-range]
--! | many_errors.lua:3: error: stages: -20 is out of range; use 1 to 16 (20th gemm) [out-of-range]
--! | gemmgen: 1 more error
