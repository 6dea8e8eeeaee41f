"""judge - posts cases to a server of its own, and counts what is said about them."""
import collections
import http.client
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import rows

SHOWN = ("cause", "code", "sentence", "rule", "remedy")
ENOUGH = 40  # evaluations of the whole table
COLUMNS = ("shown", "detected", "first", "three", "fact", "unknown", "refused")


class Server:
    def __init__(self, binary):
        self.learned = tempfile.TemporaryDirectory()
        np.save(self.learned.name + "/wpe.npy", np.float32(rows.WPE))
        self.process = subprocess.Popen([binary, "serve", "--port", "0", "--admin-listen", "", "--learned-dir", self.learned.name],
                                        stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            record = json.loads(line)
            if record["event"] == "listening":
                self.port = record["port"]
            if record["event"] == "ready":
                break
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)

    def names(self):
        """What a fault may be called: a name of config/faults.json, or that of a parameter."""
        self.connection.request("GET", "/v1")
        rows = [row for resource in json.loads(self.connection.getresponse().read())["encodings"] for row in resource["parameters"]]
        file = pathlib.Path(__file__).parents[2] / "config/faults.json"
        return {row["name"] for row in rows} | set(json.loads(file.read_text(encoding="utf-8")))

    def verify(self, case):
        query, kind, data = case.payload()
        start = time.perf_counter()
        for retry in (True, False):
            try:
                self.connection.request("POST", "/v1/verify" + query, data, {"Content-Type": kind})
                answer = self.connection.getresponse()
                text = answer.read()
                break
            except (http.client.RemoteDisconnected, ConnectionError):
                self.connection.close()
                if not retry:
                    raise
        seconds = time.perf_counter() - start
        return answer.status, json.loads(text), seconds

    def stop(self):
        self.connection.close()
        self.process.terminate()
        self.learned.cleanup()
        told = [line for line in self.process.stderr if not line.startswith("{")]
        if self.process.wait() not in (0, -15):
            print("the server did not end well", *told, sep="\n", file=sys.stderr)


def text_of(finding):
    return " . ".join([*finding.get("faults", []), *(str(finding[key]) for key in SHOWN if key in finding)]).replace("_", " ") \
        + " " + " ".join(finding.get("faults", []))


def judged(case, status, answer):
    """What the answer counts as."""
    if status != 200:
        return {"refused"}
    if answer["matches"]:
        return {"matches"}
    if case.words is None:
        return set()
    findings, marks = answer["diagnosis"], {"detected"}
    if not findings:
        return marks | {"unknown"}
    named = [case.named_by(text_of(finding)) for finding in findings[:3]]
    first = [n for n, finding in zip(named, findings) if finding["rank"] == findings[0]["rank"]]
    if any(all(n) for n in first):
        marks.add("first")
    elif not findings[0].get("fitted") and not any(any(n) for n in first):
        marks.add("fact")
    if all(any(column) for column in zip(*named)):
        marks.add("three")
    return marks


def said(status, answer):
    if status != 200:
        return f"{status}: {answer.get('detail')}"
    findings = [f"{f['rank']}. {f.get('rule')}{' (fitted)' if f.get('fitted') else ''}" for f in answer["diagnosis"][:3]]
    return "; ".join(findings) or answer["conclusion"]


def wrong(case, marks):
    """Why a case is listed, or nothing."""
    if case.words is None:
        return "" if "matches" in marks else "turned away" if "refused" in marks else "false alarm"
    if case.shown is not True or "first" in marks:
        return ""
    return next((name for name in ("refused", "fact", "unknown") if name in marks), "not first" if "detected" in marks else "missed")


class Tally:
    def __init__(self):
        self.counts, self.seconds, self.evaluations = collections.Counter(), [], [(0, "")]

    def add(self, case, marks, seconds):
        self.seconds.append(seconds)
        if case.words is None:
            self.counts.update(["correct", "right" if "matches" in marks else "away" if "refused" in marks else "alarms"])
            return
        self.counts.update(["cases"] + (["shown", *marks] if case.shown else ["hidden"]))

    def row(self):
        shares = [f"{100 * self.counts[c] / max(1, self.counts['shown']):5.1f}" for c in COLUMNS[1:]]
        return (f"{self.counts['cases']:6d} {self.counts['shown']:6d} " + " ".join(f"{s:>8s}" for s in shares)
                + f" {self.counts['correct']:7d} {self.counts['alarms']:6d} {self.counts['away']:5d} {1000 * sum(self.seconds) / len(self.seconds):6.0f}"
                + f" {1000 * max(self.seconds):6.0f}")


def run(binary, cases, verbose=False, keep=None):
    """Tallies by family."""
    server, tallies = Server(binary), collections.defaultdict(Tally)
    try:
        names = server.names()
        for case in cases:
            status, answer, seconds = server.verify(case)
            others = {name for finding in answer.get("diagnosis", []) for name in finding["faults"]} - names
            if others:
                raise SystemExit(f"openapi.yaml does not list {others}, which {case.kind} is told as")
            marks = judged(case, status, answer)
            why = wrong(case, marks)
            evaluations = answer.get("search", {}).get("evaluations", 0)
            for name in (case.family, "all"):
                tallies[name].add(case, marks, seconds)
                tallies[name].evaluations.append((evaluations, case.kind))
            if verbose and why:
                print(f"{why}: {case.family}: {case.kind}: {said(status, answer)}", flush=True)
            if keep is not None:
                keep.append({"kind": case.kind, "family": case.family, "shown": case.shown, "correct": case.words is None,
                             "marks": sorted(marks), "why": why, "said": said(status, answer), "ms": round(1000 * seconds)})
    finally:
        server.stop()
    return tallies


def table(tallies):
    wide = max(len(name) for name in tallies)
    print(f"{'family':{wide}s}  cases  " + " ".join(f"{c:>8s}" for c in COLUMNS).replace("   shown", " shown", 1)
          + " correct alarms  away     ms    max")
    for name in sorted(tallies, key=lambda name: (name == "all", name)):
        print(f"{name:{wide}s} {tallies[name].row()}")
    counted = sorted(one for one in tallies["all"].evaluations if one[0] > 0) or [(0, "")]
    above = sum(times > ENOUGH for times, _ in counted)
    print(f"evaluations of the whole table, where it does not match: median {counted[len(counted) // 2][0]:.0f},"
          f" {above} of {len(counted)} above {ENOUGH}, the worst {counted[-1][0]:.0f} ({counted[-1][1]})")
