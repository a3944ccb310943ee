#!/bin/sh
# codes.sh SOURCE - the codes of all diagnostics in gen/, sorted: the string before a message's text
# in a call that adds a diagnostic.
set -eu
cat "$1"/gen/*.c | tr '\n' ' ' |
  grep -oE '(diag_add|plan_refuse|[a-z_]*_(error|warning|report|fault))\([^;{}]*"[a-z][a-z0-9-]*",[[:space:]]+"' |
  sed -E 's/.*"([a-z][a-z0-9-]*)",[[:space:]]+"$/\1/' | sort -u
