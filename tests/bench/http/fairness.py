# SPDX-License-Identifier: MIT
"""fairness.py - latency of small warm requests, alone and beside clients that move gigabytes."""

import os
import socket
import subprocess
import time

from compare import report, wrk_command

SMALL = "/v1/sinusoidal?d_model=10&positions=0:5&format=raw"
GIGABYTE = "/v1/sinusoidal?d_model=1024&positions=0:262144&format=raw"
ADD = "/v1/sinusoidal/add"
ROWS, CHANNELS = 2560, 1024  # 10 MiB of float32


def probe(port, seconds, connections=4, pause=0.001):
    """One request at a time, a millisecond apart, over several connections: sorted microseconds."""
    request = f"GET {SMALL} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    sockets = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(connections)]
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for each in sockets:
            time.sleep(pause)
            start = time.perf_counter()
            each.sendall(request)
            if not each.recv(65536).startswith(b"HTTP/1.1 200"):
                raise SystemExit("a small request was refused")
            times.append((time.perf_counter() - start) * 1e6)
    for each in sockets:
        each.close()
    return sorted(times)


def percentile(times, share):
    return times[min(len(times) - 1, int(share * len(times)))]


def load(port, folder, seconds):
    """4 clients that pull tables of 1 GiB and 4 that post bodies of 10 MiB. They stand for other machines,
    so they give way to the server and the probe on the two cores."""
    body = folder / "body.bin"
    if not body.exists():
        body.write_bytes(os.urandom(ROWS * CHANNELS * 4).translate(bytes(b & 0x3f for b in range(256))))
    posts = dict(os.environ, WRK_BODY=str(body), WRK_SHAPE=f"{ROWS},{CHANNELS}")
    nice = ["nice", "-n", "10"]
    pull = nice + wrk_command(port, GIGABYTE, 4, seconds)
    post = nice + wrk_command(port, ADD, 4, seconds)
    return [subprocess.Popen(pull, stdout=subprocess.PIPE, text=True),
            subprocess.Popen(post, stdout=subprocess.PIPE, text=True, env=posts)]


def fairness(server, folder, rounds, seconds):
    """One row a round: p99 alone and beside the load."""
    server.get(SMALL)
    rows = []
    for _ in range(rounds):
        alone = probe(server.port, seconds)
        clients = load(server.port, folder, seconds + 2)
        time.sleep(1)  # they are under way
        beside = probe(server.port, seconds)
        pulled, posted = (report(client.communicate(timeout=seconds + 90)[0]) for client in clients)
        rows.append({
            "alone_p50_us": percentile(alone, 0.5), "alone_p99_us": percentile(alone, 0.99),
            "beside_p50_us": percentile(beside, 0.5), "beside_p99_us": percentile(beside, 0.99),
            "pulled_bytes_per_second": pulled["bytes"] / pulled["seconds"],
            "posts": posted["requests"], "post_errors": posted["errors"],
            "requests": len(beside),
        })
    return rows


def print_fairness(rows):
    print("\nSmall warm requests, alone and beside 4 clients that pull 1 GiB and 4 that post 10 MiB")
    for row in rows:
        bound = 3 * row["alone_p99_us"] + 2000
        print(f"  p99 {row['alone_p99_us']:6.0f} us alone, {row['beside_p99_us']:6.0f} us beside"
              f" (bound {bound:.0f}); p50 {row['alone_p50_us']:.0f} and {row['beside_p50_us']:.0f};"
              f" {row['pulled_bytes_per_second'] / 1e9:.2f} GB/s pulled, {row['posts']} posted,"
              f" {row['post_errors']} refused")
