#!/usr/bin/env python3
"""counts.py GEMMGEN SPEC... - what the model counts, against what runs and what is written.

Of each kernel, for one k tile of one block:
  shared loads, copies from global memory, shared stores   requests, as the emulated GPU counts them
  wavefronts of the loads, and of what fills the ring      the emulated GPU's cost
  FMAs or matrix instructions                              as they stand in the kernel's main loop
  bytes of shared memory                                   the dispatch table's, and stages + rest
Two depths of k are run; their difference is free of prologue and epilogue. A subset of the kernels is
taken that covers each family with all that changes its counts, or all with GEMMGEN_COUNTS=all. TMA and
wgmma touch shared memory without requests of a warp: of them the emulated GPU counts nothing.
"""

import collections
import concurrent.futures
import json
import math
import os
import re
import subprocess
import sys
import tempfile

LINE = 128  # bytes: rows that begin on lines make requests alike
TILES = 4   # between the two depths
AT_ONCE = 8  # kernels of one run

# What changes counts, for each family.
COVERED = (("layout", "variant"), ("tile_m", "tile_n", "tile_k"), ("thread_m", "thread_n"), ("path_a", "path_b"),
           ("k_slices",), ("swizzle",), ("pad_a", "pad_b"), ("unroll_k",), ("unroll_stages",), ("fragments",),
           ("type_a",), ("copy_a", "copy_b"), ("arch",), ("turn_a", "turn_b"), ("order",), ("schedule",),
           ("from_registers",), ("swap",))

CALLS = {"simt": r"\bfmaf?\(", "smem": r"\bfmaf?\(", "mma": r"\bgg_mma_\w+\(", "wmma": r"\bgg_wmma_mma\w*\(",
         "wgmma": r"\bgg_wgmma_m64\w+\("}


def run(gemmgen, *arguments):
    result = subprocess.run([gemmgen, *arguments], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"gemmgen {' '.join(arguments[:4])} ...: exit {result.returncode}\n{result.stderr}")
    return result.stdout


def subset(kernels):
    def features(kernel):
        f = kernel["fields"]
        return {(f["family"], names, *(str(f.get(n)) for n in names)) for names in COVERED}

    left, chosen = set().union(*(features(k) for k in kernels)), []
    while left:
        best = max(kernels, key=lambda k: (len(features(k) & left), -k["fields"]["tile_m"] * k["fields"]["tile_n"]))
        chosen.append(best)
        left -= features(best)
    return chosen


