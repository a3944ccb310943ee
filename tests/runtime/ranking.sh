#!/bin/sh
# ranking.sh ROOT - ranking.py names the kernel that the library would pick, and counts how often it
# is among the fastest: two kernels of 128 x 128 and 64 x 64, the second half as fast on a full GPU;
# then what clusters and several blocks an SM change.
set -eu
root=$1
command -v python3 >/dev/null || { echo "ranking.sh: no python3"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"

# name, side of the tile, speed, cluster_m, blocks_per_sm, overhead_k, further_percent, alone_percent
row() {
  cat <<ROW
    {.name = "sm90_simt_$1",
     .tile_m = $2, .tile_n = $2, .tile_k = 8, .k_slices = 1,
     .threads = 128, .cluster_m = $4, .cluster_n = 1, .cluster_k = 1,
     .shared_bytes = 0, .blocks_per_sm = $5,
     .speed = $3, .wave_loss_percent = 100, .overhead_k = $6,
     .further_percent = $7, .alone_percent = $8, .persistent = 0},
ROW
}
{
  row big 128 1000 1 1 0 100 100
  row small 64 500 1 1 0 100 100
} >table.c
cat >measured.csv <<'CSV'
name,dtype,layout,m,n,k,batch,kernel,us
full,f32,nn,2048,2048,2048,1,sm90_simt_big,100
full,f32,nn,2048,2048,2048,1,sm90_simt_small,90
few,f32,nn,512,512,512,1,sm90_simt_big,20
few,f32,nn,512,512,512,1,sm90_simt_small,10
few,f32,nn,512,512,512,1,sm90_simt_f32_tn_other,5
CSV

# A kernel of another layout is no choice: it needs a pass over an operand first.
# 256 large tiles are two waves of 132 SMs; 16 of them leave most SMs idle, 64 small ones fewer.
python3 "$root/runtime/tools/ranking.py" measured.csv table.c --sms 132 >out
while read -r line; do
  grep -qF "$line" out || { cat out; echo "ranking.sh: no '$line'"; exit 1; }
done <<'WANTED'
| full nn | 2048 x 2048 x 2048 x 1 | big | 100.0 | small | 90.0 | 11.1% |
| few nn | 512 x 512 x 512 x 1 | small | 10.0 | | | 0.0% |
1 of 2 within 3 %, mean loss 5.56 %, worst 11.1 %
WANTED
sed 's/sm90_simt_big/other/' measured.csv >wrong.csv
if python3 "$root/runtime/tools/ranking.py" wrong.csv table.c >out 2>&1; then
  echo "ranking.sh: a kernel that is not in the table was taken"
  exit 1
fi

# pair: fewer than 5 % of its tiles are padding, or half of them. alone: an SM's only block, or two.
# beside: overheads that the second of two blocks hides, or that each pays.
{
  row plain 64 500 1 1 0 100 100
  row pair 64 520 2 1 0 100 100
  row alone 64 520 1 2 0 100 60
  row beside 64 520 1 2 60 25 100
  row after 64 520 1 1 60 100 100
} >table.c
chosen() { # m, kernels -> the one it picks
  m=$1
  shift
  echo name,dtype,layout,m,n,k,batch,kernel,us >several.csv
  for kernel in "$@"; do
    echo "p,f32,nn,$m,8192,1024,1,sm90_simt_$kernel,1"
  done >>several.csv
  python3 "$root/runtime/tools/ranking.py" several.csv table.c --sms 132 | sed -n 3p | cut -d'|' -f4 | tr -d ' '
}
while read -r m one other wanted; do
  for order in "$one $other" "$other $one"; do
    # shellcheck disable=SC2086
    got=$(chosen "$m" $order)
    [ "$got" = "$wanted" ] || { echo "ranking.sh: of $order at m = $m it picks $got"; exit 1; }
  done
done <<'WANTED'
4096 plain pair pair
64 plain pair plain
128 plain alone alone
64 plain alone plain
128 plain beside beside
128 plain after plain
WANTED
echo "ranking.sh: good"
