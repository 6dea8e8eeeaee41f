#!/usr/bin/env python3
"""sizing - what a core, a reader and a byte of cache are worth, and what binds a cluster of 1 to 1000 nodes.

    tests/cluster/sizing.py FOLDER PROGRAM [SECONDS]      measures (wrk), then simulates with these figures
    tests/cluster/sizing.py FOLDER                        simulates with the figures of the last run: the same table each time

Requests are counted against the seconds of CPU that the server took, so that other work on the machine does little to
them. Nothing here passes or fails.
"""
import collections
import hashlib
import itertools
import json
import math
import os
import pathlib
import random
import re
import socket
import subprocess
import sys
import time

from engines import Nginx, Replica
from load import get, replay, zipf

ROW = 256  # bytes of a row of /v1/sinusoidal?d_model=64 in float32
KINDS = {"1 KB": (4, "raw"), "16 KB": (64, "raw"), "128 KB": (512, "raw"), "1 MB": (4096, "raw"), "1 MB of JSON": (1536, "json"),
         "a heatmap": (256, "png")}
TICK = os.sysconf("SC_CLK_TCK")


def target(rows, form="raw", first=0):
    return f"/v1/sinusoidal?d_model=64&positions={first}:{first + rows}&format={form}"


def family(process):
    """A process and its children."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [process.pid, *map(int, children)]


def cpu(process):
    """Seconds of CPU that these have taken, and children of theirs that have ended."""
    fields = [pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in family(process)]
    return sum(int(ticks) for one in fields for ticks in one[11:15]) / TICK


def wrk(port, path, seconds, script=None):
    """How many requests were answered."""
    said = subprocess.run(["wrk", "-t1", "-c16", f"-d{seconds}s", "--timeout", "60s", *(["-s", script] if script else []),
                           f"http://127.0.0.1:{port}{path}"], capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said:
        raise RuntimeError(said)
    return int(re.search(r"(\d+) requests in", said).group(1))


def per_request(port, processes, path, seconds, script=None):
    """Microseconds of CPU that a request costs each process."""
    before = [cpu(one) for one in processes]
    count = wrk(port, path, seconds, script)
    return [1e6 * (cpu(one) - was) / count for one, was in zip(processes, before)]


def strangers(folder, rows, form, at):
    """A script of wrk that never asks for the same twice."""
    path = folder / "strangers.lua"
    path.write_text(f"""
local at = {at * 10 ** 9}
request = function()
    at = at + 1
    return wrk.format("GET", "/v1/sinusoidal?d_model=64&positions=" .. at .. ":" .. at + {rows} .. "&format={form}")
end
""")
    return str(path)


def costs(folder, replica, edge, seconds):
    """By kind: its bytes, and microseconds of a hit and a miss at the node, and of a hit and a miss at the edge."""
    found, fresh = {}, itertools.count(1)
    for name, (rows, form) in KINDS.items():
        one = {"bytes": len(get(edge.port, target(rows, form))[2])}
        one["node_hit"], = per_request(replica.port, [replica.process], target(rows, form), seconds)
        one["node_miss"], = per_request(replica.port, [replica.process], "/", seconds, strangers(folder, rows, form, next(fresh)))
        one["edge_hit"], = per_request(edge.port, [edge.process], target(rows, form), seconds)
        one["edge_miss"], = per_request(edge.port, [edge.process], "/", seconds, strangers(folder, rows, form, next(fresh)))
        found[name] = one
    return found


def queues(replica):
    """What the kernel holds of each connection of a server, for a reader that does not take it."""
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [int(row[4].split(":")[0], 16) for row in rows if row[1].endswith(f":{replica.port:04X}") and row[3] == "01"]


def memory(replica):
    """Of the program, by its own account and by the kernel's; and what waits in the kernel."""
    text = replica.metrics()
    return [*(float(re.search(rf"^{name} (\S+)", text, re.M).group(1))
              for name in ("posenc_memory_allocated_bytes", "process_resident_memory_bytes")), sum(queues(replica))]


