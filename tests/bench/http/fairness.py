# SPDX-License-Identifier: MIT
"""fairness.py - latency of small warm requests, alone and beside clients that move gigabytes."""

import contextlib
import os
import random
import re
import socket
import subprocess
import time

SMALL = "/v1/sinusoidal?d_model=10&positions=0:5&format=raw"
GIGABYTE = "/v1/sinusoidal?d_model=1024&positions=0:262144&format=raw"
ADD = "/v1/sinusoidal/add"
ROWS, CHANNELS = 2560, 1024  # 10 MiB of float32


@contextlib.contextmanager
def before_others():
    """The probe stands for another machine, too: where the system permits, it does not wait for a core."""
    usual = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, *usual)


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


def client(arguments, seconds):
    """curl, again and again; one line an answer: its status, and its bytes. It stands for another machine, so it
    gives way to the server and the probe on the cores that they share: it runs when these have nothing to do."""
    once = ["curl", "-s", "-o", "/dev/null", "-w", r"%{http_code} %{size_download}\n", *map(str, arguments)]
    loop = ["timeout", str(seconds), "sh", "-c", 'while :; do "$@"; done', "sh", *once]
    return subprocess.Popen(["chrt", "--idle", "0", *loop], stdout=subprocess.PIPE, text=True)


def load(port, folder, seconds):
    """4 clients that pull tables of 1 GiB, and 4 that post bodies of 10 MiB."""
    body = folder / "body.bin"
    if not body.exists():
        body.write_bytes(random.Random(1).randbytes(ROWS * CHANNELS * 4).translate(bytes(b & 0x3f for b in range(256))))
    fields = ["Content-Type: application/octet-stream", f"X-Tensor-Shape: {ROWS},{CHANNELS}",
              "X-Tensor-Dtype: float32", "Accept: application/octet-stream", "Expect:"]
    post = [word for field in fields for word in ("-H", field)] + ["--data-binary", f"@{body}"]
    url = f"http://127.0.0.1:{port}"
    return ([client([url + GIGABYTE], seconds) for _ in range(4)],
            [client([*post, url + ADD], seconds) for _ in range(4)])


def streamed(server):
    """Bytes that the server has made for streams."""
    return int(re.search(rb"^posenc_stream_bytes_total (\d+)", server.get("/metrics")[2], re.M)[1])


def answers(clients):
    """The statuses of all whole answers."""
    return [line.split()[0] for each in clients for line in each.communicate()[0].splitlines()]


def fairness(server, folder, rounds, seconds):
    """One row a round: p99 alone and beside the load."""
    server.get(SMALL)
    rows = []
    for _ in range(rounds):
        with before_others():
            alone = probe(server.port, seconds)
        pulls, posts = load(server.port, folder, seconds + 2)
        time.sleep(1)  # they are under way
        before, start = streamed(server), time.perf_counter()
        with before_others():
            beside = probe(server.port, seconds)
        made, took = streamed(server) - before, time.perf_counter() - start
        posted = answers(posts)
        refused = [status for status in posted + answers(pulls) if status != "200"]
        rows.append({
            "alone_p50_us": percentile(alone, 0.5), "alone_p99_us": percentile(alone, 0.99),
            "beside_p50_us": percentile(beside, 0.5), "beside_p99_us": percentile(beside, 0.99),
            "streamed_bytes_per_second": made / took,
            "posts": len(posted), "refused": len(refused),
            "requests": len(beside),
        })
    return rows


def print_fairness(rows):
    print("\nSmall warm requests, alone and beside 4 clients that pull 1 GiB and 4 that post 10 MiB")
    for row in rows:
        bound = 3 * row["alone_p99_us"] + 2000
        verdict = "within" if row["beside_p99_us"] <= bound else "beyond"
        print(f"  p99 {row['alone_p99_us']:6.0f} us alone, {row['beside_p99_us']:6.0f} us beside"
              f" ({verdict} 3 x + 2 ms, {bound:.0f}); p50 {row['alone_p50_us']:.0f} and {row['beside_p50_us']:.0f};"
              f" {row['streamed_bytes_per_second'] / 1e9:.2f} GB/s streamed, {row['posts']} posted,"
              f" {row['refused']} refused")
