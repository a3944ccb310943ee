#!/usr/bin/env python3
"""Compiles the kernels of emitted folders with nvcc, each for its own architecture, and fails on
spills, local memory, warnings and broken budgets. Needs no GPU.

What stands in several folders, comments aside, is compiled once. The budgets are those of
DIR/manifest.json: registers a thread, bytes of code, seconds of nvcc (CPU
time, so that a busy machine does not count). By default a subset is compiled in which each pair
(family, value of anything in COVERED) occurs at least once; --all compiles everything. --estimates P
asks that the plans' registers lie within 10 % of what ptxas allots for P per cent of the kernels.

--log FILE takes a line of JSON for each kernel that was compiled; what stands there, with the same text
and nvcc, is not compiled again, but is judged by the plan at hand. What the compiler refused takes none: it may
have been the machine. --seconds S starts no kernel after S seconds: with a log, the same command goes on from
there (exit code 75 while kernels are left).
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import cubin
import nvrtc12

SKIPPED = 77
UNFINISHED = 75
NEAR = 0.1

# What the subset covers, for each family.
COVERED = (("arch",), ("type_a",), ("type_acc",), ("layout", "variant"), ("alpha",), ("beta",),
           ("k_slices",), ("stages",), ("swizzle",), ("path_a", "path_b"), ("unroll_k",),
           ("unroll_stages",), ("fragments",), ("order",), ("type_d",), ("bias",), ("activation",),
           ("residual",), ("scale_a",), ("scale_b",), ("absmax",))


def subset(kernels):
    """Few kernels, chosen greedily, that hold every (family, fields, values) that occurs."""
    def features(kernel):
        plan = kernel["plan"]
        return {(plan.get("family"), fields, *(str(plan.get(f)) for f in fields)) for fields in COVERED}

    left = set().union(*(features(k) for k in kernels))
    chosen = []
    while left:
        # Of equals the one with least code: it compiles fastest.
        best = max(kernels, key=lambda k: (len(features(k) & left), -k["plan"]["code_bytes"]))
        chosen.append(best)
        left -= features(best)
    return chosen


def target(plan):
    return f"{plan['arch']}{'a' if plan.get('arch_suffix') == 'a' else ''}"


def supported(nvcc):
    """Architectures, as numbers in text; the list does not say which of them have a suffix."""
    text = subprocess.run([nvcc, "--list-gpu-code"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"sm_(\d+)", text))


def timed(command):
    """Output and CPU seconds of a command and its children."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return output, process.returncode, usage.ru_utime + usage.ru_stime


def by_nvcc(nvcc, source, arch, keep):
    """What nvcc says (None: it failed, with why), path of the cubin, CPU seconds."""
    output, code, seconds = timed([
        nvcc, "-c", source, "-o", os.path.join(keep, "kernel.o"), "-O3",
        "-gencode", f"arch=compute_{arch},code=sm_{arch}",
        "-Werror", "all-warnings", "-Xptxas", "-v", "-Xcompiler", "-Wall,-Wextra,-Werror",
        "-keep", "-keep-dir", keep])
    if code:
        return None, f"nvcc fails: {output.strip()}", seconds
    return output, os.path.join(keep, next(f for f in os.listdir(keep) if f.endswith(".cubin"))), seconds


def by_nvrtc(compiler, source, arch, keep):
    """The same of NVRTC; calls of several threads may overlap, so it is the wall's time."""
    start = time.monotonic()
    with open(source, encoding="utf-8") as f:
        output, code = compiler.compile(f.read(), os.path.basename(source), arch)
    seconds = time.monotonic() - start
    if not code:
        return None, f"NVRTC fails: {output.strip()}", seconds
    path = os.path.join(keep, "kernel.cubin")
    with open(path, "wb") as f:
        f.write(code)
    # It says of every kernel that its architecture is old.
    return "\n".join(x for x in output.splitlines() if "are deprecated" not in x), path, seconds


def compile_kernel(compilers, kernel, scratch):
    """What the compiler says of one kernel: warnings (or why it fails) and figures, ready for the log."""
    plan, name = kernel["plan"], kernel["name"]
    nvcc, known, other = compilers
    keep = tempfile.mkdtemp(dir=scratch)
    source = os.path.join(kernel["folder"], name + ".cu")
    if str(plan["arch"]) in known:
        output, path, seconds = by_nvcc(nvcc, source, target(plan), keep)
    else:
        output, path, seconds = by_nvrtc(other, source, target(plan), keep)
    if output is None:
        return {"failed": path}

    warnings = []
    for line in output.splitlines():
        # What -v prints, and nothing else: ptxas calls serialised wgmma "info (C7511)".
        if line.strip() and not re.match(r"ptxas info\s*: (?!\(C\d)|(ptxas\s+\.)?\s*\d+ bytes stack frame", line):
            warnings.append(line.strip())

    numbers = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", output)
    registers = re.search(r"Used (\d+) registers", output)
    if not numbers or not registers:
        return {"failed": f"ptxas gave no figures: {output.strip()}"}
    stack, stores, loads = map(int, numbers.groups())
    figures = {
        "registers": int(registers.group(1)),
        "code_bytes": cubin.code_bytes(path, kernel["symbol"]),
        "compile_seconds": round(seconds, 1),
        "stack": stack, "stores": stores, "loads": loads,
    }
    shutil.rmtree(keep)
    return {"warnings": warnings, "figures": figures}


