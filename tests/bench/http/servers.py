# SPDX-License-Identifier: MIT
"""servers.py - the servers that are compared: start them, read their CPU time, stop them."""

import ctypes
import http.client
import os
import pathlib
import re
import socket
import ssl
import subprocess
import time

HERE = pathlib.Path(__file__).parent


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cpu_clock(pid):
    """The clock of all CPU time of a process, which Python's own library does not name."""
    clock = ctypes.c_int()
    if ctypes.CDLL(None).clock_getcpuclockid(pid, ctypes.byref(clock)) != 0:
        raise SystemExit(f"process {pid} has ended")
    return clock.value


class Server:
    """A child process with its children; usable in a with statement."""

    def __init__(self, name, command, port, core=None, scheme="http", **options):
        self.name, self.port, self.scheme = name, port, scheme
        pinned = [] if core is None else ["taskset", "-c", str(core)]
        self.process = subprocess.Popen(pinned + [str(word) for word in command], **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def pids(self):
        pids = [self.process.pid]
        for pid in pids:
            for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
                pids += map(int, task.read_text().split())
        return pids

    def cpu(self):
        """Seconds of CPU that its processes have used, with those of threads that have ended."""
        return sum(time.clock_gettime(cpu_clock(pid)) for pid in self.pids())

    def io_cpu(self):
        """The part of the threads that libmicrohttpd names, which read requests and write what is answered at once."""
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task").iterdir()
        io = [task for task in tasks if (task / "comm").read_text().startswith("MHD-")]
        return sum(int((task / "schedstat").read_text().split()[0]) for task in io) / 1e9

    def settle(self):
        """Wait until it no longer works for clients that have gone."""
        used = -1.0
        while (now := self.cpu()) > used + 0.001:
            used = now
            time.sleep(0.02)

    def resident_kb(self):
        """0 when it has died."""
        found = re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text())
        return int(found[1]) if found else 0

    def get(self, target, headers=None):
        if self.scheme == "https":  # with a certificate of its own
            context = ssl._create_unverified_context()
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=context)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", target, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def wait(self, target):
        for _ in range(400):
            if self.process.poll() is not None:
                raise SystemExit(f"{self.name} ended with status {self.process.returncode}")
            try:
                if self.get(target)[0] == 200:
                    return self
            except OSError:
                pass
            time.sleep(0.05)
        raise SystemExit(f"{self.name} does not answer")


def posenc(program, *flags, core=None, log=subprocess.DEVNULL, prefix=(), **options):
    """From its defaults: no settings file lies in a folder of ours."""
    port = free_port()
    command = [*prefix, program, "serve", "--port", port, "--admin-listen=", *flags]
    return Server("posenc", command, port, core, stderr=log, cwd=HERE, **options).wait("/readyz")


def posenc_tls(program, folder, *flags, **options):
    """The same with a new certificate."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    command += ["-subj", "/CN=bench", "-keyout", key, "-out", certificate]
    subprocess.run(command, check=True, capture_output=True)
    pair = ["--tls-certificate", certificate, "--tls-key", key]
    return posenc(program, *pair, *flags, scheme="https", **options)


def locations(files):
    """One exact location a file, with the header fields that ours has and nginx does not make itself."""
    own = {"date", "content-length", "content-type", "accept-ranges", "connection"}
    lines = []
    for name, (_, fields, _) in files.items():
        lines.append(f"        location = /{name} {{")
        lines.append("            add_header Last-Modified '';")
        lines += [f"            add_header {key} '{value}';" for key, value in fields if key.lower() not in own]
        lines.append("        }")
    return "\n".join(lines)


def nginx(folder, files, sendfile, core):
    """files: name -> answer (status, header fields, bytes)."""
    folder = folder / f"nginx-{sendfile}"
    (folder / "files").mkdir(parents=True, exist_ok=True)
    for name, (_, _, body) in files.items():
        (folder / "files" / name).write_bytes(body)
    port = free_port()
    text = (HERE / "nginx.conf").read_text()
    values = {
        "USER": "user root;" if os.geteuid() == 0 else "",  # else the worker may not reach the files
        "FOLDER": folder,
        "PORT": port,
        "SENDFILE": sendfile,
        "LOCATIONS": locations(files),
    }
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value))
    (folder / "nginx.conf").write_text(text)
    command = ["nginx", "-p", folder, "-e", "stderr", "-c", folder / "nginx.conf"]
    return Server(f"nginx sendfile {sendfile}", command, port, core).wait(f"/{next(iter(files))}")


def fastapi(venv, core):
    port = free_port()
    command = [venv / "bin/uvicorn", "service:app", "--port", port, "--log-level", "error", "--no-access-log"]
    return Server("FastAPI", command, port, core, cwd=HERE).wait("/v1/sinusoidal?d_model=4&positions=0:3")
