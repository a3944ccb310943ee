$ local frame, raster, names, scalars = use("frame"), use("raster"), use("names"), use("scalars")
$ local reduce, single, steps = use("reduce"), use("single"), use("steps")
$ section "about"
${reduce.about(p, job)}
$ section "memory"
// None: a thread sums one element's parts.
$ section "kernel"
${frame.signature(p, job)}
  ${frame.order(p)}
  // -- Coordinates: thread (row, column) of a ${p.tile_m} x ${p.tile_n} block owns one element of D
  ${raster.coordinates(p)}
  const gg_i64 row = m0 + threadIdx.x / ${p.tile_n};
  const gg_i64 column = n0 + threadIdx.x % ${p.tile_n};
  ${single.leave(p, "row", "column")}
  ${scalars.declare(p)}
  const ${names.memory_type(p.type_b)} *part = (const ${names.memory_type(p.type_b)} *)p.b + row * p.ldb + column;

  // -- Sum of the k parts, in their order, ${p.unroll_k} in flight
  ${reduce.loop(p)}

  // -- Epilogue: ${steps.formula(p)}
  ${single.epilogue(p, "acc", p.type_acc, "row", "column")}
}
