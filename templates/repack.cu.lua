$ local frame, names, raster, repack = use("frame"), use("names"), use("raster"), use("repack")
$ local r = repack.new(p)
$ local U, L, plus = p.copies_a, p.copy_lanes_a, repack.plus
$ section "about"
${r:about(job)}
$ section "memory"
${r:memory_map()}
$ section "kernel"
${frame.signature(p, job)}
  ${frame.order(p)}
  // -- Coordinates: ${L} lanes take ${r.row_bytes} bytes of a row of the source
  ${raster.coordinates(p)}
  const unsigned lane = threadIdx.x % 32;
  const unsigned part = threadIdx.x % ${L};
  const unsigned next = ${r:next_lane()};
  const unsigned line = threadIdx.x / ${L};
  const gg_i64 rows = p.m - m0 < ${p.tile_m} ? p.m - m0 : ${p.tile_m};
  const int columns = (int)(p.n - n0 < ${p.tile_n} ? p.n - n0 : ${p.tile_n});

  // -- Source: the matrix from first to last, its granules head and tail, the tile from low to high
  const unsigned char *const first = (const unsigned char *)p.a + ${r:bytes("batch * p.stride_a")};
  const unsigned char *const last = first + ${r:bytes("((p.m - 1) * p.lda + p.n)")};
  const unsigned char *const head = first - (gg_u64)first % 16;
  const unsigned char *const tail = last - (gg_u64)last % 16;
  const unsigned char *const low = first + ${r:bytes("(m0 * p.lda + n0)")};
  const unsigned char *const high = low + ${r:bytes("((rows - 1) * p.lda + columns)")};
$ if not r.turned then
  // of its row the lane needs what lies between from and to; begin is the granule that holds from
  const int bytes = line < rows ? ${r:bytes("columns")} : 0;
  const unsigned char *const from = low + ${r:bytes("line * p.lda")};
  const unsigned char *const to = from + bytes;
  const unsigned shift = (unsigned)((gg_u64)from % 16);
  const unsigned char *const begin = from - shift;
  const unsigned char *const at = begin + part * 16;
  unsigned char *const out = (unsigned char *)p.d + ${r:bytes("(batch * p.stride_d + (m0 + line) * p.ldd + n0)")} + part * 16;

  // -- Loads: granules of 16 bytes, aligned, inside the matrix; one more by the row's first lane
$   for u = 0, U do
  ${repack.declare("g" .. u)}
$   end
$   for u = 0, U - 1 do
  ${repack.load("g" .. u, plus("at", 16 * L * u), "to")}
$   end
  ${repack.load("g" .. U, plus("begin", 16 * L * U), "to", "part == 0")}

  // -- The granules in which the matrix begins and ends may stick out of it
  if (low < head + 16 && head != first) {
    ${r:gather("head")}
    ${repack.take("g0", "at == head")}
  }
  if (tail < high && tail != last) {
    ${r:gather("tail")}
$   for u = 0, U - 1 do
    ${repack.take("g" .. u, plus("at", 16 * L * u) .. " == tail")}
$   end
    ${repack.take("g" .. U, plus("begin", 16 * L * U) .. " == tail")}
  }

  // -- Chunks: 16 bytes from byte `shift` of a lane's granule and the next lane's
  ${r:byte_selector("shift")}
$   for u = 0, U - 1 do
  if (${r:bytes("columns")} > ${16 * L * u}) {
$     for i = 0, r.last_word - 4 do
    const unsigned g${u}_${i + 4} = gg_shfl_sync_idx_u32(part != 0 ? g${u}_${i} : g${u + 1}_${i}, next);
$     end
    ${r:shift("g" .. u, "shift")}
    const int left = bytes - ${u == 0 and "(int)part * 16" or ("((int)part * 16 + %d)"):format(16 * L * u)};
    if (left > 0) {
      ${r:cut("g" .. u)}
      gg_st_u32x4((unsigned *)${repack.grouped(plus("out", 16 * L * u))}, ${repack.outputs("g" .. u)});
    }
  }
$   end
}
$ else
$   local V, lines = r.per_granule, p.threads // L
  // of row line + ${lines} u the lane needs what lies between from<u> and to<u>
$   for u = 0, U - 1 do
  const unsigned row${u} = ${plus("line", lines * u)};
  const unsigned char *const from${u} = low + ${r:bytes(("row%d * p.lda"):format(u))};
  const unsigned char *const to${u} = row${u} < rows ? from${u} + ${r:bytes("columns")} : from${u};
  const unsigned shift${u} = (unsigned)((gg_u64)from${u} % 16);
  const unsigned char *const at${u} = from${u} - shift${u} + part * 16;
$   end

  // -- Loads: granules of 16 bytes, aligned, inside the matrix; one more by the row's last lane
$   for u = 0, U - 1 do
  ${repack.declare("g" .. u)}
  ${repack.declare("x" .. u)}
$   end
$   for u = 0, U - 1 do
  ${repack.load("g" .. u, "at" .. u, "to" .. u)}
  ${repack.load("x" .. u, ("at%d + 16"):format(u), "to" .. u, ("part == %d"):format(L - 1))}
$   end

  // -- The granules in which the matrix begins and ends may stick out of it
  if (low < head + 16 && head != first) {
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

  // -- To shared memory: granules where all rows begin with one, else 16 bytes from byte `shift` of a
  // lane's granule and the next
  const int even = ((gg_u64)first | (gg_u64)(${r:bytes("p.lda")})) % 16 == 0;
$   for u = 0, U - 1 do
  const unsigned put${u} = row${u} * ${r.row_bytes} + (part ^ row${u} / ${V} % 8) * 16;
  if (even) {
    gg_sts_u32x4(put${u}, ${names.list(("g%d_"):format(u), 0, 3)});
  } else {
    ${r:byte_selector("shift" .. u)}
$     for i = 0, r.last_word - 4 do
    const unsigned n${i} = gg_shfl_sync_idx_u32(g${u}_${i}, next);
$     end
$     for i = 0, r.last_word - 4 do
    const unsigned g${u}_${i + 4} = part == ${L - 1} ? x${u}_${i} : n${i};
$     end
    ${r:shift("g" .. u, "shift" .. u)}
    gg_sts_u32x4(put${u}, ${repack.outputs("g" .. u)});
  }
$   end
  gg_syncthreads();

  // -- Copy: columns become rows; a lane turns ${4 // p.element} x ${V} elements
$   local width = 4 // p.element -- columns of a lane
  const unsigned q = threadIdx.x % 8;
  unsigned char *const out = (unsigned char *)p.d + ${r:bytes("(batch * p.stride_d + n0 * p.ldd + m0)")} + q * 16;
$   for round = 0, r.row_bytes // 128 - 1 do
  {
    const int column = (int)(threadIdx.x / 8)${width > 1 and " * " .. width or ""}${round > 0 and (" + %d"):format(128 // p.element * round) or ""};
    const unsigned get = q * ${V * r.row_bytes} + ((unsigned)column / ${V} ^ q) * 16 + ${r:bytes(("(unsigned)column %% %d"):format(V))};
    ${r:turn("get")}
$     for x = 0, width - 1 do
    if (${plus("column", x)} < columns && q * ${V} < rows)
      gg_st_u32x4((unsigned *)(out + ${r:bytes(repack.grouped(plus("column", x)) .. " * p.ldd")}), ${names.list(("c%d_"):format(x), 0, 3)});
$     end
  }
$   end
}
$ end
