#!/usr/bin/env python3
"""tiles.py GEMMGEN [TIMES.csv ...] - the kernels of docs/measured beside the model's numbers of them.

Times are kept once, in docs/measured/h200_tiles.csv and h200_suite.csv. This writes what the tests need besides:
tests/model/tiles.lua, the points of measured kernels that no spec of specs/ has (a kernel's name says them), and
tests/model/tiles_kernels.csv, `--dump model` of every measured kernel. Fails where a name gives another kernel.
"""
import csv
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
HEAD = """-- Kernels that were measured (docs/measured/h200_tiles.csv) and that no spec of specs/ has. Written by
-- tests/model/tiles.py from their names.

gpu "h200"

local function point(family, dtype, layout, tile, more)
  more.family, more.dtype, more.layout, more.tile = family, dtype, layout, tile
  more.allow = { "ring-short", "tile-k-large", "few-blocks", "no-tensor-cores" }
  gemm(more)
end
local function wgmma(dtype, layout, m, n, more) point("wgmma", dtype, layout, { m = m, n = n }, more) end
local function mma(dtype, layout, m, n, k, warp, more)
  more.copy = more.copy or { path = "async" } -- as it was when most of these were timed
  point("mma", dtype, layout, { m = m, n = n, k = k, warp = { m = warp[1], n = warp[2] } }, more)
end

"""
NAME = re.compile(r"sm90a?_(?P<family>wgmma|mma)_(?P<dtype>[a-z0-9]+)_(?P<layout>[nt]{2})"
                  r"_(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)_(?P<rest>.*)_(?P<variant>full|edge|narrow)$")

WIDER = {"e4m3": '{ a = "e4m3", d = "bf16" }', "s8": '{ a = "s8", d = "s32" }'}  # whose D is not of the type of A


def point(name):
    """The fields of a kernel's name, as a spec's line."""
    found = NAME.match(name)
    if not found:
        sys.exit(f"tiles.py: {name}: not of family wgmma or mma")
    family, rest = found["family"], found["rest"]
    tile = f"{found['m']}, {found['n']}"
    dtype = WIDER.get(found["dtype"], f'"{found["dtype"]}"')
    more, cluster, unroll = [], [], []
    if family == "mma":
        warp = re.match(r"w(\d+)x(\d+)_", rest)
        tile += f", {found['k']}, {{ {warp[1]}, {warp[2]} }}"
        rest = rest[warp.end():]
    for part in rest.split("_"):
        value = re.sub(r"^[a-z]+", "", part)
        if re.fullmatch(r"w\d+", part):
            continue  # follows from the tile
        if re.fullmatch(r"w\d+p", part):
            more.append('schedule = "pingpong"')
        elif re.fullmatch(r"s\d+", part):
            more.append(f"stages = {value}")
        elif part == "once":
            more.append("persistent = false")
        elif part == "serial":
            more.append("programmatic = false")
        elif re.fullmatch(r"c\d+x\d+", part):
            m, n = value.split("x")
            cluster.append(f"m = {m}, n = {n}")
        elif re.fullmatch(r"split\d+", part):
            cluster.append(f"k = {value}")
        elif re.fullmatch(r"mb\d+", part):
            more.append(f"min_blocks = {value}")
        elif re.fullmatch(r"g\d+", part):
            more.append(f"raster = {{ group = {value} }}")
        elif re.fullmatch(r"f\d+", part):
            unroll.append(f"fragments = {value}")
        elif part == "tma":
            more.append('copy = { path = "tma" }')
        elif part in ("row", "column"):
            unroll.append(f'order = "{part}"')
        else:
            sys.exit(f"tiles.py: {name}: what is '{part}'?")
    for field, list_ in (("cluster", cluster), ("unroll", unroll)):
        if list_:
            more.append(f"{field} = {{ {', '.join(list_)} }}")
    return f'{family}({dtype}, "{found["layout"]}", {tile}, {{ {", ".join(more)} }})\n'


def models(gemmgen, specs):
    """The header and kernel -> line of `--dump model`."""
    out = subprocess.run([gemmgen, *specs, "--gpu", "h200", "--dump", "model"], capture_output=True, text=True,
                         check=False)
    if out.returncode:
        sys.exit(f"tiles.py: {' '.join(specs)}:\n{out.stderr}")
    head, *lines = out.stdout.splitlines()
    return head, {line.split(",")[0]: line for line in lines}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    gemmgen = sys.argv[1]
    times = sys.argv[2:] or [os.path.join(ROOT, "docs", "measured", f"h200_{x}.csv") for x in ("tiles", "suite")]
    names = []
    for path in times:
        with open(path, encoding="utf-8") as file:
            names += [row["kernel"] for row in csv.DictReader(file)]
    names = sorted(set(names))
    known = {}
    folder = os.path.join(ROOT, "specs")
    for spec in sorted(os.listdir(folder)):
        if re.match(r"(h100|unroll|blocksize|wmma)_", spec):
            known.update(models(gemmgen, [os.path.join(folder, spec)])[1])
    lua = os.path.join(HERE, "tiles.lua")
    with open(lua, "w", encoding="utf-8") as file:
        file.write(HEAD + "".join(point(name) for name in names if name not in known))
    head, own = models(gemmgen, [lua])
    known.update(own)
    blocks = head.split(",").index("blocks_sm")
    for name in names:
        # A count of blocks is in a name where the plan would have another: it counts better since.
        plain, found = re.sub(r"_mb\d+", "", name), re.search(r"_mb(\d+)", name)
        if name not in known and found and plain not in names and plain in known:
            line = known[plain].split(",")
            if line[blocks] == found[1]:
                known[name] = ",".join([name] + line[1:])
    missing = [name for name in names if name not in known]
    for name in missing:
        print(f"tiles.py: {name}: no point gives it", file=sys.stderr)
    with open(os.path.join(HERE, "tiles_kernels.csv"), "w", encoding="utf-8") as file:
        file.write("\n".join([head] + [known[name] for name in names if name in known]) + "\n")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
