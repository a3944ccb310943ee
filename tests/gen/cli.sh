#!/bin/sh
# cli.sh GEMMGEN ROOT - the command line as a user meets it: words, exit codes, what goes to stdout
# and what to stderr, files that do not depend on where they are made.
set -eu
gemmgen=$1
root=$2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"
failed=0 count=0

fault() {
  echo "FAILED: $*"
  failed=$((failed + 1))
}

# run CODE ARGUMENT... - stdout and stderr go to files of that name.
run() {
  expected=$1
  shift
  count=$((count + 1))
  code=0
  "$gemmgen" "$@" >stdout 2>stderr || code=$?
  [ "$code" -eq "$expected" ] || fault "gemmgen $*: exit $code, not $expected: $(cat stderr)"
}

says() { # FILE TEXT
  grep -qF -- "$2" "$1" || fault "$1 lacks '$2': $(cat "$1")"
}

lines() { # FILE COUNT
  [ "$(wc -l <"$1")" -eq "$2" ] || fault "$1 has $(wc -l <"$1") lines, not $2: $(cat "$1")"
}

same() { # FOLDER FOLDER
  diff -r "$1" "$2" >difference || fault "$1 and $2 differ: $(head -5 difference)"
}

cat >a.lua <<'SPEC'
gpu "h100-sxm"
gemm { family = "naive", dtype = "f32", layout = { "nn", "nt" } }
SPEC
cat >b.lua <<'SPEC'
gpu "a100-sxm-80"
sweep { family = "naive", dtype = "f64", tile = { { m = 8, n = 16 }, { m = 16, n = 512 } } }
SPEC

# -- Words ----------------------------------------------------------------------------------------

run 0 --help
[ "$(wc -l <stdout)" -le 24 ] || fault "--help takes more than a screen"
[ "$(awk '{ print length }' stdout | sort -n | tail -1)" -le 80 ] || fault "--help is too wide"
lines stderr 0
says stdout "exit codes: 0 done"
run 0 -h
run 0 --version
says stdout "gemmgen 0."

usage() { # TEXT ARGUMENT...
  text=$1
  shift
  run 1 "$@"
  lines stderr 1
  lines stdout 0
  says stderr "$text"
  says stderr "; see gemmgen --help"
}
usage "no spec is given"
usage "no spec is given" -o out
usage "-o DIR is missing" a.lua
usage "-o needs a value" a.lua -o
usage "-o is given twice" a.lua -o x -o y
usage "unknown option '--frobnicate'" a.lua -o out --frobnicate
usage "--force takes no value" a.lua -o out --force=1
usage "'9p' cannot begin a C name" a.lua -o out --prefix 9p
usage "'a-b' cannot begin a C name" a.lua -o out --prefix=a-b
usage "'' cannot begin a C name" a.lua -o out --prefix ""
usage "known: spec, plan, model, dispatch, template" a.lua -o out --dump nothing
usage "--json does not go with generate" a.lua -o out --json
usage "-o does not go with list" list a.lua -o out
usage "--seed does not go with explain" explain a.lua --seed 1
usage "'-1' is not a number" check a.lua --seed -1
usage "'1x2' is not of the form MxNxK" explain a.lua --problem 1x2
usage "'99999999999x1x1' is not of the form" explain a.lua --problem 99999999999x1x1
usage "this command takes no files" gpus a.lua
usage "unknown GPU 'h100'; did you mean" gpus --gpu h100

# -- Generate -------------------------------------------------------------------------------------

run 0 a.lua b.lua -o out
lines stdout 1
says stdout "out: "
says stderr "1 of 2 combinations rejected; \`gemmgen explain\` lists them"
run 0 a.lua b.lua -o out
says stdout "0 files written"

# The same bytes from another folder, by other paths, into another one.
mkdir -p elsewhere/deep
for o in -oone -o=two; do
  (cd elsewhere/deep && "$gemmgen" ../../a.lua "$work/b.lua" $o >/dev/null 2>&1) || fault "$o"
done
same out elsewhere/deep/one
same out elsewhere/deep/two
run 0 ./a.lua ./b.lua -o "$work/elsewhere/absolute"
same out elsewhere/absolute
! grep -rlF "$work" out || fault "a path of this machine is in the output"

# Fewer specs: what was of the other is removed and named.
run 0 b.lua -o out
says stderr "removed out/"
[ -z "$(find out -name '*_f32_*')" ] || fault "kernels of a former spec are left"

# A hand edit stands, and says so; --force takes it.
kernel=$(find out -name '*_full.cu' -o -name '*_narrow.cu' | sort | head -1)
echo "// mine" >>"$kernel"
cp -r out kept
run 3 b.lua -o out
says stderr "$kernel: error: was changed by hand"
same kept out
run 0 b.lua -o out --force
lines stderr 1 # the rejected combination

# A spec that is wrong leaves the folder alone.
echo 'gemm {' >bad.lua
cp -r out kept2
run 2 b.lua bad.lua -o out
same kept2 out
run 2 bad.lua -o never
[ ! -e never ] || fault "a folder was made for a bad spec"

