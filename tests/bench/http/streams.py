# SPDX-License-Identifier: MIT
"""streams.py - CPU time per byte: tables that are too large to keep beside those that are kept."""

import contextlib
import functools
import http.client
import os
import time

import compare

LARGE = "/v1/sinusoidal?d_model=512&positions=0:{rows}&format={form}"
KEPT_TIMES = 16  # so often it is asked for, that both are as many bytes
# form, rows of the table that is kept, and the bytes a second that a slower reader takes
FORMS = (("raw", 8000, 0.4e9), ("json", 1500, 0.2e9))
AIMS = {"raw": "; aim: at most 1.1"}


@contextlib.contextmanager
def on_core(core):
    usual = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, usual)


def read(server, target, times, pace=None):
    """Take `times` answers over one connection, at most `pace` bytes a second: CPU ns per byte, GB/s."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.connect()
    buffer = memoryview(bytearray(1 << 18))
    taken, before, start = 0, server.cpu(), time.perf_counter()
    for _ in range(times):
        connection.request("GET", target)
        answer = connection.getresponse()
        if answer.status != 200:
            raise SystemExit(f"{server.name} {target}: status {answer.status}")
        while got := answer.readinto(buffer):
            taken += got
            early = taken / pace - (time.perf_counter() - start) if pace else 0
            if early > 0.001:
                time.sleep(early)
    took, used = time.perf_counter() - start, server.cpu() - before
    connection.close()
    return {"bytes": taken, "cpu_ns_per_byte": used * 1e9 / taken, "gb_per_second": taken / took / 1e9}


def measure(pace, server, request):
    return read(server, *request, pace)


def summarise(found):
    """Rows of the table: the streamed beside the kept, and each beside itself."""
    beside = {"streamed": "kept", "kept again": "kept", "streamed again": "streamed"}
    rows = []
    for name, runs in found.items():
        row = {"name": name} | {
            figure: compare.median(runs, figure) for figure in ("bytes", "cpu_ns_per_byte", "gb_per_second")}
        if name in beside:
            row["ratio"] = compare.ratios(runs, found[beside[name]], "cpu_ns_per_byte")
            row["a_a"] = name.endswith("again")
        rows.append(row)
    return rows


def print_rows(form, pace, rows):
    taken = f"at most {pace / 1e9:.1f} GB/s taken" if pace else "taken as it comes"
    print(f"\n{form}, one connection, {taken}: {rows[0]['bytes'] / 1e6:.0f} MB in {KEPT_TIMES} answers kept,"
          f" {rows[1]['bytes'] / 1e6:.0f} MB in one streamed")
    print(f"  {'':16} {'CPU ns/byte':>12} {'GB/s':>7}   it/kept, it/itself (least .. most)")
    for row in rows:
        ratio = ""
        if "ratio" in row:
            ratio = "{:.2f} ({:.2f} .. {:.2f})".format(*row["ratio"]) + ("  A/A" if row["a_a"] else AIMS.get(form, ""))
        print(f"  {row['name']:16} {row['cpu_ns_per_byte']:12.3f} {row['gb_per_second']:7.2f}   {ratio}")


def streams(server, rounds, core):
    """Each form, read as fast as it comes and by a slower reader, who lets the sender wait."""
    results = []
    for form, rows, slow in FORMS:
        kept = LARGE.format(rows=rows, form=form), KEPT_TIMES
        streamed = LARGE.format(rows=rows * KEPT_TIMES, form=form), 1
        contestants = {"kept": (server, kept), "streamed": (server, streamed),
                       "kept again": (server, kept), "streamed again": (server, streamed)}
        read(server, kept[0], 2)
        for pace in (None, slow):
            with on_core(core):
                found = compare.alternate(contestants, rounds, functools.partial(measure, pace))
            results.append({"form": form, "pace": pace, "rows": summarise(found)})
            print_rows(form, pace, results[-1]["rows"])
    return results
