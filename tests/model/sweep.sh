#!/bin/sh
# sweep.sh BUILD - gemmbench --sweep without a GPU: figures of every kernel, read by explain --sweep.
# Needs nvcc; a script stands for nvdisasm, so that the mix is known.
set -eu
bin=$1/bin
command -v nvcc >/dev/null 2>&1 || { echo "skipped: nvcc is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"

fail() {
  echo "sweep.sh: $1"
  exit 1
}

# Padding 0: turned stores collide. A prefix: symbols differ from names.
cat >tiny.lua <<'SPEC'
gpu "h100-sxm"
sweep {
  family = "simt", dtype = "f32", layout = "nn", tile = { m = 64, n = 64, k = 8, thread = { m = 8, n = 8 } },
  stages = 1, padding = { 0, 4 }, allow = { "ring-synchronous", "bank-conflict" },
}
SPEC
"$bin/gemmgen" tiny.lua -o out --prefix t_ >/dev/null 2>&1

cat >disassemble <<'FAKE'
#!/bin/sh
cat <<'SASS'
	.text.kernel:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 BRA `(.L_x_1) ;
        /*0020*/                   FFMA R0, R1, R2, R3 ;
        /*0030*/              @P1  LDS.128 R4, [R5] ;
        /*0040*/                   LDGSTS.E.BYPASS.128 [R6], desc[UR4][R8.64] ;
        /*0050*/                   HMMA.16816.F32.BF16 R0, R4, R8, R0 ;
        /*0060*/                   STL [R1], R2 ;
SASS
FAKE
chmod +x disassemble
NVDISASM=$work/disassemble "$bin/gemmbench" out --sweep --no-run --problem 512x512x512 --jobs 2 >sweep.csv 2>notes ||
  { cat notes; fail "gemmbench returned $?"; }
[ ! -s notes ] || { cat notes; fail "there is something to note"; }

# value KERNEL COLUMN
value() {
  awk -F, -v kernel="$1" -v column="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == column) at = i }
    $1 == kernel { print $at }' sweep.csv
}
kernels=$("$bin/gemmgen" list tiny.lua 2>/dev/null | grep -c '^sm90_')
[ "$(wc -l <sweep.csv)" -eq $((kernels + 1)) ] || { cat sweep.csv; fail "not $kernels kernels"; }
padded=sm90_simt_f32_nn_64x64x8_t8x8_s1_full plain=sm90_simt_f32_nn_64x64x8_t8x8_s1_pad0_full
for kernel in $padded $plain; do
  [ "$(value "$kernel" registers)" -gt 64 ] || fail "registers of $kernel"
  [ "$(value "$kernel" spill_bytes)" -eq 0 ] || fail "spills of $kernel"
  [ "$(value "$kernel" code_bytes)" -gt 4096 ] || fail "code of $kernel"
  [ "$(value "$kernel" m)$(value "$kernel" us)" = 512 ] || fail "problem of $kernel"
  for count in instructions=7 fma=1 mma=1 copies=1 shared_loads=1 branches=1 local=1 barriers=0; do
    [ "$(value "$kernel" "sass_${count%=*}")" -eq "${count#*=}" ] || fail "$count of $kernel"
  done
done
[ "$(value "$padded" shared_wavefronts)" -eq "$(value "$padded" shared_ideal)" ] || fail "padded rows collide"
[ "$(value "$plain" shared_wavefronts)" -gt "$(value "$plain" shared_ideal)" ] || fail "plain rows do not collide"

# Times of a run elsewhere: kernels that it left out keep their figures.
cat >times.csv <<CSV
name,dtype,layout,m,n,k,batch,kernel,us,spread_percent,tflops,gbs,peak_percent,mhz
x,f32,nn,512,512,512,1,$padded,12.5,0.1,21.4,250,32,1980
CSV
NVDISASM=$work/disassemble "$bin/gemmbench" out --sweep --times times.csv --jobs 2 >timed.csv 2>notes ||
  { cat notes; fail "gemmbench --times returned $?"; }
[ "$(wc -l <timed.csv)" -eq $((kernels + 1)) ] || { cat timed.csv; fail "not $kernels kernels with times"; }
grep -q "^$padded,512,512,512,1,12.5,21.4,32,[1-9]" timed.csv || { cat timed.csv; fail "no time of $padded"; }
grep -q "^$plain,,,,,,,,[1-9]" timed.csv || { cat timed.csv; fail "no figures of $plain"; }
"$bin/gemmgen" explain tiny.lua --sweep --problem 512x512x512 --measured timed.csv >table 2>/dev/null
grep "$padded" table | grep -q " 12.5" || { cat table; fail "explain does not show the time of $padded"; }
grep -q "^1 of them measured: half" table || fail "no word on how near the predictions are"
grep -q "12.50 us measured, 0.0 % beyond the fastest ($padded)" table || { cat table; fail "no word on the first choice"; }
code=0
"$bin/gemmbench" out --sweep --times nowhere.csv >/dev/null 2>notes || code=$?
[ $code -eq 2 ] || fail "no file of times: $code"
code=0
"$bin/gemmbench" out --sweep --no-run --times times.csv >/dev/null 2>notes || code=$?
[ $code -eq 1 ] || fail "--no-run with --times: $code"

# explain sets them beside the predictions.
"$bin/gemmgen" explain tiny.lua --sweep --problem 512x512x512 --measured sweep.csv >table 2>/dev/null
grep -q "spill B" table || fail "no column of spills"
grep "$plain" table | grep -q " $(value "$plain" code_bytes) " || fail "explain does not show the bytes of code"
"$bin/gemmgen" explain tiny.lua --sweep --problem 512x512x512 --measured sweep.csv --html page.html 2>/dev/null
grep -q "spill B" page.html || fail "the page has no column of spills"

# Without a disassembler it says so; a kernel that does not compile is an error.
PATH=$(dirname "$(command -v nvcc)"):/usr/bin:/bin NVDISASM='' "$bin/gemmbench" out --sweep --no-run >empty.csv 2>notes || fail "returned $?"
if [ ! -x "$(dirname "$(command -v nvcc)")/nvdisasm" ] && ! [ -x /usr/bin/nvdisasm ]; then
  grep -q "nvdisasm is neither" notes || fail "no word about the missing nvdisasm"
fi
echo 'int broken(' >>out/$plain.cu
code=0
"$bin/gemmbench" out --sweep --no-run >/dev/null 2>notes || code=$?
[ $code -eq 3 ] || { cat notes; fail "a broken kernel: $code"; }
grep -q "$plain does not compile" notes || fail "a broken kernel is not named"
code=0
"$bin/gemmbench" out --no-run 2>notes || code=$?
[ $code -eq 1 ] || fail "--no-run alone: $code"
grep -q "needs --sweep" notes || fail "--no-run alone is not explained"
echo "sweep.sh: good"
