gpu "h100-smx"
gemm { family = "naive" }
gpu "voodoo2"
gemm { family = "naive" }
gpu(7)
gpu { 1, 2 }
gpu { base = "h100-sxm", smss = 114 }
gpu { base = "h100-sxm", sms = 0 }
gpu { base = "h100-sxm", name = "My GPU" }
gpu { base = "h100-sxm", has_tma = 1, arch_suffix = "b" }
gpu { arch = 90, sms = 132 }
--! exit 2
--! | unknown_gpu.lua:1: error: unknown GPU 'h100-smx'; did you mean 'h100-nvl', 'h100-pcie' or 'h100-sxm'? [unknown-gpu]
--! | unknown_gpu.lua:3: error: unknown GPU 'voodoo2'; known: v100, t4, a100-sxm-40, a100-sxm-80, a30, a10, rtx-3090, l4, l40s, rtx-4090, gh200, h100-nvl, h100-pcie, h100-sxm, h20, h200, b200, rtx-5090 [unknown-gpu]
--! | unknown_gpu.lua:5: error: gpu takes a name in quotes or a table, not 7 [wrong-type]
--! | unknown_gpu.lua:6: error: gpu takes a name or a table of named facts [wrong-type]
--! | unknown_gpu.lua:7: error: unknown fact 'smss'; did you mean 'sms'? [unknown-field]
--! | unknown_gpu.lua:8: error: sms: 0 is out of range; use 1 to 4096 [out-of-range]
--! | unknown_gpu.lua:9: error: name: a GPU's name has up to 31 of a-z, 0-9 and '-' [wrong-value]
--! | unknown_gpu.lua:10: error: arch_suffix: "b" where "a" or "" belongs [wrong-type]
--! | unknown_gpu.lua:10: error: has_tma: 1 where true or false belongs [wrong-type]
--! | unknown_gpu.lua:11: error: a GPU without base needs every fact; missing: boost_mhz, fma_f32, fma_f64, shared_bytes_cycle, registers_sm, registers_thread, shared_sm, shared_block, shared_reserved, threads_sm, blocks_sm, l2_bytes, hbm_gbs [gpu-incomplete]
