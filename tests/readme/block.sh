#!/bin/sh
# block.sh FILE NAME - the code block that follows `<!-- NAME -->` in a Markdown file.
set -eu
awk -v marker="<!-- $2 -->" '
  $0 == marker { found = 1; next }
  found && /^```/ { if (inside) exit; inside = 1; next }
  inside { print }
' "$1" | grep "" || {
  echo "block.sh: no block '$2' in $1" >&2
  exit 1
}
