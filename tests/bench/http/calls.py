# SPDX-License-Identifier: MIT
"""calls.py - the system calls of a warm request, as strace counts them."""

import collections
import http.client
import re
import signal
import subprocess
import time

REQUESTS = 500
WAITS = ("epoll_wait", "epoll_pwait", "epoll_pwait2")


class Refused(Exception):
    """This machine does not let us trace."""


def count(server, work):
    """What the server calls while work() runs: name -> calls."""
    command = ["strace", "-c", "-f", "-U", "calls,name", "-p", str(server.process.pid)]
    try:
        strace = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    except FileNotFoundError as error:
        raise Refused("strace is not installed") from error
    said = strace.stderr.readline()
    if " attached" not in said:
        strace.kill()
        strace.communicate()
        raise Refused(said.strip())
    time.sleep(0.1)  # until each thread has stopped and gone on
    try:
        work()
    finally:
        strace.send_signal(signal.SIGINT)
        table = strace.communicate()[1]
    rows = re.findall(r"^ *(\d+) (\w+)$", table, re.M)
    return collections.Counter({name: int(calls) for calls, name in rows if name != "total"})


def per_request(server, target):
    """Calls per warm request of one connection, by name, less what the server calls of its own accord."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

    def ask(times=REQUESTS):
        for _ in range(times):
            connection.request("GET", target)
            connection.getresponse().read()

    ask(2)
    start = time.perf_counter()
    counts = count(server, ask)
    took = time.perf_counter() - start
    counts -= count(server, lambda: time.sleep(took))
    connection.close()
    return {name: calls / REQUESTS for name, calls in counts.most_common()}


def calls(server, targets):
    """targets: name -> target. Name -> calls per request by name; nothing where tracing is refused."""
    print(f"\nCalls per warm request of one connection: strace -c of {REQUESTS}, less those of an idle server")
    found = {}
    try:
        for name, target in targets.items():
            found[name] = per_request(server, target)
            print_calls(name, found[name])
    except Refused as refused:
        print(f"  not counted: {refused}")
    return found


def print_calls(name, each):
    done = {call: times for call, times in each.items() if call not in WAITS}
    total = sum(done.values())
    listed = ", ".join(f"{times:.2f} {call}" for call, times in done.items() if times >= 0.005)
    verdict = "two" if abs(total - 2) < 0.02 else f"{total:.2f}"
    waits = sum(each.values()) - total
    print(f"  {name:8} {verdict}: {listed}; besides {waits:.2f} waits, which all ready connections share")
