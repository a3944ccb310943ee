$ local frame, raster, names, scalars = use("frame"), use("raster"), use("names"), use("scalars")
$ local copy, product, epilogue, slices = use("copy"), use("product"), use("epilogue"), use("slices")
$ local pipeline, steps = use("pipeline"), use("steps")
$ local T, t, E = names.c_type(p.type_acc), p.type_acc, p.element
$ local guarded = p.variant ~= "full"
$ local A, B = copy.operand(p, "a", true), copy.operand(p, "b", true)
$ local ring = pipeline.new(p, A, B, product)
$ local warps = p.warps_m * p.warps_n
$ section "memory"
${copy.memory_map(p)}
$ section "kernel"
${frame.signature(p, job)}
  ${frame.order(p)}
  // -- Coordinates: a warp is ${p.lanes_m} x ${p.lanes_n} lanes of ${p.thread_m} x ${p.thread_n} outputs, a block ${p.warps_m} x ${p.warps_n} warps${p.k_slices > 1 and " x " .. p.k_slices .. " slices of k" or ""}
  ${raster.coordinates(p)}
  const int tid = (int)threadIdx.x;
  const int lane = tid % 32;
$ if p.threads > 32 then
  const int warp = tid / 32;
$ end
$ local in_slice = p.k_slices > 1 and names.modulo("warp", warps) or "warp"
  const int warp_m = ${p.warps_m > 1 and names.quotient(in_slice, p.warps_n) or 0};
  const int warp_n = ${names.modulo("warp", p.warps_n)};
$ if p.k_slices > 1 then
  const int slice = ${names.quotient("warp", warps)};
$ end
  const int lane_m = lane / ${p.lanes_n};
  const int lane_n = lane % ${p.lanes_n};
  ${scalars.declare(p)}
  const int k_tiles = (int)((k + ${p.tile_k - 1}) / ${p.tile_k});

  // -- Copies of A: ${A.bytes} bytes along ${A.along_k and "k" or "m"}, ${p.copies_a} a thread and k tile${A.turned and ", turned" or ""}
  ${copy.declare(A)}

  // -- Copies of B: ${B.bytes} bytes along ${B.along_k and "k" or "n"}, ${p.copies_b} a thread and k tile${B.turned and ", turned" or ""}
  ${copy.declare(B)}

  // -- Fragments: byte offset of the thread's first vector of ${p.vector} in a stage
  const int m_in = warp_m * ${p.lanes_m * p.thread_m} + lane_m * ${p.vector};
  const int n_in = warp_n * ${p.lanes_n * p.thread_n} + lane_n * ${p.vector};
  ${pipeline.fragment_bases(ring)}
  ${product.declare_fragments(p)}
  ${product.declare_accumulators(p)}

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
$   if p.unroll_stages then
  for (; kt + ${p.stages - 1 + ring.ahead} < ${ring.full_tiles}; kt += ${p.stages}) {
$     for stage = 0, p.stages - 1 do
    // stage ${stage}
    {
      ${pipeline.body(ring, stage)}
    }
$     end
  }
$   else
  for (; kt + ${ring.ahead} < ${ring.full_tiles}; ++kt) {
    ${pipeline.body(ring)}
  }
$   end

  // -- Drain: the last tiles${ring.drain_copies and ", with what is left to copy" or ""}
  for (; kt < k_tiles; ++kt) {
    ${pipeline.drain(ring)}
  }
$ end
$ if p.k_slices > 1 then

  // -- Sum of the ${p.k_slices} k slices, in fixed order, through shared memory
  ${slices.sum(p)}
$ end

  // -- Epilogue: ${steps.formula(p)}
  const gg_i64 d_m = m0 + m_in;
  const gg_i64 d_n = n0 + n_in;
  ${epilogue.lines(p)}
}
