-- tf32 on Hopper's tensor cores (H100, H200): f32 in memory, of which the tensor cores read 10 bits of
-- fraction, f32 sums, f32 out.
--
-- Try:  gemmgen specs/h100_tf32.lua -o out/
--       gemmgen check specs/h100_tf32.lua --problem 256x256x256
--       gemmgen explain specs/h100_tf32.lua
--
-- The tensor cores read tf32 K-major alone. What lies otherwise is turned inside the kernel (docs/wgmma.md):
-- one operand on its way into registers (nn, tt), the other (tn) by the warpgroup that copies.

gpu "h100-sxm"

-- speed and overhead_k are measured (H200, docs/wgmma.md).
local function tile(layout, m, n, stages, speed, overhead_k, more)
  gemm {
    family = "wgmma", dtype = "tf32", layout = layout, tile = { m = m, n = n }, stages = stages,
    persistent = more.persistent, cluster = more.cluster,
    dispatch = { edge = more.edge or false, speed = speed, overhead_k = overhead_k },
  }
end

local guarded, once = { edge = true }, { persistent = false }

-- Both operands as the tensor cores read them.
tile("nt", 128, 256, 3, 1122, 470, guarded)
tile("nt", 128, 256, 4, 1081, 220, once)
tile("nt", 128, 224, 5, 1085, 250, once)
tile("nt", 128, 128, 7, 989, 270, once)
tile("nt", 64, 128, 9, 860, 375, once)
tile("nt", 64, 64, 13, 650, 400, once)

-- D transposed, B through registers: the long side of the tile is m.
tile("nn", 256, 128, 3, 956, 165, guarded)
tile("nn", 256, 128, 4, 1075, 250, once)
tile("nn", 128, 128, 5, 875, 260, {})
tile("nn", 64, 128, 9, 711, 360, once)

-- A through registers.
tile("tt", 128, 256, 4, 1124, 315, { persistent = false, edge = true })
tile("tt", 128, 128, 7, 925, 340, once)
tile("tt", 64, 128, 9, 649, 350, once)

-- A through registers, B turned by the warpgroup that copies, at 0.7 of the others' speed: for calls without a
-- workspace. With one, B is turned by a pass before the kernel for tt.
tile("tn", 256, 128, 3, 785, 300, guarded)
