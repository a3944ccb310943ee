-- slices.lua - sum of a block's k slices through shared memory, in fixed order: slice s adds slice
-- s + half for half = slices / 2, ..., 1, so every run gives the same bits.

local names = use("names")

local slices = {}

function slices.sum(p)
  local lines, t = {}, p.type_acc
  local function add(text) lines[#lines + 1] = text end
  add(("const unsigned sum_at = (unsigned)(tid %% %d * %d);"):format(p.threads // p.k_slices, p.element))
  local function place(base, i, j)
    local index = i * p.thread_n + j
    return base .. (index > 0 and (" + %d * SUM_PITCH"):format(index) or "")
  end
  add("gg_syncthreads(); // the ring has been read")
  local half = p.k_slices // 2
  while half >= 1 do
    if half == 1 then add("if (slice == 1) {") else
      add(("if (slice >= %d && slice < %d) {"):format(half, 2 * half))
    end
    add(("  const unsigned to = sum_at + (unsigned)(slice - %d) * SUM_BYTES;"):format(half))
    for i = 0, p.thread_m - 1 do
      for j = 0, p.thread_n - 1 do
        add(("  gg_sts_%s(%s, acc%d_%d);"):format(t, place("to", i, j), i, j))
      end
    end
    add("}")
    add("gg_syncthreads();")
    add(half == 1 and "if (slice == 0) {" or ("if (slice < %d) {"):format(half))
    add("  const unsigned from = sum_at + (unsigned)slice * SUM_BYTES;")
    add(("  %s part;"):format(names.c_type(t)))
    for i = 0, p.thread_m - 1 do
      for j = 0, p.thread_n - 1 do
        add(("  gg_lds_%s(&part, %s);"):format(t, place("from", i, j)))
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
