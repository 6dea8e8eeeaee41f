"""engines - the processes of a cluster: replicas, and the engines around them as docker/ configures them.

Everything listens on 127.0.0.1. Whoever waits here waits for a state, and a minute at most.
"""
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"


def free_port():
    """A port that no outgoing connection takes by chance: it must still be free after a restart."""
    least = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", random.randrange(max(1024, least - 16384), least)))
                return one.getsockname()[1]
            except OSError:
                continue


def until(true, what):
    """Wait for a state, a minute at most."""
    for _ in range(3000):
        if true():
            return
        time.sleep(0.02)
    raise RuntimeError(f"a minute has passed: {what()}")


class Replica:
    """One server; it comes back to its port after a restart."""

    def __init__(self, program, folder, variant):
        self.program, self.variant, self.port = program, variant, free_port()
        self.log = folder / f"replica-{self.port}.log"
        self.start()

    def command(self):
        return [self.program, "serve", "--host", "127.0.0.1", "--port", str(self.port), "--kernels", self.variant,
                "--admin-listen", "127.0.0.1:0", "--drain-grace-ms", "0", "--access-log", "--trusted-proxies", "127.0.0.1"]

    def start(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.command(), stderr=log, stdin=subprocess.DEVNULL)
        self.told("listening")
        self.admin = self.told("admin_listening")

    def told(self, event):
        """The port that a line of the log names."""
        def line():
            return next((one for one in self.log.read_text().splitlines() if f'"event":"{event}"' in one), "")
        until(lambda: line() or self.process.poll() is not None, self.log.read_text)
        if not line():
            raise RuntimeError(f"{self.variant} did not start: {self.log.read_text()}")
        return json.loads(line())["port"]

    def metrics(self):
        return urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/metrics", timeout=60).read().decode()

    def counts(self):
        """Samples of /metrics, by name and labels, once no other request is under way: each is counted when it ends."""
        found = {}

        def quiet():
            found.update((name, float(value)) for name, value in
                         (line.rsplit(" ", 1) for line in self.metrics().splitlines() if not line.startswith("#")))
            return found["http_server_active_requests"] == 1
        until(quiet, lambda: f"{self.variant} has requests under way")
        return found

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        return self.process.wait(60)


