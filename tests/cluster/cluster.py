#!/usr/bin/env python3
"""cluster - three replicas on different kernel variants, behind the engines whose configurations are in docker/.

    tests/cluster/cluster.py FOLDER PROGRAM

Everything listens on 127.0.0.1, on ports that the system gives. Counted, not timed: digests, hits, failed requests,
computations. Ends with "N passed, M failed".
"""
import bisect
import collections
import hashlib
import http.client
import itertools
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
VARIANTS = ("baseline", "v3", "auto")
THREADS = 16


class Replica:
    """One server; it comes back to its port after a restart."""

    def __init__(self, program, folder, variant):
        self.program, self.variant, self.port = program, variant, 0
        self.log = folder / f"replica-{variant}.log"
        self.start()

    def start(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--host", "127.0.0.1", "--port", str(self.port), "--kernels", self.variant,
                 "--admin-listen", "127.0.0.1:0", "--drain-grace-ms", "0", "--access-log", "--trusted-proxies", "127.0.0.1"], stderr=log, stdin=subprocess.DEVNULL)
        self.port = self.told("listening")
        self.admin = self.told("admin_listening")

    def told(self, event):
        """The port that a line of the log names."""
        while self.process.poll() is None:
            for line in self.log.read_text().splitlines():
                if f'"event":"{event}"' in line:
                    return json.loads(line)["port"]
            time.sleep(0.02)
        raise RuntimeError(f"{self.variant} did not start: {self.log.read_text()}")

    def counts(self):
        """Samples of /metrics, by name and labels."""
        text = urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/metrics").read().decode()
        return {name: float(value) for name, value in
                (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))}

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        return self.process.wait()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Edge:
    """An engine in front, run from the configuration that docker/ ships, with the replicas' addresses put in."""

    def __init__(self, folder, replicas):
        self.folder, self.port = folder, free_port()
        folder.mkdir(parents=True, exist_ok=True)
        self.process = subprocess.Popen(self.command(replicas), stdin=subprocess.DEVNULL,
                                        stdout=open(folder / "out.log", "wb"), stderr=subprocess.STDOUT)
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError(f"{type(self).__name__} did not start: {(folder / 'out.log').read_text()}")

    def with_addresses(self, text, replicas):
        for at, replica in enumerate(replicas, 1):
            text = text.replace(f"posenc-{at}:8080", f"127.0.0.1:{replica.port}")
            text = text.replace(f'"posenc-{at}"; .port = "8080"', f'"127.0.0.1"; .port = "{replica.port}"')
        return text

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class Nginx(Edge):
    def command(self, replicas):
        for source in (DOCKER / "nginx").iterdir():
            text = self.with_addresses(source.read_text(), replicas)
            text = text.replace("listen 8000;", f"listen 127.0.0.1:{self.port};").replace("/tmp/nginx", f"{self.folder}/nginx")
            (self.folder / source.name).write_text(text)
        return ["nginx", "-e", "stderr", "-c", str(self.folder / "nginx.conf"), "-g",
                "daemon off;" + (" user root;" if os.getuid() == 0 else "")]


class HAProxy(Edge):
    def command(self, replicas):
        text = self.with_addresses((DOCKER / "haproxy" / "haproxy.cfg").read_text(), replicas)
        (self.folder / "haproxy.cfg").write_text(text.replace("bind :8000", f"bind 127.0.0.1:{self.port}"))
        return ["haproxy", "-db", "-f", str(self.folder / "haproxy.cfg")]


class Varnish(Edge):
    def command(self, replicas):
        for source in (DOCKER / "varnish").iterdir():
            text = self.with_addresses(source.read_text(), replicas)
            (self.folder / source.name).write_text(text.replace("posenc-backends.vcl", str(self.folder / "posenc-backends.vcl")))
        return ["varnishd", "-F", "-j", "none", "-n", str(self.folder / "work"), "-f", str(self.folder / "posenc.vcl"),
                "-a", f"127.0.0.1:{self.port}", "-p", "http_gzip_support=off", "-s", "default,256m"]


def get(port, target, headers=None, connection=None):
    """Status, fields and body of an answer."""
    one = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    one.request("GET", target, headers=headers or {})
    answer = one.getresponse()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()


