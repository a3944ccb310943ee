#!/bin/sh
# html.sh GEMMGEN SOURCE - the page of explain --html: sound as a document, and, where Chromium is
# installed, shown by it: no page wider than a phone, figures drawn, dark mode dark, print not empty.
set -eu
gemmgen=$1
source=$2
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null 2>&1 || { echo "skipped: no python3"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"

cat >page.lua <<'SPEC'
gpu "h100-sxm"
gemm { family = "naive", dtype = "f32" }
gemm { family = "smem", dtype = "f32" }
gemm { family = "simt", dtype = "f32", layout = { "nn", "tn" } }
gemm { family = "simt", dtype = "f64", layout = "tn" }
gemm { family = "wgmma", dtype = "bf16", layout = "nt" }
SPEC
"$gemmgen" explain page.lua --problem 1000x1000x1000 --problem 0x16x16 --problem 128x4096x512x3 \
  --expect 70% --html page.html
python3 "$here/html_check.py" page.html
"$gemmgen" explain "$source/specs/h100_f32.lua" --html all.html
python3 "$here/html_check.py" all.html

# A sweep, with times beside its predictions: the table, the maps, and what is no CSV of gemmbench.
cat >sweep.lua <<'SPEC'
gpu "h200"
sweep {
  family = "simt", dtype = "f32", layout = "tn",
  tile = { { m = 128, n = 128, k = 8, thread = { m = 8, n = 8 } }, { m = 64, n = 64, k = 16, thread = { m = 8, n = 8 } } },
  stages = { 2, 4 },
}
SPEC
"$gemmgen" explain sweep.lua --sweep --problem 2048x2048x2048 --measured "$here/times.csv" >table
[ "$(grep -c '^[0-9].*sm90_simt_f32_tn_' table)" -eq 4 ] || { echo "FAILED: sweep: $(cat table)"; exit 1; }
awk 'NR > 1 && NR < 6 { if ($0 !~ /(issue slots|latency) +[0-9]+\.[0-9][0-9] /) bad = 1; if ($5 + 0 < last) bad = 1; last = $5 + 0 }
  END { exit bad }' table || { echo "FAILED: sweep is not sorted or lacks times: $(cat table)"; exit 1; }
"$gemmgen" explain sweep.lua --sweep --problem 2048x2048x2048 --json | python3 -m json.tool >/dev/null
"$gemmgen" explain sweep.lua --sweep --problem 2048x2048x2048 --measured "$here/times.csv" --html sweep.html
python3 "$here/html_check.py" sweep.html
grep -q "Measured over tile.m" sweep.html || { echo "FAILED: no measured map"; exit 1; }
code=0
"$gemmgen" explain sweep.lua --sweep --measured sweep.lua 2>stderr || code=$?
if [ "$code" -ne 2 ] || ! grep -q "no column 'kernel'" stderr; then
  echo "FAILED: not a CSV: $code"
  exit 1
fi

code=0
"$gemmgen" explain page.lua --html /nowhere/page.html 2>stderr || code=$?
[ "$code" -eq 3 ] || { echo "FAILED: a page that cannot be written: exit $code"; exit 1; }
grep -q "cannot be written" stderr

chromium=
for name in chromium chromium-browser google-chrome; do
  command -v "$name" >/dev/null 2>&1 && chromium=$name && break
done
[ -n "$chromium" ] || { echo "html: Chromium is not installed: the page was not shown"; exit 0; }

# The page with a probe at its end that leaves its findings in the title.
probe() { # WIDTH OPTION... - prints the findings
  width=$1
  shift
  python3 - <<'PY'
page = open("page.html", encoding="utf-8").read()
script = """<script>
const wide = document.scrollingElement.scrollWidth > window.innerWidth;
const figures = [...document.querySelectorAll("svg")];
const empty = figures.filter(s => !(s.getBoundingClientRect().height > 40)).length;
const off = figures.flatMap(s => { const b = s.viewBox.baseVal; return [...s.querySelectorAll("rect,circle,text")]
  .filter(e => { const x = e.getBBox(); return !e.hasAttribute("transform") && (x.x < -1 || x.y < -1 ||
    x.x + x.width > b.width + 1 || x.y + x.height > b.height + 1); }).map(e => e.textContent || e.tagName); });
const light = getComputedStyle(document.body).backgroundColor;
document.querySelectorAll("details").forEach(d => d.open = true);
const reached = [...document.querySelectorAll("a[href],summary,[tabindex]")].filter(e => e.tabIndex >= 0 && e.getClientRects().length);
const lost = reached.filter(e => { e.focus(); return document.activeElement !== e || e.tabIndex !== 0; }).length;
const dead = [...document.querySelectorAll('a[href^="#"]')].filter(a => !document.getElementById(a.hash.slice(1))).length;
const fetched = performance.getEntriesByType("resource").length;
document.title = `wide=${wide} figures=${figures.length} empty=${empty} off=${off.length} ${off[0] || ""} background=${light}` +
  ` keyboard=${reached.length > 9} lost=${lost} dead=${dead} fetched=${fetched} width=${window.innerWidth}`;
</script></body>"""
open("probe.html", "w", encoding="utf-8").write(page.replace("</body>", script))
PY
  timeout 100 "$chromium" --headless=new --no-sandbox --disable-gpu --window-size="$width",900 "$@" \
    --enable-logging=stderr --dump-dom "file://$work/probe.html" 2>console | grep -o '<title>wide=[^<]*' | sed 's/<title>//'
}

failed=0
expect() { # FINDINGS TEXT
  case $1 in *"$2"*) ;; *) echo "FAILED: not '$2': $1"; failed=1 ;; esac
}
phone=$(probe 390)
[ -n "$phone" ] || { echo "html: Chromium does not run here: the page was not shown"; exit 0; }
expect "$phone" "wide=false"
expect "$phone" "empty=0"
expect "$phone" "off=0 "
expect "$phone" "background=rgb(255, 255, 255)"
expect "$phone" "keyboard=true lost=0 dead=0 fetched=0"
if grep "CONSOLE" console; then # what the page itself says: errors, and what it could not load
  echo "FAILED: the page writes to the console"
  failed=1
fi
expect "$(probe 1400)" "wide=false"
expect "$(probe 1400 --blink-settings=preferredColorScheme=0)" "background=rgb(22, 24, 27)"
timeout 100 "$chromium" --headless=new --no-sandbox --disable-gpu --print-to-pdf="$work/page.pdf" \
  "file://$work/page.html" 2>/dev/null
[ "$(wc -c <page.pdf)" -gt 20000 ] || { echo "FAILED: print: $(wc -c <page.pdf) bytes"; failed=1; }
[ "$failed" -eq 0 ] || exit 1
echo "html: shown: $phone"
