$ local frame, raster, names, scalars = use("frame"), use("raster"), use("names"), use("scalars")
$ local wgmma = use("wgmma")
$ local w = wgmma.new(p)
$ section "memory"
${w:memory_map()}
$ section "kernel"
${frame.signature(p, job)}
  // -- Roles: warpgroup 0 copies, warpgroups 1..${p.groups} compute ${w.rows} rows of D each
  const int tid = (int)threadIdx.x;
  const int warpgroup = (int)gg_shfl_sync_idx_u32((unsigned)tid / 128, 0);
  const unsigned tiles_m = (unsigned)((p.m + ${p.tile_m - 1}) / ${p.tile_m});
  const unsigned tiles_n = (unsigned)((p.n + ${p.tile_n - 1}) / ${p.tile_n});
  const unsigned tiles = tiles_m * tiles_n * (unsigned)p.batch;
  ${scalars.declare(p)}
  const int k_blocks = (int)((k + ${p.tile_k - 1}) / ${p.tile_k});

  // -- Barriers: full[s] counts the bytes of stage s, empty[s] the warpgroups that have read it
  if (tid == 0) {
    for (int s = 0; s < ${p.stages}; ++s) {
      gg_mbar_init(FULL_AT + 8 * s, 1);
      gg_mbar_init(EMPTY_AT + 8 * s, ${p.groups});
    }
    gg_fence_mbarrier_init();
  }
  gg_syncthreads();

  if (warpgroup == 0) {
    // -- Copies: one thread keeps the ring full, tile after tile
    gg_setmaxnreg_dec_${p.producer_registers}();
    if (tid == 0) {
      int stage = 0;
      unsigned parity = 1; // the first pass over the ring finds it empty
      for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        ${w:coordinates("tile")}
        for (int kb = 0; kb < k_blocks; ++kb) {
          const unsigned at = (unsigned)stage * STAGE_BYTES;
          const unsigned full = FULL_AT + 8 * (unsigned)stage;
          gg_mbar_wait(EMPTY_AT + 8 * (unsigned)stage, parity);
          gg_mbar_arrive_expect_tx(full, STAGE_BYTES);
          ${w:copies()}
          ${w:advance("stage", "parity")}
        }
      }
    }
  } else {
    // -- Products
    gg_setmaxnreg_inc_${p.consumer_registers}();
    const int group = warpgroup - 1;
    const int in_group = tid % 128;
    const int lane = tid % 32;
    const int warp = in_group / 32;
    ${w:descriptors()}
    ${w:accumulators()}
    int stage = 0;
    unsigned parity = 0;
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      ${w:coordinates("tile")}

      // -- Main loop: ${p.tile_k // p.inst_k} instructions of k ${p.inst_k} a block; the block before is released while this one runs
      ${w:begin_loop()}
      for (int kb = 0; kb < k_blocks; ++kb) {
        gg_mbar_wait(FULL_AT + 8 * (unsigned)stage, parity);
        ${w:k_block()}
        ${w:advance("stage", "parity")}
      }
      ${w:end_loop()}

      // -- Epilogue: D = alpha * acc + beta * C, by panels of ${p.panel} columns through shared memory
$ local reads = scalars.reads_c(p)
$ if reads and reads ~= "" then
      if (${reads}) {
        ${w:add_c()}
      } else {
        ${w:scale()}
      }
$ elseif reads then
      ${w:add_c()}
$ else
      ${w:scale()}
$ end
      ${w:store()}
    }
    if (in_group == 0) gg_bulk_wait_0();
  }
}
