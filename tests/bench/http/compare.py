# SPDX-License-Identifier: MIT
"""compare.py - runs of wrk against several servers in turn, and what their ratios amount to."""

import json
import os
import pathlib
import statistics
import subprocess

REPORT = pathlib.Path(__file__).parent / "report.lua"


def wrk_command(port, target, connections, seconds, scheme="http"):
    url = f"{scheme}://127.0.0.1:{port}{target}"
    options = ["-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "60s", "--latency"]
    return ["wrk", *options, "-s", str(REPORT), url]


def report(text):
    lines = [line for line in text.splitlines() if line.startswith("REPORT ")]
    if not lines:
        raise SystemExit(f"wrk said:\n{text}")
    return json.loads(lines[-1][len("REPORT "):])


def run(server, target, *, connections, seconds, core):
    """One run: the figures of wrk, and the server's CPU time per request in microseconds."""
    command = ["taskset", "-c", str(core), *wrk_command(server.port, target, connections, seconds, server.scheme)]
    before = server.cpu()
    text = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 90, check=False).stdout
    used = server.cpu() - before
    figures = report(text)
    if figures["errors"]:
        raise SystemExit(f"{server.name} {target}: {figures['errors']} errors")
    if not figures["requests"]:
        raise SystemExit(f"{server.name} {target}: not one answer in {seconds} s")
    server.settle()
    figures["cpu_us"] = used * 1e6 / figures["requests"]
    figures["rate"] = figures["requests"] / figures["seconds"]
    return figures


def alternate(contestants, rounds, measure):
    """contestants: name -> what measure takes. Each in turn, `rounds` times; name -> list of figures."""
    found = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, arguments in contestants.items():
            found[name].append(measure(*arguments))
    return found


def median(runs, figure):
    return statistics.median(one[figure] for one in runs)


def ratios(runs, others, figure="cpu_us", scale=1.0):
    """Round by round, since neighbours in time share the machine's mood: median, least, most."""
    each = [scale * one[figure] / other[figure] for one, other in zip(runs, others)]
    return statistics.median(each), min(each), max(each)


def summarise(found, first, again=None, scales=None):
    """Rows of the table: each contestant against `first`, and `again` against it as the A/A spread."""
    rows = []
    for name, runs in found.items():
        row = {"name": name, "rounds": len(runs)}
        row |= {figure: median(runs, figure) for figure in ("cpu_us", "rate", "p50_us", "p99_us")}
        if name != first:
            scale = (scales or {}).get(name, 1.0)
            row["ratio"], row["ratio_min"], row["ratio_max"] = ratios(found[first], runs, scale=scale)
        row["a_a"] = name == again
        rows.append(row)
    return rows


def print_rows(title, rows, note=""):
    print(f"\n{title}")
    print(f"  {'':24} {'CPU us/req':>11} {'req/s':>9} {'p50 us':>9} {'p99 us':>9}   ours/it (least .. most)")
    for row in rows:
        ratio = ""
        if "ratio" in row:
            ratio = f"{row['ratio']:.4g} ({row['ratio_min']:.4g} .. {row['ratio_max']:.4g})"
            ratio += "  A/A" if row["a_a"] else ""
        print(f"  {row['name']:24} {row['cpu_us']:11.2f} {row['rate']:9.0f} {row['p50_us']:9.0f}"
              f" {row['p99_us']:9.0f}   {ratio}")
    if note:
        print(f"  {note}")


def cores():
    """One for the server and one for wrk."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        raise SystemExit("two cores are needed: one for the server, one for wrk")
    return allowed[0], allowed[1]
