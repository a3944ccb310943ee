gpu "h100-sxm"
local n = {}
for i = 1, 70 do
  n[i] = i
end
sweep { family = "simt", tile = { m = n, n = n } }
--! exit 2
--! | too_many_points.lua:6: error: tile.n: more than 4096 combinations in one file; split the sweep [too-many-points]
