#!/usr/bin/env python3
"""scale.py GEMMGEN - many kernels: time, memory, linear in their number, the same bytes each time.

The product's figure is 5 s and 200 MB for 500 kernels on an idle machine. Time is only held to what
a busy one may take too; it is printed, so that a slower generator is seen.
"""
import filecmp
import os
import resource
import subprocess
import sys
import tempfile
import time

SPEC = """gpu "h100-sxm"
local stages = {{}}
for i = 1, {stages} do stages[i] = i + 1 end
sweep {{
  family = "simt", dtype = "f32", layout = {{ "nn", "nt", "tn", "tt" }},
  tile = {{ m = 64, n = 64, thread = {{ m = 8, n = 8 }} }},
  stages = stages, unroll = {{ order = {{ "row", "column", "serpentine" }} }},
  raster = {{ group = {{ 1, 2, 4, 8 }} }},
  allow = {{ "loop-code", "block-fmas", "bank-conflict" }},
}}
"""


def generate(gemmgen, folder, stages, out):
    spec = os.path.join(folder, "scale.lua")
    with open(spec, "w") as f:
        f.write(SPEC.format(stages=stages))
    start = time.monotonic()
    subprocess.run([gemmgen, spec, "-o", out], check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - start
    kernels = sum(name.endswith(".cu") for name in os.listdir(out))
    return kernels, seconds


def main():
    gemmgen = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        few_out, out, again = (os.path.join(folder, name) for name in ("few", "out", "again"))
        few, few_seconds = generate(gemmgen, folder, 1, few_out)
        many, seconds = generate(gemmgen, folder, 4, out)
        generate(gemmgen, folder, 4, again)
        megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"{few} kernels {few_seconds:.2f} s, {many} kernels {seconds:.2f} s, "
              f"at most {megabytes:.0f} MB")
        faults = []
        if many < 500:
            faults.append(f"only {many} kernels")
        if megabytes > 200:
            faults.append("more than 200 MB")
        if seconds > 60:
            faults.append("more than 60 s")
        if seconds > 3 * few_seconds * many / few + 2:
            faults.append("time is not linear in the number of kernels")
        comparison = filecmp.cmpfiles(out, again, os.listdir(out), shallow=False)
        if comparison[1] or comparison[2]:
            faults.append(f"two runs differ in {comparison[1][:3] + comparison[2][:3]}")
        for fault in faults:
            print("FAILED:", fault)
        sys.exit(bool(faults))


if __name__ == "__main__":
    main()
