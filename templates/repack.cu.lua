$ local frame, names, raster, repack = use("frame"), use("names"), use("raster"), use("repack")
$ local r = repack.new(p)
$ local U, T = p.copies_a, r.row_bytes
$ section "about"
${r:about(job)}
$ section "memory"
${r:memory_map()}
$ section "kernel"
${frame.signature(p, job)}
$ if not r.turned then
  // -- Coordinates: a warp copies ${T} bytes of one row, ${U} chunks of 16 bytes a lane
  ${raster.coordinates(p)}
  const unsigned lane = threadIdx.x % 32;
  const unsigned next = (lane + 1) % 32;
  const gg_i64 row = m0 + threadIdx.x / 32;
  if (row >= p.m) return;

  // -- Source: the matrix from first to last; of the row what lies between from and to
  ${r:matrix()}
  const unsigned char *const from = first + ${r:bytes("(row * p.lda + n0)")};
  const int bytes = (int)${r:bytes(("(p.n - n0 < %d ? p.n - n0 : %d)"):format(p.tile_n, p.tile_n))};
  const unsigned char *const to = from + bytes;
  const unsigned shift = (unsigned)((gg_u64)from % 16); // bytes by which the row misses a granule
  const unsigned char *const begin = from - shift;
  const unsigned char *const at = begin + lane * 16;
  unsigned char *const out = (unsigned char *)p.d + ${r:bytes("(batch * p.stride_d + row * p.ldd + n0)")} + lane * 16;

  // -- Loads: granules of 16 bytes, aligned, inside the matrix; lane l takes l, l + 32, ...
$   for u = 0, U do
  ${repack.declare("g" .. u)}
$   end
$   for u = 0, U - 1 do
  ${repack.load("g" .. u, repack.plus("at", 512 * u), "to")}
$   end
  ${repack.load("g" .. U, repack.plus("begin", 512 * U), "to", "lane == 0")}

  // -- The granules in which the matrix begins and ends may stick out of it
  if (begin < first) {
    ${r:gather("begin")}
    ${repack.take("g0", "lane == 0")}
  }
  if (tail < to && tail != last) {
    ${r:gather("tail")}
$   for u = 0, U - 1 do
    ${repack.take("g" .. u, repack.plus("at", 512 * u) .. " == tail")}
$   end
    ${repack.take("g" .. U, repack.plus("begin", 512 * U) .. " == tail")}
  }

  // -- Chunks: 16 bytes from byte `shift` of a lane's granule and the next lane's
  ${r:byte_selector("shift", "shift")}
$   for u = 0, U - 1 do
  if (bytes > ${512 * u}) {
$     for i = 0, r.last_word - 4 do
    const unsigned g${u}_${i + 4} = gg_shfl_sync_idx_u32(lane != 0 ? g${u}_${i} : g${u + 1}_${i}, next);
$     end
    ${r:shift("g" .. u, "shift")}
    const int left = bytes - ${u == 0 and "(int)lane * 16" or ("((int)lane * 16 + %d)"):format(512 * u)};
    if (left > 0) {
      ${r:cut("g" .. u)}
      gg_st_u32x4((unsigned *)${repack.grouped(repack.plus("out", 512 * u))}, ${repack.outputs("g" .. u)});
    }
  }
$   end
}
$ else
$   local V = r.per_granule
  // -- Coordinates: 8 lanes take the 128 bytes of a row, and of a row of the copy
  ${raster.coordinates(p)}
  const unsigned lane = threadIdx.x % 32;
  const unsigned next = (lane + 1) % 32;
  const unsigned part = threadIdx.x % 8;
  const unsigned line = threadIdx.x / 8;
  const gg_i64 rows = p.m - m0 < ${p.tile_m} ? p.m - m0 : ${p.tile_m};
  const gg_i64 columns = p.n - n0 < ${p.tile_n} ? p.n - n0 : ${p.tile_n};

  // -- Source: the matrix from first to last; of row line + 32 u what lies between from<u> and to<u>
  ${r:matrix()}
  const unsigned char *const low = first + ${r:bytes("(m0 * p.lda + n0)")};
  const unsigned char *const high = low + ${r:bytes("((rows - 1) * p.lda + columns)")};
$   for u = 0, U - 1 do
  const unsigned row${u} = ${u == 0 and "line" or "line + " .. 32 * u};
  const unsigned char *const from${u} = low + ${r:bytes(("row%d * p.lda"):format(u))};
  const unsigned char *const to${u} = row${u} < rows ? from${u} + ${r:bytes("columns")} : from${u};
  const unsigned shift${u} = (unsigned)((gg_u64)from${u} % 16); // bytes by which the row misses a granule
  const unsigned char *const at${u} = from${u} - shift${u} + part * 16;
$   end

  // -- Loads: granules of 16 bytes, aligned, inside the matrix; a row's last lane takes two
$   for u = 0, U - 1 do
  ${repack.declare("g" .. u)}
  ${repack.declare("x" .. u)}
$   end
$   for u = 0, U - 1 do
  ${repack.load("g" .. u, "at" .. u, "to" .. u)}
  ${repack.load("x" .. u, ("at%d + 16"):format(u), "to" .. u, "part == 7")}
$   end

  // -- The granules in which the matrix begins and ends may stick out of it
  if (m0 == 0 && n0 == 0 && head != first) {
    ${r:gather("head")}
$   for u = 0, U - 1 do
    ${repack.take("g" .. u, ("at%d == head"):format(u))}
$   end
  }
  if (tail < high && tail != last) {
    ${r:gather("tail")}
$   for u = 0, U - 1 do
    ${repack.take("g" .. u, ("at%d == tail"):format(u))}
    ${repack.take("x" .. u, ("at%d + 16 == tail"):format(u))}
$   end
  }

  // -- To shared memory: 16 bytes from byte `shift` of a lane's granule and the next
$   for u = 0, U - 1 do
  {
    ${r:byte_selector("shift" .. u, "shift" .. u)}
$     for i = 0, r.last_word - 4 do
    const unsigned n${i} = gg_shfl_sync_idx_u32(g${u}_${i}, next);
$     end
$     for i = 0, r.last_word - 4 do
    const unsigned g${u}_${i + 4} = part == 7 ? x${u}_${i} : n${i};
$     end
    ${r:shift("g" .. u, "shift" .. u)}
    const unsigned to = row${u} * 128 + (part ^ row${u} / ${V} % 8) * 16;
    gg_sts_u32x4(to, ${repack.outputs("g" .. u)});
  }
$   end
  gg_syncthreads();

  // -- Copy: column n0 + line + 32 u becomes a row; a lane stores ${V} rows' elements of it
$   for u = 0, U - 1 do
$     local c = u == 0 and "line" or "line + " .. 32 * u
  {
    const unsigned column = ${c};
    const unsigned at = part * ${V * 128} + (${r:granule_of("column")} ^ part) * 16 + ${r:byte_of("column")};
    ${r:column("at")}
    if (column < columns && part * ${V} < rows)
      gg_st_u32x4((unsigned *)((unsigned char *)p.d + ${r:bytes("(batch * p.stride_d + (n0 + column) * p.ldd + m0)")} + part * 16),
                  o0, o1, o2, o3);
  }
$   end
}
$ end
