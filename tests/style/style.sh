#!/bin/sh
# style.sh format|luacheck|shellcheck ROOT - exit 1 on a fault, 77 where the tool is missing.
set -eu
check=$1
cd "$2"

tool=$check
[ "$check" != format ] || tool=clang-format
if ! command -v "$tool" >/dev/null 2>&1; then
  echo "skipped: $tool is not installed"
  exit 77
fi

# What is ours by hand: emitted and golden kernels are laid out by the emitter.
case $check in
  format)
    # Releases differ in what they write; 14 is Debian 12's.
    if ! clang-format --version | grep -q 'version 14\.'; then
      echo "skipped: clang-format 14 is needed, here is $(clang-format --version)"
      exit 77
    fi
    find gen runtime tests -name golden -prune -o -name '*.[ch]' -exec clang-format --dry-run --Werror {} +
    ;;
  luacheck)
    # Skeletons (*.cu.lua) are CUDA C with gutters of Lua, and bad specs are bad.
    find specs templates tests -path tests/bad_specs -prune -o -path tests/fuzz -prune -o \
      -name '*.lua' ! -name '*.cu.lua' -exec luacheck --quiet {} +
    ;;
  shellcheck)
    find .ci/run tests runtime \( -name '*.sh' -o -path .ci/run \) \
      -exec shellcheck --external-sources {} +
    ;;
esac
echo "$check: no faults"