def whole_lines(tile, element):
    """The least multiple of tile whose elements fill lines."""
    return math.lcm(tile, LINE // element)


def shape(fields):
    element = fields["element"]
    return (whole_lines(fields["tile_m"], element), whole_lines(fields["tile_n"], element),
            whole_lines(fields["tile_k"], element))


def requests(gemmgen, folder, names, problem):
    options = [x for name in names for x in ("--kernel", name)]
    answer = json.loads(run(gemmgen, "check", folder, "--json", "--problem", "x".join(map(str, problem)), *options))
    counts = {}
    for kernel in answer["kernels"]:
        c = collections.Counter()
        for line in kernel["lines"]:
            c[line["op"], line["space"], "requests"] += line["requests"]
            c[line["op"], line["space"], "cost"] += line["cost"]
        counts[kernel["name"]] = c
    return counts


def emulated(short, long, blocks):
    """Of one k tile of a block."""
    each = {key: (long[key] - short[key]) / (TILES * blocks) for key in long}

    def total(space, what, *ops):
        return sum(v for (op, where, kind), v in each.items()
                   if where == space and kind == what and op.startswith(ops))

    loads = ("lds", "ldmatrix", "wmma_load")
    return {"loads": total("shared", "requests", *loads), "copies": total("global", "requests", "ld", "cp_async"),
            "stores": total("shared", "requests", "sts"), "load wavefronts": total("shared", "cost", *loads),
            "fill wavefronts": total("shared", "cost", "sts", "cp_async")}


def written(path, fields):
    """FMAs or matrix instructions of one k tile, all warps, as the main loop has them."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    loop = re.search(r"// -- Main loop.*?(?=// -- |\Z)", text, re.S)
    if not loop:
        return None
    found = len(re.findall(CALLS[fields["family"]], loop.group(0)))
    warps = fields["threads"] // 32
    if fields["family"] == "wgmma":  # one warpgroup copies; in turn, one computes a tile
        warps = 4 if fields.get("schedule") == "pingpong" else warps - 4
    if fields["family"] == "mma":
        # Each body has all k steps of a tile, or two turns: the loop's and the last.
        steps, turn = fields["tile_k"] // fields["step_k"], fields["unroll_k"]
        bodies = fields["stages"] + 1 if fields["unroll_stages"] else 1
        step = found / bodies / (steps if turn == steps else 2 * turn)
        return step * steps * warps
    if fields.get("unroll_stages"):
        found /= fields["stages"]
    if fields["family"] in ("simt", "smem"):
        steps = fields["tile_k"] // fields.get("k_slices", 1)
        outputs = fields.get("thread_m", 1) * fields.get("thread_n", 1)
        turns = steps / (found / outputs)  # a rolled loop
        if turns != int(turns):
            return -1
        found *= turns
    return found * warps


def compare(gemmgen, folder, size, members):
    """Figures compared, and a line for each that differs, of kernels of one shape."""
    m, n, k = size
    depth = k * max(1, 64 // k)
    steps = {x["name"]: TILES * x["fields"]["tile_k"] for x in members}
    # One step for all: rows of whole lines at both depths.
    step = math.lcm(k, *steps.values())
    # Of wgmma nothing is counted but what the text says.
    names = [x["name"] for x in members if x["fields"]["family"] != "wgmma"]
    short = requests(gemmgen, folder, names, (m, n, depth)) if names else {}
    long = requests(gemmgen, folder, names, (m, n, depth + step)) if names else {}
    figures, differ = 0, []
    for x in members:
        f, model, name = x["fields"], x["model"], x["name"]
        expected = {"math": model["issue"]["math"], "shared bytes": f.get("shared_bytes", 0),
                    "capacity": model["capacity"]["total"]}
        got = {"math": written(f"{folder}/{name}.cu", f), "shared bytes": x["table"], "capacity": x["table"]}
        if name in short:
            expected.update({what: model["issue"][what] for what in ("loads", "copies", "stores")})
            expected["load wavefronts"] = model["wavefronts"]["loads"]
            expected["fill wavefronts"] = model["wavefronts"]["fill"]
            blocks = m // f["tile_m"] * (n // f["tile_n"]) * step / steps[name]
            got.update(emulated(short[name], long[name], blocks))
            if f["path_a"] == "tma":  # of whose copies no wavefront is counted
                del expected["fill wavefronts"]
        for what, value in expected.items():
            figures += 1
            if got[what] is None:
                differ.append(f"{name}: {what}: nothing to count")
            elif abs(got[what] - value) > 1e-6 * max(1, value):
                differ.append(f"{name}: {what}: the model says {value:g}, counted are {got[what]:g}")
    return figures, differ


def main():
    gemmgen, specs = sys.argv[1], sys.argv[2:]
    failed = compared = 0
    with tempfile.TemporaryDirectory() as work:
        for number, spec in enumerate(specs):
            folder = f"{work}/{number}"
            run(gemmgen, spec, "-o", folder)
            with open(f"{folder}/gg_table.c", encoding="utf-8") as f:
                table = dict(re.findall(r'\.name = "(\w+)".*?\.shared_bytes = (\d+)', f.read(), re.S))
            kernels = [{"name": k["plan"]["name"], "fields": k["plan"]["fields"], "model": k["model"],
                        "folder": folder, "table": int(table[k["plan"]["name"]])}
                       for k in json.loads(run(gemmgen, "explain", spec, "--json"))["kernels"] if "model" in k]
            specs[number] = kernels
        kernels = [k for known in specs for k in known if k["fields"]["family"] not in ("naive", "gemv")]
        if os.environ.get("GEMMGEN_COUNTS") != "all":
            kernels = subset(kernels)
        groups = collections.defaultdict(list)
        for k in kernels:
            groups[k["folder"], shape(k["fields"])].append(k)
        # The longest first; each in parts, so that no processor is left with a long one at the end.
        parts = [(folder, size, members[i:i + AT_ONCE]) for (folder, size), members in groups.items()
                 for i in range(0, len(members), AT_ONCE)]
        parts.sort(key=lambda part: -math.prod(part[1]) * len(part[2]))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for figures, differ in pool.map(lambda part: compare(gemmgen, *part), parts):
                compared += figures
                failed += len(differ)
                for line in differ:
                    print(line, flush=True)
    print(f"{len(kernels)} kernels, {compared} figures, {failed} differ")
    return 1 if failed or compared < 100 else 0


sys.exit(main())
