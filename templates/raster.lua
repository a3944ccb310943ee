-- raster.lua - which tile a block takes: blocks run over groups of tiles so that those that run
-- together share operands in L2.

local names = use("names")

local raster = {}

-- Lines that define batch, m0 and n0 (first row and column of the block's tile).
function raster.coordinates(p)
  local lines = {
    ("const unsigned tiles_m = (unsigned)((p.m + %d) / %d);"):format(p.tile_m - 1, p.tile_m),
    ("const unsigned tiles_n = (unsigned)((p.n + %d) / %d);"):format(p.tile_n - 1, p.tile_n),
  }
  return names.append(lines, raster.tile(p, "blockIdx.x"))
end

-- The same for tile number `number` of all batches, where tiles_m and tiles_n are known.
function raster.tile(p, number)
  local one = number == "blockIdx.x" and "tile" or "in_batch" -- the tile's number inside its batch
  local tiles = {
    ("const unsigned batch = %s / (tiles_m * tiles_n);"):format(number),
    ("const unsigned %s = %s %% (tiles_m * tiles_n);"):format(one, number),
  }
  local function add(text) tiles[#tiles + 1] = text end
  local g = p.raster_group
  -- fast: the axis along which consecutive blocks lie, inside a group of g tiles.
  local fast, slow = "m", "n"
  if p.raster_along == "n" then fast, slow = "n", "m" end
  if g == 1 then
    -- One tile along the fast axis a group would mean columns of one; plain order is meant.
    add(("const gg_i64 %s0 = (gg_i64)(%s %% tiles_%s) * %d;"):format(fast, one, fast, p["tile_" .. fast]))
    add(("const gg_i64 %s0 = (gg_i64)(%s / tiles_%s) * %d;"):format(slow, one, fast, p["tile_" .. slow]))
    return tiles
  end
  add(("const unsigned band = %s / (%d * tiles_%s);"):format(one, g, slow))
  add(("const unsigned in_band = %s %% (%d * tiles_%s);"):format(one, g, slow))
  add(("const unsigned rest = tiles_%s - band * %d;"):format(fast, g))
  add(("const unsigned side = rest < %d ? rest : %d;"):format(g, g))
  add(("const gg_i64 %s0 = (gg_i64)(band * %d + in_band %% side) * %d;"):format(fast, g, p["tile_" .. fast]))
  add(("const gg_i64 %s0 = (gg_i64)(in_band / side) * %d;"):format(slow, p["tile_" .. slow]))
  return tiles
end

return raster
