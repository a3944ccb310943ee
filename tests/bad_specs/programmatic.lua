-- Launches that overlap: not before sm_90, not of families that are there to be read.
gpu "a100-sxm-80"
gemm { family = "simt", programmatic = true }
gemm { family = "naive", programmatic = true }
--! exit 2
--! | programmatic.lua:3: error: programmatic: griddepcontrol came with sm_90, this is for sm_80; leave it out [programmatic-arch]
--! | programmatic.lua:4: error: programmatic: family naive has no such field: it uses no shared memory and one output a thread; leave it out or use family simt [field-family]
