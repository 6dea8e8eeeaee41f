"""program.py - for tests in Python: the program under test, serving; and interpreters that examples need."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading

ROOT = pathlib.Path(os.environ["POSENC_ROOT"])
BINARY = pathlib.Path(os.environ["POSENC_BINARY"])
HOST = "127.0.0.1:8080"  # as documents have it


def python():
    """A Python with numpy, or None."""
    for name in ("python3", "/usr/bin/python3"):
        if shutil.which(name) and not subprocess.run([name, "-c", "import numpy"], capture_output=True).returncode:
            return shutil.which(name)
    return None


@contextlib.contextmanager
def serving(*flags):
    """host:port of a server, which must end well."""
    server = subprocess.Popen([BINARY, "serve", "--port", "0", "--admin-listen=", *flags], stderr=subprocess.PIPE,
                              text=True)
    for line in server.stderr:
        event = json.loads(line) if line.startswith("{") else {}
        if event.get("event") == "listening":
            break
        sys.stdout.write(line)
    else:
        sys.exit("the server did not start")
    threading.Thread(target=server.stderr.read, daemon=True).start()
    try:
        yield f"127.0.0.1:{event['port']}"
    finally:
        server.terminate()
        if server.wait(timeout=120) != 0:
            sys.exit("the server did not end well")
