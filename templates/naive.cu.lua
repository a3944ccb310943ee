$ local frame, raster, names, scalars = use("frame"), use("raster"), use("names"), use("scalars")
$ local T, t, U = names.c_type(p.type_a), p.type_a, p.unroll_k
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
  const ${T} *ga = (const ${T} *)p.a + batch * p.stride_a + ${a_along_k and "row * p.lda" or "row"};
  const ${T} *gb = (const ${T} *)p.b + batch * p.stride_b + ${b_along_k and "column * p.ldb" or "column"};

  // -- Main loop: acc = sum over k of A[row,k] * B[k,column], ${U} steps unrolled
  ${T} acc = ${names.zero(t)};
  gg_i64 done = 0;
  for (; done + ${U} <= k; done += ${U}) {
$ for s = 0, U - 1 do
    ${T} a${s}, b${s};
    gg_ldg_${t}(&a${s}, ga + ${s} * ${a_step});
    gg_ldg_${t}(&b${s}, gb + ${s} * ${b_step});
$ end
$ for s = 0, U - 1 do
    acc = ${names.fma(t)}(a${s}, b${s}, acc);
$ end
    ga += ${U} * ${a_step};
    gb += ${U} * ${b_step};
  }
$ if guarded and U > 1 then
  // the last k % ${U} steps
  for (; done < k; ++done) {
    ${T} a, b;
    gg_ldg_${t}(&a, ga);
    gg_ldg_${t}(&b, gb);
    acc = ${names.fma(t)}(a, b, acc);
    ga += ${a_step};
    gb += ${b_step};
  }
$ end

  // -- Epilogue: D = alpha * acc + beta * C
  ${T} x = ${scalars.scaled(p, "acc")};
$ local reads = scalars.reads_c(p)
$ if reads then
  ${reads == "" and "{" or "if (" .. reads .. ") {"}
    ${T} c;
    gg_ld_${t}(&c, (const ${T} *)p.c + batch * p.stride_c + row * p.ldc + column);
    x = ${scalars.plus_c(p, "x", "c")};
  }
$ end
  gg_st_${t}((${T} *)p.d + batch * p.stride_d + row * p.ldd + column, x);
}