class Successor:
    """A server that gets its listening socket from its parent and tells it that it is ready, as systemd has it."""

    def __init__(self, program):
        self.program, self.process, self.folder = program, None, tempfile.TemporaryDirectory()
        self.listening, self.notices = socket.socket(), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.listening.bind(("127.0.0.1", 0))
        self.listening.listen(1024)
        self.port = self.listening.getsockname()[1]
        self.notices.bind(f"{self.folder.name}/notices")
        self.notices.settimeout(60)

    def start(self):
        environment = {**os.environ, "LISTEN_FDS": "1", "NOTIFY_SOCKET": self.notices.getsockname()}
        inherit = f'LISTEN_PID=$$ exec "$0" serve --admin-listen= 3<&{self.listening.fileno()}'
        self.process = subprocess.Popen(["sh", "-c", inherit, self.program], env=environment, stdin=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, pass_fds=[self.listening.fileno()])
        while b"READY=1" not in self.notices.recv(4096):
            pass

    def stop(self):
        self.process.terminate()
        return self.process.wait(60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
        self.listening.close()
        self.notices.close()
        self.folder.cleanup()


class Engine:
    """An engine in front, or beside, run from the configuration that docker/ ships, with the replicas' addresses put in."""

    def __init__(self, folder, replicas):
        self.folder, self.port = folder, free_port()
        shutil.rmtree(folder, ignore_errors=True)  # a cache of an earlier run
        folder.mkdir(parents=True)
        self.process = subprocess.Popen(self.command(replicas), stdin=subprocess.DEVNULL,
                                        stdout=open(folder / "out.log", "wb"), stderr=subprocess.STDOUT)
        until(lambda: self.answers() or self.process.poll() is not None, (folder / "out.log").read_text)
        if self.process.poll() is not None:
            raise RuntimeError(f"{type(self).__name__} did not start: {(folder / 'out.log').read_text()}")

    def answers(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def with_addresses(self, text, replicas):
        for at, replica in enumerate(replicas, 1):
            text = text.replace(f"posenc-{at}:8080", f"127.0.0.1:{replica.port}")
            text = text.replace(f'"posenc-{at}"; .port = "8080"', f'"127.0.0.1"; .port = "{replica.port}"')
        return text

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


class Nginx(Engine):
    def command(self, replicas):
        for source in (DOCKER / "nginx").iterdir():
            text = self.with_addresses(source.read_text(), replicas)
            text = text.replace("listen 8000;", f"listen 127.0.0.1:{self.port};").replace("/tmp/nginx", f"{self.folder}/nginx")
            (self.folder / source.name).write_text(text)
        return ["nginx", "-e", "stderr", "-c", str(self.folder / "nginx.conf"), "-g",
                "daemon off;" + (" user root;" if os.getuid() == 0 else "")]


class Ingress(Engine):
    """nginx as ingress-nginx runs it for the Ingress: without buffers, but for what its annotations say."""

    def command(self, replicas):
        text = (DOCKER / "kubernetes" / "overlays" / "public" / "ingress.yaml").read_text()
        annotation = dict(re.findall(r'nginx.ingress.kubernetes.io/([a-z-]+): "?([^"|\n]+)"?\n', text))
        http = re.search(r"http-snippet: (.*)", text).group(1).replace("/tmp/", f"{self.folder}/")
        unused = "".join(f"{kind}_temp_path {self.folder}/unused;" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (self.folder / "nginx.conf").write_text(f"""
            pid {self.folder}/pid; error_log stderr warn; events {{}}
            http {{ access_log off; {unused} {http}
                upstream pods {{ hash {annotation["upstream-hash-by"]} consistent;
                    {"".join(f"server 127.0.0.1:{one.port};" for one in replicas)} }}
                server {{ listen 127.0.0.1:{self.port}; client_max_body_size {annotation["proxy-body-size"]};
                    location / {{ proxy_pass http://pods; proxy_http_version 1.1; proxy_set_header Connection "";
                        proxy_buffering {annotation.get("proxy-buffering", "off")};
                        proxy_next_upstream {annotation["proxy-next-upstream"]};
                        {re.search(r"configuration-snippet: [|](.*)spec:", text, re.S).group(1)} }} }} }}""")
        return ["nginx", "-e", "stderr", "-c", str(self.folder / "nginx.conf"), "-g",
                "daemon off;" + (" user root;" if os.getuid() == 0 else "")]


class HAProxy(Engine):
    def command(self, replicas):
        text = self.with_addresses((DOCKER / "haproxy" / "haproxy.cfg").read_text(), replicas)
        (self.folder / "haproxy.cfg").write_text(text.replace("bind :8000", f"bind 127.0.0.1:{self.port}"))
        return ["haproxy", "-db", "-f", str(self.folder / "haproxy.cfg")]


class Varnish(Engine):
    def command(self, replicas):
        for source in (DOCKER / "varnish").iterdir():
            text = self.with_addresses(source.read_text(), replicas)
            (self.folder / source.name).write_text(text.replace("posenc-backends.vcl", str(self.folder / "posenc-backends.vcl")))
        return ["varnishd", "-F", "-j", "none", "-n", str(self.folder / "work"), "-f", str(self.folder / "posenc.vcl"),
                "-a", f"127.0.0.1:{self.port}", "-p", "http_gzip_support=off", "-s", "default,256m"]


class Prometheus(Engine):
    """It scrapes the replicas each second, so that a test need not wait."""

    def command(self, replicas):
        text = (DOCKER / "prometheus" / "prometheus.yml").read_text()
        for at, replica in enumerate(replicas, 1):
            text = text.replace(f"posenc-{at}:9464", f"127.0.0.1:{replica.admin}")
        (self.folder / "prometheus.yml").write_text(text.replace("interval: 15s", "interval: 1s"))
        shutil.copy(DOCKER / "prometheus" / "alerts.yml", self.folder)
        return ["prometheus", f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data",
                f"--web.listen-address=127.0.0.1:{self.port}"]

    def ask(self, path, **query):
        """What its interface says; nothing while it starts."""
        try:
            said = urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}", timeout=60)
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
            return {}
        return json.load(said)["data"]
