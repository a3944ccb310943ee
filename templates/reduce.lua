-- reduce.lua - lines of the pass that adds up the parts of a product whose k was cut.

local names = use("names")
local single = use("single")

local reduce = {}

-- acc + x, as an expression.
local function add(t, x)
  if t == "s32" then return ("gg_mad_s32(%s, 1, acc)"):format(x) end
  return ("gg_add_%s(acc, %s)"):format(t, x)
end

-- Lines that leave the sum in acc.
function reduce.loop(p)
  local t, T, U = p.type_acc, names.memory_type(p.type_b), p.unroll_k
  local lines, k = {}, "k"
  local function put(...) lines[#lines + 1] = (...):format(select(2, ...)) end
  local function load(x, offset) put("  gg_ldg_%s(&%s, part%s);", names.memory_name(p.type_b), x, offset) end
  local function value(x) return names.widened(p.type_b, x, t) end
  if single.all_stay(p) then
    k = "own_k"
    put("const gg_i64 own_k = row < p.m && column < p.n ? k : 0; // a thread outside D sums nothing")
  end
  put("%s acc = %s;", names.c_type(t), names.zero(t))
  put("gg_i64 done = 0;")
  put("for (; done + %d <= %s; done += %d) {", U, k, U)
  put("  %s %s;", T, names.list("x", 0, U - 1))
  for u = 0, U - 1 do load("x" .. u, u > 0 and (" + %d * p.stride_b"):format(u) or "") end
  for u = 0, U - 1 do put("  acc = %s;", add(t, value("x" .. u))) end
  put("  part += %d * p.stride_b;", U)
  put("}")
  put("// the last k %% %d parts", U)
  put("for (; done < %s; ++done) {", k)
  put("  %s x;", T)
  load("x", "")
  put("  acc = %s;", add(t, value("x")))
  put("  part += p.stride_b;")
  put("}")
  return lines
end

-- What the header says instead of a product.
function reduce.about(p, job)
  return {
    ("// Spec    D[m,n] = epilogue(sum of k parts B[m,n] of %s, p.stride_b apart), %s out"):format(p.type_b, p.type_d),
    ("// Plan    sm_%d  block %dx%d  parts in flight %d  threads %d"):format(p.arch, p.tile_m, p.tile_n, p.unroll_k,
      p.threads),
    ("// Budget  shared %d / %d B   registers <= %d   blocks/SM %d   code <= %d B"):format(p.shared_bytes,
      job.shared_block, p.register_limit, p.blocks_sm, p.code_bytes),
    ("// Model   %.1f us + bytes read and written / %d GB/s (%s)"):format(p.overhead_ns / 1000, p.copy_gbs, job.gpu),
  }
end

return reduce
