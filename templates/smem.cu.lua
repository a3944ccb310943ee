$ local frame, raster, names, scalars, copy = use("frame"), use("raster"), use("names"), use("scalars"), use("copy")
$ local single, steps = use("single"), use("steps")
$ local T, t, E, U = names.c_type(p.type_a), p.type_a, p.element, p.unroll_k
$ local guarded = p.variant ~= "full"
$ local A, B = copy.operand(p, "a", false), copy.operand(p, "b", true)
$ local rolled = U < p.tile_k
$ section "memory"
${copy.memory_map(p)}
$ section "kernel"
${frame.signature(p, job)}
  // -- Coordinates: thread (row, column) of a ${p.tile_m} x ${p.tile_n} block owns one element of D
  ${raster.coordinates(p)}
  const int tid = (int)threadIdx.x;
  const int row = tid / ${p.tile_n};
  const int column = tid % ${p.tile_n};
  ${scalars.declare(p)}
  const int k_tiles = (int)((k + ${p.tile_k - 1}) / ${p.tile_k});

  // -- Copies: ${p.copies_a} elements of A and ${p.copies_b} of B a thread and k tile
  ${copy.declare(A)}
  ${copy.declare(B)}
  const unsigned ra = (unsigned)(row * A_PITCH);
  const unsigned rb = (unsigned)(A_BYTES + column * ${E});

  // -- Main loop: acc = sum over k of A[row,k] * B[k,column], ${p.tile_k} steps a tile
  ${T} acc = ${names.zero(t)};
  for (int kt = 0; kt < k_tiles; ++kt) {
$ if guarded then
    const gg_i64 k_left = k - (gg_i64)kt * ${p.tile_k};
    ${copy.flat(copy.fetch(A, true), copy.fetch(B, true))}
$ else
    ${copy.flat(copy.fetch(A, false), copy.fetch(B, false))}
$ end
    gg_syncthreads(); // the tile before has been read
    ${copy.flat(copy.store(A), copy.store(B))}
    gg_syncthreads(); // this tile has been written
$ if rolled then
    for (unsigned kk = 0; kk < ${p.tile_k}; kk += ${U}) {
$   for s = 0, U - 1 do
      ${T} a${s}, b${s};
      gg_lds_${t}(&a${s}, ra + (kk + ${s}) * ${E});
      gg_lds_${t}(&b${s}, rb + (kk + ${s}) * B_PITCH);
      acc = ${names.fma(t)}(a${s}, b${s}, acc);
$   end
    }
$ else
$   for s = 0, U - 1 do
    ${T} a${s}, b${s};
    gg_lds_${t}(&a${s}, ra + ${s} * ${E});
    gg_lds_${t}(&b${s}, rb + ${s} * B_PITCH);
    acc = ${names.fma(t)}(a${s}, b${s}, acc);
$   end
$ end
  }

  // -- Epilogue: ${steps.formula(p)}
  const gg_i64 d_m = m0 + row;
  const gg_i64 d_n = n0 + column;
  ${single.leave(p, "d_m", "d_n")}
  ${single.epilogue(p, "acc", p.type_acc, "d_m", "d_n")}
}
