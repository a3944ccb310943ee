# packages.sh - read by setup.sh and run.sh: what a Debian machine lacks, and how to add it.
# shellcheck shell=sh

missing=

# Distributions disagree on the name.
have_lua() {
  pkg-config --exists lua5.4 || pkg-config --exists lua-5.4 || pkg-config --exists lua54
}

# clang alone does not bring libFuzzer.
have_fuzzer() {
  echo 'int LLVMFuzzerTestOneInput(const char *p, unsigned long n) { return p && n ? 0 : 0; }' |
    clang -fsanitize=fuzzer -x c - -o /dev/null
}

# need PACKAGE COMMAND... - remembers the package unless the command succeeds.
need() {
  package=$1
  shift
  "$@" >/dev/null 2>&1 || missing="$missing $package"
}

have() {
  command -v "$1" >/dev/null 2>&1
}

# What building needs.
need_build() {
  need gcc sh -c 'command -v cc'
  need libc6-dev test -e /usr/include/stdio.h
  need cmake cmake --version
  need pkg-config pkg-config --version
  have ninja || need ninja-build make --version
  need liblua5.4-dev have_lua
  need libcmocka-dev pkg-config --exists cmocka
}

# install_missing WHAT - installs the remembered packages, or says what to install and fails.
install_missing() {
  if [ -z "$missing" ]; then
    echo "$1: all packages are there"
    return 0
  fi
  echo "$1: missing:$missing"
  if ! have apt-get; then
    echo "$1: no apt-get here; install the equivalents of:$missing" >&2
    return 1
  fi
  as_root=
  if [ "$(id -u)" -ne 0 ]; then
    if ! have sudo; then
      echo "$1: not root and no sudo; ask an administrator for:$missing" >&2
      return 1
    fi
    as_root=sudo
  fi
  packages=$missing
  missing=
  # A fresh image has no package lists.
  $as_root apt-get update -qq || return 1
  # shellcheck disable=SC2086 # a list of words
  $as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends $packages || return 1
}

# Ninja where it is, else make; an existing build folder keeps what it was made with.
choose_generator() {
  if [ -z "${CMAKE_GENERATOR:-}" ] && have ninja && [ ! -f "$1/CMakeCache.txt" ]; then
    CMAKE_GENERATOR=Ninja
    export CMAKE_GENERATOR
  fi
}

jobs() {
  nproc 2>/dev/null || echo 2
}
