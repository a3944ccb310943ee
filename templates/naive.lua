-- naive.lua - the sum over k of family naive, operands straight from global memory.

local names = use("names")
local single = use("single")
local steps = use("steps")

local naive = {}

-- Sums of f16 are formed in f32, which is more precise; the plan says so.
local function sum_type(p) return p.type_acc == "f16" and "f32" or p.type_acc end

-- Name and type of the sum; scaled parts are added up in the epilogue's type.
function naive.result(p) return steps.has_parts(p) and "total" or "acc" end
function naive.result_type(p) return steps.has_parts(p) and p.type_epilogue or sum_type(p) end

local function loads(p, s, offset_a, offset_b)
  local lines = {}
  local A, B = names.memory_type(p.type_a), names.memory_type(p.type_b)
  if A == B then
    lines[1] = ("%s a%s, b%s;"):format(A, s, s)
  else
    lines[1], lines[2] = ("%s a%s;"):format(A, s), ("%s b%s;"):format(B, s)
  end
  lines[#lines + 1] = ("gg_ldg_%s(&a%s, ga%s);"):format(names.memory_name(p.type_a), s, offset_a)
  lines[#lines + 1] = ("gg_ldg_%s(&b%s, gb%s);"):format(names.memory_name(p.type_b), s, offset_b)
  return lines
end

local function fma(p, s)
  local t = sum_type(p)
  return ("acc = %s(%s, %s, acc);"):format(names.fma(t), names.widened(p.type_a, "a" .. s, t),
    names.widened(p.type_b, "b" .. s, t))
end

-- Distance of a step of k in A and in B.
local function strides(p)
  return names.contiguous_k(p, "a") and "1" or "p.lda", names.contiguous_k(p, "b") and "1" or "p.ldb"
end

-- Steps done .. last of the sum.
local function sum(p, last, indent)
  local lines, U = {}, p.unroll_k
  local a_step, b_step = strides(p)
  local function add(text) lines[#lines + 1] = indent .. text end
  local function inner(list)
    for _, line in ipairs(list) do add("  " .. line) end
  end
  add(("for (; done + %d <= %s; done += %d) {"):format(U, last, U))
  for s = 0, U - 1 do inner(loads(p, s, (" + %d * %s"):format(s, a_step), (" + %d * %s"):format(s, b_step))) end
  for s = 0, U - 1 do add("  " .. fma(p, s)) end
  add(("  ga += %d * %s;"):format(U, a_step))
  add(("  gb += %d * %s;"):format(U, b_step))
  add("}")
  local whole = p.variant == "full" and not (steps.has_parts(p) and 128 % U > 0)
  if U > 1 and not whole then
    add(("// the last k %% %d steps"):format(U))
    add(("for (; done < %s; ++done) {"):format(last))
    inner(loads(p, "", "", ""))
    add("  " .. fma(p, ""))
    add("  ga += " .. a_step .. ";")
    add("  gb += " .. b_step .. ";")
    add("}")
  end
  return lines
end

-- Lines that leave the sum in acc, or the sum of scaled parts in total.
function naive.loop(p)
  local t = sum_type(p)
  local T, E = names.c_type(t), names.c_type(p.type_epilogue)
  local lines, k = {}, "k"
  local function add(text) lines[#lines + 1] = text end
  if single.all_stay(p) then
    k = "own_k"
    add("const gg_i64 own_k = row < p.m && column < p.n ? k : 0; // a thread outside D sums nothing")
  end
  if not steps.has_parts(p) then
    add(("%s acc = %s;"):format(T, names.zero(t)))
    add("gg_i64 done = 0;")
    return names.append(lines, sum(p, k, ""))
  end
  add(("%s total = %s;"):format(E, names.zero(p.type_epilogue)))
  add("gg_i64 done = 0;")
  add(("for (gg_i64 kb = 0; kb * 128 < %s; ++kb) {"):format(k))
  add(("  const gg_i64 end = kb * 128 + 128 < %s ? kb * 128 + 128 : %s;"):format(k, k))
  add(("  %s acc = %s;"):format(T, names.zero(t)))
  names.append(lines, sum(p, "end", "  "))
  for _, line in ipairs(steps.part_scale(p, "kb", "row", "column")) do add("  " .. line) end
  add(("  total = %s(%s, scale, total);"):format(names.fma(p.type_epilogue),
    names.from_accumulator(t, "acc", p.type_epilogue)))
  add("}")
  return lines
end

return naive
