#!/bin/sh
# run.sh - the tests: installs what they need beyond setup.sh, then runs them under ASan and UBSan
# and as built by default. Ends with ctest's closing line; exit 0 only if all passed.
#
#   tests/run.sh [CTEST-OPTION...]   for example: tests/run.sh -R golden
#   GEMMGEN_COMPILE=all              compile every emitted kernel with nvcc, not the subset
#   GEMMGEN_ASAN=0                   leave out the sanitizer run
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tests/packages.sh
. tests/packages.sh

need_build
install_missing tests

# Without these a test is skipped, and says so; so a machine that cannot install them still tests.
need make make --version
need clang clang --version
need libclang-rt-dev have_fuzzer
need clang-format clang-format --version
need lua-check luacheck --version
need shellcheck shellcheck --version
need python3 python3 --version
install_missing "tests (extras)" || echo "tests: going on without them"

# nvcc 13 no longer knows sm_70; NVRTC 12 does.
if have nvcc && ! nvcc --list-gpu-code | grep -q sm_70; then
  GEMMGEN_NVRTC12=$PWD/build/nvrtc12
  export GEMMGEN_NVRTC12
  [ -d "$GEMMGEN_NVRTC12" ] ||
    python3 -m pip install --quiet --root-user-action ignore --target "$GEMMGEN_NVRTC12" \
      'nvidia-cuda-nvrtc-cu12==12.9.*' ||
    echo "tests: going on without NVRTC 12; kernels for sm_70 are not compiled"
fi

if [ "${GEMMGEN_ASAN:-1}" != 0 ]; then
  choose_generator build-asan
  echo "tests: under AddressSanitizer and UBSan, in build-asan/"
  cmake --preset asan
  cmake --build build-asan --parallel "$(jobs)"
  # Left out: what runs no host code of ours in this process, or takes minutes under ASan.
  ctest --test-dir build-asan --output-on-failure --parallel "$(jobs)" \
    --label-exclude 'no-asan|nvcc|slow' "$@"
fi

echo "tests: as built by default, in build/"
unset CMAKE_GENERATOR
choose_generator build
cmake --preset default
cmake --build build --parallel "$(jobs)"
ctest --test-dir build --output-on-failure --parallel "$(jobs)" "$@"
