-- raster.lua - which tile a block takes: blocks run over groups of tiles so that those that run
-- together share operands in L2.

local names = use("names")

local raster = {}

-- Lines that define batch, m0 and n0 (first row and column of the block's tile).
function raster.coordinates(p)
  local lines = {}
  for _, x in ipairs { "m", "n" } do
    local tile = p["tile_" .. x]
    local count = tile > 1 and ("((p.%s + %d) / %d)"):format(x, tile - 1, tile) or "p." .. x
    lines[#lines + 1] = ("const unsigned tiles_%s = (unsigned)%s;"):format(x, count)
  end
  return names.append(lines, raster.tile(p, "blockIdx.x"))
end

-- The same for tile number `number` of all batches, where tiles_m and tiles_n are known. Blocks of a cluster
-- count as one tile here, of all their rows and columns; rank_m and rank_n (or rank) say which of it is whose.
function raster.tile(p, number)
  local blocks = p.family == "wgmma" and { m = p.cluster_m, n = p.cluster_n } or { m = 1, n = 1 }
  local both = blocks.m > 1 and blocks.n > 1
  local function side(axis) return p["tile_" .. axis] * blocks[axis] end
  local function own(axis)
    if blocks[axis] == 1 then return "" end
    return (" + rank%s * %d"):format(both and "_" .. axis or "", p["tile_" .. axis])
  end
  local one = number == "blockIdx.x" and "tile" or "in_batch" -- the tile's number inside its batch
  local tiles = {
    ("const unsigned batch = %s / (tiles_m * tiles_n);"):format(number),
    ("const unsigned %s = %s %% (tiles_m * tiles_n);"):format(one, number),
  }
  local function add(text) tiles[#tiles + 1] = text end
  local grouped = p.raster_group > 1
  -- What TMA addresses has extents below 2^31, so that the first row beyond them is a 32-bit number as well.
  local T, cast = "gg_i64", "(gg_i64)"
  if p.family == "wgmma" then T, cast = "unsigned", "" end
  -- fast: the axis along which consecutive blocks lie, inside a group of g tiles.
  local fast, slow = "m", "n"
  if p.raster_along == "n" then fast, slow = "n", "m" end
  local g = p.raster_group // blocks[fast]
  if not grouped then
    -- One tile along the fast axis a group would mean columns of one; plain order is meant.
    add(("const %s %s0 = %s(%s %% tiles_%s) * %d%s;"):format(T, fast, cast, one, fast, side(fast), own(fast)))
    add(("const %s %s0 = %s(%s / tiles_%s) * %d%s;"):format(T, slow, cast, one, fast, side(slow), own(slow)))
    return tiles
  end
  add(("const unsigned band = %s / (%d * tiles_%s);"):format(one, g, slow))
  add(("const unsigned in_band = %s %% (%d * tiles_%s);"):format(one, g, slow))
  add(("const unsigned rest = tiles_%s - band * %d;"):format(fast, g))
  add(("const unsigned side = rest < %d ? rest : %d;"):format(g, g))
  add(("const %s %s0 = %s(band * %d + in_band %% side) * %d%s;"):format(T, fast, cast, g, side(fast), own(fast)))
  add(("const %s %s0 = %s(in_band / side) * %d%s;"):format(T, slow, cast, side(slow), own(slow)))
  return tiles
end

return raster
