-- Few rows (decoding: m tokens, up to 64) times weights, bf16 on Hopper's tensor cores.
--
-- Try:  gemmgen explain specs/h100_decode_bf16.lua --problem 16x4096x4096
--       gemmgen check specs/h100_decode_bf16.lua
--
-- An instruction of wgmma has 64 rows. Of a tile with fewer the tensor cores compute D transposed: columns of B
-- fill the 64 rows, and the m rows of A are the instruction's columns, of which 8, 16, 24 ... 56 will do
-- (docs/wgmma.md, "Few rows"). Such a call reads the weights once and is bound by that; a tile of 64 rows would
-- copy and multiply rows that are not there, and hold fewer stages of weights.
--
-- `speed` is left to the plan, from the bytes and instructions of a k tile. h100_bf16.lua has the tiles that an H200
-- found fastest; here are others to be tried.

gpu "h100-sxm"

-- persistent = false: a block has one tile, since all tiles of such calls run at once.
local function rows(m, n, more)
  gemm {
    family = "wgmma",
    dtype = "bf16",
    layout = { "nt", "nn" }, -- weights stored output by input, or input by output
    tile = { m = m, n = n },
    persistent = more.persistent or false,
    min_blocks = more.blocks,
    cluster = more.cluster,
    dispatch = { edge = more.edge or false },
  }
end

-- 64 columns: 64 blocks of 4096 outputs. 128: half as many copies of A where outputs are many.
rows(8, 64, { edge = true })
rows(16, 64, {})
rows(16, 128, {})
rows(32, 64, {})
rows(32, 128, {})

-- Pairs of blocks share A: with 32 rows it is a third of what a block of 64 columns copies.
rows(32, 64, { cluster = { n = 2 } })

-- Several blocks an SM, with fewer stages each: a block's beginning and end run beside the others' copies, and 28672
-- outputs (448 tiles of 64 columns) come in one round.
rows(16, 64, { blocks = 4 })
rows(16, 64, { blocks = 3 })
rows(16, 64, { blocks = 2 })
rows(16, 64, { blocks = 4, persistent = true })
rows(16, 64, { blocks = 2, persistent = true })
rows(16, 128, { blocks = 2 })
rows(32, 64, { blocks = 4 })
rows(32, 64, { blocks = 2 })

-- Two blocks a tile, each with half of k: 4096 outputs are 64 tiles, 128 blocks; 6144 are 96, of which two an SM fit.
rows(16, 64, { cluster = { k = 2 } })
rows(16, 64, { cluster = { k = 2 }, blocks = 2 })
rows(32, 64, { cluster = { k = 2 } })
rows(32, 64, { cluster = { k = 4 }, blocks = 2 })
