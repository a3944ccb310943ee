$ local frame, raster, names, scalars, steps = use("frame"), use("raster"), use("names"), use("scalars"), use("steps")
$ local mma, epilogue, tma, promotion = use("mma"), use("mma_epilogue"), use("mma_tma"), use("promotion")
$ local ring = tma.new(p, mma)
$ section "memory"
${tma.memory_map(p)}
${epilogue.memory_map(p)}
$ section "kernel"
${frame.signature(p, job)}
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
  const int k_tiles = (int)((k + ${p.tile_k - 1}) / ${p.tile_k});

  // -- Barriers: full[s] counts the bytes of stage s, empty[s] the warps that have read it
  ${tma.barriers(ring)}
  gg_syncthreads();

  ${frame.order(p)}
  ${steps.declare(p)}
  // -- Copies: ${p.stages - 1} k tiles ahead of the products; the warps ask in turn
  ${tma.declare(ring)}

  // -- Fragments: row and byte offset of the lane's first one in a stage
  ${mma.fragment_bases(p)}
  ${mma.declare(p)}

  int stage = 0; // that is read
  unsigned parity = 0; // of its full barrier
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    ${tma.first_loads(ring)}
    ${mma.clear(p)}
    ${steps.has_parts(p) and raster.tile(p, "tile") or {}}
    ${promotion.declare(p)}

    // -- Main loop: ${ring.steps} k-steps a tile
    for (int kt = 0; kt < k_tiles; ++kt) {
$ if p.unroll_stages then
      if (stage == 0 && kt <= k_tiles - ${p.stages}) { // a whole turn of the ring
$   for number = 0, p.stages - 1 do
        // stage ${number}
        {
          ${promotion.begin(p)}
          ${tma.body(ring, number)}
          ${promotion.finish(p)}
        }
        ${number < p.stages - 1 and "++kt;" or "continue;"}
$   end
      }
$ end
      ${promotion.begin(p)}
      ${tma.body(ring)}
      ${promotion.finish(p)}
    }

    // -- Epilogue: ${steps.formula(p)}, through each warp's own part of shared memory
    ${steps.has_parts(p) and {} or raster.tile(p, "tile")}
    ${epilogue.tile(p)}
    gg_syncwarp(); // the warp's part may be written again
  }
  ${steps.finish(p)}
}
