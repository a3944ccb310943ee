#!/bin/sh
# check_can_fail.sh - check.sh reports each kind of breach, and is silent on a sound tree.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT INT TERM

sound() {
  rm -rf "$tree"
  mkdir -p "$tree/gen" "$tree/runtime/emu" "$tree/templates"
  printf '#include "plan.h"\n#include "gpu.h"\n#include <stdio.h>\n' >"$tree/gen/plan.c"
  printf '#include <lua.h>\n#include "plan.h"\n' >"$tree/gen/spec_load.c"
  printf '#include "gg_kernel.h"\n' >"$tree/gen/plan.h"
  : >"$tree/runtime/gpu.h"
  : >"$tree/runtime/gg_kernel.h"
  : >"$tree/runtime/launch.h"
  : >"$tree/runtime/emu/fiber.h"
  printf '#include <cuda.h>\n#include "launch.h"\n' >"$tree/runtime/device_cuda.c"
  printf '#include "fiber.h"\n#include "gg_kernel.h"\n' >"$tree/runtime/emu/fiber.c"
  printf '// a kernel\n' >"$tree/templates/simt.cu.lua"
}

failures=0
expect() { # FILE LINE TEXT - with LINE added to FILE, check.sh fails and says TEXT
  sound
  mkdir -p "$(dirname "$tree/$1")"
  printf '%b\n' "$2" >>"$tree/$1"
  if output=$(sh "$here/check.sh" "$tree" 2>&1); then
    echo "FAIL: '$2' in $1 was not noticed"
    failures=$((failures + 1))
  elif ! printf '%s\n' "$output" | grep -qF -- "$3"; then
    echo "FAIL: '$2' in $1: expected '$3', got: $output"
    failures=$((failures + 1))
  fi
}

sound
sh "$here/check.sh" "$tree"
expect gen/plan.c '#include "launch.h"' 'gen/plan.c:4: includes launch.h: gen may use'
expect gen/plan.c '#include "../runtime/launch.h"' 'gen may use'
expect gen/plan.c '#include <lua.h>' 'only script, spec_load and emit'
expect gen/plan.c '#  include <lauxlib.h>' 'only script, spec_load and emit'
expect gen/emit.c '#include <cuda_runtime.h>' 'never needs CUDA'
expect runtime/launch.c '#include "plan.h"' 'runtime may use runtime/ only'
expect runtime/launch.c '#include <lua.h>' 'has no Lua'
expect runtime/launch.c '#include <cuda.h>' 'CUDA only in'
expect runtime/emu/fiber.c '#include "launch.h"' 'emulated GPU may use'
expect templates/naive.cu.lua '#include <cuda_fp16.h>' 'includes nothing'
expect stray.txt 'x' 'top level'
expect gen/plan.c '#if 0' 'dead code'
expect gen/plan.c "// TO""DO: later" 'left behind'
expect gen/plan.c "$(printf '%601s' '' | sed 's/ /\\n/g')" 'more than 600'
[ "$failures" -eq 0 ] || exit 1
echo "layers: every kind of breach is noticed"
