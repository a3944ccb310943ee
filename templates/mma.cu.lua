$ local frame, raster, names, scalars, steps = use("frame"), use("raster"), use("names"), use("scalars"), use("steps")
$ local copy, mma, epilogue, stream = use("copy"), use("mma"), use("mma_epilogue"), use("stream")
$ local promotion = use("promotion")
$ local A = copy.operand(p, "a", not names.contiguous_k(p, "a"), true)
$ local B = copy.operand(p, "b", not names.contiguous_k(p, "b"), true)
$ local ring = stream.new(p, A, B, mma)
$ section "memory"
${copy.memory_map(p)}
${epilogue.memory_map(p)}
$ section "kernel"
${frame.signature(p, job)}
  ${frame.order(p)}
  // -- Coordinates: a block is ${p.warps_m} x ${p.warps_n} warps, each ${p.warp_m} x ${p.warp_n} of D, and takes tile after tile
  const unsigned tiles_m = (unsigned)((p.m + ${p.tile_m - 1}) / ${p.tile_m});
  const unsigned tiles_n = (unsigned)((p.n + ${p.tile_n - 1}) / ${p.tile_n});
  const unsigned tiles = tiles_m * tiles_n * (unsigned)p.batch;
  const int tid = (int)threadIdx.x;
  const int lane = tid % 32;
$ if p.threads > 32 then
  const int warp = tid / 32;
$ end
  const int warp_m = ${p.warps_m > 1 and names.quotient("warp", p.warps_n) or 0};
  const int warp_n = ${names.modulo("warp", p.warps_n)};
  ${scalars.declare(p)}
  ${steps.declare(p)}
  const int k_tiles = (int)((k + ${p.tile_k - 1}) / ${p.tile_k});

  // -- Copies of A: ${A.bytes} bytes along ${A.along_k and "k" or "m"}, ${p.copies_a} a thread and k tile
  ${copy.declare(A)}

  // -- Copies of B: ${B.bytes} bytes along ${B.along_k and "k" or "n"}, ${p.copies_b} a thread and k tile
  ${copy.declare(B)}

  // -- Both: where they are, ${p.stages - 1} k tiles ahead of the products
  ${stream.declare(ring)}

  // -- Fragments: row and byte offset of the lane's first one in a stage
  ${mma.fragment_bases(p)}
  ${mma.declare(p)}

  // -- Prologue: the first ${p.stages - 1} k tiles on their way
  ${stream.prologue(ring)}

  unsigned rs = 0; // byte offset of the stage that is read
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    ${stream.first_loads(ring)}
    ${mma.clear(p)}
    ${steps.has_parts(p) and raster.tile(p, "tile") or {}}
    ${promotion.declare(p)}

    // -- Main loop: ${ring.steps} k-steps a tile
    for (int kt = 0; kt < k_tiles; ++kt) {
$ if p.unroll_stages then
      if (rs == 0 && kt <= k_tiles - ${p.stages}) { // a whole turn of the ring
$   for stage = 0, p.stages - 1 do
        // stage ${stage}
        {
          ${promotion.begin(p)}
          ${stream.body(ring, stage)}
          ${promotion.finish(p)}
        }
        ${stage < p.stages - 1 and "++kt;" or "continue;"}
$   end
      }
$ end
      ${promotion.begin(p)}
      ${stream.body(ring)}
      ${promotion.finish(p)}
    }

    // -- Epilogue: ${steps.formula(p)}, through each warp's own part of shared memory
    ${steps.has_parts(p) and {} or raster.tile(p, "tile")}
    ${epilogue.tile(p)}
    gg_syncthreads(); // shared memory that D has left may be written
  }
  ${steps.finish(p)}
}
