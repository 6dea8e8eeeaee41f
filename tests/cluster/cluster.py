#!/usr/bin/env python3
"""cluster - three replicas on different kernel variants, behind the engines whose configurations are in docker/.

    tests/cluster/cluster.py FOLDER PROGRAM

Counted, not timed: digests, hits, failed requests, computations. Ends with "N passed, M failed".
"""
import collections
import hashlib
import http.client
import itertools
import json
import pathlib
import re
import subprocess
import sys
import threading

from engines import DOCKER, HAProxy, Ingress, Nginx, Prometheus, Replica, Successor, Varnish, until
from load import catalogue, get, replay, zipf


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


def variants(program):
    """Three kernel variants, as different as this machine has them."""
    can = [name for name in ("baseline", "v3", "v4") if subprocess.run(
        [program, "check-config", "--kernels", name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0]
    return (can + ["auto", "auto"])[:3]


def same_bytes(checks, replicas):
    targets = catalogue(200)
    different = []
    for target in targets:
        digests = {hashlib.sha256(get(replica.port, target)[2]).hexdigest() for replica in replicas}
        tags = {get(replica.port, target)[1].get("etag") for replica in replicas}
        if len(digests) != 1 or len(tags) != 1:
            different.append(target)
    used = [re.search(r'kernels="(\w+)"', " ".join(replica.counts())).group(1) for replica in replicas]
    told = [replica.variant for replica in replicas]
    checks.that("replicas run the kernels that they were told to",
                all(one in (variant, "auto") for one, variant in zip(told, used)), f"told {told}, run {used}")
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
    checks.that(f"{name}: at least 99 of 100 are hits of the edge", ratio >= 0.99, f"{100 * ratio:.2f} % {dict(seen)}")


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
    tags = [get(edge.port, text, {"Accept-Encoding": coding})[1]["etag"] for coding in codings]
    after = asked(replicas)
    own = [get(replicas[0].port, text, {"Accept-Encoding": coding})[1]["etag"] for coding in codings]
    checks.that(f"{name}: codings keep their tags", len(set(tags)) == 3 and tags == own == [one[1]["etag"] for one in coded.values()] and
                [one[1].get("content-encoding") for one in coded.values()] == [None, "gzip", "zstd"], " ".join(tags))
    checks.that(f"{name}: no replica was asked for these", after == before, f"{after - before:.0f} requests")


def slices(checks, name, edge, replicas):
    """A range of 4 MB that begins in one slice of 1 MB and ends in the next."""
    target, at = "/v1/sinusoidal?d_model=64&positions=0:16384&format=raw", {"Range": "bytes=1048000-1049000"}
    (status, part, body), want = get(edge.port, target, at), get(replicas[0].port, target, at)
    again = asked(replicas)
    same = get(edge.port, target, at)[2]
    checks.that(f"{name}: a range of two slices is the replica's, and is kept",
                (status, body, part["content-range"]) == (206, want[2], want[1]["content-range"]) and same == body and
                asked(replicas) == again, part.get("content-range", ""))


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
        get(edge.port, f"{target}&rope_theta={edge.port}", {"X-Forwarded-For": "6.6.6.6"}, stranger)

    def clients():
        lines = [line for replica in replicas for line in replica.log.read_text().splitlines(True)]
        return [json.loads(line)["client"] for line in lines if f"rope_theta={edge.port}" in line and line.endswith("\n")]
    until(lambda: len(clients()) == 2, clients)
    checks.that(f"{name}: a forged address is not believed", set(clients()) == {"127.0.0.9"}, clients())


def restart(checks, name, edge, replicas, requests):
    """A replica is killed under load and comes back; nobody notices. Every fourth request is a POST."""
    failed = collections.Counter()
    targets = [f"/v1/sinusoidal?d_model=64&positions={k}:{k + 16}&format=raw" if k % 4 else
               ("/v1/sinusoidal", f'{{"d_model": 64, "positions": "{k}:{k + 16}"}}') for k in range(requests)]
    steps = {requests // 4: replicas[1].kill, requests // 2: replicas[1].start, 3 * requests // 4: replicas[2].stop}
    def seen(target, answer):
        failed.update([answer[0] if answer[0] == 200 else (answer[0], target, answer[2][:200])])
    replay(edge.port, targets, seen, lambda at: steps.get(at, int)())
    replicas[2].start()
    checks.that(f"{name}: one replica killed and restarted, one stopped, 0 failed requests", set(failed) == {200}, dict(failed))


def all_down(checks, name, edge, replicas):
    """What the edge has it gives while no replica lives."""
    targets = catalogue(50)
    before = [get(edge.port, target)[2] for target in targets]
    for replica in replicas:
        replica.stop()
    after = [get(edge.port, target) for target in targets]
    for replica in replicas:
        replica.start()
    good = sum(status == 200 and body == was for (status, _, body), was in zip(after, before))
    checks.that(f"{name}: what it has is answered while every replica is down", good == len(targets), f"{good} of {len(targets)}")


def passed_socket(checks, program, restarts):
    """As systemd restarts: the listening socket stays open, and each next process gets it. Every request is answered,
    each on a connection of its own, so that some connect while no process is there to accept them."""
    seen, ended, over = collections.Counter(), [], threading.Event()
    targets = (f"/v1/sinusoidal?d_model=64&positions={k}:{k + 16}&format=raw" for k in itertools.takewhile(
        lambda _: not over.is_set(), itertools.count()))
    with Successor(program) as server:
        load = threading.Thread(target=replay, args=(server.port, targets, lambda target, answer: seen.update([answer[0]])),
                                kwargs={"kept": False}, daemon=True)
        server.start()
        load.start()
        for served in range(1, restarts + 1):
            until(lambda: sum(seen.values()) >= 300 * served, lambda: dict(seen))
            ended.append(server.stop())
            server.start()
        over.set()
        load.join()
        ended.append(server.stop())
    checks.that(f"a passed socket: {restarts} restarts under load, 0 failed requests", set(seen) == {200} and set(ended) == {0},
                f"{dict(seen)}, exit statuses {sorted(set(ended))}")


def metrics(checks, replicas):
    said = [subprocess.run(["promtool", "check", "metrics"], input=replica.metrics(), capture_output=True, text=True)
            for replica in replicas]
    checks.that("promtool accepts the metrics of every replica", not any(one.returncode for one in said),
                " ".join(one.stdout + one.stderr for one in said))
    rules = (DOCKER / "prometheus" / "alerts.yml").read_text()
    unknown = [one for one in set(re.findall(r'\b(?:posenc|http)_\w+(?:\{.*?\})?', rules)) if one not in replicas[0].metrics()]
    checks.that("alert rules name metrics that there are", not unknown, unknown)


def healths(prometheus):
    """Of its targets, then of its rules."""
    rules = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
    return [one["health"] for one in prometheus.ask("targets")["activeTargets"] + rules]


def observed(checks, folder, replicas):
    """Prometheus has the replicas, knows the rules, and has data for every curve of the dashboard."""
    panels = json.loads((DOCKER / "grafana" / "posenc.json").read_text())["panels"]
    curves = [target["expr"].replace("$__rate_interval", "30s") for panel in panels for target in panel.get("targets", ())]
    prometheus = Prometheus(folder / "prometheus", replicas)
    try:
        empty, fresh = list(curves), itertools.count(10 ** 6)

        def filled():
            get(replicas[0].port, f"/v1/sinusoidal?d_model=4&positions={next(fresh)}")
            get(replicas[0].port, "/v1/nothing")  # so that something is refused
            empty[:] = [curve for curve in empty if not prometheus.ask("query", query=curve).get("result")]
            return not empty
        until(filled, lambda: f"no data for {empty}")
        until(lambda: "unknown" not in healths(prometheus), lambda: healths(prometheus))
        targets, rules = healths(prometheus)[:len(replicas)], healths(prometheus)[len(replicas):]
        checks.that("Prometheus scrapes the replicas", targets == ["up"] * len(replicas), targets)
        checks.that("Prometheus evaluates the alert rules", set(rules) == {"ok"}, f"{len(rules)} rules")
        checks.that("the dashboard's curves have data", curves and not empty, f"{len(curves)} curves")
    finally:
        prometheus.stop()


def main():
    folder, program = pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve())
    folder.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    replicas = [Replica(program, folder, variant) for variant in variants(program)]
    try:
        same_bytes(checks, replicas)
        passed_socket(checks, program, 10)
        herd(checks, "a node", replicas[0].port, replicas, computations)
        for engine in (Nginx, Varnish, HAProxy):
            name = engine.__name__.lower()
            edge = engine(folder / name, replicas)
            try:
                if engine is not HAProxy:  # its cache is for small things: it has no ranges, and lets a herd through
                    by_the_edge(checks, name, edge, replicas)
                    slices(checks, name, edge, replicas)
                    herd(checks, name, edge.port, replicas, asked)
                    hits(checks, name, edge, replicas, 100000)
                nothing_forged(checks, name, edge, replicas)
                restart(checks, name, edge, replicas, 4000)
                if engine is not HAProxy:
                    all_down(checks, name, edge, replicas)
            finally:
                edge.stop()
        edge = Ingress(folder / "ingress", replicas)
        try:
            herd(checks, "the ingress", edge.port, replicas, asked)
        finally:
            edge.stop()
        metrics(checks, replicas)
        observed(checks, folder, replicas)
    finally:
        ended = [replica.stop() for replica in replicas]
    checks.that("SIGTERM ends every replica with 0", set(ended) == {0}, ended)
    print(f"\n{checks.passed} passed, {checks.failed} failed")
    return checks.failed > 0


if __name__ == "__main__":
    sys.exit(main())
