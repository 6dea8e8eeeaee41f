"""arrays - element types, their roundings, and the files that hold arrays of them.

bfloat16 has no numpy type: an array of it is float32 numbers whose low 16 bits are zero, and becomes two bytes each in a file.
"""
import io
import json

import numpy as np

NUMPY = {"float64": "<f8", "float32": "<f4", "float16": "<f2", "int32": "<i4"}
SAFETENSORS = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int32": "I32"}
# The distance from 1 to the next number, as a power of two.
BITS = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7, "tf32": 10, "int32": 60}


def cut(x, low, half):
    """float32 numbers without their lowest bits: to nearest, ties to even, or (half False) towards zero."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.uint64)
    if half:
        bits += ((np.uint64(1) << np.uint64(low - 1)) - np.uint64(1)) + ((bits >> np.uint64(low)) & np.uint64(1))
    bits = (bits >> np.uint64(low)) << np.uint64(low)
    with np.errstate(all="ignore"):
        return np.where(np.isfinite(x), bits.astype(np.uint32).view(np.float32), x).astype(np.float64)


def rounded(x, dtype):
    """The numbers of a type that are nearest to x, as float64."""
    x = np.asarray(x, np.float64)
    if dtype in (None, "float64"):
        return x
    if dtype == "int32":
        return np.rint(x)
    with np.errstate(all="ignore"):
        if dtype == "bfloat16":
            return cut(x, 16, True)
        if dtype == "tf32":
            return cut(x, 13, True)
        return x.astype(NUMPY[dtype]).astype(np.float64)


def truncated(x):
    """float32 to bfloat16 by dropping the low half, as C code with a shift does."""
    return cut(x, 16, False)


def e4m3(x):
    """float8 of 4 exponent and 3 mantissa bits, as a scale-free cast gives it."""
    x = np.asarray(x, np.float64)
    _, exponent = np.frexp(np.where(x == 0, 1, x))
    step = np.exp2(np.maximum(exponent - 1, -6) - 3.0)
    return np.clip(np.rint(x / step) * step, -448, 448)


def ulp(x, dtype):
    """The distance between neighbours of a type around x."""
    _, exponent = np.frexp(np.abs(np.asarray(x, np.float64)))
    floor = {"float16": -24, "float64": -1074}.get(dtype, -149)
    return np.exp2(np.maximum(exponent - 1.0 - BITS[dtype], floor))


def little_endian(x, dtype):
    if dtype == "bfloat16":
        return (np.ascontiguousarray(x, np.float32).view(np.uint32) >> 16).astype("<u2").tobytes()
    with np.errstate(all="ignore"):
        return np.ascontiguousarray(x).astype(NUMPY[dtype]).tobytes()


def swapped(x, dtype):
    """The numbers that appear when the bytes of x are read in the other order."""
    kind = np.dtype(NUMPY.get(dtype, "<u2"))
    back = np.frombuffer(little_endian(x, dtype), kind).byteswap()
    if dtype == "bfloat16":
        back = (back.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(all="ignore"):
        return back.astype(np.float64).reshape(np.shape(x))


def misread(x, as_type):
    """float16 and bfloat16 bytes taken for each other."""
    other = "bfloat16" if as_type == "float16" else "float16"
    raw = np.frombuffer(little_endian(rounded(x, other), other), "<u2")
    back = raw.view("<f2") if as_type == "float16" else (raw.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(all="ignore"):
        return back.astype(np.float64).reshape(np.shape(x))


def npy(x, dtype):
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(np.asarray(x).astype(NUMPY[dtype])))
    return file.getvalue()


def safetensors(tensors, dtype):
    header, data = {}, b""
    for name, x in tensors.items():
        raw = little_endian(x, dtype)
        header[name] = {"dtype": SAFETENSORS[dtype], "shape": list(np.shape(x)), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data


def nested(x, dtype):
    """A JSON list: -inf, the mask of a bias, is null."""
    x = np.asarray(x)
    if dtype == "int32":
        return np.rint(x).astype(int).tolist()
    return np.where(np.isneginf(x), None, x.astype(object)).tolist() if np.isneginf(x).any() else x.tolist()
