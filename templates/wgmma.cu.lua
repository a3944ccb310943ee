$ local frame, scalars, steps = use("frame"), use("scalars"), use("steps")
$ local wgmma = use("wgmma")
$ local w = wgmma.new(p)
$ local pingpong, split = p.schedule == "pingpong", p.cluster_k > 1
$ local side_m, side_n = p.tile_m * p.cluster_m, p.tile_n * p.cluster_n -- of the tiles of a cluster
$ section "memory"
${w:memory_map()}
$ section "kernel"
${frame.signature(p, job)}
  // -- Roles: warpgroup 0 copies, ${w:computing()} ${p.swap and p.group_n .. " columns" or p.group_m .. " rows"} of D${p.groups > 1 and " each" or ""}${pingpong and ", in turn" or ""}
  const int tid = (int)threadIdx.x;
  const int warpgroup = (int)gg_shfl_sync_idx_u32((unsigned)tid / 128, 0);
$ if w.shared then
  ${w:rank()}
$ end
  const unsigned tiles_m = (unsigned)((p.m + ${side_m - 1}) / ${side_m});
  const unsigned tiles_n = (unsigned)((p.n + ${side_n - 1}) / ${side_n});
$ if p.persistent then
  const unsigned tiles = tiles_m * tiles_n * (unsigned)p.batch;
$ end
  ${scalars.declare(p)}
$ if split then
  const unsigned rank = gg_cluster_rank(); // the blocks of a cluster share a tile: each has a part of k
  const int k_all = (int)((k + ${p.tile_k - 1}) / ${p.tile_k});
  const int k_first = (int)((gg_i64)k_all * rank / ${p.cluster_k});
  const int k_end = (int)((gg_i64)k_all * (rank + 1) / ${p.cluster_k});
  const int k_blocks = k_end - k_first;
$ else
  const int k_blocks = (int)((k + ${p.tile_k - 1}) / ${p.tile_k});
$ end
$ if not p.persistent then
  const unsigned tile = blockIdx.x${(split or w.shared) and " / " .. p.cluster_m * p.cluster_n * p.cluster_k or ""};
$ end

  // -- Barriers: full[s] counts the bytes of stage s, empty[s] the warpgroups that have read it${w.shared and ", in " .. w:peers() .. " blocks" or ""}
  if (tid == 0) {
    gg_prefetch_tensormap(&p.map_a);
$ if p.path_b == "tma" then
    gg_prefetch_tensormap(&p.map_b);
$ end
    for (int s = 0; s < ${p.stages}; ++s) {
      gg_mbar_init(FULL_AT + 8 * s, ${w:writers()});
      gg_mbar_init(EMPTY_AT + 8 * s, ${w:readers()});
    }
    gg_fence_mbarrier_init();
  }
$ if w.shared then
  gg_syncwarp();
  gg_cluster_arrive_relaxed(); // copies and arrivals of the other blocks come to these barriers
$ end
$ if not p.persistent then
  // -- Coordinates: worked out while the tensor maps come
  ${w:coordinates("tile")}
$ end
$ if w.shared then
  ${w:shared_begin()}
  gg_cluster_wait();
$ end
$ if w.ahead then
  const int ahead = k_blocks < ${p.stages} ? k_blocks : ${p.stages}; // k blocks that find the ring empty
  if (tid == 0) {
    // -- First copies: they wait for nothing but ${w.shared and "the cluster's barriers and " or ""}the kernels before
    ${frame.wait(p)}
$ if p.persistent then
    const unsigned tile = ${w:walk()};
    ${w:coordinates("tile")}
$ end
$ local s = split and "s" or "kb"
    for (int ${s} = 0; ${s} < ahead; ++${s}) {
$ if split then
      const int kb = k_first + s;
$ end
      const unsigned at = (unsigned)${s} * STAGE_BYTES;
      const unsigned full = FULL_AT + 8 * (unsigned)${s};
      gg_mbar_arrive_expect_tx(full, STAGE_BYTES);
      ${w:copies()}
    }
  }
$ end
$ if not w.shared then
  gg_syncthreads();
