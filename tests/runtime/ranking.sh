#!/bin/sh
# ranking.sh ROOT - ranking.py names the kernel that the library would pick, and counts how often it
# is among the fastest. Two kernels of 128 x 128 and 64 x 64, the second half as fast on a full GPU.
set -eu
command -v python3 >/dev/null || { echo "ranking.sh: no python3"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"

for row in "big 128 1000" "small 64 500"; do
  # shellcheck disable=SC2086
  set -- "$1" $row
  cat <<ROW
    {.name = "sm90_simt_$2",
     .tile_m = $3, .tile_n = $3, .tile_k = 8, .k_slices = 1,
     .threads = 128, .cluster_m = 1, .cluster_n = 1, .cluster_k = 1,
     .speed = $4, .wave_loss_percent = 100, .overhead_k = 0, .persistent = 0},
ROW
done >table.c
cat >measured.csv <<'CSV'
name,dtype,layout,m,n,k,batch,kernel,us
full,f32,nn,2048,2048,2048,1,sm90_simt_big,100
full,f32,nn,2048,2048,2048,1,sm90_simt_small,90
few,f32,nn,512,512,512,1,sm90_simt_big,20
few,f32,nn,512,512,512,1,sm90_simt_small,10
CSV

# 256 large tiles are two waves of 132 SMs; 16 of them leave most SMs idle, 64 small ones fewer.
python3 "$1/runtime/tools/ranking.py" measured.csv table.c --sms 132 >out
while read -r line; do
  grep -qF "$line" out || { cat out; echo "ranking.sh: no '$line'"; exit 1; }
done <<'WANTED'
| full nn | 2048 x 2048 x 2048 x 1 | big | 100.0 | small | 90.0 | 11.1% |
| few nn | 512 x 512 x 512 x 1 | small | 10.0 | | | 0.0% |
1 of 2 within 3 %, mean loss 5.56 %, worst 11.1 %
WANTED
sed 's/sm90_simt_big/other/' measured.csv >wrong.csv
if python3 "$1/runtime/tools/ranking.py" wrong.csv table.c >out 2>&1; then
  echo "ranking.sh: a kernel that is not in the table was taken"
  exit 1
fi
echo "ranking.sh: good"
