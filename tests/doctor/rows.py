"""rows - mistakes in rows of tables that are no waves: learned tables, comparisons of scalings; and two mistakes of plain numbers.

A row gives other arguments to the function of its family, as in bias.py, whose cases these are.
"""
import numpy as np

import bias
import ladder

WPE = np.float64(np.float32(np.random.RandomState(8).normal(0, 0.3, (80, 48))))  # the server's learned table "wpe"


def learned(c, move=None, of=None):
    """Rows of the table at the positions, which may go elsewhere."""
    p = ladder.span(c["positions"]).astype(int)
    rows = WPE[(p if move is None else move(p)) + c.get("offset", 0)]
    return rows if of is None else of(rows)


def quantized(rows):
    step = np.abs(rows).max() / 127
    return np.round(rows / step) * step


def normalized(rows):
    return (rows - rows.mean(1, keepdims=True)) / rows.std(1, keepdims=True)


def in_bfloat16(rows):
    bits = np.float32(rows).view(np.uint32)
    return np.float64(((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32))


def frequencies(c, base=None):
    d = c["head_dim"]
    return (base or c.get("rope_theta", 1e4)) ** -(np.arange(0, d, 2) / d)


def compared(c, order=None, unscaled=()):
    """inv_freq of default, linear and ntk."""
    s, d, theta = c["factor"], c["head_dim"], c.get("rope_theta", 1e4)
    rows = [frequencies(c), frequencies(c) / s, frequencies(c, theta * s ** (d / (d - 2)))]
    rows = [rows[0] if k in unscaled else row for k, row in enumerate(rows)]
    return np.array([rows[k] for k in order or range(3)])


def scaled_base(c, base=None):
    """A lone tensor without a name."""
    s = c["factor"] * c["seq_len"] / c["max_position_embeddings"] - (c["factor"] - 1)
    return frequencies(c, base or c["rope_theta"] * s ** (c["head_dim"] / (c["head_dim"] - 2)))


GPT = {"name": "wpe", "positions": "0:40"}
OPT = {"name": "wpe", "positions": "10:50", "offset": 2}
COMPARE = {"head_dim": 64, "factor": 4.0, "max_position_embeddings": 2048, "rope_types": ["default", "linear", "ntk"]}
DYNAMIC = {"rope_theta": 5e5, "head_dim": 64, "factor": 2.0, "method": "dynamic", "seq_len": 8192, "max_position_embeddings": 2048}
DECAY = {"head_dim": 64, "offsets": "0:128"}

FUNCTIONS = [
    ("learned", learned, "float", [
        ("l: two rows on", "offset|shift", GPT, {"move": lambda p: p + 2}, "OPT, RoBERTa"),
        ("l: three rows on", "offset|shift", OPT, {"move": lambda p: p + 3}, ""),
        ("l: reversed", "reverse", OPT, {"move": lambda p: p[::-1]}, ""),
        ("l: reversed, one row on", "reverse", OPT, {"move": lambda p: p[::-1] + 1}, ""),
        ("l: the first row not written", "slice", OPT, {"of": lambda x: x * (np.arange(len(x)) > 0)[:, None]}, ""),
        ("l: two rows exchanged", "exchanged_rows", GPT, {"move": lambda p: p[[1, 0, *range(2, 40)]]}, ""),
        ("l: shuffled", "permuted", GPT, {"move": lambda p: np.random.RandomState(4).permutation(p)}, ""),
        ("l: clamped at 30", "clamp", GPT, {"move": lambda p: np.minimum(p, 30)}, ""),
        ("l: the first row everywhere", "stuck", OPT, {"move": lambda p: 0 * p + p[0]}, ""),
        ("l: channels rolled by half", "channels", GPT, {"of": lambda x: np.roll(x, 24, 1)}, ""),
        ("l: normalized", "normalized", GPT, {"of": normalized}, ""),
        ("l: int8", "quantized", GPT, {"of": quantized}, ""),
        ("l: one row on, times the root of the width", "shift + scale_of", GPT, {"move": lambda p: p + 1, "of": lambda x: x * 48 ** 0.5}, ""),
        ("l: reversed, in bfloat16", "reverse + bf16", GPT, {"move": lambda p: p[::-1], "of": in_bfloat16}, ""),
    ]),
    ("rope/compare", compared, "float", [
        ("k: two rows exchanged", "order_of_places", COMPARE, {"order": [1, 0, 2]}, ""),
        ("k: one row not scaled", "order_of_places|factor", COMPARE, {"unscaled": [1]}, ""),
        ("k: one row not scaled, without the default", "order_of_places|factor", COMPARE, {"unscaled": [2]}, ""),
    ]),
    ("rope/scaled-base", scaled_base, "float", [
        ("b: not scaled, without a name", "no_scaling|seq_len", DYNAMIC, {"base": 5e5}, ""),
    ]),
    ("rope/decay", bias.decay, "float", [
        ("y: base 1000, sum for mean", "theta + amplitude|scale_of", DECAY, {"base": 1e3, "mean": False}, ""),
    ]),
    ("rope/attention-scale", bias.scale, "float", [
        ("m: original length 64, one position later", "original + shift", {"original_max_position_embeddings": 16, "positions": "0:200"},
         {"length": 64, "offset": 1}, ""),
    ]),
]


def cases():
    return [bias.function_case(path, make, kind, row, v) for path, make, kind, rows in FUNCTIONS for row in rows for v in (0, 1)]
