"""rope - mistakes in tables of cosines and sines, in vectors rotated by them, and in inverse frequencies.

A table is made in steps: parameters, positions, frequencies, angles, waves, layout. A row names the steps that its mistake
changes, so that two rows make a mistake of two parts. The reference is float64 (ladder.py).
"""
import numpy as np

import arrays
import ladder
from case import Case

LONG = [1 + 0.9 * i for i in range(48)]
SHORT = [1 + 0.02 * i for i in range(48)]
CLAIMS = {
    "llama2": {"head_dim": 128, "rope_theta": 10000.0},
    "llama3-8k": {"head_dim": 128, "rope_theta": 500000.0},
    "small": {"head_dim": 64, "rope_theta": 10000.0},
    "qwen": {"head_dim": 128, "rope_theta": 1000000.0},
    "gptj": {"head_dim": 256, "rotary_dim": 64, "rope_theta": 10000.0},
    "linear4": {"head_dim": 128, "rope_theta": 10000.0, "rope_type": "linear", "factor": 4.0},
    "ntk8": {"head_dim": 128, "rope_theta": 10000.0, "rope_type": "ntk", "factor": 8.0},
    "dynamic2": {"head_dim": 128, "rope_theta": 10000.0, "rope_type": "dynamic", "factor": 2.0, "max_position_embeddings": 2048,
                 "seq_len": 6000},
    "yarn4": {"head_dim": 128, "rope_theta": 1000000.0, "rope_type": "yarn", "factor": 4.0,
              "original_max_position_embeddings": 32768},
    "yarn32": {"head_dim": 64, "rope_theta": 150000.0, "rope_type": "yarn", "factor": 32.0, "truncate": False,
               "original_max_position_embeddings": 4096},
    "deepseek": {"head_dim": 64, "rope_theta": 10000.0, "rope_type": "yarn", "factor": 40.0, "mscale": 0.707,
                 "mscale_all_dim": 1.0, "original_max_position_embeddings": 4096},
    "llama31": {"head_dim": 128, "rope_theta": 500000.0, "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                "high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
    "llama32": {"head_dim": 64, "rope_theta": 500000.0, "rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0,
                "high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
    "phi3": {"head_dim": 96, "rope_theta": 10000.0, "rope_type": "longrope", "short_factor": SHORT, "long_factor": LONG,
             "original_max_position_embeddings": 4096, "max_position_embeddings": 131072},
    "phi3-short": {"head_dim": 96, "rope_theta": 10000.0, "rope_type": "longrope", "short_factor": SHORT, "long_factor": LONG,
                   "original_max_position_embeddings": 4096, "max_position_embeddings": 131072, "seq_len": 1000},
    "gemma4": {"head_dim": 256, "rope_theta": 1000000.0, "rope_type": "proportional", "partial_rotary_factor": 0.25},
}
ANY = "llama2 small llama3-8k qwen yarn4 llama31 linear4 gptj phi3".split()
ALPHAS = [round(0.6 * (7 * i % 32 / 32 - 0.5), 4) for i in range(32)]  # lerope_alpha of 32 pairs
PLAIN = "llama2 small llama3-8k qwen".split()
SCALED = "linear4 ntk8 yarn4 llama31 phi3 dynamic2".split()
YARN = "yarn4 yarn32 deepseek".split()
LLAMA = "llama31 llama32".split()
WINDOWS = ["0:64", "0:2048:32", "1000:1064", "0:64", "4000:4064"]
STORES = ["float32", "float32", "float64", "bfloat16", "float32", "float16"]
LAYOUTS = ["pairs", "pairs", "hf", "vllm", "pairs", "onnx", "meta", "trtllm"]
UPLOADS = ["json", "safetensors", "npy"]
STEPS = ("params", "positions", "freq", "factor", "angle", "waves", "pairs", "out")


class Row:
    """A kind of mistake: the causes that a right answer names, and what each step does instead."""

    def __init__(self, name, words, claims=None, at=None, stores=None, layouts=None, types=None, numerics=None, claim=None,
                 cite="", cases=2, **steps):
        self.name, self.words, self.claims, self.at = name, [words] if isinstance(words, str) else words, claims, at
        self.stores, self.layouts, self.types, self.numerics = stores, layouts, types or {}, numerics
        self.claim, self.cite, self.cases, self.steps = claim, cite, cases, steps
        assert set(steps) <= set(STEPS), name

    def __add__(self, other):
        """Both mistakes at once, where they are of different steps."""
        assert not set(self.steps) & set(other.steps) and not set(self.types) & set(other.types), (self.name, other.name)
        return Row(f"{self.name} + {other.name}", self.words + other.words, self.claims or other.claims, self.at or other.at,
                   self.stores or other.stores, self.layouts or other.layouts, {**self.types, **other.types},
                   self.numerics or other.numerics, self.claim or other.claim, cases=2, **self.steps, **other.steps)


def made(c, positions, steps=None, types=None, base="exact"):
    """(cosines, sines, frequencies, factor) of pairs: [n, d/2], in float64 rounded to a type after the steps of `types`."""
    steps, types = steps or {}, types or {}
    kind = {step: types.get(step, "float32" if base == "float32" else None) for step in ("freq", "pos", "angle", "wave")}
    c = steps.get("params", lambda c: c)(dict(c))
    p = steps.get("positions", lambda p: p)(np.asarray(positions, float))
    if c is None or isinstance(c, np.ndarray):
        w, factor = c, 1.0
    else:
        w, factor = ladder.frequencies(c, **c.get("twist", {})), ladder.attention_factor(c)
    w = arrays.rounded(steps.get("freq", lambda w, c: w)(w, c), kind["freq"])
    factor = steps.get("factor", lambda a, c: a)(factor, c)
    with np.errstate(all="ignore"):
        angle = arrays.rounded(arrays.rounded(p, kind["pos"])[:, None] * w, kind["angle"])
        angle = steps.get("angle", lambda a, p, w: a)(angle, p, w)
        wide = angle
        if not any(kind.values()) and set(steps) <= {"positions", "pairs", "out"} and "freq_factors" not in c and c.get("rope_type", "default") == "default":
            # Wide enough that far angles round to the nearest float32, which numerics=exact asks for.
            d = ladder.rotary_dim(c)
            wide = p.astype(np.longdouble)[:, None] * np.power(np.longdouble(c["rope_theta"]), -np.arange(0, d, 2) / np.longdouble(d))
        waves = (x.astype(float) for x in (np.cos(wide), np.sin(wide)))
        cos, sin = steps.get("waves", lambda c, s, a, f: (c * f, s * f))(*waves, angle, factor)
    return arrays.rounded(cos, kind["wave"]), arrays.rounded(sin, kind["wave"]), w, factor


def laid_out(cos, sin, layout, pairing):
    if layout in ("pairs", "onnx"):
        return dict(zip(("cos", "sin") if layout == "pairs" else ("cos_cache", "sin_cache"), (cos, sin)))
    if layout == "hf":
        both = (lambda x: np.concatenate([x, x], -1)) if pairing == "half" else (lambda x: np.repeat(x, 2, -1))
        return {"cos": both(cos), "sin": both(sin)}
    if layout == "vllm":
        return {"cos_sin": np.concatenate([cos, sin], -1)}
    complex_ = np.stack([cos, sin], -1)
    return {"freqs_cis": complex_} if layout == "meta" else {"rotary_cos_sin": complex_.reshape(1, -1)}


def allowed_angle(w, positions, factor):
    """What float32 arithmetic may move a cosine by: angles of 8 half units of the last place, at most the whole circle."""
    angle = np.abs(np.asarray(positions, float))[:, None] * np.abs(w)
    return np.abs(factor) * np.minimum(8 * 2.0 ** -24 * angle + 2.0 ** -22, 2)


def pick(choices, k):
    return choices[k % len(choices)]


def table_case(row, number, v, alone=None):
    """alone: the face that is uploaded, cos or sin; else both are."""
    k = 2 * number + v
    name = pick(row.claims or ANY, number + v)
    claim = dict(CLAIMS[name])
    window = pick(row.at or WINDOWS, k)
    window = window(claim) if callable(window) else window
    store, layout = pick(row.stores or STORES, k), "hf" if alone else pick(row.layouts or LAYOUTS, k // 2)
    pairing = pick(["half", "interleaved"], k)
    if row.claim:
        row.claim(claim)
    p = ladder.span(window)
    base = "exact" if row.numerics == "exact" or store == "float64" else pick(["float32", "exact"], v + number)
    cos, sin, _, _ = made(claim, p, row.steps, row.types, base)
    cos, sin = (arrays.rounded(x, store) for x in row.steps.get("pairs", lambda c, s: (c, s))(cos, sin))
    tensors = laid_out(cos, sin, layout, pairing)
    if "out" in row.steps:
        tensors = {key: row.steps["out"](x, store) for key, x in tensors.items()}
    good_cos, good_sin, w, factor = made(claim, p)
    right = laid_out(good_cos, good_sin, layout, pairing)
    slack = np.zeros_like(good_cos) if row.numerics == "exact" else allowed_angle(w, p, factor)
    allowed = laid_out(*(slack + arrays.ulp(np.maximum(np.abs(x), 1e-3), store) * 0.51 for x in (good_cos, good_sin)), layout, pairing)
    if alone:
        tensors, right, allowed = ({alone: of[alone]} for of in (tensors, right, allowed))
    parameters = {**claim, "pairing": pairing, "cache_layout": layout}
    body = {"encoding": pick(["rope", "rope/table"], k), "parameters": parameters, "positions": window_sent(window)}
    if row.numerics:
        body["numerics"] = row.numerics
    label = f"{alone + ' alone: ' if alone else ''}{row.name} [{name}, {window if isinstance(window, str) else 'listed'}, {store}, {layout}]"
    return Case(label, "rope table", body, tensors, store, row.words, right, allowed, pick(UPLOADS, k), row.cite)


def window_sent(window):
    return window if isinstance(window, str) else [int(p) if p == int(p) else float(p) for p in window]


# --- rows: positions ---

def from_row(k, change):
    """The rows from k on are changed."""
    return lambda p: np.concatenate([p[:k], change(p[k:])])


def indices(change):
    """Rows are taken from elsewhere."""
    return lambda p: p[change(np.arange(len(p)))]


def wrapped(bits, signed=True):
    size = 2 ** bits
    return lambda p: (p + size // 2) % size - size // 2 if signed else p % size


def zigzag(i, parts=8):
    """The order of rows of a context-parallel rank: chunk r and chunk 2n - 1 - r."""
    chunks = np.array_split(i, parts)
    return np.concatenate([np.concatenate([chunks[r], chunks[parts - 1 - r]]) for r in range(parts // 2)])


PACKED = [float(x) for x in list(range(24)) + list(range(40))]
FRACTIONS = "0:16:0.25"

POSITIONS = [
    Row("one too large", "shift", positions=lambda p: p + 1, cite="huggingface/transformers#36537"),
    Row("one too small", "shift", positions=lambda p: p - 1),
    Row("two too large (padding_idx + 1)", "shift", positions=lambda p: p + 2, cite="huggingface/sentence-transformers#3879"),
    Row("17 too large", "shift", positions=lambda p: p + 17),
    Row("offset of the cache counted twice", "shift|stride", at=["1000:1064", "512:576"],
        positions=lambda p: p + p[0], cite="mlx-node/mlx-node#33"),
    Row("offset of the cache ignored", "shift", at=["1000:1064", "512:576", "77:141"], positions=lambda p: p - p[0]),
    Row("half a position too large", "shift", positions=lambda p: p + 0.5),
    Row("one too large from the middle on", "shift|skip", positions=from_row(32, lambda p: p + 1)),
    Row("restarts in the middle", "restart", positions=from_row(32, lambda p: p - p[0])),
    Row("restarts every 16 rows", "restart", positions=lambda p: p[0] + (p - p[0]) % 16 if p[1] - p[0] == 1 else np.resize(p[:16], len(p))),
    Row("packed: does not restart", "running", at=[PACKED], positions=lambda p: np.arange(len(p)) * 1.0,
        cite="NVIDIA/Megatron-LM#453, epfLLM/Megatron-LLM#23"),
    Row("packed: restarts one late", "shift|restart", at=[PACKED],
        positions=lambda p: np.concatenate([np.arange(25), np.arange(39)]) * 1.0),
    Row("wraps at 48", "wrap|restart", at=["0:64", "20:84"], positions=lambda p: p % 48),
    Row("stays at the last trained position", "clamp", at=["0:64", "2000:2064"], positions=lambda p: np.minimum(p, p[0] + 40)),
    Row("does not begin before row 10", "padding|clamp", positions=lambda p: np.maximum(p, p[10])),
    Row("twice as large", "stride", at=["0:64", "100:164"], positions=lambda p: 2 * p),
    Row("three times as large", "stride", at=["0:64", "100:164"], positions=lambda p: 3 * p),
    Row("each position for two rows", "halved", at=["0:64"], positions=lambda p: np.floor(p / 2)),
    Row("each position for four rows", "halved", at=["0:64"], positions=lambda p: np.floor(p / 4)),
    Row("half as large", "linear", PLAIN, at=["0:64", "1000:1064"], positions=lambda p: p / 2),
    Row("rows in reverse", "reverse|permuted", positions=lambda p: p[::-1]),
    Row("left padding of 7 rows counts", "padding|shift", at=["0:64"], positions=lambda p: p + 7, cite="tloen/alpaca-lora#315"),
    Row("left padding of 5 rows at 0", "padding", at=["0:64"], positions=lambda p: np.maximum(p - 5, 0),
        cite="huggingface/transformers#22161"),
    Row("left padding of 5 rows at 1", "padding", at=["0:64"], positions=lambda p: np.where(p < 5, 1, p - 5),
        cite="huggingface/transformers#29419"),
    Row("every row at the last position", "stuck", positions=lambda p: np.full_like(p, p[-1])),
    Row("every row at the first position", "stuck", at=["1000:1064", "50:114"], positions=lambda p: np.full_like(p, p[0])),
    Row("every row at position 0", "zero_pos", positions=lambda p: 0 * p),
    Row("negative", "inverse", positions=lambda p: -p),
    Row("int8", "overflow", at=["100:164"], positions=wrapped(8)),
    Row("uint8", "overflow", at=["220:284"], positions=wrapped(8, False)),
    Row("int16", "overflow", at=["32740:32804"], positions=wrapped(16)),
    Row("uint16", "overflow", at=["65500:65564"], positions=wrapped(16, False)),
    Row("added up (cumsum of positions)", "summed", at=["0:64", "3:51"], positions=np.cumsum),
    Row("rows 9 and 10 exchanged", "exchanged_rows", at=["0:64", "100:164"], positions=lambda p: p[[*range(9), 10, 9, *range(11, 64)]]),
    Row("last row at position 0", "elsewhere", ["small"], at=["7:71"], positions=lambda p: np.where(p == p[-1], 0, p)),
    Row("float16 positions", "pos16", at=["4001:4065", "3000:3064"], stores=["float32", "float64"], types={"pos": "float16"},
        cite="vllm-project/vllm#1004"),
    Row("bfloat16 positions", "pos16", at=["300:364", "15950:16014"], stores=["float32", "bfloat16", "float64"],
        types={"pos": "bfloat16"}, cite="huggingface/candle#3520"),
    Row("float32 positions", "pos32", PLAIN, at=["33554433:33554497"], stores=["float64", "float32"], types={"pos": "float32"},
        numerics="exact"),
    Row("a row twice", "skip", at=["0:64", "1000:1064"], positions=from_row(21, lambda p: p - 1)),
    Row("a row missing", "skip", at=["0:64", "1000:1064"], positions=from_row(21, lambda p: p + 1)),
    Row("two blocks exchanged", "permuted", positions=indices(lambda i: np.concatenate([i[:16], i[32:48], i[16:32], i[48:]]))),
    Row("halves exchanged", "permuted|shift|restart", positions=indices(lambda i: np.roll(i, len(i) // 2))),
    Row("rolled by one row", "permuted|shift", positions=indices(lambda i: np.roll(i, 1))),
    Row("zigzag of context parallelism", "permuted", positions=indices(zigzag), cite="PrimeIntellect-ai/prime-rl#2392"),
    Row("even rows first", "permuted|stride", positions=indices(lambda i: np.concatenate([i[::2], i[1::2]]))),
    Row("neighbours exchanged", "permuted", positions=indices(lambda i: i ^ 1)),
    Row("rows shuffled", "permuted", positions=indices(lambda i: np.random.default_rng(5).permutation(len(i)))),
    Row("divided by the length", "normalized", at=["0:64"], positions=lambda p: p / len(p)),
    Row("linspace with its end", "normalized", at=["0:64"], positions=lambda p: np.linspace(p[0], p[-1] + 1, len(p))),
    Row("centred", "shift", at=["0:64"], positions=lambda p: p - 32),
    Row("fractions cut off", "fraction|halved", at=[FRACTIONS], positions=np.floor),
    Row("fractions rounded", "fraction|halved", at=[FRACTIONS], positions=np.rint),
    Row("chunks overlap by one", "skip|restart|shift", at=["0:64"], positions=lambda p: p - np.floor(p / 16)),
    Row("chunks leave one out", "skip|restart|shift", at=["0:64"], positions=lambda p: p + np.floor(p / 16)),
    Row("a rolling buffer", "permuted|wrap|shift", at=["1000:1064"], positions=indices(lambda i: np.roll(i, 1000 % 64))),
    Row("the last row repeated from row 50", "clamp", positions=from_row(50, lambda p: np.full_like(p, p[0])),
        cite="vllm-project/vllm-ascend#1266"),
    Row("descending", "reverse|inverse", at=["0:64"], positions=lambda p: p[-1] - p),
    Row("squared", "stride|shape_wave|row|normalized", at=["0:64"], positions=lambda p: p * p / 64),
]

# --- rows: frequencies and parameters ---

def other(**changes):
    return lambda c: {**c, **changes}


def base_of(value):
    return lambda c: {**c, "rope_theta": value(c) if callable(value) else value}


def twist(**changes):
    return lambda c: {**c, "twist": changes}


def unscaled(c):
    kept = {key: c[key] for key in ("head_dim", "rope_theta", "rotary_dim") if key in c}
    return {**kept, "rope_type": "default"}


def exponents(change):
    """theta^(-e_i): a row says what the exponents were."""
    def freq(w, c):
        d = ladder.rotary_dim(c)
        return np.power(c["rope_theta"], -change(np.arange(0, d, 2) / d, d))
    return freq


THETA = [
    Row("theta 10000 where 500000 is claimed", "theta", ["llama3-8k", "llama31"], params=base_of(1e4), cite="lyogavin/airllm#369"),
    Row("theta 10000 where 1000000 is claimed", "theta", ["qwen", "yarn4"], params=base_of(1e4), cite="sgl-project/SpecForge#265"),
    Row("theta 500000 where 10000 is claimed", "theta", ["llama2", "small", "gptj"], params=base_of(5e5)),
    Row("theta a thousandth", "theta", ["qwen"], params=base_of(1e3), cite="vllm-project/vllm-ascend#5201"),
    Row("theta ten times", "theta", PLAIN, params=base_of(lambda c: 10 * c["rope_theta"])),
    Row("theta odd", "theta", PLAIN, params=base_of(12345.6)),
    Row("theta a little off", "theta", PLAIN, at=["0:2048:32"], params=base_of(lambda c: 1.01 * c["rope_theta"])),
    Row("theta times the factor (naive)", "ntk", ["ntk8"], params=lambda c: {**c, "twist": {"power": 1}}),
    Row("theta e", "theta", PLAIN, params=base_of(np.e)),
]
LADDER = [
    Row("reciprocal frequencies", "reciprocal", PLAIN, freq=lambda w, c: 1 / w),
    Row("exponent over head_dim, not rotary_dim", "rotary|ladder", ["gptj"], freq=exponents(lambda e, d: e * d / 256),
        cite="pie-project/pie#603"),
    Row("exponent over d_model of 16 heads", "of_all_heads", PLAIN, freq=exponents(lambda e, d: e / 16)),
    Row("exponent over d - 2", "freq_shift", PLAIN, freq=exponents(lambda e, d: e * d / (d - 2))),
    Row("exponent i/d", "root|ladder", PLAIN, freq=exponents(lambda e, d: e / 2)),
    Row("exponent 4i/d", "squared", PLAIN, freq=exponents(lambda e, d: 2 * e)),
    Row("exponent one pair later", "index", PLAIN, freq=exponents(lambda e, d: e + 2 / d)),
    Row("exponent one pair earlier", "index", PLAIN, freq=exponents(lambda e, d: e - 2 / d)),
    Row("exponent from 1: (2i + 1)/d", "index|linear", PLAIN, freq=exponents(lambda e, d: e + 1 / d)),
    Row("integer division in the exponent", "all_one", PLAIN, freq=exponents(lambda e, d: np.floor(e))),
    Row("log10 for ln", "theta|ladder", PLAIN, freq=lambda w, c: np.exp(np.log10(w))),
    Row("log2 for ln", "theta|ladder", PLAIN, freq=lambda w, c: np.exp(np.log2(w))),
    Row("times 2 pi", "two_pi", PLAIN, freq=lambda w, c: 2 * np.pi * w),
    Row("over 2 pi", "two_pi", PLAIN, freq=lambda w, c: w / (2 * np.pi)),
    Row("degrees", "degrees", PLAIN, freq=lambda w, c: np.radians(w)),
    Row("frequencies squared", "squared", PLAIN, freq=lambda w, c: w ** 2),
    Row("slowest first", "freq_reversed|channels", PLAIN, freq=lambda w, c: w[::-1]),
    Row("each frequency for two pairs", "freq_repeat", PLAIN, freq=lambda w, c: np.repeat(w, 2)[:len(w)]),
    Row("every other frequency, twice over", "freq_repeat|squared", PLAIN, freq=lambda w, c: np.concatenate([w[::2], w[::2]])),
    Row("last quarter zero", "freq_rest", PLAIN, freq=lambda w, c: np.where(np.arange(len(w)) < 3 * len(w) // 4, w, 0)),
    Row("last half zero", "freq_rest", PLAIN, freq=lambda w, c: np.where(np.arange(len(w)) < len(w) // 2, w, 0)),
    Row("first half zero", "freq_rest", PLAIN, freq=lambda w, c: np.where(np.arange(len(w)) >= len(w) // 2, w, 0)),
    Row("frequency 0 left out", "index|channels", PLAIN, freq=lambda w, c: np.append(w[1:], 0)),
    Row("linear in i (linspace 1 to 1/theta)", "ladder", PLAIN, freq=lambda w, c: np.linspace(w[0], w[-1], len(w))),
    Row("one frequency doubled", "ladder|row|channels|factor", PLAIN, freq=lambda w, c: np.where(np.arange(len(w)) == 9, 2 * w, w)),
    Row("minimum clipped", "clamp|ladder|freq_rest", PLAIN, freq=lambda w, c: np.maximum(w, 1e-2)),
    Row("even and odd pairs exchanged", "channels", PLAIN, freq=lambda w, c: w[np.arange(len(w)) ^ 1]),
    Row("halves of the ladder exchanged", "channels", PLAIN, freq=lambda w, c: np.roll(w, len(w) // 2)),
    Row("ladder rolled by one", "channels|index", PLAIN, freq=lambda w, c: np.roll(w, 1)),
    Row("proportional taken for partial", "rotary|ladder|scaling_type", ["gemma4"],
        freq=lambda w, c: np.where(w > 0, np.power(1e6, -np.arange(0, 256, 2) / 64), 0), cite="jagmarques/nexusquant#12"),
    Row("proportional ignored", "rotary|freq_rest|scaling_type|no_scaling", ["gemma4"],
        freq=lambda w, c: np.power(1e6, -np.arange(0, 256, 2) / 256), cite="zml/zml#660"),
]
SCALING = [
    Row("linear missing", "no_scaling", ["linear4"], params=unscaled),
    Row("linear of 4 that was not claimed", "extra_linear", PLAIN, params=other(rope_type="linear", factor=4.0)),
    Row("linear of 2.5 that was not claimed", "extra_linear", PLAIN, params=other(rope_type="linear", factor=2.5)),
    Row("yarn that was not claimed", "extra_parts", PLAIN, params=other(rope_type="yarn", factor=8.0, original_max_position_embeddings=32768)),
    Row("yarn that was not claimed, without attention factor", "extra_parts", PLAIN, params=other(rope_type="yarn", factor=4.0, original_max_position_embeddings=8192, attention_factor=1.0)),
    Row("llama3 that was not claimed", "extra_parts", PLAIN, params=other(rope_type="llama3", factor=8.0, original_max_position_embeddings=8192, low_freq_factor=1.0, high_freq_factor=4.0)),
    Row("linear multiplied", "inverse_scaling|factor", ["linear4"], freq=lambda w, c: w * 16),
    Row("linear twice", "squared|factor", ["linear4"], freq=lambda w, c: w / 4),
    Row("linear of another factor", "factor", ["linear4"], params=other(factor=8.0)),
    Row("ntk for linear", "scaling_type", ["linear4"], params=other(rope_type="ntk")),
    Row("linear for ntk", "scaling_type", ["ntk8"], params=other(rope_type="linear")),
    Row("ntk missing", "no_scaling", ["ntk8"], params=unscaled),
    Row("ntk of another factor", "factor", ["ntk8"], params=other(factor=4.0)),
    Row("ntk exponent of another dimension", "ntk", ["ntk8"], params=twist(dim=64)),
    Row("ntk and linear, both", "scaling_type|factor", ["ntk8"], freq=lambda w, c: w / 8),
    Row("dynamic missing", "no_scaling|dynamic", ["dynamic2"], params=unscaled),
    Row("dynamic of another length", "seq_len", ["dynamic2"], params=other(seq_len=4096), cite="huggingface/transformers#25104"),
    Row("dynamic of the longest length (static)", "seq_len|ntk", ["dynamic2"], params=twist(seq_len=16384),
        cite="vllm-project/vllm#5093"),
    Row("dynamic without f - 1", "dynamic", ["dynamic2"], params=twist(bare=True)),
    Row("dynamic as ntk", "scaling_type", ["dynamic2"], params=other(rope_type="ntk")),
    Row("dynamic kept from a long prompt", "seq_len|dynamic", ["dynamic2"], params=other(seq_len=16000),
        cite="huggingface/transformers#46624, huggingface/transformers#25306"),
    Row("yarn missing", "no_scaling", YARN, params=unscaled),
    Row("yarn as linear", "scaling_type", YARN, params=other(rope_type="linear")),
    Row("yarn as ntk", "scaling_type", YARN, params=other(rope_type="ntk")),
    Row("yarn frequencies missing, factor kept", "no_scaling", YARN, at=["0:2048:32", "30000:30064"],
        params=lambda c: {**unscaled(c), "attention_factor": ladder.attention_factor(c)}),
    Row("yarn attention factor missing", "no_factor", YARN, factor=lambda a, c: 1.0, cite="turboderp-org/exllamav3#259"),
    Row("yarn attention factor twice", "no_factor|squared", YARN, factor=lambda a, c: a * a, cite="sgl-project/sglang#33558"),
    Row("yarn attention factor inverted", "no_factor|reciprocal", YARN, factor=lambda a, c: 1 / a),
    Row("yarn attention factor's root", "no_factor|root", YARN, factor=lambda a, c: np.sqrt(a)),
    Row("yarn attention factor of log10", "no_factor", YARN, factor=lambda a, c: 0.1 * np.log10(c["factor"]) + 1),
    Row("yarn attention factor: ln taken twice", "no_factor", ["yarn4", "yarn32"],
        factor=lambda a, c: 0.1 * a * np.log(c["factor"]) + 1, cite="NVIDIA/TensorRT-LLM#16379"),
    Row("yarn attention factor without 0.1", "no_factor", YARN, factor=lambda a, c: np.log(c["factor"]) + 1),
    Row("yarn attention factor on cos alone", "no_factor|one_wave", YARN, waves=lambda c, s, a, f: (c * f, s)),
    Row("yarn mscale_all_dim over mscale", "no_factor|reciprocal", ["deepseek"], factor=lambda a, c: 1 / a),
    Row("yarn mscale alone", "no_factor", ["deepseek"], factor=lambda a, c: ladder.mscale(40, 0.707), cite="onnxruntime/mobius#548"),
    Row("yarn attention factor where explicit 1", "no_factor", ["yarn4"], claim=lambda c: c.update(attention_factor=1.0),
        factor=lambda a, c: ladder.mscale(c["factor"]), cite="vllm-project/vllm#46280, ml-explore/mlx-lm#1507"),
    Row("yarn turns without 2 pi", "two_pi|bands|original", YARN, at=["0:2048:32", "30000:30064"],
        params=lambda c: {**c, "beta_fast": 32 / (2 * np.pi), "beta_slow": 1 / (2 * np.pi)}),
    Row("positions over 2.5 floored", "fraction", PLAIN, at=["0:64", "0:2048:32"], stores=["float32", "float64"], positions=lambda p: np.floor(p / 2.5)),
    Row("yarn betas exchanged", "betas|bands", YARN, at=["30000:30064"], params=lambda c: {**c, "beta_fast": 1.0, "beta_slow": 32.0},
        cite="pytorch/torchtitan#3787"),
    Row("yarn ramp inverted", "bands|inverse", YARN, at=["0:2048:32"], params=twist(inverted=True)),
    Row("yarn beta_fast 64", "betas|bands", YARN, at=["0:2048:32", "30000:30064"], params=other(beta_fast=64.0),
        cite="GaijinEntertainment/daScript#3479"),
    Row("yarn beta_slow 2", "betas|bands", YARN, at=["0:2048:32", "30000:30064"], params=other(beta_slow=2.0)),
    Row("yarn truncate turned round", "truncate", YARN, at=["0:2048:32", "30000:30064"],
        params=lambda c: {**c, "truncate": not c.get("truncate", True)}),
    Row("yarn original length is the new one", "original|bands", YARN, at=["0:2048:32", "30000:30064"],
        params=lambda c: {**c, "original_max_position_embeddings": int(c["original_max_position_embeddings"] * c["factor"])},
        cite="EricLBuehler/candle-vllm#284"),
    Row("yarn original length 2048", "original|bands", YARN, at=["0:2048:32"], params=other(original_max_position_embeddings=2048)),
    Row("yarn ramp without blend", "bands", YARN, at=["0:2048:32", "30000:30064"], params=twist(hard=True)),
    Row("yarn ramp over channels, not pairs", "bands", YARN, at=["0:2048:32"], params=twist(stretch=2)),
    Row("yarn ramp of theta 10000", "bands|theta", ["yarn4", "yarn32"], at=["0:2048:32"], params=twist(base=1e4)),
    Row("yarn of another factor", "factor", YARN, at=["0:2048:32"], params=lambda c: {**c, "factor": 2 * c["factor"]}),
    Row("llama3 missing", "no_scaling", LLAMA, at=["0:2048:32", "8000:8064"], params=unscaled,
        cite="felafax/felafax#59, ikawrakow/ik_llama.cpp#2291, lablup/mlxcel#1355"),
    Row("llama3 as linear", "scaling_type", LLAMA, params=other(rope_type="linear")),
    Row("llama3 of another factor", "factor", LLAMA, at=["0:2048:32", "8000:8064"], params=other(factor=16.0)),
    Row("llama3 without blend", "llama_bands", LLAMA, at=["0:2048:32", "8000:8064"],
        params=lambda c: {**c, "twist": {"hard": True, "clip": True}}),
    Row("llama3 blend inverted", "llama_bands", LLAMA, at=["0:2048:32", "8000:8064"], params=twist(inverted=True)),
    Row("llama3 original length 131072", "original|llama_bands", LLAMA, at=["0:2048:32", "8000:8064"],
        params=other(original_max_position_embeddings=131072)),
    Row("llama3 wavelength without 2 pi", "llama_bands|radians", LLAMA, at=["0:2048:32", "8000:8064"], params=twist(turn=1.0)),
    Row("llama3 middle band divided throughout", "llama_bands", LLAMA, at=["0:2048:32", "8000:8064"],
        params=twist(middle_scaled=True), cite="huggingface/transformers#32330"),
    Row("llama3 high_freq_factor 8", "llama_bands", LLAMA, at=["0:2048:32", "8000:8064"], params=other(high_freq_factor=8.0)),
    Row("llama3 low_freq_factor 2", "llama_bands", LLAMA, at=["8000:8064", "0:2048:32"], params=other(low_freq_factor=2.0)),
    Row("llama3 twice", "squared|factor|llama_bands", LLAMA, at=["8000:8064", "0:2048:32"],
        freq=lambda w, c: w * w / ladder.plain(c)),
    Row("longrope long where short is claimed", "long_short", ["phi3-short"], params=twist(long=True), cite="lablup/mlxcel#1358"),
    Row("longrope short where long is claimed", "long_short", ["phi3"], at=["0:64", "1000:1064"], params=twist(long=False),
        cite="mlc-ai/mlc-llm#3375, ggml-org/llama.cpp#24875"),
    Row("longrope missing", "no_scaling", ["phi3", "phi3-short"], params=unscaled),
    Row("longrope factors multiplied", "factors_order", ["phi3"], freq=lambda w, c: w * np.asarray(LONG) ** 2),
    Row("longrope factors reversed", "factors_order", ["phi3"], params=lambda c: {**c, "long_factor": LONG[::-1]}),
    Row("longrope factors one pair off", "factors_order", ["phi3"], params=lambda c: {**c, "long_factor": LONG[1:] + LONG[-1:]}),
    Row("longrope attention factor missing", "no_factor", ["phi3", "phi3-short"], factor=lambda a, c: 1.0),
    Row("longrope attention factor of yarn", "no_factor", ["phi3", "phi3-short"], factor=lambda a, c: ladder.mscale(32)),
    Row("longrope attention factor twice", "no_factor|squared", ["phi3", "phi3-short"], factor=lambda a, c: a * a),
    Row("freq_factors ignored", "factor|no_scaling|ladder", ["small"],
        claim=lambda c: c.update(freq_factors=[1.0] * 16 + [8.0] * 16), params=other(freq_factors=1)),
    Row("lerope_alpha ignored", "lerope", ["small"], claim=lambda c: c.update(lerope_alpha=ALPHAS), params=other(lerope_alpha=0.0)),
    Row("lerope_alpha by exp2", "lerope", ["small"], at=["0:64"], claim=lambda c: c.update(lerope_alpha=ALPHAS), 
        freq=lambda w, c: w * np.exp2(ALPHAS) / np.exp(ALPHAS)),
    Row("lerope_alpha without exp", "lerope", ["small"], at=["0:64"], claim=lambda c: c.update(lerope_alpha=ALPHAS),
        freq=lambda w, c: w * (1 + np.array(ALPHAS)) / np.exp(ALPHAS)),
    Row("freq_factors multiplied", "factor|inverse_scaling", ["small"], at=["0:2048:32"],
        claim=lambda c: c.update(freq_factors=[1.0] * 16 + [8.0] * 16), freq=lambda w, c: w * np.repeat([1.0, 64.0], 16)),
    Row("position scaled and ntk instead of linear", "scaling_type|factor", ["linear4"],
        params=other(rope_type="ntk"), freq=lambda w, c: w / 4),
]

# --- rows: waves and channels ---

def both(change):
    return lambda c, s: (change(c), change(s))


WAVES = [
    Row("cos and sin exchanged", "exchange", pairs=lambda c, s: (s, c)),
    Row("sin negative", "sin_sign", pairs=lambda c, s: (c, -s)),
    Row("cos negative", "cos_sign", pairs=lambda c, s: (-c, s)),
    Row("both negative", "cos_sign|sin_sign|amplitude", pairs=lambda c, s: (-c, -s)),
    Row("sin is cos", "one_wave", pairs=lambda c, s: (c, c)),
    Row("cos is sin", "one_wave", pairs=lambda c, s: (s, s)),
    Row("sin zero", "one_wave", pairs=lambda c, s: (c, 0 * s)),
    Row("cos one", "one_wave", pairs=lambda c, s: (0 * c + 1, s)),
    Row("sin from sqrt(1 - cos^2)", "absolute", PLAIN, pairs=lambda c, s: (c, np.sqrt(np.maximum(1 - c * c, 0)))),
    Row("absolute values", "absolute", pairs=both(np.abs)),
    Row("squared waves", "squared|amplitude|shape_wave", PLAIN, pairs=both(np.square)),
    Row("tangent for sine", "shape_wave|one_wave", PLAIN, waves=lambda c, s, a, f: (c * f, np.tan(a) * f)),
    Row("0.01 added to all", "number_added", PLAIN, waves=lambda c, s, a, f: (c * f + 0.01, s * f + 0.01)),
    Row("a vector added to each row", "vector_added", PLAIN, stores=["float32", "float64"], waves=lambda c, s, a, f: (
        c * f + 0.3 * np.cos(np.arange(c.shape[1])), s * f + 0.3 * np.sin(np.arange(c.shape[1])))),
    Row("angles for waves", "shape_wave|one_wave|amplitude|row", PLAIN, waves=lambda c, s, a, f: (a, a)),
    Row("amplitude 2", "amplitude", pairs=both(lambda x: 2 * x)),
    Row("amplitude 1/sqrt 2", "amplitude", pairs=both(lambda x: x / np.sqrt(2))),
    Row("amplitude sqrt d", "amplitude", pairs=both(lambda x: x * np.sqrt(2 * x.shape[1]))),
    Row("amplitude 1.2079 that was not claimed", "amplitude|no_factor", PLAIN, pairs=both(lambda x: 1.2079441541679836 * x)),
    Row("amplitude of sin alone", "amplitude|one_wave", pairs=lambda c, s: (c, 0.5 * s)),
    Row("amplitude by pair", "amplitude", pairs=both(lambda x: x * np.linspace(1, 0.5, x.shape[1]))),
    Row("amplitude falls with rows", "amplitude", pairs=both(lambda x: x * np.linspace(1, 0.5, len(x))[:, None])),
    Row("mapped to 0..1", "shape_wave", PLAIN, pairs=both(lambda x: (x + 1) / 2)),
    Row("cut to -1..1", "shape_wave|clamp", ["yarn4", "yarn32", "phi3"], pairs=both(lambda x: np.clip(x, -1, 1))),
    Row("half pairs exchanged cos and sin", "exchange|channels|row", pairs=lambda c, s: tuple(
        np.where(np.arange(c.shape[1]) < c.shape[1] // 2, x, y) for x, y in ((c, s), (s, c)))),
    Row("quarter turn added", "exchange|sin_sign|shift|radians", waves=lambda c, s, a, f: (np.cos(a + np.pi / 2) * f, np.sin(a + np.pi / 2) * f)),
    Row("phase 0.1 added", "shift|radians|amplitude", waves=lambda c, s, a, f: (np.cos(a + 0.1) * f, np.sin(a + 0.1) * f)),
]
CHANNELS = [
    Row("columns reversed", "channels|freq_reversed", pairs=both(lambda x: x[:, ::-1])),
    Row("columns rolled by one", "channels|index", pairs=both(lambda x: np.roll(x, 1, 1))),
    Row("columns of neighbours exchanged", "channels", pairs=both(lambda x: x[:, np.arange(x.shape[1]) ^ 1])),
    Row("upper half a copy of the lower", "freq_repeat|channels", pairs=both(lambda x: np.concatenate([x[:, :x.shape[1] // 2]] * 2, 1))),
    Row("lower half a copy of the upper", "freq_repeat|channels", pairs=both(lambda x: np.concatenate([x[:, x.shape[1] // 2:]] * 2, 1))),
    Row("upper half zero", "slice", pairs=both(lambda x: np.where(np.arange(x.shape[1]) < x.shape[1] // 2, x, 0))),
    Row("last column zero", "slice", pairs=both(lambda x: np.where(np.arange(x.shape[1]) < x.shape[1] - 1, x, 0))),
    Row("hf: repeated for concatenated", "layout", layouts=["hf"], cite="karpathy/nanochat#264",
        out=lambda x, t: x.reshape(len(x), 2, -1).swapaxes(1, 2).reshape(len(x), -1)),
    Row("vllm: sin before cos", "exchange|layout", layouts=["vllm"], out=lambda x, t: np.roll(x, x.shape[1] // 2, 1)),
    Row("vllm: cos and sin interleaved", "layout", layouts=["vllm"],
        out=lambda x, t: x.reshape(len(x), 2, -1).swapaxes(1, 2).reshape(len(x), -1)),
    Row("trtllm: cos before sin in halves", "layout", layouts=["trtllm"],
        out=lambda x, t: x.reshape(64, -1, 2).swapaxes(1, 2).reshape(1, -1), cases=2),
    Row("meta: imaginary part first", "exchange|layout", layouts=["meta"], out=lambda x, t: x[..., ::-1], cases=2),
    Row("meta: conjugate", "sin_sign", layouts=["meta"], out=lambda x, t: x * [1, -1], cases=2),
    Row("hf: second half zero", "slice|layout", layouts=["hf"], out=lambda x, t: np.where(np.arange(x.shape[1]) < x.shape[1] // 2, x, 0)),
    Row("hf: second half rolled", "layout|channels", layouts=["hf"],
        out=lambda x, t: np.concatenate([x[:, :x.shape[1] // 2], np.roll(x[:, x.shape[1] // 2:], 1, 1)], 1)),
    Row("transposed bytes", "transposed", layouts=["pairs"], out=lambda x, t: x.T.reshape(x.shape)),
    Row("transposed shape", "transposed|shape", layouts=["pairs"], at=["0:50"], out=lambda x, t: x.T),
]

# --- rows: precision ---

FINE = ["float32", "float64"]
FAR = ["30000:30064", "0:2048:32"]

def accumulated(a, p, w):
    """Angles by repeated addition in float32."""
    out, now = np.empty_like(a), (p[0] * w).astype(np.float32)
    for k in range(len(a)):
        out[k] = now
        now = (now + (w * (p[1] - p[0])).astype(np.float32)).astype(np.float32)
    return out


def rotated_on(kind):
    """Each row from the one before by a rotation, rounded at every step."""
    def waves(c, s, a, f):
        z, step = np.exp(1j * a[0]), np.exp(1j * (a[1] - a[0]))
        rows = []
        for _ in range(len(a)):
            rows.append(z)
            z = z * step
            z = arrays.rounded(z.real, kind) + 1j * arrays.rounded(z.imag, kind)
        z = np.array(rows)
        return z.real * f, z.imag * f
    return waves


def chained(w, c):
    """Frequencies by a running product in bfloat16."""
    out, ratio = np.ones(len(w)), arrays.rounded(w[1] / w[0], "bfloat16")
    for i in range(1, len(w)):
        out[i] = arrays.rounded(out[i - 1] * ratio, "bfloat16")
    return out


def table_of(size):
    def waves(c, s, a, f):
        t = np.mod(a / (2 * np.pi), 1) * size
        low, part = np.floor(t), t % 1
        at = lambda k: np.exp(2j * np.pi * (k % size) / size)
        z = at(low) * (1 - part) + at(low + 1) * part
        return z.real * f, z.imag * f
    return waves


PRECISION = [
    Row("bfloat16 positions, frequencies and angles", "low16|bf16", PLAIN, at=["300:364"], stores=FINE,
        types={"pos": "bfloat16", "freq": "bfloat16", "angle": "bfloat16"}, cite="cactus-compute/cactus#688"),
    Row("bfloat16 frequencies", "low16|bf16", at=FAR, stores=FINE, types={"freq": "bfloat16"},
        cite="sgl-project/sglang-jax#1472, huggingface/transformers#29496"),
    Row("float16 frequencies", "low16|f16", PLAIN, at=FAR, stores=FINE, types={"freq": "float16"}, cite="EleutherAI/gpt-neox#1003"),
    Row("TF32 frequencies", "tf32|low16", at=FAR, stores=FINE, types={"freq": "tf32"}),
    Row("bfloat16 angles", "low16|bf16", at=FAR, stores=FINE, types={"angle": "bfloat16"}, cite="nkalyanv99/UNI-D2#6"),
    Row("float16 angles", "low16|f16", at=FAR, stores=FINE, types={"angle": "float16"}, cite="vllm-project/vllm#1004"),
    Row("TF32 angles", "tf32|low16", at=FAR, stores=FINE, types={"pos": "tf32", "freq": "tf32"}),
    Row("bfloat16 waves as float32", "low16|bf16", stores=FINE, types={"wave": "bfloat16"}, cite="KellerJordan/modded-nanogpt#39"),
    Row("float16 waves as float32", "low16|f16", stores=FINE, types={"wave": "float16"}, cite="flashinfer-ai/flashinfer#585"),
    Row("all in bfloat16", "low16|bf16", at=["0:64", "300:364"], stores=["bfloat16", "float32"],
        types={step: "bfloat16" for step in ("pos", "freq", "angle", "wave")}, cite="huggingface/transformers#29285"),
    Row("all in float16", "low16|f16", PLAIN, at=["1000:1064"], stores=["float16", "float32"],
        types={step: "float16" for step in ("pos", "freq", "angle", "wave")}, cite="huggingface/transformers#25681"),
    Row("float32 frequencies in exact float64", "f32", at=FAR, stores=["float64"], numerics="exact", types={"freq": "float32"}),
    Row("float32 angles in exact float64", "f32", at=FAR, stores=["float64"], numerics="exact", types={"angle": "float32"}),
    Row("float32 waves in exact float64", "f32", stores=["float64"], numerics="exact", types={"wave": "float32"}),
    Row("float32 arithmetic claimed exact, far", "f32", PLAIN, at=["1000000:1000064"], stores=["float32"], numerics="exact",
        types={step: "float32" for step in ("freq", "angle", "wave")}),
    Row("one too large, far", "shift", PLAIN, at=["1000000:1000064", "5000000:5000064"], stores=["float32"], numerics="exact",
        positions=lambda p: p + 1),
    Row("one too large, where float32 bounds little", "shift", PLAIN, at=["1000000:1000064"], stores=["float32"],
        positions=lambda p: p + 1),
    Row("angles added up in float32", "recurrence|f32", PLAIN, at=["0:4096"], stores=["float32"], claim=lambda c: c.update(head_dim=16),
        angle=accumulated),
    Row("rows rotated on in bfloat16", "recurrence|low16", PLAIN, at=["0:64"], stores=FINE, waves=rotated_on("bfloat16")),
    Row("rows rotated on in float16", "recurrence|low16", PLAIN, at=["0:64"], stores=FINE, waves=rotated_on("float16")),
    Row("running product of bfloat16 frequencies", "recurrence|low16|theta|ladder", PLAIN, stores=FINE, freq=chained),
    Row("reduced by a float16 2 pi", "reduction|f16", PLAIN, at=["1000:1064"], stores=FINE,
        angle=lambda a, p, w: np.mod(a, float(np.float16(2 * np.pi)))),
    Row("reduced by a float32 2 pi, far", "reduction|f32", PLAIN, at=["1000000:1000064"], stores=["float64"], numerics="exact",
        angle=lambda a, p, w: np.mod(a, float(np.float32(2 * np.pi)))),
    Row("reduced by 6.28", "reduction", PLAIN, at=["0:64", "1000:1064"], stores=FINE, angle=lambda a, p, w: np.mod(a, 6.28)),
    Row("sine from a table of 256", "lookup", PLAIN, stores=FINE, waves=table_of(256)),
    Row("sine from a table of 1024", "lookup", PLAIN, stores=FINE, at=["0:64"], waves=table_of(1024)),
    Row("Taylor sine of degree 7", "reduction", PLAIN, stores=FINE, waves=lambda c, s, a, f: (
        c * f, (lambda r: r - r**3 / 6 + r**5 / 120 - r**7 / 5040)((a + np.pi) % (2 * np.pi) - np.pi) * f)),
    Row("int8 waves", "quantized", PLAIN, stores=FINE, pairs=both(lambda x: np.rint(x * 127) / 127)),
    Row("float8 waves", "quantized", PLAIN, stores=FINE, pairs=both(arrays.e4m3)),
    Row("bfloat16 by truncation", "low16|bf16", stores=["bfloat16"], pairs=both(arrays.truncated)),
    Row("theta beyond float16", "nan|f16|theta|freq_rest|low16", ["qwen", "llama3-8k"], stores=FINE,
        freq=lambda w, c: np.where(np.arange(len(w)) == 0, 1, 0.0)),
]

# --- rows: memory ---

def at_rows(rows, change):
    def out(x, store):
        y = np.array(x, float)
        y[rows] = change(y, rows)
        return y
    return out


def spot(value):
    def out(x, store):
        y = np.array(x, float).reshape(x.shape)
        flat = y.reshape(-1)
        flat[len(flat) * 5 // 9] = value(flat[len(flat) * 5 // 9])
        return y
    return out


def noise(shape):
    return np.random.default_rng(11).normal(0, 3, shape)


ROWS = ["pairs", "hf", "vllm", "onnx"]
MEMORY = [
    Row("one row zero", "row", layouts=ROWS, out=at_rows(slice(19, 20), lambda y, r: 0)),
    Row("one row of its neighbour", "row|skip", layouts=ROWS, out=at_rows(slice(19, 20), lambda y, r: y[18])),
    Row("three rows of garbage", "row", layouts=ROWS, out=at_rows([5, 30, 61], lambda y, r: noise((3,) + y.shape[1:]))),
    Row("sixteen rows of garbage", "row", layouts=ROWS, out=at_rows(slice(32, 48), lambda y, r: noise((16,) + y.shape[1:]))),
    Row("last rows not written", "row|slice|zero_pos", layouts=ROWS, out=at_rows(slice(56, 64), lambda y, r: 0),
        cite="vllm-project/vllm-ascend#1266"),
    Row("alternate rows zero", "row|stride", layouts=ROWS, out=at_rows(slice(1, None, 2), lambda y, r: 0)),
    Row("uninitialised memory", "row|amplitude|nan", layouts=ROWS, out=lambda x, t: noise(x.shape) * 1e-38,
        cite="huggingface/transformers#45902"),
    Row("all zero", "zero_pos|amplitude|slice", out=lambda x, t: 0 * x),
    Row("one sign flipped", "element|sin_sign", stores=FINE, out=spot(lambda x: -x - 1e-2)),
    Row("one exponent bit flipped", "element", stores=FINE, out=spot(lambda x: x * 2.0 ** 32 + 1)),
    Row("one value a little off", "element", stores=FINE, out=spot(lambda x: x + 0.01)),
    Row("one NaN", "nan", layouts=ROWS, out=spot(lambda x: np.nan)),
    Row("one infinity", "nan", layouts=ROWS, out=spot(lambda x: np.inf)),
    Row("a row of NaN", "nan", layouts=ROWS, out=at_rows(slice(40, 41), lambda y, r: np.nan)),
    Row("all NaN", "nan", layouts=ROWS, out=lambda x, t: np.full_like(x, np.nan)),
    Row("NaN from row 32 on", "nan", layouts=ROWS, out=at_rows(slice(32, None), lambda y, r: np.nan)),
    Row("big-endian bytes", "endian", layouts=["pairs", "hf", "vllm"], out=lambda x, t: arrays.swapped(x, t)),
    Row("bfloat16 bytes read as float16", "misread|amplitude", layouts=["pairs", "hf"], stores=["float16"], out=lambda x, t: arrays.misread(x, t)),
    Row("float16 bytes read as bfloat16", "misread|amplitude", layouts=["pairs", "hf"], stores=["bfloat16"], out=lambda x, t: arrays.misread(x, t)),
    Row("from row 32 on of another theta", "stale", PLAIN, layouts=["pairs"],
        pairs=lambda c, s: tuple(np.concatenate([x[:32], y[32:]]) for x, y in zip((c, s), made(
            {"head_dim": 2 * c.shape[1], "rope_theta": 77777.0}, np.arange(64))))),
    Row("a tile transposed", "tile", layouts=ROWS, pairs=both(
        lambda x: np.block([[x[:16, :16].T, x[:16, 16:]], [x[16:]]]))),
    Row("flat buffer rolled by one", "flat", layouts=ROWS, out=lambda x, t: np.roll(x.reshape(-1), 1).reshape(x.shape)),
    Row("row stride one too long", "flat", layouts=["pairs", "hf"],
        out=lambda x, t: np.resize(np.pad(x, ((0, 0), (0, 1))).reshape(-1), x.size).reshape(x.shape)),
    Row("a block of columns zero", "slice|row", layouts=["pairs"], pairs=both(
        lambda x: np.where((np.arange(x.shape[1]) >= 8) & (np.arange(x.shape[1]) < 16), 0, x))),
]
# The number of a row chooses its windows and types: rows that come later stand at the end.
LATER = [
    Row("even pairs before odd ones", "permuted|channels", PLAIN, freq=lambda w, c: np.concatenate([w[::2], w[1::2]])),
    Row("pairs of the halves in turn", "permuted|channels", PLAIN,
        freq=lambda w, c: np.stack(np.split(w[:len(w) // 2 * 2], 2), 1).ravel()),
    Row("sines alone one row later", "shift", PLAIN, at=["0:64", "1000:1064"], layouts=["pairs"],
        waves=lambda c, s, a, f: (c, np.sin(2 * a - np.concatenate([2 * a[:1] - a[1:2], a[:-1]])) * f)),
    Row("sines alone in bfloat16", "low16", PLAIN, layouts=["pairs"], stores=FINE, pairs=lambda c, s: (c, arrays.rounded(s, "bfloat16"))),
    Row("positions cut to bfloat16", "pos16", at=["1000:1064", "4000:4064"], stores=FINE,
        positions=lambda p: (p.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32).astype(float)),
    Row("buffer one element later", "flat|shift", layouts=["meta", "vllm"], at=["0:64", "500:564"], out=lambda x, t: np.roll(x, -1)),
    Row("float64 bytes read as float32", "misread", PLAIN, layouts=["pairs", "vllm"], stores=["float32"],
        out=lambda x, t: np.ascontiguousarray(x, np.float64).view(np.float32).ravel()[:x.size].reshape(x.shape).astype(np.float64)),
    Row("rows padded by eight", "flat", layouts=["pairs", "vllm"],
        out=lambda x, t: np.pad(x, ((0, 0), (0, 8))).ravel()[:x.size].reshape(x.shape)),
    Row("inv_freq of 5 decimals", "decimals", PLAIN, at=["0:64", "1000:1064"], stores=FINE, freq=lambda w, c: np.round(w, 5)),
    Row("theta ten times and linear of 4", "theta", PLAIN,
        params=lambda c: {**c, "rope_theta": 10 * c["rope_theta"], "rope_type": "linear", "factor": 4.0}),
    Row("exponents in bfloat16", "bf16", PLAIN, at=["4000:4064"], stores=FINE,
        freq=lambda w, c: c["rope_theta"] ** -arrays.rounded(np.arange(len(w)) / len(w), "bfloat16")),
    Row("most rows at the last trained position", "clamp", at=["2030:2094"], positions=lambda p: np.minimum(p, p[0] + 17)),
    Row("left padding not counted", "running", at=[[1.0] * 5 + PACKED[24:]], positions=lambda p: np.arange(len(p)) * 1.0),
    Row("pairs transposed, then repeated", "transposed", ["small"], layouts=["hf"], at=["0:32"], pairs=both(lambda x: x.T)),
    Row("positions over the number of rows", "linear", PLAIN, at=["0:64"], positions=lambda p: p / len(p)),
]
# Laws that hardly move a frequency, or whose numbers are those of a fitted one: near position 0, and in narrow types.
FAINT = [
    Row("exponent over d - 2, near", "over_two", PLAIN, at=["0:32", "1000:1032"], freq=exponents(lambda e, d: e * d / (d - 2))),
    Row("exponent 4i/d, near", "twofold", PLAIN, at=["16:80"], freq=exponents(lambda e, d: 2 * e)),
    Row("ntk of theta times factor", "naive_ntk", ["ntk8"], at=["0:64", "1000:1032"], params=twist(power=1)),
    Row("dynamic of 5000", "long_length|ladder", ["dynamic2"], at=["0:64", "1000:1032"], params=other(seq_len=5000)),
    Row("proportional as a part of its own", "rotary_exponent", ["gemma4"], at=["0:32", "16:80"],
        freq=lambda w, c: np.where(np.arange(128) < 32, c["rope_theta"] ** (-np.arange(128) / 32), 0)),
    Row("llama3 factors exchanged, near", "exchanged_factors", LLAMA, at=["0:64", "1000:1032"],
        freq=lambda w, c: np.where(2 * np.pi / ladder.plain(c) < 8192, ladder.plain(c), ladder.plain(c) / c["factor"])),
    Row("llama3 middle divided, near", "hard_bands", LLAMA, at=["0:64", "1000:1032"],
        freq=lambda w, c: np.where(2 * np.pi / ladder.plain(c) < 2048, ladder.plain(c), ladder.plain(c) / c["factor"])),
    Row("llama3 of 64 times", "factor", LLAMA, at=["0:2048:32"], params=other(factor=64.0)),
    Row("yarn ramp of theta 10000, near", "ramp_base", ["yarn4", "yarn32"], at=["0:64", "1000:1032"], params=twist(base=1e4)),
    Row("yarn attention factor of 0.07", "less_factor", YARN[:2], factor=lambda a, c: 0.07 * np.log(c["factor"]) + 1),
    Row("yarn attention factor of log2", "base_2", YARN[:2], factor=lambda a, c: 0.1 * np.log2(c["factor"]) + 1),
    Row("longrope attention factor of yarn", "yarn_factor", ["phi3", "phi3-short"], factor=lambda a, c: 0.1 * np.log(32) + 1),
    Row("longrope attention factor of 8192", "other_original", ["phi3", "phi3-short"], factor=lambda a, c: np.sqrt(17 / 13),
        stores=FINE),
    Row("TF32 product far out", "tf32_exact", PLAIN, at=["3001:3065"], stores=FINE[:1], layouts=["pairs"],
        positions=lambda p: arrays.rounded(p, "tf32"), freq=lambda w, c: arrays.rounded(w, "tf32")),
    Row("linear twice, restarted", "twice_shifted", ["linear4"], at=["100:132"], positions=lambda p: p - p[0],
        freq=lambda w, c: w / 4),
]


def ladder_goes_on(x, t):
    """hf, small, 0:32: the angles of arange(d), in the place of those of arange(d/2) twice."""
    d = x.shape[1]
    angle = np.arange(32)[:, None] * 1e4 ** (-2 * np.arange(d) / d)
    return np.cos(angle) if x[0, 0] > 0.5 else np.sin(angle)


def powers(kind):
    """Each row is the one before it, turned once more, and rounded to a type."""
    def waves(c, s, a, f):
        rows = [np.ones(c.shape[1], complex)]
        for _ in a[1:]:
            z = rows[-1] * np.exp(1j * a[1])
            rows.append(arrays.rounded(z.real, kind) + 1j * arrays.rounded(z.imag, kind))
        return np.real(rows), np.imag(rows)
    return waves


STRANGERS = [
    Row("all pairs at the last frequency", "of_pair", PLAIN, at=["0:64", "100:132"], freq=lambda w, c: 0 * w + w[-1]),
    Row("all pairs at frequency 5", "of_pair", PLAIN, at=["0:64", "1000:1032"], freq=lambda w, c: 0 * w + w[5]),
    Row("positions in thousandths", "many_times", PLAIN, at=["0:64", "100:132"], positions=lambda p: 1000 * p),
    Row("positions times 50", "many_times", PLAIN, at=["0:64", "100:132"], positions=lambda p: 50 * p),
    Row("exponents over 80", "other_head", PLAIN, at=["0:64", "0:300"], freq=exponents(lambda e, d: e * d / 80)),
    Row("exponents over 112", "other_head", PLAIN, at=["0:64", "0:300"], freq=exponents(lambda e, d: e * d / 112)),
    Row("exponents over head_dim, theta ten times", "other_head", ["gptj"], at=["20:84", "0:300"], stores=FINE,
        freq=lambda w, c: (10 * c["rope_theta"]) ** (-np.arange(0, 64, 2) / 256)),
    Row("yarn for linear", "scaling_type", ["linear4"], params=other(rope_type="yarn", original_max_position_embeddings=4096)),
    Row("hf: second half goes on with the ladder", "goes_on", ["small"], at=["0:32"], layouts=["hf"], cases=1, out=ladder_goes_on),
    Row("waves taken twice", "waves_twice", PLAIN, pairs=lambda c, s: (np.cos(c), np.sin(s))),
    Row("bfloat16 bits read as float16, then widened", "other_bits", PLAIN, layouts=["pairs", "vllm"], stores=FINE,
        out=lambda x, t: arrays.misread(x, "float16")),
    Row("float16 bits read as bfloat16, then widened", "other_bits", PLAIN, layouts=["pairs", "vllm"], stores=FINE,
        out=lambda x, t: arrays.misread(x, "bfloat16")),
    Row("running product in bfloat16", "recurrence", PLAIN, at=["0:64"], stores=FINE, waves=powers("bfloat16")),
    Row("sines doubled", "sines_scaled", PLAIN, layouts=["pairs", "vllm"], pairs=lambda c, s: (c, 2 * s)),
]
TABLE_ROWS = POSITIONS + THETA + LADDER + SCALING + WAVES + CHANNELS + PRECISION + MEMORY + LATER + FAINT + STRANGERS


def cases():
    both = [table_case(row, number, v) for number, row in enumerate(TABLE_ROWS) for v in range(row.cases)]
    rows = list(enumerate(row for row in POSITIONS + THETA + LADDER + SCALING if not row.layouts))
    return both + [table_case(row, number, 0, ("cos", "sin")[number % 2]) for number, row in rows]
