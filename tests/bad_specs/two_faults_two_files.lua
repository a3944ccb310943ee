gpu "h100-sxm"
gemm { family = "naive", stage = 2 }
--! args two_faults_two_files.lua unquoted.lua
--! exit 2
--! | two_faults_two_files.lua:2: error: unknown field 'stage'; did you mean 'stages'? [unknown-field]
--! | unquoted.lua:2: error: unknown name 'simt'; write "simt" in quotes if it is a value [script-error]