def replay(port, targets, seen, between=None):
    """Ask for all targets on some connections at once; tell `seen` of each answer, or of the failure."""
    rows = iter(enumerate(targets))
    lock = threading.Lock()

    def ask():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while True:
            with lock:
                at, target = next(rows, (None, None))
            if target is None:
                return
            try:
                answer = get(port, target, connection=connection)
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                answer = (0, {}, str(error).encode())
            with lock:
                seen(target, answer)
                if between is not None:
                    between(at)

    threads = [threading.Thread(target=ask) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def catalogue(count):
    """Targets as people ask for them: small and middling tables in several formats."""
    rows = itertools.product(("json", "npy", "raw", "csv", "safetensors"), (64, 96, 128), ("0:8", "0:64", "128:160"),
                             (10000, 500000, 1000000))
    tables = [f"/v1/rope/table?head_dim={d}&positions={p}&rope_theta={theta}&format={f}" +
              ("&tensor=cos" if f in ("npy", "raw", "csv") else "") for f, d, p, theta in rows]
    more = (f"/v1/sinusoidal?d_model=64&positions={k}:{k + 16}&dtype=float64" for k in range(1, 10 ** 6))
    return tables + list(itertools.islice(more, max(0, count - len(tables))))


def zipf(targets, count, seed=1):
    """Draws where the k-th of the targets is asked for in proportion to 1/k."""
    total = list(itertools.accumulate(1 / k for k in range(1, len(targets) + 1)))
    draw = random.Random(seed)
    return [targets[bisect.bisect(total, draw.random() * total[-1])] for _ in range(count)]


class Checks:
    """What was tried, and how it went."""

    def __init__(self):
        self.passed = self.failed = 0

    def that(self, name, good, said=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        print(f"{'ok  ' if good else 'FAIL'}  {name}  {said}", flush=True)


def computations(replicas):
    """Answers that were computed and put into the response caches."""
    return sum(replica.counts()['posenc_cache_misses_total{cache="responses"}'] for replica in replicas)


def asked(replicas):
    """Requests for numbers that came to the replicas."""
    return sum(value for replica in replicas for name, value in replica.counts().items()
               if name.startswith("http_server_request_duration_seconds_count") and 'http_route="/v1/' in name)


def same_bytes(checks, replicas):
    targets = catalogue(200)
    different = []
    for target in targets:
        digests = {hashlib.sha256(get(replica.port, target)[2]).hexdigest() for replica in replicas}
        tags = {get(replica.port, target)[1].get("etag") for replica in replicas}
        if len(digests) != 1 or len(tags) != 1:
            different.append(target)
    used = [re.search(r'kernels="(\w+)"', " ".join(replica.counts())).group(1) for replica in replicas]
    checks.that("replicas on different kernels give one digest and one tag", not different,
                f"{len(targets)} answers; kernels {', '.join(used)} {different[:1]}")


def herd(checks, name, port, replicas, count):
    """A hundred ask for the same, which nobody has yet."""
    before = count(replicas)
    bodies = set()
    target = f"/v1/rope/table?head_dim=128&positions=0:2048&rope_theta={20000 + port}&format=npy&tensor=cos"
    threads = [threading.Thread(target=lambda: bodies.add(get(port, target)[2])) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cost = count(replicas) - before
    checks.that(f"{name}: a herd of 100 is one of the {count.__name__}", cost == 1 and len(bodies) == 1, f"{cost:.0f}")


def hits(checks, name, edge, replicas, requests):
    targets = catalogue(500)
    want = {target: hashlib.sha256(get(replicas[0].port, target)[2]).digest() for target in targets}
    seen = collections.Counter()

    def tell(target, answer):
        status, fields, body = answer
        seen["wrong"] += status != 200 or hashlib.sha256(body).digest() != want[target]
        seen[fields.get("x-cache", "none")] += 1

    replay(edge.port, zipf(targets, requests), tell)
    ratio = seen["HIT"] / requests
    checks.that(f"{name}: every answer of the replay is right", seen["wrong"] == 0, f"{requests} requests, {seen['wrong']} wrong")
    checks.that(f"{name}: at least 99 of 100 are hits of the edge", ratio >= 0.99, f"{100 * ratio:.2f} %")


def by_the_edge(checks, name, edge, replicas):
    """What the edge answers without a replica: conditions, ranges, codings with their tags."""
    target = "/v1/rope/table?head_dim=64&positions=0:512&format=npy&tensor=sin"
    text = "/v1/rope/table?head_dim=64&positions=0:512"
    codings = ("identity", "gzip", "zstd")
    _, fields, whole = get(edge.port, target)
    coded = {coding: get(edge.port, text, {"Accept-Encoding": coding}) for coding in codings}
    before = asked(replicas)
    status, _, body = get(edge.port, target, {"If-None-Match": fields["etag"]})
    checks.that(f"{name}: If-None-Match is a 304", status == 304 and body == b"", f"status {status}")
    status, part, body = get(edge.port, target, {"Range": "bytes=100-299"})
    checks.that(f"{name}: a range is a 206", status == 206 and body == whole[100:300], part.get("content-range", ""))
    tags = {get(edge.port, text, {"Accept-Encoding": coding})[1]["etag"] for coding in codings}
    after = asked(replicas)
    checks.that(f"{name}: codings keep their tags", len(tags) == 3 and tags == {one[1]["etag"] for one in coded.values()} and
                coded["zstd"][1].get("content-encoding") == "zstd", " ".join(sorted(tags)))
    checks.that(f"{name}: no replica was asked for these", after == before, f"{after - before:.0f} requests")


def nothing_forged(checks, name, edge, replicas):
    """A client names no coding and gets none; what it says of its address does not stand alone."""
    for form in ("csv", "npy"):
        target = f"/v1/rope/table?head_dim=32&positions=0:32&tensor=cos&format={form}"
        get(edge.port, target, {"Accept-Encoding": "gzip"})
        status, fields, _ = get(edge.port, target)
        plain = http.client.HTTPConnection("127.0.0.1", edge.port, timeout=60)
        plain.putrequest("GET", target, skip_accept_encoding=True)
        plain.endheaders()
        answer = plain.getresponse()
        answer.read()
        checks.that(f"{name}: {form} is plain where no coding was named",
                    status == 200 and answer.status == 200 and answer.getheader("Content-Encoding") is None)
        stranger = http.client.HTTPConnection("127.0.0.1", edge.port, timeout=60, source_address=("127.0.0.9", 0))
        get(edge.port, target + "&rope_theta=77", {"X-Forwarded-For": "6.6.6.6"}, stranger)
    told = [json.loads(line) for replica in replicas for line in replica.log.read_text().splitlines() if "rope_theta=77" in line]
    checks.that(f"{name}: a forged address is not believed", told and all(one["client"] == "127.0.0.9" for one in told),
                {one["client"] for one in told})


def restart(checks, name, edge, replicas, requests):
    """A replica is killed under load and comes back; nobody notices."""
    failed = collections.Counter()
    targets = [f"/v1/sinusoidal?d_model=64&positions={k}:{k + 16}&format=raw" for k in range(requests)]
    steps = {requests // 4: replicas[1].kill, requests // 2: replicas[1].start, 3 * requests // 4: replicas[2].stop}
    replay(edge.port, targets, lambda target, answer: failed.update([answer[0]]), lambda at: steps.get(at, int)())
    replicas[2].start()
    checks.that(f"{name}: one replica killed and restarted, one stopped, 0 failed requests", set(failed) == {200}, dict(failed))


def main():
    folder, program = pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve())
    folder.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    replicas = [Replica(program, folder, variant) for variant in VARIANTS]
    try:
        same_bytes(checks, replicas)
        herd(checks, "a node", replicas[0].port, replicas, computations)
        for engine in (Nginx, Varnish, HAProxy):
            name = engine.__name__.lower()
            edge = engine(folder / name, replicas)
            try:
                if engine is not HAProxy:  # its cache is for small things: it has no ranges, and lets a herd through
                    by_the_edge(checks, name, edge, replicas)
                    herd(checks, name, edge.port, replicas, asked)
                    hits(checks, name, edge, replicas, 100000)
                nothing_forged(checks, name, edge, replicas)
                restart(checks, name, edge, replicas, 4000)
            finally:
                edge.stop()
    finally:
        ended = [replica.stop() for replica in replicas]
    checks.that("SIGTERM ends every replica with 0", set(ended) == {0}, ended)
    print(f"\n{checks.passed} passed, {checks.failed} failed")
    return checks.failed > 0


sys.exit(main())