# One kernel asked for twice is one file, which names both; other than that, names are unique.
cp a.lua c.lua
run 0 a.lua c.lua a.lua -o twice
says twice/gg_table.c sm90_naive
for file in twice/*.cu; do
  sed -n 2p "$file" | grep -q "from a.lua, c.lua\\.$" || fault "$file does not name both specs"
done
[ "$("$gemmgen" list a.lua | wc -l)" -eq "$("$gemmgen" list a.lua c.lua | wc -l)" ] ||
  fault "a kernel is listed twice"
sed 's/"h100-sxm"/{ base = "h100-sxm", registers_sm = 16384 }/' a.lua >cut.lua
run 2 a.lua cut.lua -o never
says stderr "cut.lua:2: error: kernel sm90_naive"
says stderr "is also that of a.lua:2, which differs in blocks_sm"

# A prefix renames what is defined, and no file.
run 0 a.lua -o plain
run 0 a.lua -o prefixed --prefix p_
(cd plain && ls) >names
(cd prefixed && ls) | diff names - >difference || fault "--prefix renames files"
says prefixed/gg_table.c p_gg_table
says prefixed/CMakeLists.txt p_gemmgen_kernels
grep -q "prefix p_" prefixed/*.cu || fault "the header does not cite --prefix"

# Names that would break out of a comment or a shell line.
mkdir odd
cp a.lua "odd/it's
odd\\.lua"
run 0 "odd/it's
odd\\.lua" -o odd_out
for file in odd_out/*.cu; do
  sed -n 2,3p "$file" | grep -q "'it?s?odd?.lua'" || fault "an odd name is cited badly"
done

# A spec named like a command.
cp a.lua check
run 0 ./check -o as_file
run 0 --gpu h200 a.lua -o other_gpu
says other_gpu/manifest.json '"gpu": "h200"'
usage "unknown GPU 'h201'; did you mean 'h20' or 'h200'" a.lua -o out --gpu h201

# Templates from disk give the same bytes; what is missing has a place.
run 0 a.lua -o from_disk --templates "$root/templates"
same plain from_disk
mkdir no_templates
run 5 a.lua -o never --templates no_templates
says stderr "engine.lua:1: error: "

cp -r "$root/templates" broken_templates
sed '$s/.*/$ nope()/' "$root/templates/naive.cu.lua" >broken_templates/naive.cu.lua
run 5 a.lua -o never --templates broken_templates
lines stderr 1
says stderr "naive.cu.lua:$(wc -l <broken_templates/naive.cu.lua): error: "
[ ! -e never ] || fault "a broken template left files"

# Where nothing can be written.
echo file >file
run 3 a.lua -o file
run 3 a.lua -o file/below
if [ -c /dev/full ]; then
  code=0
  "$gemmgen" gpus >/dev/full 2>stderr || code=$?
  [ "$code" -eq 3 ] || fault "gpus >/dev/full: exit $code"
  code=0
  "$gemmgen" a.lua --dump plan >/dev/full 2>stderr || code=$?
  [ "$code" -eq 3 ] || fault "--dump >/dev/full: exit $code"
fi

# -- Looking --------------------------------------------------------------------------------------

for stage in spec plan model dispatch template; do
  run 0 a.lua --dump $stage
  [ -s stdout ] || fault "--dump $stage prints nothing"
  cp stdout first
  run 0 "$work/a.lua" --dump $stage
  cmp -s stdout first || fault "--dump $stage depends on the path"
done
run 0 b.lua --dump plan
says stdout "rejected: b.lua:2 tile.m: "
run 0 explain a.lua b.lua --problem 100x100x100 --problem 64x64x64x3
says stdout "rejected: 1 of 2 combinations"
says stdout "problem 64x64x64x3"
says stdout "4  Shared memory's capacity"
run 0 explain a.lua --expect 80% --gpu h200
says stdout "10 What 80 % of "
says stdout "11 What moves from h100-sxm to h200"
usage "--expect: '0' is not a per cent" explain a.lua --expect 0
usage "--measured goes with --sweep" explain a.lua --measured x.csv
usage "--sweep takes one --problem" explain a.lua --sweep --expect 50%
usage "--expect: '80x' is not a per cent" explain a.lua --expect 80x
name=$("$gemmgen" list a.lua | sed -n '2s/ .*//p')
run 0 explain a.lua --kernel "$name"
[ "$(grep -c '^== ' stdout)" -eq 1 ] || fault "explain --kernel shows others"
run 2 explain a.lua --kernel nope
says stderr "no spec asks for 'nope'"
run 0 list a.lua b.lua
run 0 gpus
says stdout "h100-sxm"
run 2 list bad.lua
lines stdout 0

if command -v python3 >/dev/null 2>&1; then
  json() {
    run 0 "$@"
    python3 -m json.tool stdout >/dev/null || fault "gemmgen $*: not JSON"
  }
  json gpus --json
  json gpus --gpu h200 --json
  json list a.lua b.lua --json
  json explain a.lua b.lua --json --problem 1x2x3
  json explain a.lua --json
  for file in out plain odd_out; do
    python3 -m json.tool $file/manifest.json >/dev/null || fault "$file/manifest.json: not JSON"
  done
fi

# Warnings count only with --strict.
cat >warn.lua <<'SPEC'
gpu "h100-sxm"
gemm { family = "simt", dtype = "f32", budget = { loop_bytes = 1 } }
SPEC
run 0 warn.lua -o warned
says stderr "warning: "
run 2 warn.lua -o strict --strict
[ ! -e strict ] || fault "--strict wrote"
sed 's/budget/allow = { "loop-code" }, budget/' warn.lua >allowed.lua
run 0 allowed.lua -o allowed --strict
lines stderr 0

if [ "$failed" -ne 0 ]; then
  echo "cli: $failed faults in $count commands"
  exit 1
fi
echo "cli: $count commands behave"
