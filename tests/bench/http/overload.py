# SPDX-License-Identifier: MIT
"""overload.py - goodput and refusals where clients ask for several times what the workers can do."""

import os
import pathlib
import socket
import subprocess
import threading
import time

import compare

STORM = pathlib.Path(__file__).parent / "storm.lua"
FEW = 8  # keep all workers busy, and fill no queue
MANY = 320
QUEUE = 64
TIMES = 5
PROBED = "/v1/rope/decay?head_dim=4096&offsets={}:{}"


class Storm:
    """Different requests each time, so that no run finds another's answers."""

    first = 1 << 20

    @classmethod
    def run(cls, server, core, *, connections, delay, seconds):
        cls.first += 10_000_000_000
        command = ["taskset", "-c", str(core), "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "60s", "-s",
                   str(STORM), f"http://127.0.0.1:{server.port}", "--", str(cls.first), str(delay)]
        before, io_before = server.cpu(), server.io_cpu()
        text = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 90, check=False).stdout
        figures = compare.report(text)
        figures["cpu"] = server.cpu() - before
        figures["io_cpu"] = server.io_cpu() - io_before
        figures["goodput"] = figures["good"] / figures["seconds"]
        figures["offered"] = (figures["good"] + figures["refused"]) / figures["seconds"]
        began = time.perf_counter()
        server.settle()
        figures["settled"] = time.perf_counter() - began
        return figures


def probe(port, core, seconds, out):
    """Milliseconds of the refusals that one more client gets; it goes on after each answer."""
    os.sched_setaffinity(threading.get_native_id(), {core})  # or it waits for the server's core itself
    end, at = time.perf_counter() + seconds, 1 << 45
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        reader = connection.makefile("rb")
        while time.perf_counter() < end:
            at += 512
            start = time.perf_counter()
            connection.sendall(f"GET {PROBED.format(at, at + 512)} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            status, length = int(reader.readline().split()[1]), None
            took = (time.perf_counter() - start) * 1e3
            chunked = False
            while (line := reader.readline().strip().lower()) != b"":
                if line.startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
                chunked = chunked or line == b"transfer-encoding: chunked"
            while chunked and (size := int(reader.readline(), 16)) >= 0:
                reader.read(size + 2)
                if size == 0:
                    break
            if length is not None:
                reader.read(length)
            if status == 503:
                out.append(took)
            time.sleep(0.005)


def overload(server, core, seconds=4):
    """One row: the peak, and what is left of it when TIMES as much is asked for."""
    Storm.run(server, core, connections=FEW, delay=0, seconds=1)
    peak = Storm.run(server, core, connections=FEW, delay=0, seconds=seconds)
    delay = max(1, round(1000 * (MANY - QUEUE) / (TIMES * peak["goodput"])))
    refusals = []
    prober = threading.Thread(target=probe, args=(server.port, core, seconds - 1, refusals))
    prober.start()
    over = Storm.run(server, core, connections=MANY, delay=delay, seconds=seconds)
    prober.join()
    after = Storm.run(server, core, connections=FEW, delay=0, seconds=1)
    refusals.sort()
    left = over["io_cpu"] - over["good"] * peak["io_cpu"] / peak["good"]  # workers refuse nothing
    return {
        "peak": peak["goodput"], "offered": over["offered"], "goodput": over["goodput"],
        "share": over["goodput"] / peak["goodput"], "refused": over["refused"], "others": over["others"],
        "refusal_cpu_us": max(0.0, left * 1e6 / max(1, over["refused"])),
        "refusal_p50_ms": refusals[len(refusals) // 2] if refusals else None,
        "refusal_p99_ms": refusals[int(len(refusals) * 0.99)] if refusals else None,
        "cpu_seconds": over["cpu"], "settled_s": over["settled"], "after": after["goodput"] / peak["goodput"],
    }


def print_overload(row):
    print(f"\nOverload: decays that no cache has, queue_max {QUEUE}; aim: at least 0.9 of the peak")
    print(f"  peak {row['peak']:.0f}/s; {row['offered']:.0f}/s offered: {row['goodput']:.0f}/s, {row['share']:.2f} of the peak")
    print(f"  idle {row['settled_s']:.2f} s after it; in the second from then {row['after']:.2f} of the peak")
    if row["refusal_p50_ms"] is not None:
        print(f"  refusals: {row['refusal_cpu_us']:.0f} us of CPU; p50 {row['refusal_p50_ms']:.2f} ms,"
              f" p99 {row['refusal_p99_ms']:.2f} ms; {row['others']} other answers")
