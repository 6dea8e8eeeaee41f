"""sinusoidal - mistakes in tables that are added to embeddings: of positions, timesteps, grids, signals, relative distances.

Such a table is a function of coordinates, frequencies and a layout, which a row may change one at a time.
"""
import numpy as np

import arrays
import ladder
from case import Case
from rope import FINE, Row, at_rows, both, pick, spot, wrapped, zigzag

CLAIMS = {
    "paper": {"d_model": 64},
    "paper-128": {"d_model": 128},
    "t2t": {"d_model": 64, "layout": "sin_cos", "freq_shift": 1},
    "ddpm": {"d_model": 128, "layout": "cos_sin"},
    "whisper": {"d_model": 80, "layout": "sin_cos", "freq_shift": 1},
    "flux": {"d_model": 64, "layout": "cos_sin", "scale": 1000.0},
}
ANY = ["paper", "t2t", "ddpm", "paper-128", "whisper"]
WINDOWS = ["0:64", "0:64", "0:1000:16", "500:564"]
STORES = ["float32", "float32", "float64", "bfloat16", "float32", "float16"]


def frequencies(c):
    """base^(-i/(h - freq_shift)), arXiv:1706.03762 section 3.5; tensor2tensor has h - 1."""
    half = c["d_model"] // 2
    return np.power(c.get("base", 1e4), -np.arange(half) / (half - c.get("freq_shift", 0)))


def laid_out(sin, cos, layout):
    if layout == "interleaved":
        return np.stack([sin, cos], -1).reshape(*sin.shape[:-1], -1)
    return np.concatenate([sin, cos] if layout == "sin_cos" else [cos, sin], -1)


def made(c, positions, steps, types):
    positions = steps.get("positions", lambda p: p)(positions)
    c = steps.get("params", lambda c: c)(dict(c))
    w = arrays.rounded(steps.get("freq", lambda w, c: w)(frequencies(c), c), types.get("freq"))
    p = arrays.rounded(positions * c.get("scale", 1), types.get("pos"))
    angle = arrays.rounded(p[:, None] * w, types.get("angle"))
    angle = steps.get("angle", lambda a, p, w: a)(angle, p, w)
    cos, sin = steps.get("waves", lambda c, s, a, f: (c, s))(np.cos(angle), np.sin(angle), angle, 1.0)
    cos, sin = steps.get("pairs", lambda c, s: (c, s))(arrays.rounded(cos, types.get("wave")), arrays.rounded(sin, types.get("wave")))
    table = laid_out(sin, cos, c.get("layout", "interleaved")) * c.get("amplitude", 1.0)
    table[positions == c.get("padding_idx", -1)] = 0
    return table, w


def allowed_angle(w, p, layout):
    slack = np.minimum(8 * 2.0 ** -24 * np.abs(np.outer(p, w)) + 2.0 ** -22, 2)
    return laid_out(slack, slack, layout)


def table_case(row, number, v):
    k = 2 * number + v
    name = pick(row.claims or ANY, number + v)
    claim, window, store = dict(CLAIMS[name]), pick(row.at or WINDOWS, k), pick(row.stores or STORES, k)
    if row.claim:
        row.claim(claim)
    p = ladder.span(window)
    types = row.types if row.numerics == "exact" or k % 2 else {"freq": "float32", "angle": "float32", "wave": "float32", **row.types}
    right, w = made(claim, p, {}, {})
    got = arrays.rounded(made(claim, p, row.steps, types)[0], store)
    if "out" in row.steps:
        got = row.steps["out"](got, store)
    slack = 0 if row.numerics == "exact" else allowed_angle(w, p * claim.get("scale", 1), claim.get("layout", "interleaved"))
    allowed = slack + 0.51 * arrays.ulp(np.maximum(np.abs(right), 1e-3), store)
    positions = window if isinstance(window, str) else [float(x) for x in window]
    body = {"encoding": "sinusoidal", "parameters": claim, "positions": positions}
    if row.numerics:
        body["numerics"] = row.numerics
    label = f"{row.name} [{name}, {window if isinstance(window, str) else 'listed'}, {store}]"
    return Case(label, "sinusoidal", body, {"": got}, store, row.words, {"": right}, {"": allowed}, pick(["json", "npy"], k), row.cite)


