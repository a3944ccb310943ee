#!/bin/sh
# python.sh SCRIPT [ARGUMENT...] - runs it, or says that there is no Python (77: skipped).
set -eu
if ! command -v python3 >/dev/null 2>&1; then
  echo "skipped: python3 is not installed"
  exit 77
fi
exec python3 "$@"
