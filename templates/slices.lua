-- slices.lua - sum of a block's k slices through shared memory, in fixed order: slice s adds slice
-- s + half for half = slices / 2, ..., 1, so every run gives the same bits.

local names = use("names")

local slices = {}

function slices.sum(p)
  local lines, t = {}, p.type_acc
  local function add(text) lines[#lines + 1] = text end
  local group = p.threads // p.k_slices
  local part = p.tile_m * p.tile_n * p.element
  add(("const unsigned sum_at = (unsigned)(tid %% %d * %d);"):format(group, p.element))
  add("gg_syncthreads(); // the ring has been read")
  local half = p.k_slices // 2
  while half >= 1 do
    add(("if (slice >= %d && slice < %d) {"):format(half, 2 * half))
    add(("  const unsigned to = sum_at + (unsigned)(slice - %d) * %d;"):format(half, part))
    for i = 0, p.thread_m - 1 do
      for j = 0, p.thread_n - 1 do
        add(("  gg_sts_%s(to + %d, acc%d_%d);"):format(t, (i * p.thread_n + j) * group * p.element, i, j))
      end
    end
    add("}")
    add("gg_syncthreads();")
    add(("if (slice < %d) {"):format(half))
    add(("  const unsigned from = sum_at + (unsigned)slice * %d;"):format(part))
    add(("  %s part;"):format(names.c_type(t)))
    for i = 0, p.thread_m - 1 do
      for j = 0, p.thread_n - 1 do
        add(("  gg_lds_%s(&part, from + %d);"):format(t, (i * p.thread_n + j) * group * p.element))
        add(("  acc%d_%d = gg_add_%s(acc%d_%d, part);"):format(i, j, t, i, j))
      end
    end
    add("}")
    half = half // 2
    if half >= 1 then add("gg_syncthreads();") end
  end
  add("if (slice > 0) return;")
  return lines
end

return slices