def faults_of(plan, said):
    """Sentences: what is wrong with a kernel by its plan, and by what the compiler said."""
    if "failed" in said:
        return [said["failed"]]
    figures = said["figures"]
    faults = [f"nvcc says: {line}" for line in said["warnings"]]
    if figures["stores"] or figures["loads"]:
        faults.append(f"spills: {figures['stores']} bytes stored, {figures['loads']} bytes loaded")
    if figures["stack"]:
        faults.append(f"local memory: {figures['stack']} bytes of stack")
    budgets = {"registers": plan.get("register_limit"), "code_bytes": plan.get("code_bytes"),
               "compile_seconds": plan.get("compile_seconds")}
    for what, budget in budgets.items():
        if budget is not None and figures[what] > budget:
            faults.append(f"{what}: {figures[what]} is more than the plan's {budget}")
    return faults


class Log:
    """What was said of kernels before, by text, architecture and compiler; None: it is not kept."""

    def __init__(self, path, nvcc):
        self.path = path
        self.version = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
        self.said = {}
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                for number, line in enumerate(f, 1):
                    if not line.endswith("\n"):  # the last may be cut off
                        break
                    try:
                        entry = json.loads(line)
                        self.said[entry["key"]] = entry["said"]
                    except (ValueError, KeyError, TypeError):
                        sys.exit(f"{path}:{number}: no line of a log; give --log a file that this program wrote")
        elif path:
            os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)

    def key(self, kernel):
        if "key" not in kernel:
            text = "\0".join((self.version, target(kernel["plan"]), text_of(kernel)))
            kernel["key"] = hashlib.sha256(text.encode()).hexdigest()
        return kernel["key"]

    def add(self, kernel, said):
        self.said[self.key(kernel)] = said
        if self.path and "failed" not in said:
            entry = {"key": self.key(kernel), "name": kernel["name"], "said": said}
            with open(self.path, "a", encoding="utf-8") as f:
                f.write(json.dumps(entry) + "\n")


def read_folder(folder):
    """One flat record a kernel: its name, its symbol, its folder and the fields of its plan."""
    path = os.path.join(folder, "manifest.json")
    if not os.path.isfile(path):
        sys.exit(f"{folder}: no manifest.json; give a folder that gemmgen has written")
    with open(path, encoding="utf-8") as f:
        manifest = json.load(f)
    return [{"name": k["plan"]["name"], "symbol": manifest["prefix"] + k["plan"]["name"],
             "folder": folder, "plan": k["plan"]["fields"]} for k in manifest["kernels"]]


def text_of(kernel):
    """Text of a kernel without its comments' lines, which name the spec."""
    with open(os.path.join(kernel["folder"], kernel["name"] + ".cu"), encoding="utf-8") as f:
        return "".join(line for line in f if not line.startswith("//"))


def judge_estimates(pairs, percent):
    """Do the plans' registers, (name, plan's, ptxas's), lie near enough often enough?"""
    far = [p for p in pairs if abs(p[1] / p[2] - 1) > NEAR]
    print(f"registers: {len(pairs) - len(far)} of {len(pairs)} estimates within 10 % of ptxas")
    good = len(pairs) - len(far) >= percent / 100 * len(pairs)
    if not good:
        print(f"FAIL: {percent} % are to be near; these are not:")
        for name, estimate, registers in sorted(far, key=lambda p: p[1] / p[2]):
            print(f"  {name}: {estimate} estimated, {registers} allotted")
    return good


def say(kernel, said, only_faults=False):
    """One line a kernel, and one for each fault."""
    plan, figures = kernel["plan"], said.get("figures", {})
    if not only_faults:
        print(f"{kernel['name']}: {figures.get('registers', '?')}/{plan.get('register_limit')} registers, "
              f"{figures.get('code_bytes', '?')}/{plan.get('code_bytes')} bytes, "
              f"{figures.get('compile_seconds', '?')} s", flush=True)
    for fault in faults_of(plan, said):
        print(f"FAIL: {kernel['name']}: {fault}", flush=True)


def write_csv(path, said):
    rows = ["name,registers,register_limit,estimate,code_bytes,code_budget,compile_seconds"]
    for kernel, x in said:
        plan, figures = kernel["plan"], x.get("figures", {})
        rows.append(",".join(str(v) for v in (
            kernel["name"], figures.get("registers", ""), plan.get("register_limit"),
            plan.get("registers", ""), figures.get("code_bytes", ""), plan.get("code_bytes"),
            figures.get("compile_seconds", ""))))
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(rows) + "\n")