def stalled(replica, readers):
    """KB that a reader costs who asks for 64 MB and takes none of it: allocated, resident, in the kernel."""
    before, sockets = memory(replica), []
    for one in range(readers):
        sockets.append(socket.socket())
        sockets[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # what it takes is none of the server's
        sockets[-1].connect(("127.0.0.1", replica.port))
        sockets[-1].sendall(f"GET {target(64 << 12, first=one)} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        sockets[-1].recv(1, socket.MSG_PEEK)  # one after the other: a client may have only so many in the queue
    last, calm = [], 0
    while calm < 5:  # every reader has something to read, and for five seconds no more of it
        time.sleep(1)
        now = sorted(queues(replica))
        calm = calm + 1 if now == last and sum(one > 0 for one in now) >= readers else 0
        last = now
    after = memory(replica)
    for one in sockets:
        one.close()
    return [(b - a) / readers / 1024 for a, b in zip(before, after)]


def hit_ratios(program, folder, requests):
    """Hits of the response cache by its size, on a zipf trace of 5000 answers of 1 to 64 KB."""
    draw = random.Random(2)
    answers = [target(draw.randint(4, 256), first=1000 * k) for k in range(5000)]
    trace, rows = zipf(answers, requests), []
    whole = sum(int(re.search(r":(\d+)&", one).group(1)) - int(re.search(r"=(\d+):", one).group(1)) for one in set(trace)) * ROW
    for megabytes in (1, 4, 16, 64, 256):
        replica = Sized(program, folder, megabytes << 20)
        replay(replica.port, trace, lambda *_: None)
        counts = replica.counts()
        hits, misses = (counts[f'posenc_cache_{what}_total{{cache="responses"}}'] for what in ("hits", "misses"))
        rows.append((megabytes, 100 * (1 - misses / requests)))
        assert hits + misses > 0
        replica.stop()
    return {"bytes asked for": whole, "hit ratio": rows}


class Sized(Replica):
    """A server whose response cache has that size."""

    def __init__(self, program, folder, size):
        self.size = size
        super().__init__(program, folder, "auto")

    def command(self):
        return [*super().command(), "--response-cache-bytes", str(self.size), "--access-log=false"]


# ---- the simulation ----

NODES = (1, 10, 100, 1000)
EDGE_CORES, EDGE_LINK, EDGE_CACHE = 8, 1.25e9, 1 << 30  # of an edge: cores, bytes a second of its link, bytes of its cache
NODE_CORES, NODE_CACHE = 2, 64 << 20
REQUESTS = 200000
# load: how many answers there are (0: nobody asks for what another has asked for), and how many of them have which size
LOADS = {
    "small, popular": (20000, {"1 KB": 1}),
    "all sizes, popular": (200000, {"1 KB": 0.6, "16 KB": 0.3, "128 KB": 0.09, "1 MB": 0.01}),
    "small, each once": (0, {"1 KB": 1}),
    "1 MB, each once": (0, {"1 MB": 1}),
    "heatmaps, each once": (0, {"a heatmap": 1}),
}


class Lru:
    """Which answers a cache of so many bytes has."""

    def __init__(self, room):
        self.room, self.kept, self.bytes = room, collections.OrderedDict(), 0

    def hit(self, key, size):
        if key in self.kept:
            self.kept.move_to_end(key)
            return True
        if size <= self.room:
            self.kept[key] = size
            self.bytes += size
            while self.bytes > self.room:
                self.bytes -= self.kept.popitem(last=False)[1]
        return False


def trace(answers, shares):
    """Ranks as they are asked for, in proportion to 1/rank, and the size of each rank: the same on every run."""
    draw = random.Random(3)
    sizes = draw.choices(list(shares), list(shares.values()), k=answers or REQUESTS)
    return (zipf(range(answers), REQUESTS) if answers else range(REQUESTS)), sizes


def node_of(rank, nodes):
    return int.from_bytes(hashlib.blake2b(str(rank).encode(), digest_size=8).digest(), "big") % nodes


def run(nodes, load, figures):
    """Requests a second that the nodes bear, the busiest being full, and that an edge and its link bear; hits of both."""
    ranks, sizes = load
    edge, caches, place = Lru(EDGE_CACHE), [Lru(NODE_CACHE) for _ in range(nodes)], {}
    edge_work, node_work = 0.0, [0.0] * nodes
    sent = asked = node_hits = 0
    for rank in ranks:
        cost = figures[sizes[rank]]
        sent += cost["bytes"]
        if edge.hit(rank, cost["bytes"]):
            edge_work += cost["edge_hit"]
            continue
        edge_work += cost["edge_miss"]
        node = place.setdefault(rank, node_of(rank, nodes))
        found = caches[node].hit(rank, cost["bytes"])
        node_work[node] += cost["node_hit"] if found else cost["node_miss"]
        asked, node_hits = asked + 1, node_hits + found
    rates = {"node": 1e6 * NODE_CORES * REQUESTS / max(node_work), "edge": 1e6 * EDGE_CORES * REQUESTS / edge_work,
             "network": EDGE_LINK * REQUESTS / sent}
    return rates, 100 * (1 - asked / REQUESTS), 100 * node_hits / asked, max(node_work) * nodes / sum(node_work)


def simulate(figures):
    print(f"\n{REQUESTS} requests; edges of {EDGE_CORES} cores, {EDGE_LINK * 8e-9:.0f} Gbit/s and {EDGE_CACHE >> 20} MB of cache; "
          f"nodes of {NODE_CORES} cores and {NODE_CACHE >> 20} MB of cache\n")
    print("| load | nodes | edge hits | node hits | busiest : mean | nodes bear | an edge bears | its link bears | binds "
          "| edges for all nodes |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, (answers, shares) in LOADS.items():
        load = trace(answers, shares)
        for nodes in NODES:
            rates, edge_hits, node_hits, skew = run(nodes, load, figures)
            edges = math.ceil(rates["node"] / min(rates["edge"], rates["network"]))
            print(f"| {name} | {nodes} | {edge_hits:.1f} % | {node_hits:.1f} % | {skew:.1f} | "
                  + " | ".join(f"{rates[what]:,.0f}/s" for what in ("node", "edge", "network"))
                  + f" | {min(rates, key=rates.get)} | {edges} |", flush=True)


def show(found):
    print("| answer | bytes | node, hit | node, miss | nginx, hit | nginx, miss |\n| --- | --- | --- | --- | --- | --- |")
    for name, row in found["costs"].items():
        print(f"| {name} | {row['bytes']:,} | " + " | ".join(f"{1e6 / row[what]:,.0f}/s" for what in ("node_hit", "node_miss", "edge_hit", "edge_miss")) + " |")
    print("\nKB of a stalled reader of 64 MB: allocated {:.0f}, resident {:.0f}, in the kernel's buffers {:.0f}".format(*found["stalled"]))
    print(f"\n| response cache | hits; {found['cache']['bytes asked for'] / 1e6:.0f} MB were asked for |\n| --- | --- |")
    for megabytes, ratio in found["cache"]["hit ratio"]:
        print(f"| {megabytes} MB | {ratio:.1f} % |")


def measure(folder, program, seconds):
    replica = Sized(program, folder, 256 << 20)
    edge = Nginx(folder / "nginx", [replica] * 3)
    found = {"costs": costs(folder, replica, edge, seconds), "stalled": stalled(replica, 200)}
    edge.stop()
    replica.stop()
    found["cache"] = hit_ratios(program, folder, 20000)
    found["load"] = os.getloadavg()
    return found


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    figures = folder / "figures.json"
    if len(sys.argv) > 2:
        found = measure(folder, str(pathlib.Path(sys.argv[2]).resolve()), int(sys.argv[3]) if len(sys.argv) > 3 else 3)
        figures.write_text(json.dumps(found, indent=1))
    found = json.loads(figures.read_text())
    print(f"load of the machine: {found['load'][0]:.1f} on {os.cpu_count()} cores\n")
    show(found)
    simulate(found["costs"])


main()
