local function kernel(m, t)
  if m % 16 ~= 0 then error("m is " .. tostring(m), 2) end
  t.tile = { m = m, n = math.max(m, 32) }
  gemm(t)
end
gpu { arch = 90, sms = 1, boost_mhz = 1000, fma_f32 = 128, fma_f64 = 64,
  shared_bytes_cycle = 128, registers_sm = 65536, registers_thread = 255, shared_sm = 65536,
  shared_block = 65536, shared_reserved = 0, threads_sm = 2048, blocks_sm = 16,
  l2_bytes = 1048576, hbm_gbs = 100, has_cp_async = true }
for i = 1, 3 do kernel(i * 16, { family = "naive", dtype = "f32" }) end
