$ local frame, raster, names, scalars = use("frame"), use("raster"), use("names"), use("scalars")
$ local gemv, single, steps = use("gemv"), use("single"), use("steps")
$ local M, V, warps = p.tile_m, p.vector, p.threads // 32
$ local A, B = names.memory_type(p.type_a), names.memory_type(p.type_b)
$ local rows = M > 1 and "rows" or "1" -- of A that the block has
$ local round = p.threads * V -- of k: a load of every thread
$ section "memory"
//   offset   bytes  what
//        0  ${("%6d"):format(p.shared_bytes)}  sums of ${warps} warps, ${M} row${M > 1 and "s" or ""} each
$ section "kernel"
${frame.signature(p, job)}
  ${frame.order(p)}
  // -- Coordinates: a block has ${M} row${M > 1 and "s" or ""} of A and one of B; its threads share their k, ${V} at a time
  ${raster.coordinates(p)}
  const int tid = (int)threadIdx.x;
  const int lane = tid % 32;
  const int warp = tid / 32;
$ if M > 1 then
  const int rows = p.m - m0 < ${M} ? (int)(p.m - m0) : ${M};
$ end
  ${scalars.declare(p)}
  const ${A} *ga = (const ${A} *)p.a + batch * p.stride_a + m0 * p.lda + tid * ${V};
  const ${B} *gb = (const ${B} *)p.b + batch * p.stride_b + n0 * p.ldb + tid * ${V};

  // -- Main loop: acc = sum over the thread's k of A[row,k] * B[k,column], ${p.unroll_k // V} loads of B in flight
  ${names.c_type(p.type_acc)} ${gemv.sums(M, " = " .. names.zero(p.type_acc))};
  gg_i64 left = k - tid * ${V}; // of k, from the thread's next chunk on
  for (; left > ${(p.unroll_k // V - 1) * round}; left -= ${p.unroll_k // V * round}) {
    ${gemv.round(p, p.unroll_k // V)}
  }
  for (; left > 0; left -= ${round}) {
    ${gemv.round(p, 1)}
  }

  // -- Sum over the block: lanes, then warps, in order
  for (int other = 16; other > 0; other /= 2) {
    ${gemv.lanes(p)}
  }
  if (lane == 0) {
    ${gemv.publish(p)}
  }
  gg_syncthreads();
$ if not p.absmax then
  if (tid >= ${rows}) return; // a thread finishes a row
$ end
  const int mine = ${p.absmax and "tid < " .. rows .. " ? tid : 0" or "tid"};
  const gg_i64 row = m0 + mine;
  const gg_i64 column = n0;
  ${names.c_type(p.type_acc)} acc = ${names.zero(p.type_acc)};
  ${gemv.collect(p)}

  // -- Epilogue: ${steps.formula(p)}
  ${single.epilogue(p, "acc", p.type_acc, "row", "column", p.absmax and "tid < " .. rows or nil)}
}
