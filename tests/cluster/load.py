"""load - what is asked of a cluster: targets as people ask for them, how often each, and by many at once."""
import bisect
import http.client
import itertools
import random
import threading

THREADS = 16


def get(port, target, headers=None, connection=None):
    """Status, fields and body of an answer; to a POST where the target is a pair of it and a body."""
    one = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    path, body = target if isinstance(target, tuple) else (target, None)
    if body is not None:
        headers = {"Content-Type": "application/json", **(headers or {})}
    one.request("GET" if body is None else "POST", path, body, headers or {})
    answer = one.getresponse()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()


def replay(port, targets, seen, between=None, kept=True):
    """Ask for all targets on some connections at once, kept or one for each; tell `seen` of each answer or failure."""
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
                if not kept:
                    connection.close()
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
    return list(itertools.islice(itertools.chain(tables, more), count))


def zipf(targets, count, seed=1):
    """Draws where the k-th of the targets is asked for in proportion to 1/k."""
    total = list(itertools.accumulate(1 / k for k in range(1, len(targets) + 1)))
    draw = random.Random(seed)
    return [targets[bisect.bisect(total, draw.random() * total[-1])] for _ in range(count)]