def other(**changes):
    return lambda c: {**c, **changes}


def padded(c):
    c["padding_idx"] = 1


def exponents(change):
    return lambda w, c: np.power(c.get("base", 1e4), -change(np.arange(len(w)), len(w)))


TIMES = [0.0, 1.0, 10.5, 250.0, 499.5, 981.0, 999.0] + [float(37 * i % 1000) for i in range(25)]
ROWS = [
    Row("s: one too large", "shift", positions=lambda p: p + 1),
    Row("s: one too small", "shift", positions=lambda p: p - 1),
    Row("s: two too large (padding_idx + 1)", "shift", positions=lambda p: p + 2, cite="huggingface/transformers#1761"),
    Row("s: restarts in the middle", "restart", positions=lambda p: np.concatenate([p[:32], p[32:] - p[32] + p[0]])),
    Row("s: rows in reverse", "reverse|permuted", positions=lambda p: p[::-1]),
    Row("s: timesteps normalised to 0..1", "normalized|radians", ["ddpm"], at=["0:1000:16"], positions=lambda p: p / 1000),
    Row("s: scale of 1000 missing", "linear|normalized|radians", ["flux"], at=["0:1:0.015625"], positions=lambda p: p / 1000,
        cite="huggingface/diffusers#11958"),
    Row("s: timesteps cut to integers", "fraction", ["ddpm", "flux"], at=[TIMES, "0:16:0.25"], stores=FINE, positions=np.floor),
    Row("s: timesteps reversed (1000 - t)", "reverse|inverse|shift", ["ddpm"], at=["0:1000:16"], positions=lambda p: 1000 - p),
    Row("s: wraps at 40", "wrap|restart", at=["0:64"], positions=lambda p: p % 40),
    Row("s: stays at 40", "clamp", at=["0:64"], positions=lambda p: np.minimum(p, 40)),
    Row("s: all rows alike", "stuck", positions=lambda p: 0 * p + p[3]),
    Row("s: twice as large", "stride", positions=lambda p: 2 * p),
    Row("s: int8", "overflow", at=["100:164"], positions=wrapped(8)),
    Row("s: a row twice", "skip", at=["0:64"], positions=lambda p: np.concatenate([p[:20], p[20:] - 1])),
    Row("s: zigzag", "permuted", positions=lambda p: zigzag(p)),
    Row("s: negative", "inverse", positions=lambda p: -p),
    Row("s: base 1000", "theta|ladder", params=other(base=1e3)),
    Row("s: base 100", "theta|ladder", params=other(base=100.0)),
    Row("s: base 1000000", "theta|ladder", params=other(base=1e6)),
    Row("s: base odd", "theta|ladder", params=other(base=8765.4)),
    Row("s: freq_shift 1 for 0", "freq_shift", ["ddpm", "paper"], params=other(freq_shift=1),
        cite="kohya-ss/sd-scripts#1187, hojonathanho/diffusion#15"),
    Row("s: freq_shift 0 for 1", "freq_shift", ["t2t", "whisper"], params=other(freq_shift=0), cite="huggingface/diffusers#12791"),
    Row("s: exponent i/d for 2i/d", "root|ladder", ["paper", "ddpm"], freq=exponents(lambda i, h: i / (2 * h))),
    Row("s: exponent 2i/d by column (sin 2i, cos 2i+1)", "columns", ["paper"], waves=lambda c, s, a, f:
        (np.cos(a * np.power(1e4, -1 / (2 * a.shape[1]))), s)),
    Row("s: exponent 2i/d, i counts columns", "columns", ["paper"], at=["0:64", "0:40"], freq=exponents(lambda i, h: 2 * i / h), waves=lambda c, s, a, f:
        (np.cos(a * np.power(1e4, -1 / a.shape[1])), s)),
    Row("s: exponent 4i/d", "squared", ["paper", "ddpm"], freq=exponents(lambda i, h: 2 * i / h)),
    Row("s: exponent from 1", "index|linear", ["paper", "ddpm"], freq=exponents(lambda i, h: (i + 1) / h)),
    Row("s: reciprocal frequencies", "reciprocal", freq=lambda w, c: 1 / w),
    Row("s: log10 for ln", "theta|ladder", ["paper", "ddpm"], freq=lambda w, c: np.exp(np.log10(w))),
    Row("s: slowest first", "freq_reversed|channels", freq=lambda w, c: w[::-1]),
    Row("s: integer division in the exponent", "all_one", freq=lambda w, c: np.ones_like(w)),
    Row("s: times 2 pi", "two_pi", freq=lambda w, c: 2 * np.pi * w),
    Row("s: over 2 pi", "two_pi", freq=lambda w, c: w / (2 * np.pi)),
    Row("s: each frequency for two pairs", "freq_repeat", freq=lambda w, c: np.repeat(w, 2)[:len(w)]),
    Row("s: sin_cos for interleaved", "layout", ["paper", "paper-128"], params=other(layout="sin_cos"),
        cite="huggingface/diffusers#3981, huggingface/blog#2183"),
    Row("s: cos_sin for interleaved", "layout|exchange", ["paper", "paper-128"], params=other(layout="cos_sin")),
    Row("s: interleaved for halves", "layout", ["t2t", "ddpm"], params=other(layout="interleaved"), cite="facebookresearch/DiT#78"),
    Row("s: halves exchanged (flip_sin_to_cos)", "exchange|layout", ["t2t", "ddpm"], pairs=lambda c, s: (s, c),
        cite="huggingface/diffusers#1369, flashinfer-ai/flashinfer#3819"),
    Row("s: cos and sin exchanged, interleaved", "exchange|layout", ["paper"], pairs=lambda c, s: (s, c)),
    Row("s: sin alone", "one_wave", pairs=lambda c, s: (s, s)),
    Row("s: sine in place overwritten before cosine", "one_wave|shape_wave|row", ["paper"], waves=lambda c, s, a, f: (np.cos(np.sin(a)), s),
        cite="huggingface/transformers#11725"),
    Row("s: sin negative", "sin_sign", pairs=lambda c, s: (c, -s)),
    Row("s: amplitude sqrt d", "amplitude", pairs=both(lambda x: x * np.sqrt(2 * x.shape[1]))),
    Row("s: amplitude 1/sqrt d", "amplitude", pairs=both(lambda x: x / np.sqrt(2 * x.shape[1]))),
    Row("s: amplitude 0.1", "amplitude", pairs=both(lambda x: 0.1 * x)),
    Row("s: added to itself (embedding added twice)", "amplitude|stride", pairs=both(lambda x: 2 * x)),
    Row("s: mapped to 0..1", "shape_wave", pairs=both(lambda x: x / 2 + 0.5)),
    Row("s: rows of unit length", "amplitude", pairs=both(lambda x: x / np.sqrt(x.shape[1]))),
    Row("s: row 0 zero (padding_idx not claimed)", "row|padding", at=["0:64"], out=at_rows(slice(0, 1), lambda y, r: 0)),
    Row("s: columns reversed", "channels|freq_reversed|layout|exchange|reverse", out=lambda x, t: x[:, ::-1]),
    Row("s: transposed", "transposed|shape", out=lambda x, t: x.T, at=["0:50"]),
    Row("s: transposed bytes", "transposed", out=lambda x, t: np.ascontiguousarray(x.T).reshape(x.shape)),
    Row("s: one row of garbage", "row", out=at_rows(slice(7, 8), lambda y, r: 3.5)),
    Row("s: one value off", "element", stores=FINE, out=spot(lambda x: x + 0.02)),
    Row("s: last rows zero", "row|slice", out=at_rows(slice(50, None), lambda y, r: 0)),
    Row("s: one NaN", "nan", out=spot(lambda x: np.nan)),
    Row("s: big-endian bytes", "endian", out=lambda x, t: arrays.swapped(x, t)),
    Row("s: bfloat16 frequencies", "low16|bf16", at=["500:564"], stores=FINE, types={"freq": "bfloat16"}),
    Row("s: float16 frequencies", "low16|f16", at=["500:564", "0:1000:16"], stores=FINE, types={"freq": "float16"},
        cite="facebookincubator/AITemplate#1009"),
    Row("s: timesteps times 1000 cut to integers", "fraction", ["flux"], at=["0:1:0.03125"], stores=FINE,
        positions=lambda p: np.floor(p * 1000) / 1000),
    Row("s: timesteps times 1000 in bfloat16", "pos16|low16|bf16", ["flux"], at=["0:1:0.03125"], stores=FINE,
        positions=lambda p: arrays.rounded(p * 1000, "bfloat16") / 1000),
    Row("s: bfloat16 timesteps", "pos16|low16|bf16", ["ddpm"], at=["500:564"], stores=FINE, types={"pos": "bfloat16"}),
    Row("s: float16 angles", "low16|f16", at=["500:564"], stores=FINE, types={"angle": "float16"}),
    Row("s: bfloat16 waves as float32", "low16|bf16", stores=FINE, types={"wave": "bfloat16"}),
    Row("s: float32 arithmetic where exact float64", "f32", at=["500:564"], stores=["float64"], numerics="exact",
        types={"freq": "float32", "angle": "float32"}),
    Row("s: rope's ladder (concat of equal halves)", "one_wave|layout|channels|exchange", ["t2t"], pairs=lambda c, s: (s, s)),
    Row("s: padding_idx ignored", "ignored", at=["0:64", "1:41"], claim=padded, params=other(padding_idx=-1)),
    Row("s: padding_idx, cos_sin and base 1000", ["exchange|layout", "theta|ladder"], ["t2t", "whisper"], at=["0:64", "1:41"],
        claim=padded, params=other(layout="cos_sin", base=1e3)),
    Row("s: freq_shift 0 for 1, two too large", ["freq_shift", "shift"], ["whisper"], at=["0:32"], stores=["bfloat16"],
        params=other(freq_shift=0), positions=lambda p: p + 2),
    Row("s: cos_sin and base 100000, rows here and there", ["exchange|layout", "theta|ladder"], ["t2t", "ddpm"],
        at=[[0.0, 1.0, 5.0, 10.0, 50.0, 100.0, 250.0, 500.0, 750.0, 999.0, 333.0, 17.0, 81.0, 640.0, 512.0, 900.0]], stores=FINE,
        pairs=lambda c, s: (s, c), params=other(base=1e5)),
    Row("s: frequencies 1/(1 + i)", "harmonic", at=["0:64", "0:300"], freq=lambda w, c: 1 / (1 + np.arange(len(w)))),
]

