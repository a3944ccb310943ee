-- f16 on Hopper's tensor cores (H100, H200): TMA feeds wgmma, f32 sums, f16 out.
--
-- Try:  gemmgen specs/h100_f16.lua -o out/
--       gemmgen check specs/h100_f16.lua
--       gemmgen explain specs/h100_f16.lua
--
-- Each gemm becomes up to three kernels a layout: full (every call that TMA can address: bases, leading
-- dimensions and strides that are multiples of 16 bytes; any m and k, n a multiple of 8), edge (any D,
-- where dispatch.edge is not false) and narrow (anything). The library takes the one that it predicts to
-- be fastest. speed and overhead_k are those measured on an H200 (docs/wgmma.md): per mille of the fastest
-- tile, and what a tile costs besides its k. Beside a tile with cut = true stand a kernel of raw sums and a
-- pass that adds them up: for calls with a long k and few tiles (docs/split.md).

gpu "h100-sxm"

local all = { "nn", "nt", "tn", "tt" }

-- One tile of the list. more: fields that differ.
local function tile(m, n, stages, speed, overhead_k, more)
  local point = {
    family = "wgmma",
    dtype = "f16",
    layout = more.layout or all,
    tile = { m = m, n = n },
    stages = stages,
    schedule = more.schedule,
    persistent = more.persistent,
    cluster = more.cluster or more.split and { k = more.split },
    dispatch = { speed = speed, overhead_k = overhead_k, edge = more.edge or false, split = more.cut },
  }
  gemm(point)
end

-- Large problems: the widest instruction, two warpgroups that share B; all of D is staged, so the next
-- tile's products start while its stores run.
tile(128, 256, 3, 970, 225, { edge = true })

-- One wave of them (2048^3): D takes the place of the ring, which leaves a fourth stage.
tile(128, 256, 4, 968, 190, { persistent = false, cut = true })

-- Between: half the tile, warpgroups in turn, so that stores hide behind the other's products.
tile(128, 128, 5, 954, 450, { schedule = "pingpong", cut = true })

-- Small problems: more tiles of less work.
tile(64, 128, 9, 843, 625, { persistent = false })
tile(64, 64, 13, 628, 650, { persistent = false, edge = true, cut = true })

-- Weights stored output by input (nt): widths that fill whole waves of 132 SMs for usual sizes.
local nt = "nt"
tile(128, 208, 4, 977, 330, { layout = nt, schedule = "pingpong" })
tile(128, 224, 4, 955, 180, { layout = nt })
tile(128, 192, 5, 985, 425, { layout = nt, persistent = false })
tile(128, 192, 5, 975, 350, { layout = nt, persistent = false, cluster = { m = 2 } })
tile(192, 200, 4, 986, 400, { layout = nt, persistent = false })
tile(128, 96, 8, 860, 525, { layout = nt, persistent = false })
tile(128, 64, 9, 800, 600, { layout = nt, persistent = false })
tile(64, 96, 10, 684, 625, { layout = nt, persistent = false })

-- Pairs of blocks share B by multicast: where tiles are small and k is long, L2 is the limit.
tile(128, 128, 6, 962, 420, { layout = nt, schedule = "pingpong", cluster = { m = 2 } })
tile(128, 176, 5, 965, 400, { layout = nt, schedule = "pingpong", cluster = { m = 2 } })

-- Up to 4 rows (decoding): B is read once, as fast as memory gives it.
for _, rows in ipairs { 1, 2, 4 } do
  gemm { family = "gemv", dtype = "f16", layout = nt, tile = { m = rows } }
end

-- Up to 64 rows: the tensor cores compute D transposed, with columns of B as an instruction's 64 rows. Memory is the
-- limit, so speed is the plan's (docs/wgmma.md, "Few rows"); of 128 columns a quarter more: where their blocks are
-- at most half as many as SMs they are launched early (docs/launching.md).
for _, few in ipairs { { rows = 16, wide = 348 }, { rows = 32, wide = 600 } } do
  for _, n in ipairs { 64, 128 } do
    gemm {
      family = "wgmma", dtype = "f16", layout = { "nt", "nn" }, tile = { m = few.rows, n = n },
      dispatch = { edge = false, speed = n == 128 and few.wide or nil },
    }
  end
end

-- The same for many columns: two blocks an SM, so that one's stores run beside the other's copies (measured: 3 to 5 %
-- at 28672 columns).
gemm {
  family = "wgmma", dtype = "f16", layout = { "nt", "nn" }, tile = { m = 16, n = 64 }, min_blocks = 2,
  dispatch = { edge = false, speed = 400 },
}

-- Few tiles and long k: the blocks of a cluster share a tile's k and add up through shared memory.
tile(128, 256, 4, 978, 575, { layout = nt, split = 2 })
tile(128, 64, 9, 576, 900, { layout = nt, split = 8 })
tile(64, 64, 13, 420, 1200, { layout = nt, split = 4 })
tile(64, 64, 13, 300, 500, { layout = nt, split = 8 })
