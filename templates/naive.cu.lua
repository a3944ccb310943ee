$ local frame, raster, names, scalars = use("frame"), use("raster"), use("names"), use("scalars")
$ local naive, single, steps = use("naive"), use("single"), use("steps")
$ local A, B = names.memory_type(p.type_a), names.memory_type(p.type_b)
$ local a_along_k, b_along_k = names.contiguous_k(p, "a"), names.contiguous_k(p, "b")
$ section "memory"
// None: operands are read straight from global memory.
$ section "kernel"
${frame.signature(p, job)}
  // -- Coordinates: thread (row, column) of a ${p.tile_m} x ${p.tile_n} block owns one element of D
  ${raster.coordinates(p)}
  const gg_i64 row = m0 + threadIdx.x / ${p.tile_n};
  const gg_i64 column = n0 + threadIdx.x % ${p.tile_n};
  ${single.leave(p, "row", "column")}
  ${scalars.declare(p)}
  const ${A} *ga = (const ${A} *)p.a + batch * p.stride_a + ${a_along_k and "row * p.lda" or "row"};
  const ${B} *gb = (const ${B} *)p.b + batch * p.stride_b + ${b_along_k and "column * p.ldb" or "column"};

  // -- Main loop: acc = sum over k of A[row,k] * B[k,column], ${p.unroll_k} steps unrolled
  ${naive.loop(p)}

  // -- Epilogue: ${steps.formula(p)}
  ${single.epilogue(p, naive.result(p), naive.result_type(p), "row", "column")}
}
