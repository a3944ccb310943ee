$ local frame, raster, names, scalars = use("frame"), use("raster"), use("names"), use("scalars")
$ local copy, pipeline, steps, wmma = use("copy"), use("pipeline"), use("steps"), use("wmma")
$ local guarded = p.variant ~= "full"
$ local A = copy.operand(p, "a", not names.contiguous_k(p, "a"))
$ local B = copy.operand(p, "b", not names.contiguous_k(p, "b"))
$ local ring = pipeline.new(p, A, B, wmma)
$ section "memory"
${copy.memory_map(p)}
${wmma.memory_map(p)}
$ section "kernel"
${frame.signature(p, job)}
  ${frame.order(p)}
  // -- Coordinates: a block is ${p.warps_m} x ${p.warps_n} warps, a warp computes ${p.warp_m} x ${p.warp_n} outputs
  ${raster.coordinates(p)}
  const int tid = (int)threadIdx.x;
  const int lane = tid % 32;
$ if p.threads > 32 then
  const int warp = tid / 32;
$ end
  const int warp_m = ${p.warps_m > 1 and names.quotient("warp", p.warps_n) or 0};
  const int warp_n = ${p.warps_n > 1 and names.modulo("warp", p.warps_n) or 0};
  ${scalars.declare(p)}
  const int k_tiles = (int)((k + ${p.tile_k - 1}) / ${p.tile_k});

  // -- Copies of A: ${A.bytes} bytes along ${A.along_k and "k" or "m"}, ${p.copies_a} a thread and k tile
  ${copy.declare(A)}

  // -- Copies of B: ${B.bytes} bytes along ${B.along_k and "k" or "n"}, ${p.copies_b} a thread and k tile
  ${copy.declare(B)}

  // -- Fragments: byte offset of the warp's first one in a stage; which lane holds what is wmma's own
  ${wmma.fragment_bases(p)}
  ${wmma.declare_fragments(p)}
  ${wmma.declare_accumulators(p)}

$ if p.stages == 1 then
  // -- Main loop: copy, barrier, ${ring.steps} k-steps, barrier
  int kt = 0;
  for (; kt < k_tiles${guarded and " - 1" or ""}; ++kt) {
    ${pipeline.synchronous(ring, false)}
  }
$   if guarded then

  // -- Last tile, filled up with zeros
  for (; kt < k_tiles; ++kt) {
    ${pipeline.synchronous(ring, true)}
  }
$   end
$ else
  // -- Prologue: tiles 0..${p.stages - 2} on their way
$   for stage = 0, p.stages - 2 do
  ${pipeline.prologue(ring, stage)}
$   end
  ${pipeline.prologue_end(ring)}

  // -- Main loop: tile kt is computed while tile kt + ${p.stages - 1} is copied
  unsigned rs = 0; // byte offset of the stage that is read
  int kt = 0;
  for (; kt + ${ring.ahead} < ${ring.full_tiles}; ++kt) {
    ${pipeline.body(ring)}
  }

  // -- Drain: the last tiles${ring.drain_copies and ", with what is left to copy" or ""}
  for (; kt < k_tiles; ++kt) {
    ${pipeline.drain(ring)}
  }
$ end

  // -- Epilogue: ${steps.formula(p)}
  gg_syncthreads(); // the ring has been read, the strips take its place
  ${wmma.declare_output(p)}
  ${steps.declare(p)}
$ for i = 0, p.warp_m // p.inst_m - 1 do
  // rows ${i * p.inst_m}..${(i + 1) * p.inst_m - 1} of the warp tile
  ${wmma.deliver(p, i)}
$ end
  ${steps.finish(p)}
}