# --- grids, signals, relative tables: each a function of its parameters ---


def grid(c, order="wh", swap=False, base=1e4, shift=0, transpose=False, offset=0, norm=1.0, one_axis=False, freq=None, layout="sin_cos",
         types=(None, None), extra=None, joined=False, last=False):
    """MAE's 2-D table: the first half of channels by the column, the second by the row."""
    quarter = c["d_model"] // 4
    w = np.power(base, -np.arange(quarter) / (quarter - shift)) if freq is None else freq(quarter)
    w = arrays.rounded(w, types[0])
    y, x = np.meshgrid(np.arange(c["height"]), np.arange(c["width"]), indexing="ij")
    if transpose:
        y, x = np.meshgrid(np.arange(c["height"]), np.arange(c["width"]), indexing="xy")
    first, second = (y, x) if swap else (x, y)
    if one_axis:
        second = first
    parts = [laid_out(np.sin(a), np.cos(a), layout) for a in (
        arrays.rounded((p.reshape(-1, 1) + offset) * norm * w, types[1]) for p in (first, second))]
    table = np.concatenate(parts, -1)
    if joined:
        table = table.reshape(-1, 2, 2, quarter).swapaxes(1, 2).reshape(table.shape)
    zeros = np.zeros((c.get("extra_tokens", 0) if extra is None else extra, c["d_model"]))
    return np.concatenate([table, zeros] if last else [zeros, table])


