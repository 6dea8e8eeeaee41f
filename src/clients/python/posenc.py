# SPDX-License-Identifier: MIT
"""posenc.py - exact positional encodings, and whether a table is right: a client in one file.

    cos = posenc.table("rope/table", head_dim=128, positions="0:4096", tensor="cos")
    posenc.assert_rope(my_cos, my_sin, config="config.json")

Who is asked: the server at `url`, or at the variable POSENC_URL; else the program posenc of PATH, which is started once
and ends with this process. Arrays are those of NumPy where that is installed, else nested lists. Tensors of PyTorch and
arrays of NumPy are sent as they are.
"""
from __future__ import annotations

import array
import atexit
import json
import os
import shutil
import struct
import subprocess
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

__all__ = ["Problem", "table", "resolve", "verify", "report", "assert_rope"]

Config = Union[Mapping[str, Any], "os.PathLike[str]", str]

# Element types of safetensors: as array, as NumPy has them, bytes of one.
_TYPES = {"F32": ("f", "<f4", 4), "F64": ("d", "<f8", 8), "F16": ("e", "<f2", 2), "BF16": ("H", "<u2", 2),
          "I32": ("i", "<i4", 4), "I64": ("q", "<i8", 8)}
_NAMES = {"float32": "F32", "float64": "F64", "float16": "F16", "bfloat16": "BF16", "int32": "I32", "int64": "I64"}


class Problem(ValueError):
    """A refused request: its sentence; `code` and `status` as the server gives them."""

    def __init__(self, status: int, told: Mapping[str, Any]) -> None:
        super().__init__(str(told.get("detail", f"status {status}")))
        self.status = status
        self.code = str(told.get("code", ""))


# ---- who is asked

class _Program:
    """The program of PATH, serving: started at the first request, once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: Optional["subprocess.Popen[str]"] = None
        self._url = ""

    def url(self) -> str:
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            return self._url

    def _start(self) -> None:
        program = shutil.which("posenc")
        if program is None:
            raise RuntimeError("no posenc to ask: give url, or set POSENC_URL, or put the program posenc on PATH")
        process = subprocess.Popen([program, "serve", "--host", "127.0.0.1", "--port", "0", "--admin-listen="],
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            event = json.loads(line) if line.startswith("{") else {}
            if event.get("event") == "listening":
                self._url = f"http://127.0.0.1:{event['port']}"
                self._process = process
                threading.Thread(target=process.stderr.read, daemon=True).start()
                atexit.register(self.stop)
                return
        raise RuntimeError("posenc serve did not start: " + "".join(said[-3:]).strip())

    def stop(self) -> None:
        """End it, as the end of this process does."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None


_program = _Program()


def _ask(path: str, url: Optional[str], body: Optional[bytes] = None, media_type: str = "application/json",
         accept: str = "*/*") -> bytes:
    base = url or os.environ.get("POSENC_URL") or _program.url()
    request = urllib.request.Request(base.rstrip("/") + path, data=body, headers={"Accept": accept})
    if body is not None:
        request.add_header("Content-Type", media_type)
    try:
        with urllib.request.urlopen(request) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        text = error.read()
        try:
            told = json.loads(text)
        except ValueError:
            told = {"detail": text.decode("utf-8", "replace")}
        raise Problem(error.code, told) from None


# ---- tensors, as safetensors has them