$ end

  ${frame.order(p)}
  if (warpgroup == 0) {
    // -- Copies: ${w.staged and "A by TMA, B turned in registers" or "one thread keeps the ring full"}${p.persistent and ", tile after tile" or ""}
    gg_setmaxnreg_dec_${p.producer_registers}();
$ if w.staged then
    int stage = 0;
    unsigned parity = 1; // the first pass over the ring finds it empty
    ${w:loader_begin()}
    ${w:each_tile(false)}
$ if p.persistent then
      ${w:coordinates("tile")}
$ end
      ${w:loader()}
    }
$ else
    if (tid == 0) {
$ if w.ahead then
      int stage = ahead % ${p.stages};
      unsigned parity = ahead < ${p.stages}; // 1: the first pass over the ring finds it empty
      int kb = ${split and "k_first + " or ""}ahead;
$ else
      int stage = 0;
      unsigned parity = 1; // the first pass over the ring finds it empty
$ end
      ${w:each_tile(false)}
$ if p.persistent then
        ${w:coordinates("tile")}
$ end
        for (${w.ahead and "" or "int kb = 0"}; kb < ${split and "k_end" or "k_blocks"}; ++kb) {
          const unsigned at = (unsigned)stage * STAGE_BYTES;
          const unsigned full = FULL_AT + 8 * (unsigned)stage;
          gg_mbar_wait(EMPTY_AT + 8 * (unsigned)stage, parity);
          gg_mbar_arrive_expect_tx(full, STAGE_BYTES);
          ${w:copies()}
          ${w:advance("stage", "parity")}
        }
$ if w.ahead and p.persistent then
        kb = 0;
$ end
      }
$ if w.shared then
      ${w:drain()}
$ end
    }
$ end
$ if split then
    gg_syncwarp();
    gg_cluster_arrive(); // the sums are there
    gg_cluster_wait();
    gg_cluster_arrive(); // this warpgroup reads none
$ end
  } else {
    // -- Products
    gg_setmaxnreg_inc_${p.consumer_registers}();
    const int group = ${p.groups == 1 and "0; // the only one" or "warpgroup - 1;"}
    const int in_group = tid % 128;
    const int lane = tid % 32;
    const int warp = in_group / 32;
    ${w:descriptors()}
    ${w:accumulators()}
    ${steps.declare(p)}
    ${w:consumer_begin()}
    int stage = 0;
    unsigned parity = 0;
$ if pingpong then

    // -- Turns: one warpgroup computes while the other stores; each passes over the other's k blocks
    if (group == 1) {
      ${w:skip("stage", "parity")}
      gg_bar_arrive(TURN, 256);
    }
$ end
    ${w:each_tile(true)}
$ if p.persistent then
      ${w:coordinates("tile")}
$ end
$ if pingpong then
      gg_bar_sync(TURN + group, 256);
$ end
$ if p.persistent then

$ end
      // -- Main loop: ${w:loop_text()}
      ${w:begin_loop()}
      for (int kb = 0; kb < k_blocks; ++kb) {
        gg_mbar_wait(FULL_AT + 8 * (unsigned)stage, parity);
        ${w:k_block()}
        ${w:advance("stage", "parity")}
      }
$ if pingpong then
      if (tile + ${select(2, w:walk())} < tiles) gg_bar_arrive(TURN + 1 - group, 256);
$ end
      ${w:end_loop()}
$ if pingpong then
      ${w:skip("stage", "parity")}
$ end
$ if split then

      // -- Sum of the ${p.cluster_k} parts of k, in order of rank: each block finishes ${p.swap and p.panel_m .. " rows" or p.part_n .. " columns"}
      ${w:sum_parts()}
$ elseif w.meet then
      gg_bar_sync(ALL, ${128 * p.groups}); // the ring is spent: D takes its place
$ end

      // -- Epilogue: ${steps.formula(p)}, ${p.panel * p.chunk} columns at a time through shared memory
      ${w:epilogue()}
    }
    ${steps.finish(p)}
$ if p.path_d == "tma" then
    if (in_group == 0) gg_bulk_wait_read_0(); // shared memory must last until then; the stores end with the grid
$ end
$ if split then
    gg_cluster_wait(); // the others have read this block's sums
$ end
  }
}