def timing(c, start=None, n=None, top=None, low=None, layout="sin_cos", w=None, step=None):
    """tensor2tensor's get_timing_signal_1d, whose code multiplies by the shortest timescale."""
    half = c["d_model"] // 2
    low, top = low or c.get("min_timescale", 1.0), top or c.get("max_timescale", 1e4)
    own = np.power(top / low, -np.arange(half) / max((n or half - 1), 1)) * low
    steps = np.arange(c["length"]) + (c.get("start_index", 0) if start is None else start)
    a = (steps if step is None else np.full(len(steps), step))[:, None] * (own if w is None else w(own))
    return laid_out(np.sin(a), np.cos(a), layout)


def relative(c, distances=None, layout="sin_cos", sign=1, base=1e4):
    """Sines of the distances of XLNet: from key_length down to 1 - query_length."""
    q = c["query_length"]
    d = np.clip(np.arange(q, -q, -1), -c.get("clamp_len", q), c.get("clamp_len", q)) if distances is None else distances(q)
    w = np.power(base, -np.arange(0, c["d_model"], 2) / c["d_model"])
    return laid_out(np.sin(sign * d[:, None] * w), np.cos(d[:, None] * w), layout)


def padded_grid(c, **changes):
    """DETR counts patches of the image: those of padding lie where the last one does, lines of padding at 0."""
    h, w = c["valid_height"], c["valid_width"]
    inner = measured_grid({**c, "height": h, "width": w}, **changes).reshape(h, w, 2, -1)
    y, x = np.minimum(np.arange(c["height"]), h - 1), np.minimum(np.arange(c["width"]), w - 1)
    table, zero = inner[y][:, x], laid_out(np.zeros(inner.shape[-1] // 2), np.ones(inner.shape[-1] // 2), c["layout"])
    table[h:, :, 1], table[:, w:, 0] = zero, zero
    return table.reshape(-1, c["d_model"])


def moved(c, over=0, base=1e4, more=0):
    """Rotations of one offset: [cos sin; -sin cos] for each frequency, 1/(n - over) between exponents."""
    n = c["d_model"] // 2
    a = (c["offset"] + more) * np.power(base, -np.arange(n) / (n - over))
    return np.stack([np.stack([np.cos(a), np.sin(a)], 1), np.stack([-np.sin(a), np.cos(a)], 1)], 1)


def measured_grid(c, over=None, offset=None, base=1e4, order=None, layout=None):
    """Coordinates of DETR, over the side and times 2 pi, or of diffusers, i * base_size / side; over: by what each axis is divided."""
    sides = c["height"], c["width"]
    units = [c["base_size"] / n if "base_size" in c else 2 * np.pi / (n + 1e-6) for n in sides] if over is None else over(sides)
    w = np.power(base, -np.arange(c["d_model"] // 4) / (c["d_model"] // 4))
    offset = c.get("offset", 0) if offset is None else offset
    parts = [laid_out(np.sin(a), np.cos(a), layout or c.get("layout", "sin_cos")) for a in (
        ((p.reshape(-1, 1) + offset) * u) * w for p, u in zip(np.meshgrid(*map(np.arange, sides), indexing="ij"), units))]
    return np.concatenate(parts if (order or c.get("axis_order", "wh")) == "hw" else parts[::-1], -1)


def conformer(c, **changes):
    """The distances of a Conformer, key_length - 1 down to 1 - query_length, interleaved; of queries behind a memory."""
    q, k = c["query_length"], c.get("key_length", c["query_length"])
    change = changes.pop("distances", lambda d: d)
    return relative(c, distances=lambda _: change(np.arange(k - 1, -q, -1)), layout=changes.pop("layout", "interleaved"), **changes)


GRID = {"d_model": 64, "height": 6, "width": 10}
MAE = {**GRID, "extra_tokens": 1}
DETR = {"d_model": 64, "height": 7, "width": 11, "normalize": True, "offset": 1, "axis_order": "hw", "layout": "interleaved"}
PADDED = {**DETR, "valid_height": 5, "valid_width": 8}
BASED = {"d_model": 64, "height": 8, "width": 12, "base_size": 16}
CONFORMER = {"d_model": 64, "query_length": 24, "key_length": 30, "variant": "conformer"}
SIGNAL = {"d_model": 64, "length": 48, "start_index": 3}
RELATIVE = {"d_model": 64, "query_length": 24}
FUNCTIONS = [
    ("sinusoidal/grid", GRID, grid, [
        ("g: rows and columns exchanged", "axes", {"swap": True}, "huggingface/pytorch-image-models#2541"),
        ("g: meshgrid transposed", "axes", {"transpose": True}, "huggingface/transformers#41380, Meituan-AutoML/VisionLLaMA#4"),
        ("g: base 100", "theta|ladder", {"base": 100.0}, ""),
        ("g: base 1000", "theta|ladder", {"base": 1e3}, ""),
        ("g: freq_shift 1", "freq_shift", {"shift": 1}, ""),
        ("g: coordinates from 1", "shift", {"offset": 1}, "osaurus-ai/vmlx-swift#225"),
        ("g: coordinates of centres", "shift", {"offset": 0.5}, ""),
        ("g: coordinates scaled by 2", "linear|stride|normalized", {"norm": 2.0}, ""),
        ("g: coordinates over the width", "linear|normalized", {"norm": 0.1}, ""),
        ("g: one axis twice", "axes|stuck", {"one_axis": True}, ""),
        ("g: interleaved", "layout", {"layout": "interleaved"}, ""),
        ("g: cos before sin", "layout|exchange", {"layout": "cos_sin"}, ""),
        ("g: bfloat16 frequencies", "low16|bf16", {"types": ("bfloat16", None)}, ""),
        ("g: bfloat16 angles", "low16|bf16", {"types": (None, "bfloat16")}, ""),
        ("g: frequencies and angles in bfloat16", "low16|bf16", {"types": ("bfloat16", "bfloat16")}, ""),
        ("g: frequencies over d/2", "ladder|root|theta", {"freq": lambda q: np.power(1e4, -np.arange(q) / (2 * q))}, ""),
        ("g: meshgrid transposed, base 1000", "axes + theta", {"transpose": True, "base": 1e3}, ""),
        ("g: coordinates halved, base 1000", "linear + theta", {"norm": 0.5, "base": 1e3}, ""),
        ("g: all sines of both axes, then all cosines", "layout", {"joined": True}, ""),
        ("g: row of a class token added", "extra_rows", {"extra": 1}, ""),
        ("g: row of a class token added, base 1000", "extra_rows + theta", {"extra": 1, "base": 1e3}, ""),
    ]),
    ("sinusoidal/grid", MAE, grid, [
        ("g: row of the class token last", "extra_rows", {"last": True}, ""),
        ("g: row of the class token missing", "extra_rows", {"extra": 0}, ""),
        ("g: with a class token, frequencies over d/2", "ladder|root|theta", {"freq": lambda q: np.power(1e4, -np.arange(q) / (2 * q))}, ""),
        ("g: with a class token, all sines, then all cosines", "layout", {"joined": True}, ""),
        ("g: with a class token, interleaved, rows first", "layout + axes", {"layout": "interleaved", "swap": True}, ""),
    ]),
    ("sinusoidal/grid", PADDED, padded_grid, [
        ("g: padded DETR not normalized", "normalized|linear", {"over": lambda n: (1, 1)}, ""),
        ("g: padded DETR temperature 20", "theta", {"base": 20.0}, ""),
    ]),
    ("sinusoidal/offset", {"d_model": 64, "offset": 5}, moved, [
        ("o: n - 1 for n", "freq_shift", {"over": 1}, ""), ("o: base 500000", "theta", {"base": 5e5}, ""),
        ("o: base 2000, one more", "theta + offset_too", {"base": 2e3, "more": 1}, ""),
    ]),
    ("sinusoidal/timing", SIGNAL, timing, [
        ("t: start_index ignored", "shift|start_index", {"start": 0}, ""),
        ("t: start_index one more", "shift|start_index", {"start": 4}, ""),
        ("t: n for n - 1", "freq_shift|timescale|ladder", {"n": 32}, ""),
        ("t: n - 2 for n - 1", "freq_shift|timescale|ladder", {"n": 30}, ""),
        ("t: max_timescale 1000", "timescale|theta", {"top": 1e3}, ""),
        ("t: max_timescale 100000", "timescale|theta", {"top": 1e5}, ""),
        ("t: min_timescale 2", "timescale", {"low": 2.0}, ""),
        ("t: exponents positive", "reciprocal", {"w": lambda w: 1 / w}, ""),
        ("t: one step for all rows", "stuck", {"step": 4}, ""),
        ("t: interleaved", "layout", {"layout": "interleaved"}, ""),
        ("t: start_index 100", "shift|start_index", {"start": 100}, ""),
        ("t: start_index 20, max_timescale 1000", "shift|start_index + timescale", {"start": 20, "top": 1e3}, ""),
        ("t: cos before sin", "layout|exchange", {"layout": "cos_sin"}, ""),
    ]),
    ("sinusoidal/grid", DETR, measured_grid, [
        ("g: DETR not normalized", "normalized|linear", {"over": lambda n: (1, 1)}, ""),
        ("g: DETR over the sides less one", "off|normalized", {"over": lambda n: [2 * np.pi / (k - 1 + 1e-6) for k in n]}, ""),
        ("g: DETR without 2 pi", "two_pi", {"over": lambda n: [1 / (k + 1e-6) for k in n]}, ""),
        ("g: DETR from 0", "shift", {"offset": 0}, ""),
        ("g: DETR over the width on both axes", "width|axes", {"over": lambda n: [2 * np.pi / (n[1] + 1e-6)] * 2}, ""),
        ("g: DETR column first", "axes", {"order": "wh"}, ""),
        ("g: DETR temperature 20", "theta", {"base": 20.0}, ""),
        ("g: DETR in halves", "layout", {"layout": "sin_cos"}, ""),
    ]),
    ("sinusoidal/grid", BASED, measured_grid, [
        ("g: base_size ignored", "ignored|normalized|linear", {"over": lambda n: (1, 1)}, ""),
        ("g: base_size by the height on both axes", "width|axes", {"over": lambda n: [16 / n[0]] * 2}, ""),
    ]),
    ("sinusoidal/relative", CONFORMER, conformer, [
        ("r: sines of the future not negated", "absolute", {"distances": np.abs}, "speechbrain/speechbrain#3070"),
        ("r: memory forgotten", "shift", {"distances": lambda d: d - 6}, ""),
        ("r: halves for interleaved", "layout", {"layout": "sin_cos"}, ""),
        ("r: clamped at 10", "clamp", {"distances": lambda d: np.clip(d, -10, 10)}, ""),
    ]),
    ("sinusoidal/relative", {**RELATIVE, "clamp_len": 8}, relative, [
        ("r: clamped, n - 1 for n", "freq_shift", {"base": 1e4 ** (32 / 31)}, ""),
        ("r: clamped, base 1000 and interleaved", "theta + layout", {"base": 1e3, "layout": "interleaved"}, ""),
        ("r: clamp_len ignored, interleaved", "clamp + layout", {"distances": lambda q: np.arange(q, -q, -1), "layout": "interleaved"}, ""),
    ]),
    ("sinusoidal/relative", RELATIVE, relative, [
        ("r: distances ascending", "reverse|inverse", {"distances": lambda q: np.arange(-q + 1, q + 1)}, ""),
        ("r: distances one too small", "shift", {"distances": lambda q: np.arange(q - 1, -q - 1, -1)}, ""),
        ("r: absolute distances", "absolute", {"distances": lambda q: np.abs(np.arange(q, -q, -1))}, ""),
        ("r: negative distances", "inverse", {"distances": lambda q: -np.arange(q, -q, -1)}, ""),
        ("r: clamped at 8", "clamp", {"distances": lambda q: np.clip(np.arange(q, -q, -1), -8, 8)}, ""),
        ("r: sign of the sine", "sin_sign", {"sign": -1}, ""),
        ("r: base 1000", "theta|ladder", {"base": 1e3}, ""),
        ("r: interleaved", "layout", {"layout": "interleaved"}, ""),
        ("r: cos before sin", "layout|exchange", {"layout": "cos_sin"}, ""),
    ]),
]


def function_case(path, claim, make, row, v):
    name, words, changes, cite = row
    store = pick(["float32", "float64", "bfloat16"], v)
    right = make(claim)
    got = arrays.rounded(make(claim, **changes), store)
    allowed = 2.0 ** -18 + 0.51 * arrays.ulp(np.maximum(np.abs(right), 1e-3), store)
    # A resource of several tensors takes the one by its name.
    alone = "table" if path == "sinusoidal/relative" else ""
    return Case(f"{name} [{store}]", path, {"encoding": path, "parameters": claim}, {alone: got}, store, words.split(" + "), {alone: right},
                {alone: allowed}, pick(["json", "safetensors"], v) if alone else "json", cite)


def cases():
    made = [table_case(row, number, v) for number, row in enumerate(ROWS) for v in range(row.cases)]
    return made + [function_case(path, claim, make, row, v) for path, claim, make, rows in FUNCTIONS for row in rows for v in (0, 1)]
