-- wgmma_cluster.lua - clusters whose blocks share tiles of A and B: each copies one part of a tile and multicasts
-- it to the blocks that need it. The functions are methods of wgmma.lua's object.
--
-- Block rank of a cluster of M x N is block rank / N along m and rank % N along n. Those alike in the first
-- share A, those alike in the second B.

local cluster = {
  methods = { "parts", "peers", "rank", "shared_begin", "shared_copies", "release_everywhere", "consumer_begin",
    "drain" },
}

local ROW = 128 -- bytes of a swizzled row

-- A block's number among those that share operand o, and how many they are.
local function place(p, o)
  local both = p.cluster_m > 1 and p.cluster_n > 1
  if o == "a" then return both and "rank_n" or "rank", p.cluster_n end
  return both and "rank_m" or "rank", p.cluster_m
end

-- How operand o is cut: K-major by rows; MN-major by whole boxes, or by rows (k) of every box.
local function cut(p, o)
  if not p["turn_" .. o] then return "rows" end
  return p["box_" .. o] == p.tile_k and "boxes" or "k"
end

-- Bytes between the parts of two blocks in a tile.
local function part_step(p, o)
  return cut(p, o) == "k" and p["box_" .. o] * ROW or p["part_" .. o]
end

-- Constants of the memory map.
function cluster:parts()
  local p, parts = self.p, {}
  for _, o in ipairs { "a", "b" } do
    local _, blocks = place(p, o)
    if blocks > 1 then
      parts[#parts + 1] = { constant = o:upper() .. "_PART", bytes = part_step(p, o),
        why = cut(p, o) == "k" and ("%d of %d rows (k) of each box: the part that a block copies"):format(
          p["box_" .. o], p.tile_k)
          or ("%s's tile / %d: the part that a block copies"):format(o:upper(), blocks) }
    end
  end
  return parts
end

-- Blocks that a stage's copies go to, and come from.
function cluster:peers() return self.p.cluster_m + self.p.cluster_n - 1 end

-- Which block of its cluster this is, and which cluster.
function cluster:rank()
  local p = self.p
  local blocks = p.cluster_m * p.cluster_n
  local lines = {
    ("const unsigned rank = gg_cluster_rank(); // a cluster takes %d x %d neighbouring tiles"):format(p.cluster_m,
      p.cluster_n),
  }
  if p.cluster_m > 1 and p.cluster_n > 1 then
    lines[#lines + 1] = ("const unsigned rank_m = rank / %d, rank_n = rank %% %d;"):format(p.cluster_n, p.cluster_n)
  end
  if p.persistent then
    lines[#lines + 1] = ("const unsigned cluster = blockIdx.x / %d, clusters = gridDim.x / %d;"):format(blocks, blocks)
  end
  return lines
end

-- This block's part of each shared operand: where it goes, which rows it is, to whom.
function cluster:shared_begin()
  local p, lines = self.p, {}
  local both = p.cluster_m > 1 and p.cluster_n > 1
  for _, o in ipairs { "a", "b" } do
    local rank, blocks = place(p, o)
    if blocks > 1 then
      local way = cut(p, o)
      local rows = way == "boxes" and p["copies_" .. o] * ROW // p.element or p["box_" .. o]
      lines[#lines + 1] = ("const unsigned part_%s = %s%s * %s_PART;"):format(o, o == "b" and "A_BYTES + " or "", rank,
        o:upper())
      lines[#lines + 1] = ("const int from_%s = (int)%s * %d; // %s of the tile"):format(o, rank, rows,
        way == "k" and "k" or o == "a" and "rows" or "columns")
      local mask = (1 << blocks) - 1
      local to = ("0x%x"):format(mask)
      if both and o == "a" then
        to = ("0x%xu << rank_m * %d"):format(mask, p.cluster_n)
      elseif both then
        mask = 0
        for i = 0, blocks - 1 do mask = mask | 1 << i * p.cluster_n end
        to = ("0x%xu << rank_n"):format(mask)
      end
      lines[#lines + 1] = ("const unsigned to_%s = %s; // a bit for each block that needs the tile"):format(o, to)
    end
  end
  return lines
end

-- TMA loads of this block's part of one k block of operand o; z: the coordinate of its matrix.
function cluster:shared_copies(o, z)
  local p, lines = self.p, {}
  local mn = o == "a" and "m" or "n"
  local way = cut(p, o)
  local box, box_bytes = ROW // p.element, p.tile_k * ROW
  local first_k, first_mn = ("kb * %d"):format(p.tile_k), ("(int)%s0"):format(mn)
  if way == "k" then first_k = first_k .. " + from_" .. o else first_mn = first_mn .. " + from_" .. o end
  for i = 0, p["copies_" .. o] - 1 do
    local at = ("at + part_%s%s"):format(o, i > 0 and (" + %d * %d"):format(i, box_bytes) or "")
    local x, y = first_k, first_mn
    if way ~= "rows" then x, y = first_mn .. (i > 0 and (" + %d"):format(i * box) or ""), first_k end
    lines[#lines + 1] = ("gg_tma_load_3d_multicast(%s, &p.map_%s, %s, %s, %s, full, to_%s);"):format(at, o, x, y, z, o)
  end
  return lines
end

-- One of the first threads of a warpgroup (or lanes of a warp) for each block that copies into this one.
function cluster:release_everywhere(thread, stage)
  return ("if (%s < %d) gg_mbar_arrive_cluster(EMPTY_AT + 8 * (unsigned)%s, peer);"):format(thread, self:peers(), stage)
end

function cluster:consumer_begin()
  if not self.shared then return {} end
  local thread = self.p.from_registers and "lane" or "in_group"
  return {
    ("const unsigned peer = rank ^ (unsigned)%s; // below %d: this block, and those that copy for it as well"):format(
      thread, self:peers()),
  }
end

-- Behind its last copy a block waits until nobody will arrive at its barriers again.
function cluster:drain()
  local lines = {
    "// -- Drain: the other blocks arrive at barriers of this one, which must be there",
    ("for (int s = 0; s < %d; ++s) {"):format(self.p.stages),
    "  gg_mbar_wait(EMPTY_AT + 8 * (unsigned)stage, parity);",
  }
  for _, line in ipairs(self:advance("stage", "parity")) do lines[#lines + 1] = "  " .. line end
  lines[#lines + 1] = "}"
  return lines
end

return cluster