def summary(said):
    """By family: kernels, those that fail, spill, use local memory or were warned of, registers near."""
    print(f"{'family':8} {'kernels':>7} {'fail':>5} {'spill':>5} {'local':>5} {'warned':>6} {'near':>11} "
          f"{'CPU s':>8} {'most':>6}")
    families = sorted({str(k["plan"].get("family")) for k, _ in said})
    for family in families + ["all"]:
        mine = [(k, x) for k, x in said if family in ("all", str(k["plan"].get("family")))]
        figures = [(k["plan"].get("registers", 0), x["figures"]) for k, x in mine if "figures" in x]
        near = sum(abs(estimate / f["registers"] - 1) <= NEAR for estimate, f in figures)
        seconds = [f["compile_seconds"] for _, f in figures] or [0]
        print(f"{family:8} {len(mine):7} {len(mine) - len(figures):5} "
              f"{sum(f['stores'] + f['loads'] > 0 for _, f in figures):5} "
              f"{sum(f['stack'] > 0 for _, f in figures):5} "
              f"{sum(bool(x.get('warnings')) for _, x in mine):6} "
              f"{near:5} {100 * near / max(len(figures), 1):4.1f}% {sum(seconds):8.0f} {max(seconds):6.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", nargs="+")
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "")
    parser.add_argument("--all", action="store_true", help="not a subset")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("GEMMGEN_JOBS") or os.cpu_count()),
                        help="at a time; default: GEMMGEN_JOBS, else one for each processor")
    parser.add_argument("--estimates", type=float, metavar="P", help="per cent of registers to be foretold")
    parser.add_argument("--csv", help="write the figures here as well")
    parser.add_argument("--log", help="what was compiled, so that it is not compiled again")
    parser.add_argument("--seconds", type=float, help="after which no kernel is begun")
    options = parser.parse_args()
    if options.jobs < 1:
        parser.error(f"--jobs: {options.jobs}; use 1 or more")
    if options.log and os.path.isdir(options.log):
        parser.error(f"--log: {options.log} is a folder; name a file")
    if options.nvcc and not shutil.which(options.nvcc):
        parser.error(f"--nvcc: there is no program {options.nvcc}")
    if not options.nvcc:
        print("skipped: nvcc is not installed")
        return SKIPPED

    kernels = list({text_of(k): k for folder in options.folder for k in read_folder(folder)}.values())
    if not kernels:
        print("FAIL: there are no kernels")
        return 1
    known, other = supported(options.nvcc), nvrtc12.find()
    served = known | (other.known if other else set())
    absent = [k for k in kernels if str(k["plan"]["arch"]) not in served]
    for arch in sorted({target(k["plan"]) for k in absent}):
        count = sum(target(k["plan"]) == arch for k in absent)
        print(f"not compiled: {count} kernels for sm_{arch}, which this nvcc does not know, and NVRTC 12 is not "
              "installed")
    kernels = [k for k in kernels if str(k["plan"]["arch"]) in served]
    chosen = kernels if options.all else subset(kernels)
    log = Log(options.log, options.nvcc)
    left = [k for k in chosen if log.key(k) not in log.said]
    print(f"{len(chosen)} of {len(kernels)} kernels, {len(chosen) - len(left)} of them in the log, "
          f"{options.jobs} at a time", flush=True)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        def run(kernel):
            if options.seconds is not None and time.monotonic() - begun > options.seconds:
                return kernel, None
            return kernel, compile_kernel((options.nvcc, known, other), kernel, scratch)

        # Long ones first, so that none of them is alone at the end.
        left.sort(key=lambda k: -k["plan"]["code_bytes"])
        for done in concurrent.futures.as_completed([pool.submit(run, k) for k in left]):
            kernel, said = done.result()
            if said is not None:
                log.add(kernel, said)
                say(kernel, said)
    wall = time.monotonic() - begun

    judged = [k for k in chosen if log.key(k) in log.said]
    now = {log.key(k) for k in left}
    for kernel in judged:
        if log.key(kernel) not in now:  # nothing was said of it above
            say(kernel, log.said[log.key(kernel)], only_faults=True)
    said = [(k, log.said[log.key(k)]) for k in judged]
    if options.csv:
        write_csv(options.csv, said)
    pairs = [(k["name"], k["plan"].get("registers", 0), x["figures"]["registers"])
             for k, x in said if "figures" in x]
    summary(said)
    faulty = sum(bool(faults_of(k["plan"], x)) for k, x in said)
    unfinished = len(chosen) - len(judged)
    print(f"{len(left) - unfinished} compiled now in {wall:.0f} s, {len(judged)} judged, {faulty} with faults")
    if unfinished:
        print(f"{unfinished} kernels are left: the same command {'goes on' if options.log else 'with --log would go on'}")
        return UNFINISHED
    foretold = options.estimates is None or judge_estimates(pairs, options.estimates)
    return 1 if faulty or not foretold else 0


if __name__ == "__main__":
    sys.exit(main())
