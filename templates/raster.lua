-- raster.lua - which tile a block takes: blocks run over groups of tiles so that those that run
-- together share operands in L2.

local raster = {}

-- Lines that define batch, m0 and n0 (first row and column of the block's tile).
function raster.coordinates(p)
  local tiles = {
    ("const unsigned tiles_m = (unsigned)((p.m + %d) / %d);"):format(p.tile_m - 1, p.tile_m),
    ("const unsigned tiles_n = (unsigned)((p.n + %d) / %d);"):format(p.tile_n - 1, p.tile_n),
    "const unsigned batch = blockIdx.x / (tiles_m * tiles_n);",
    "const unsigned tile = blockIdx.x % (tiles_m * tiles_n);",
  }
  local function add(text) tiles[#tiles + 1] = text end
  local g = p.raster_group
  -- fast: the axis along which consecutive blocks lie, inside a group of g tiles.
  local fast, slow = "m", "n"
  if p.raster_along == "n" then fast, slow = "n", "m" end
  if g == 1 then
    -- One tile along the fast axis a group would mean columns of one; plain order is meant.
    add(("const gg_i64 %s0 = (gg_i64)(tile %% tiles_%s) * %d;"):format(fast, fast, p["tile_" .. fast]))
    add(("const gg_i64 %s0 = (gg_i64)(tile / tiles_%s) * %d;"):format(slow, fast, p["tile_" .. slow]))
    return tiles
  end
  add(("const unsigned group = tile / (%d * tiles_%s);"):format(g, slow))
  add(("const unsigned in_group = tile %% (%d * tiles_%s);"):format(g, slow))
  add(("const unsigned rest = tiles_%s - group * %d;"):format(fast, g))
  add(("const unsigned side = rest < %d ? rest : %d;"):format(g, g))
  add(("const gg_i64 %s0 = (gg_i64)(group * %d + in_group %% side) * %d;"):format(fast, g, p["tile_" .. fast]))
  add(("const gg_i64 %s0 = (gg_i64)(in_group / side) * %d;"):format(slow, p["tile_" .. slow]))
  return tiles
end

return raster
