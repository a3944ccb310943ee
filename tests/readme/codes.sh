#!/bin/sh
# codes.sh SOURCE - the codes of all diagnostics in gen/, sorted: the string before a message's text
# in a call that adds a diagnostic, what is assigned to a member or pointer named code, and the list
# of warnings that a spec may silence.
set -eu
cd "$1/gen"
{
  cat ./*.c | tr '\n' ' ' |
    grep -oE '(diag_add|plan_refuse|[a-z_]*_(error|warning|report|fault|warn))\([^;{}]*"[a-z][a-z0-9-]*",[[:space:]]+"' |
    sed -E 's/.*"([a-z][a-z0-9-]*)",[[:space:]]+"$/\1/'
  # a code chosen on the spot: good ? "this" : "that", "text"
  cat ./*.c | tr '\n' ' ' |
    grep -oE '\? "[a-z][a-z0-9-]{3,}" : "[a-z][a-z0-9-]{3,}",[[:space:]]+"' |
    grep -oE '"[a-z][a-z0-9-]*"' | tr -d '"'
  sed -nE 's/.*code = "([a-z][a-z0-9-]*)";.*/\1/p' ./*.c
  sed -n '/spec_warning_codes\[\] = {/,/};/p' spec.c | grep -oE '"[a-z-]+"' | tr -d '"'
} | sort -u
