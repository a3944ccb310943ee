gpu "h100-sxm"
gemm { family = "naive" }
for i = 1, 1e9 do
end
--! exit 2
--! | endless_loop.lua:3: error: the script ran more than 10000000 steps; is there a loop without end? [script-steps]
