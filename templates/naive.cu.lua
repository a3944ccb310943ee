$ local frame, raster, names, scalars = use("frame"), use("raster"), use("names"), use("scalars")
$ local T, t, U = names.c_type(p.type_acc), p.type_acc, p.unroll_k
$ local M, m = names.memory_type(p.type_a), names.memory_name(p.type_a)
$ local guarded = p.variant ~= "full"
$ local a_along_k, b_along_k = names.contiguous_k(p, "a"), names.contiguous_k(p, "b")
$ local a_step = a_along_k and "1" or "p.lda"
$ local b_step = b_along_k and "1" or "p.ldb"
$ section "memory"
// None: operands are read straight from global memory.
$ section "kernel"
${frame.signature(p, job)}
  // -- Coordinates: thread (row, column) of a ${p.tile_m} x ${p.tile_n} block owns one element of D
  ${raster.coordinates(p)}
  const gg_i64 row = m0 + threadIdx.x / ${p.tile_n};
  const gg_i64 column = n0 + threadIdx.x % ${p.tile_n};
$ if guarded then
  if (row >= p.m || column >= p.n) return;
$ end
  ${scalars.declare(p)}
  const ${M} *ga = (const ${M} *)p.a + batch * p.stride_a + ${a_along_k and "row * p.lda" or "row"};
  const ${M} *gb = (const ${M} *)p.b + batch * p.stride_b + ${b_along_k and "column * p.ldb" or "column"};

  // -- Main loop: acc = sum over k of A[row,k] * B[k,column], ${U} steps unrolled
  ${T} acc = ${names.zero(t)};
  gg_i64 done = 0;
  for (; done + ${U} <= k; done += ${U}) {
$ for s = 0, U - 1 do
    ${M} a${s}, b${s};
    gg_ldg_${m}(&a${s}, ga + ${s} * ${a_step});
    gg_ldg_${m}(&b${s}, gb + ${s} * ${b_step});
$ end
$ for s = 0, U - 1 do
    acc = ${names.fma(t)}(${names.widened(p.type_a, "a" .. s)}, ${names.widened(p.type_b, "b" .. s)}, acc);
$ end
    ga += ${U} * ${a_step};
    gb += ${U} * ${b_step};
  }
$ if guarded and U > 1 then
  // the last k % ${U} steps
  for (; done < k; ++done) {
    ${M} a, b;
    gg_ldg_${m}(&a, ga);
    gg_ldg_${m}(&b, gb);
    acc = ${names.fma(t)}(${names.widened(p.type_a, "a")}, ${names.widened(p.type_b, "b")}, acc);
    ga += ${a_step};
    gb += ${b_step};
  }
$ end

  // -- Epilogue: D = alpha * acc + beta * C
  ${T} x = ${scalars.scaled(p, "acc")};
$ local reads = scalars.reads_c(p)
$ if reads then
  ${reads == "" and "{" or "if (" .. reads .. ") {"}
    ${M} c;
    gg_ld_${m}(&c, (const ${M} *)p.c + batch * p.stride_c + row * p.ldc + column);
    x = ${scalars.plus_c(p, "x", names.widened(p.type_c, "c"))};
  }
$ end
  gg_st_${m}((${M} *)p.d + batch * p.stride_d + row * p.ldd + column, ${names.narrowed(p.type_d, "x")});
}
