#!/usr/bin/env python3
"""ranking.py CSV gg_table.c [--sms N] [--gbs N] [--all] - how good the library's choice is.

CSV: gemmbench --all --csv, or one of docs/measured. For each problem the kernel of its layout that
gg_kernel.speed's formula picks among those that were measured, and the fastest; then how often the
first is within 3 % of the second.
Docs: docs/dispatch.md.
"""
import argparse
import csv
import math
import re
import sys

FIELDS = ("tile_m", "tile_n", "cluster_m", "cluster_n", "cluster_k", "blocks_per_sm", "speed",
          "wave_loss_percent", "overhead_k", "further_percent", "alone_percent")
OPTIONAL = ("sm_gflops", "copy_gbs", "memory_gbs", "programmatic")  # 0 where the table has not
BYTES = {"f64": 8, "f32": 4, "tf32": 4, "s32": 4, "f16": 2, "bf16": 2}  # others: 1
OUTPUT = {"e4m3": "bf16", "e5m2": "bf16", "s8": "s32", "u8": "s32", "tf32": "f32"}  # others: as A
GAP_NS = 500  # where a kernel is not launched while the one before ends


def rows_of(path):
    """name -> its fields, in the table's order."""
    text = open(path, encoding="utf-8").read()
    rows = {}
    for part in re.split(r"(?=\{\.name = )", text)[1:]:
        name = re.match(r'\{\.name = "([^"]*)"', part).group(1)
        rows[name] = {f: int(re.search(r"\.%s = (-?\d+)" % f, part).group(1)) for f in FIELDS}
        for f in OPTIONAL:
            found = re.search(r"\.%s = (-?\d+)" % f, part)
            rows[name][f] = int(found.group(1)) if found else 0
    return rows


def tiles_along(extent, tile, cluster):
    """Padded to whole clusters."""
    tiles = math.ceil(extent / tile)
    return math.ceil(tiles / cluster) * cluster if cluster > 1 else tiles


def own_time(row, m, n, k, batch, sms, blocks):
    """The expression at gg_kernel.speed (runtime/gg_kernel.h); its letters."""
    parts = max(row["cluster_k"], 1)
    t = math.ceil(blocks / sms)
    q = m * n * batch * parts / (sms * t * row["tile_m"] * row["tile_n"])
    w = row["wave_loss_percent"] / 100
    o = (1 + row["further_percent"] / 100 * (t - 1)) / t
    b = max(row["blocks_per_sm"], 1)
    c = t - b * (math.ceil(t / b) - 1)
    f = min(1, c * row["alone_percent"] / 100)
    s = (t - c + c / f) / t if f > 0 else 1
    return (k * s + parts * row["overhead_k"] * o) / max(row["speed"], 1) * (1 - w + w / q)


def predicted(row, m, n, k, batch, sms, gbs, types):
    """ggi_row_time (runtime/select.c). types: of A and B, of D."""
    blocks = (tiles_along(m, row["tile_m"], row["cluster_m"]) *
              tiles_along(n, row["tile_n"], row["cluster_n"]) * batch * max(row["cluster_k"], 1))
    own = own_time(row, m, n, k, batch, sms, blocks)
    if row["sm_gflops"] <= 0:
        return own
    unit = sms * row["sm_gflops"] / (2000 * m * n * batch)  # of own, in a nanosecond
    memory = 0
    if row["copy_gbs"] > 0:
        rate = row["copy_gbs"] * (gbs / row["memory_gbs"] if gbs > 0 and row["memory_gbs"] > 0 else 1)
        again = math.ceil(m / row["tile_m"]) if row["tile_n"] == 1 else 1
        operand, output = (BYTES.get(x, 1) for x in types)
        memory = ((m * k + k * n * again) * operand + m * n * output) * batch / rate * unit
    early = row["programmatic"] and (2 * memory <= own or 2 * blocks <= sms)
    return (0 if early else GAP_NS * unit) + (own ** 4 + memory ** 4) ** 0.25


def problems_of(path):
    """(name, layout, type of A and B, of D, m, n, k, batch) -> {kernel: microseconds}."""
    problems = {}
    with open(path, encoding="utf-8") as file:
        for line in csv.DictReader(file):
            size = tuple(int(line[f]) for f in ("m", "n", "k", "batch"))
            dtype, layout = line["dtype"], re.search(r"_(nn|nt|tn|tt)_", line["kernel"])
            if layout and layout.group(1) != line["layout"]:
                continue  # it would need a pass over an operand first, which has no row here
            output = line.get("type_d") or OUTPUT.get(dtype, dtype)
            name = line.get("name") or line["run"]
            key = (name, line["layout"], dtype, output) + size
            problems.setdefault(key, {})[line["kernel"]] = float(line["us"])
    return problems


def short(kernel):
    """sm90a_wgmma_bf16_nt_128x256x64_... without what all have."""
    return re.sub(r"^sm\d+a?_[a-z]+_", "", kernel)


def main():
    options = argparse.ArgumentParser(description="How good the library's choice is.")
    options.add_argument("csv")
    options.add_argument("table")
    options.add_argument("--sms", type=int, default=132)
    options.add_argument("--gbs", type=int, default=0, help="device memory of the card, GB/s; default: the plan's")
    options.add_argument("--all", action="store_true", help="every kernel of every problem")
    arguments = options.parse_args()
    rows, losses = rows_of(arguments.table), []
    order = {name: i for i, name in enumerate(rows)}
    print("| problem | m x n x k x batch | chosen | us | best, where another | us | loss |")
    print("|---|---|---|---|---|---|---|")
    for (name, layout, dtype, output, m, n, k, batch), times in problems_of(arguments.csv).items():
        unknown = [kernel for kernel in times if kernel not in rows]
        if unknown:
            sys.exit(f"ranking.py: {arguments.table} has no kernel {unknown[0]}")
        guess = {x: predicted(rows[x], m, n, k, batch, arguments.sms, arguments.gbs, (dtype, output))
                 for x in times}
        chosen = min(times, key=lambda x: (guess[x], order[x]))
        best = min(times, key=times.get)
        loss = times[chosen] / times[best] - 1
        losses.append(loss)
        other = f" {short(best)} | {times[best]:.1f} " if best != chosen else " | "
        print(f"| {name} {layout} | {m} x {n} x {k} x {batch} | {short(chosen)} | "
              f"{times[chosen]:.1f} |{other}| {100 * loss:.1f}% |")
        for x in sorted(times, key=times.get) if arguments.all else []:
            print(f"    {times[x]:10.1f} us  {guess[x] / guess[chosen]:6.2f}  {short(x)}")
    good = sum(loss <= 0.03 for loss in losses)
    print(f"\n{good} of {len(losses)} within 3 %, mean loss {100 * sum(losses) / len(losses):.2f} %, "
          f"worst {100 * max(losses):.1f} %")


if __name__ == "__main__":
    main()