def _nested(flat: List[Any], shape: List[int]) -> Any:
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return flat
    step = len(flat) // shape[0] if shape[0] else 0
    return [_nested(flat[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


def _decode(kind: str, shape: List[int], data: bytes) -> Any:
    code, descr, size = _TYPES[kind]
    if numpy is not None:
        numbers = numpy.frombuffer(data, descr).reshape(shape)
        return (numbers.astype("<u4") << 16).view("<f4") if kind == "BF16" else numbers.copy()
    flat = list(struct.unpack(f"<{len(data) // size}{code}", data))
    if kind == "BF16":
        flat = list(struct.unpack(f"<{len(flat)}f", struct.pack(f"<{len(flat)}I", *[n << 16 for n in flat])))
    return _nested(flat, shape)


def _read_tensors(file: bytes) -> Dict[str, Any]:
    size, = struct.unpack_from("<Q", file)
    header = json.loads(file[8:8 + size])
    return {name: _decode(row["dtype"], row["shape"],
                          file[8 + size + row["data_offsets"][0]:8 + size + row["data_offsets"][1]])
            for name, row in header.items() if name != "__metadata__"}


def _flatten(value: Any) -> Tuple[List[float], List[int]]:
    if not isinstance(value, (list, tuple, array.array)):
        return [float(value)], []
    rows = [_flatten(row) for row in value]
    shapes = [shape for _, shape in rows]
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError("the rows of a nested list must have one length")
    return [number for flat, _ in rows for number in flat], [len(rows)] + (shapes[0] if shapes else [])


def _encode(value: Any) -> Tuple[str, List[int], bytes]:
    """(element type, shape, bytes) of a tensor of PyTorch, an array, or nested lists."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().contiguous()
        if str(value.dtype) == "torch.bfloat16":
            return "BF16", list(value.shape), value.view(sys.modules["torch"].int16).numpy().tobytes()
        value = value.numpy()
    if hasattr(value, "__array__") and numpy is not None:
        value = numpy.asarray(value)
        kind = _NAMES.get(value.dtype.name)
        if kind is None:
            raise ValueError(f"the element type must be one of {', '.join(_NAMES)}, got {value.dtype}")
        if value.dtype.byteorder in ">=":
            value = value.astype(value.dtype.newbyteorder("<"))
        return kind, list(value.shape), value.tobytes()
    flat, shape = _flatten(value)
    try:
        short = struct.pack(f"<{len(flat)}f", *flat)
    except OverflowError:
        return "F64", shape, struct.pack(f"<{len(flat)}d", *flat)
    whole = list(struct.unpack(f"<{len(flat)}f", short)) == flat
    return ("F32", shape, short) if whole else ("F64", shape, struct.pack(f"<{len(flat)}d", *flat))


def _write_tensors(tensors: Mapping[str, Any]) -> bytes:
    header: Dict[str, Any] = {}
    data = b""
    for name, value in tensors.items():
        kind, shape, numbers = _encode(value)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


# ---- requests

def _text(value: Any) -> str:
    """A parameter as a query has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, range):
        return f"{value.start}:{value.stop}" + (f":{value.step}" if value.step != 1 else "")
    return ",".join(_text(item) for item in value) if isinstance(value, (list, tuple)) else str(value)


def _config_text(config: Config) -> bytes:
    """A configuration: a dictionary, the path of a file or of a folder with config.json, or JSON."""
    if isinstance(config, Mapping):
        return json.dumps(config).encode()
    if isinstance(config, str) and config.lstrip().startswith("{"):
        return config.encode()
    path = os.fspath(config)
    with open(os.path.join(path, "config.json") if os.path.isdir(path) else path, "rb") as file:
        return file.read()


def _form(parts: Mapping[str, Tuple[str, bytes]]) -> Tuple[str, bytes]:
    """The media type and bytes of a form: by name, a file's name ("": none) and its content."""
    boundary = uuid.uuid4().hex
    body = b""
    for name, (file, content) in parts.items():
        named = f'; filename="{file}"' if file else ""
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n'.encode()
        body += content + b"\r\n"
    return f"multipart/form-data; boundary={boundary}", body + f"--{boundary}--\r\n".encode()


def table(resource: str, *, url: Optional[str] = None, **parameters: Any) -> Any:
    """The tensors of a resource, such as "rope/table", by name; the only one alone, or that of `tensor`.

    Parameters are those of GET /v1: head_dim=128, model="qwen3-8b", positions=range(4096), dtype="float64".
    """
    query = urllib.parse.urlencode({name: _text(value) for name, value in parameters.items()}, safe=":,/")
    chosen = parameters.get("tensor")
    answer = _ask(f"/v1/{resource.strip('/')}?{query}&format=safetensors", url)
    if answer.startswith(b'{"resources":'):
        names = [row["path"][len("/v1/"):] for row in json.loads(answer)["resources"]]
        raise Problem(404, {"detail": f"{resource} is none alone: did you mean {', '.join(names)}?"})
    tensors = _read_tensors(answer)
    if chosen is not None and chosen in tensors:
        return tensors[chosen]
    return next(iter(tensors.values())) if len(tensors) == 1 else tensors


def resolve(config: Config, *, url: Optional[str] = None) -> Dict[str, Any]:
    """What a model's configuration says about positions: encoding, parameters, layers, warnings."""
    told: Dict[str, Any] = json.loads(_ask("/v1/models/resolve", url, _config_text(config)))
    return told


def _post_claim(tensors: Any, config: Optional[Config], url: Optional[str], accept: str,
                parameters: Mapping[str, Any]) -> bytes:
    named = tensors if isinstance(tensors, Mapping) else {"data": tensors}
    parts = {name: ("", _text(value).encode()) for name, value in parameters.items() if value is not None}
    if config is not None:
        parts["config"] = ("config.json", _config_text(config))
    parts["file"] = ("tensors.safetensors", _write_tensors(named))
    media_type, body = _form(parts)
    return _ask("/v1/verify", url, body, media_type, accept)


def verify(tensors: Any, *, config: Optional[Config] = None, url: Optional[str] = None,
           **parameters: Any) -> Dict[str, Any]:
    """The doctor's report on a tensor, or on several by name: `matches`, `conclusion`, `diagnosis`.

    What they should be: a configuration, model="qwen3-8b", or encoding="rope" with its parameters.
    """
    told: Dict[str, Any] = json.loads(_post_claim(tensors, config, url, "application/json", parameters))
    return told


def report(tensors: Any, *, config: Optional[Config] = None, url: Optional[str] = None, **parameters: Any) -> str:
    """The same report as text."""
    return _post_claim(tensors, config, url, "text/plain", parameters).decode()


def assert_rope(cos: Any, sin: Any, *, config: Optional[Config] = None, url: Optional[str] = None,
                **parameters: Any) -> None:
    """AssertionError, with the doctor's report, unless cos and sin are the rotary table of a configuration, of
    model="qwen3-8b", or of parameters such as head_dim=128."""
    __tracebackhide__ = True
    if config is None and parameters.get("model") is None:
        parameters.setdefault("encoding", "rope")
    tensors = {"cos": cos, "sin": sin}
    if not verify(tensors, config=config, url=url, **parameters)["matches"]:
        raise AssertionError(report(tensors, config=config, url=url, **parameters))
