#!/usr/bin/env python3
"""compile.py reports each fault it is there for, and passes a sound kernel."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77

SIGNATURE = 'extern "C" __global__ void kernel(float *d, int n) '

# 512 live values in 255 registers, in an order that the compiler cannot undo.
SPILLS = SIGNATURE + "{\n" \
    + "".join(f"  float a{i} = d[{i} * n];\n" for i in range(512)) \
    + "  __syncthreads();\n" \
    + "".join(f"  d[{i} * n] = a{i} * a{511 - i};\n" for i in range(512)) + "}\n"

# An accumulator is touched while its wgmma is in flight: ptxas serialises, and calls that "info".
SERIALISED = SIGNATURE + r"""{
  float a0 = d[0], a1 = d[1], a2 = d[2], a3 = d[3];
  unsigned long long x = (unsigned long long)n;
  for (int i = 0; i < n; ++i) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;"
                 : "+f"(a0), "+f"(a1), "+f"(a2), "+f"(a3) : "l"(x));
    a0 *= 2.0f;
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  d[threadIdx.x] = a0 + a1 + a2 + a3;
}
"""

# name: (source, budgets that differ, what must be said; None: passes)
CASES = {
    "sound": (SIGNATURE + "{ d[threadIdx.x] = (float)n; }\n", {}, None),
    "spill": (SPILLS, {}, "spills:"),
    "local": (SIGNATURE + "{ float a[64]; for (int i = 0; i < 64; ++i) a[i] = d[i];\n"
              "  for (int i = 0; i < n; ++i) a[(i * n) & 63] += d[i];\n"
              "  for (int i = 0; i < 64; ++i) d[i] = a[i]; }\n", {}, "local memory:"),
    "serialised": (SERIALISED, {}, "nvcc says: ptxas info"),
    "warning": (SIGNATURE + "{ int unused; d[0] = (float)n; }\n", {}, "nvcc fails"),
    "registers": (SIGNATURE + "{ d[threadIdx.x] = (float)n; }\n", {"register_limit": 2}, "registers:"),
    "code": (SIGNATURE + "{ d[threadIdx.x] = (float)n; }\n", {"code_bytes": 64}, "code_bytes:"),
    "seconds": (SIGNATURE + "{ d[threadIdx.x] = (float)n; }\n", {"compile_seconds": 0},
                "compile_seconds:"),
    "error": ("not a kernel\n", {}, "nvcc fails"),
    "estimate": (SIGNATURE + "{ d[threadIdx.x] = (float)n; }\n", {"registers": 100}, "100 estimated"),
}


def fill(folder, source, budgets):
    """An emitted folder of one kernel."""
    with open(os.path.join(folder, "kernel.cu"), "w", encoding="utf-8") as f:
        f.write(source)
    plan = {"arch": 90, "arch_suffix": "a", "register_limit": 255, "code_bytes": 1 << 20,
            "compile_seconds": 30, **budgets}
    with open(os.path.join(folder, "manifest.json"), "w", encoding="utf-8") as f:
        json.dump({"prefix": "", "kernels": [{"plan": {"name": "kernel", "fields": plan}}]}, f)


def log_is_used(tool):
    """Not begun, compiled, not compiled again but judged by another plan, compiled since its text is another;
    refused, and tried again."""
    with tempfile.TemporaryDirectory() as folder:
        def run(*options):
            command = [sys.executable, tool, "--log", os.path.join(folder, "log"), *options, folder]
            done = subprocess.run(command, capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr

        fill(folder, CASES["sound"][0], {})
        steps = [(run("--seconds", "-1"), 75, "1 kernels are left"), (run(), 0, "1 compiled now")]
        fill(folder, "// another comment\n" + CASES["sound"][0], {"register_limit": 2})
        steps.append((run(), 1, "0 compiled now"))
        fill(folder, CASES["sound"][0].replace("(float)n", "(float)(n + 1)"), {})
        steps.append((run(), 0, "1 compiled now"))
        fill(folder, "no C\n", {})
        steps += [(run(), 1, "nvcc fails"), (run(), 1, "1 compiled now")]
    bad = [f"expected {code} and '{text}', exit {got[0]}, got:\n{got[1]}" for got, code, text in steps
           if got[0] != code or text not in got[1]]
    print("\n".join([f"{'FAIL' if bad else 'ok'}: log", *bad]))
    return not bad


def main():
    if not shutil.which("nvcc"):
        print("skipped: nvcc is not installed")
        return SKIPPED
    tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compile.py")
    failures = 0
    for name, (source, budgets, expected) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            fill(folder, source, budgets)
            options = ["--estimates", "90"] if "registers" in budgets else []
            run = subprocess.run([sys.executable, tool, *options, folder], capture_output=True, text=True)
        said = run.stdout + run.stderr
        good = run.returncode == 0 if expected is None else run.returncode == 1 and expected in said
        print(f"{'ok' if good else 'FAIL'}: {name}")
        if not good:
            failures += 1
            print(f"expected {expected}, exit {run.returncode}, got:\n{said}")
    return 0 if log_is_used(tool) and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
