"""bias - mistakes in what is added to scores or indexes a learned table: ALiBi, T5, DeBERTa, Shaw, Swin, attention scales.

Each family is a function of its claim; a row gives other arguments to it, or changes what it returns.
"""
import numpy as np

import arrays
import ladder
from case import Case
from rope import pick

FLOATS = ["float32", "float32", "float64", "bfloat16", "float16"]


def slopes(heads, top=8.0, variant="press", start=1, base=2.0):
    """Press et al., arXiv:2108.12409; other counts than powers of two by their published code."""
    def power(n):
        return base ** (-top * np.arange(start, n + start) / n)
    n = 2 ** int(np.floor(np.log2(heads)))
    if variant == "formula" or n == heads:
        return power(heads)
    more = {"press": power(2 * n)[::2][:heads - n], "tail": power(2 * n)[1::2][:heads - n], "next": power(2 * n)[:heads - n],
            "ceiling": None}[variant]
    if variant == "ceiling":
        return power(2 * n)[:heads]
    return np.concatenate([power(n), more])


def alibi(c, m=None, distance=None, variant=None, form=None):
    """-m |i - j| symmetric; -m (i - j) causal, -inf above; m j by key."""
    m = slopes(c["num_heads"], c.get("alibi_bias_max", 8), variant or c.get("variant", "press")) if m is None else m(c["num_heads"])
    form = form or c.get("form", "symmetric")
    n = c.get("key_length", c["query_length"])
    i, j = np.arange(n - c["query_length"], n)[:, None], np.arange(n)[None, :]
    if form == "key":
        d = -np.broadcast_to(j, (c["query_length"], n))[-1:]
    else:
        d = np.abs(i - j) if form == "symmetric" else i - j
    d = distance(i, j) if distance else d
    bias = -m[:, None, None] * d
    return np.where(j > i, -np.inf, bias) if form == "causal" else bias + 0.0


ALIBI = {"num_heads": 8, "query_length": 20}
ALIBI12 = {"num_heads": 12, "query_length": 20}
CAUSAL = {"num_heads": 8, "query_length": 20, "form": "causal"}
KEY = {"num_heads": 6, "query_length": 1, "key_length": 32, "form": "key"}
CACHED = {"num_heads": 8, "query_length": 4, "key_length": 32, "form": "causal"}
ALIBI_ROWS = [
    ("a: slopes of the formula for 12 heads", "variant", [ALIBI12], {"variant": "formula"}, "ml-explore/mlx#343, ml-explore/mlx#3071"),
    ("a: slopes of the next 2^n heads", "variant|heads", [ALIBI12], {"variant": "ceiling"}, "mosaicml/examples#307"),
    ("a: extra slopes from the odd places", "variant|heads", [ALIBI12], {"variant": "tail"}, "NVIDIA/TensorRT-LLM#1611"),
    ("a: extra slopes not strided", "variant|heads", [ALIBI12], {"variant": "next"}, "NVIDIA/TensorRT-LLM#1611"),
    ("a: slopes from 1, not 1/2", "slope_start", [ALIBI, CAUSAL], {"m": lambda h: slopes(h, start=0)}, "paiml/aprender#2143"),
    ("a: slopes one head later", "slope_start", [ALIBI, CAUSAL], {"m": lambda h: slopes(h, start=2)}, ""),
    ("a: slopes of the local heads (tensor parallel)", "heads", [ALIBI, CAUSAL], {"m": lambda h: slopes(32)[:h]},
     "flashinfer-ai/flashinfer#1606, bigscience-workshop/Megatron-DeepSpeed#227"),
    ("a: slopes of rank 1", "heads|slope_start", [ALIBI], {"m": lambda h: slopes(16)[8:]}, "flashinfer-ai/flashinfer#5101"),
    ("a: slopes of 16 heads", "heads", [ALIBI, CAUSAL], {"m": lambda h: slopes(16)[:h]}, ""),
    ("a: slopes of half the heads, twice", "heads|freq_repeat", [ALIBI], {"m": lambda h: np.tile(slopes(h // 2), 2)}, ""),
    ("a: heads in reverse", "head_order", [ALIBI, CAUSAL, KEY], {"m": lambda h: slopes(h)[::-1]}, ""),
    ("a: heads rolled by one", "head_order|slope_start", [ALIBI], {"m": lambda h: np.roll(slopes(h), 1)}, ""),
    ("a: two heads exchanged", "head_order", [ALIBI], {"m": lambda h: slopes(h)[[0, 1, 5, 3, 4, 2, 6, 7]]}, ""),
    ("a: bias_max 4", "bias_max", [ALIBI, CAUSAL], {"m": lambda h: slopes(h, 4)}, ""),
    ("a: bias_max 16", "bias_max", [ALIBI, KEY], {"m": lambda h: slopes(h, 16)}, ""),
    ("a: base e", "bias_max|slope_base", [ALIBI, CAUSAL], {"m": lambda h: slopes(h, base=np.e)}, ""),
    ("a: slopes linear", "slope_form", [ALIBI], {"m": lambda h: np.arange(h, 0, -1) / h}, ""),
    ("a: one slope for all heads", "slope_form|heads", [ALIBI], {"m": lambda h: np.full(h, 0.5)}, ""),
    ("a: slopes negative", "bias_sign", [ALIBI, CAUSAL, KEY], {"m": lambda h: -slopes(h)}, ""),
    ("a: slopes reciprocal", "reciprocal|slope_form", [ALIBI], {"m": lambda h: 1 / slopes(h)}, ""),
    ("a: slopes squared", "bias_max|squared", [ALIBI], {"m": lambda h: slopes(h) ** 2}, ""),
    ("a: one head's slope zero", "head_order|slope_form|one_head", [ALIBI], {"m": lambda h: np.where(np.arange(h) == 3, 0, slopes(h))}, ""),
    ("a: divided by sqrt(head_dim)", "bias_scale", [ALIBI, CAUSAL], {"m": lambda h: slopes(h) / 8}, "NVIDIA/TensorRT-Model-Connect#32"),
    ("a: times sqrt(head_dim)", "bias_scale", [ALIBI, CAUSAL], {"m": lambda h: slopes(h) * 11.313708498984761}, ""),
    ("a: added twice", "bias_scale|squared", [ALIBI, CAUSAL], {"m": lambda h: slopes(h) * 2}, ""),
    ("a: distances one too large", "distance_shift", [ALIBI, CAUSAL], {"distance": lambda i, j: np.abs(i - j) + 1}, "vllm-project/vllm#945"),
    ("a: distances one too small", "distance_shift", [CAUSAL, CACHED], {"distance": lambda i, j: i - j - 1}, "vllm-project/vllm#945"),
    ("a: distances from the cache's start", "distance_shift", [CACHED], {"distance": lambda i, j: i - 28 - j}, ""),
    ("a: query positions from 0 (cache ignored)", "distance_shift", [CACHED], {"distance": lambda i, j: np.abs(i - 28 - j)}, ""),
    ("a: by key, not by distance", "form", [ALIBI, {**ALIBI, "num_heads": 4}], {"form": "key", "distance": lambda i, j: -(j + 0 * i)},
     "mosaicml/llm-foundry#186"),
    ("a: by key from the last (1 - n .. 0)", "distance_shift|form", [KEY], {"distance": lambda i, j: (j[0, -1] - j) + 0 * i}, "mosaicml/llm-foundry#186"),
    ("a: by key from 1", "distance_shift", [KEY], {"distance": lambda i, j: -(j + 1)}, ""),
    ("a: by key of the left-padded prompt", "distance_shift|padding|clamp", [KEY], {"distance": lambda i, j: -np.maximum(j - 5, 0)}, ""),
    ("a: sign of the distance kept", "form|absolute|bias_sign", [ALIBI], {"distance": lambda i, j: i - j}, ""),
    ("a: sign of the distance turned", "form|absolute|bias_sign", [ALIBI], {"distance": lambda i, j: j - i}, ""),
    ("a: future keys at zero, not masked", "form|mask", [CAUSAL], {"form": "symmetric", "distance": lambda i, j: np.maximum(i - j, 0)}, ""),
    ("a: symmetric for causal", "form|mask", [CAUSAL], {"form": "symmetric"}, ""),
    ("a: causal for symmetric", "form|mask|nan", [ALIBI], {"form": "causal"}, ""),
    ("a: distances squared", "distance_form", [ALIBI, CAUSAL], {"distance": lambda i, j: (i - j) ** 2}, ""),
    ("a: logarithm of distances", "distance_form", [ALIBI], {"distance": lambda i, j: np.log1p(np.abs(i - j))}, ""),
    ("a: distances clipped at 8", "clamp|distance_form", [ALIBI, CAUSAL], {"distance": lambda i, j: np.minimum(np.abs(i - j), 8)}, ""),
    ("a: distances halved", "linear|bias_scale|heads", [ALIBI], {"distance": lambda i, j: np.abs(i - j) / 2}, ""),
    ("a: by query, not by distance", "form|distance_form", [ALIBI], {"distance": lambda i, j: i + 0 * j}, ""),
    ("a: root of distances", "distance_form", [ALIBI], {"distance": lambda i, j: np.sqrt(np.abs(i - j))}, ""),
    ("a: slopes in bfloat16", "low16|bf16", [ALIBI12, {**ALIBI12, "query_length": 12}], {"m": lambda h: arrays.rounded(slopes(h), "bfloat16")}, ""),
    ("a: slopes in float16", "low16|f16", [ALIBI12], {"m": lambda h: arrays.rounded(slopes(h), "float16")}, ""),
    ("a: slopes of the formula, negative", ["variant", "bias_sign"], [ALIBI12], {"m": lambda h: -slopes(h, variant="formula")}, ""),
    ("a: heads in reverse, added twice", ["head_order", "bias_scale"], [ALIBI, CAUSAL], {"m": lambda h: 2 * slopes(h)[::-1]}, ""),
    ("a: by key, with the mask", "form", [CAUSAL, {**CAUSAL, "num_heads": 4}], {"distance": lambda i, j: -(j + 0 * i)}, ""),
    ("a: queries one later", "distance_shift", [ALIBI], {"distance": lambda i, j: np.abs(i + 1 - j)}, ""),
    ("a: distances in 8 bits", "overflow", [{"num_heads": 4, "query_length": 2, "key_length": 200}],
     {"distance": lambda i, j: np.abs(i - j).astype(np.int8).astype(float)}, ""),
    ("a: times log2 e, mask as claimed", "log", [{**CAUSAL, "mask_value": -10000.0}], {"m": lambda h: slopes(h) * np.log2(np.e)}, ""),
    ("a: slopes of rank 0 in both halves", "heads|freq_repeat", [ALIBI], {"m": lambda h: np.tile(slopes(h)[: h // 2], 2)}, ""),
    ("a: window restarts every 8", "wrap|restart|distance_form", [ALIBI], {"distance": lambda i, j: np.abs(i - j) % 8}, ""),
    ("a: queries one earlier", "distance_shift", [ALIBI], {"distance": lambda i, j: np.abs(i - 1 - j)}, ""),
    ("a: distances one shorter, none below 0", "distance_shift", [ALIBI], {"distance": lambda i, j: np.maximum(np.abs(i - j) - 1, 0)}, ""),
    ("a: slopes from 1, negative", ["slope_start", "bias_sign"], [ALIBI12, KEY], {"m": lambda h: -slopes(h, start=0)}, ""),
    ("a: slopes of the formula, divided by sqrt(head_dim)", ["variant", "bias_scale"], [ALIBI12],
     {"m": lambda h: slopes(h, variant="formula") / 8}, ""),
    ("a: slopes of 16 heads, negative", ["heads", "bias_sign"], [ALIBI12, {**CAUSAL, "num_heads": 12}], {"m": lambda h: -slopes(16)[:h]}, ""),
    ("a: slopes of rank 1, negative", ["heads", "bias_sign"], [ALIBI, ALIBI12], {"m": lambda h: -slopes(2 * h)[h:]}, ""),
    ("a: slopes of rank 1, heads in reverse", ["heads", "head_order"], [ALIBI, ALIBI12], {"m": lambda h: slopes(2 * h)[h:][::-1]}, ""),
    ("a: slopes of rank 0 in both halves, negative", ["heads", "bias_sign"], [ALIBI, CAUSAL], {"m": lambda h: -np.tile(slopes(h)[: h // 2], 2)}, ""),
    ("a: slopes of half the heads, twice, reciprocal", ["heads|freq_repeat", "reciprocal"], [ALIBI], {"m": lambda h: 1 / np.tile(slopes(h // 2), 2)}, ""),
    ("a: slopes of rank 1, distances one too large", ["heads", "distance_shift"], [ALIBI12], {"m": lambda h: slopes(2 * h)[h:], "distance": lambda i, j: np.abs(i - j) + 1}, ""),
    ("a: base e, negative", ["slope_base", "bias_sign"], [ALIBI], {"m": lambda h: -slopes(h, base=np.e)}, ""),
    ("a: distances one too large, negative", ["distance_shift", "bias_sign"], [ALIBI], {"m": lambda h: -slopes(h), "distance": lambda i, j: np.abs(i - j) + 1}, ""),
    ("a: heads in reverse, times log2 e", ["head_order", "log"], [ALIBI], {"m": lambda h: slopes(h)[::-1] * np.log2(np.e)}, ""),
    ("a: distances over 2, rounded down", "linear|distance_form|halved", [ALIBI], {"distance": lambda i, j: np.abs(i - j) // 2}, ""),
]
CHANGES = [
    ("a: queries and keys exchanged", "transposed|bias_sign|mask|form", CAUSAL, lambda x: x.swapaxes(1, 2)),
    ("a: heads last", "transposed|shape", ALIBI, lambda x: x.transpose(1, 2, 0)),
    ("a: head 2 of garbage", "one_head|row", ALIBI, lambda x: np.where(np.arange(8)[:, None, None] == 2, 0.3, x)),
    ("a: last query row zero", "row|element", ALIBI, lambda x: np.where(np.arange(20)[None, :, None] == 19, 0, x)),
    ("a: one element off", "element|row", ALIBI, lambda x: x + (np.arange(x.size) == 777).reshape(x.shape)),
    ("a: NaN where masked", "nan|mask", CAUSAL, lambda x: np.where(np.isinf(x), np.nan, x)),
    ("a: mask by one key too many", "mask", CAUSAL, lambda x: np.where(np.arange(20)[None] == np.arange(20)[:, None], -np.inf, x)),
    ("a: mask by one key too few", "mask", CAUSAL, lambda x: np.where(
        np.arange(20)[None] == np.arange(20)[:, None] + 1, slopes(8)[:, None, None], x)),
    ("a: no mask", "mask", CAUSAL, lambda x: -slopes(8)[:, None, None] * (np.arange(20)[:, None] - np.arange(20)[None])),
    ("a: mask -10000 for -inf", "mask", CAUSAL, lambda x: np.where(np.isinf(x), -1e4, x)),
    ("a: mask +inf", "mask|bias_sign|nan", CAUSAL, lambda x: np.where(np.isinf(x), np.inf, x)),
    ("a: constant added by head", "distance_shift|offset", ALIBI, lambda x: x + 1.5),
    ("a: queries in reverse", "reverse|permuted|transposed|distance_form", ALIBI, lambda x: x[:, ::-1]),
    ("a: mask 0, slopes doubled", ["mask", "bias_scale|slope_start"], CAUSAL, lambda x: np.where(np.isinf(x), 0, 2 * x)),
    ("a: keys 6 and more before masked", "mask", CAUSAL, lambda x: np.where(np.arange(20)[None] <= np.arange(20)[:, None] - 6, -np.inf, x)),
]
SLOPE_ROWS = [
    ("l: formula for 12 heads", "variant", 12, lambda h: slopes(h, variant="formula")),
    ("l: formula for 6 heads", "variant", 6, lambda h: slopes(h, variant="formula")),
    ("l: next 2^n heads", "variant|heads", 12, lambda h: slopes(h, variant="ceiling")),
    ("l: from 1", "slope_start", 8, lambda h: slopes(h, start=0)),
    ("l: of 16 heads", "heads", 8, lambda h: slopes(16)[:h]),
    ("l: of 32 heads", "heads", 16, lambda h: slopes(32)[:h]),
    ("l: in reverse", "head_order", 16, lambda h: slopes(h)[::-1]),
    ("l: negative", "bias_sign", 8, lambda h: -slopes(h)),
    ("l: bias_max 16", "bias_max", 16, lambda h: slopes(h, 16)),
    ("l: bias_max 10 of 12 heads", "bias_max", 12, lambda h: slopes(h, 10)),
    ("l: slopes of rank 0 in both halves", "heads|freq_repeat", 16, lambda h: np.tile(slopes(h)[: h // 2], 2)),
    ("l: logarithms", "slope_form|log", 8, lambda h: np.log2(slopes(h))),
    ("l: reciprocal", "reciprocal", 8, lambda h: 1 / slopes(h)),
    ("l: press extra heads sorted", "head_order|variant", 12, lambda h: np.sort(slopes(h))[::-1]),
    ("l: one slope zero", "one_head|element", 8, lambda h: np.where(np.arange(h) == 7, 0, slopes(h))),
]


def alibi_case(name, words, claim, got, v, cite=""):
    store = pick(FLOATS, v)
    right, got = alibi(claim), arrays.rounded(got, store)
    allowed = (2.0 ** -21 * np.abs(np.where(np.isfinite(right), right, 0)) + 0.51 * arrays.ulp(np.where(np.isfinite(right), right, 1), store) + 1e-30)
    # A mask of -inf has a JSON form, null; NaN has none.
    upload = "json" if np.isinf(right).any() or v % 2 == 0 else "npy"
    member = "bias" if upload == "json" and not np.isnan(got).any() and not np.isposinf(got).any() else "table"
    body = {"encoding": pick(["alibi", "alibi/bias"], v) if member == "bias" else "alibi/bias", "parameters": claim, "member": member}
    words = words if isinstance(words, list) else [words]
    return Case(f"{name} [{store}, {claim.get('form', 'symmetric')}, {claim['num_heads']} heads]", "alibi", body, {"": got}, store, words,
                {"": right}, {"": allowed}, upload, cite)


def slope_case(name, words, heads, make, v):
    store, right = pick(FLOATS, 2 * v), slopes(heads)
    got = arrays.rounded(make(heads), store)
    allowed = 2.0 ** -20 * right + 0.51 * arrays.ulp(right, store)
    return Case(f"{name} [{store}]", "alibi slopes", {"encoding": "alibi", "parameters": {"num_heads": heads}, "member": "slopes"},
                {"": got}, store, [words], {"": right}, {"": allowed})


# --- indices ---

def distances(c):
    n = c.get("key_length", c["query_length"])
    return np.arange(n)[None] - np.arange(n - c["query_length"], n)[:, None]


def t5(c, d=None, bidirectional=None, buckets=None, top=None, exact=None, log=np.log, side=0, edge=np.floor, clip=True, offset=None,
       unit=None):
    """Raffel et al., arXiv:1910.10683, as mesh_tensorflow computes it."""
    d = distances(c) if d is None else d(distances(c))
    buckets, top = buckets or c.get("num_buckets", 32), top or c.get("max_distance", 128)
    bidirectional = c.get("bidirectional", True) if bidirectional is None else bidirectional
    first = np.zeros_like(d)
    if bidirectional:
        buckets //= 2
        first = np.where(d > 0 if side == 0 else d < 0 if side == 1 else d >= 0, buckets if offset is None else offset, 0)
        n = np.abs(d)
    else:
        n = np.maximum(-d, 0)
    exact = exact(buckets) if exact else buckets // 2
    unit = unit or exact
    large = exact + edge(log(np.maximum(n, 1) / unit) / log(top / unit) * (buckets - exact))
    if clip:
        large = np.minimum(large, buckets - 1)
    return first + np.where(n < exact, n, large)


def deberta(c, d=None, buckets=None, top=None, edge=np.ceil):
    """make_log_bucket_position of DeBERTa-v2: query - key."""
    d = -distances(c) if d is None else d(-distances(c))
    mid, top = (buckets or c.get("num_buckets", 32)) // 2, top or c.get("max_distance", 128)
    far = edge(np.log(np.maximum(np.abs(d), 1) / mid) / np.log((top - 1) / mid) * (mid - 1)) + mid
    return np.where(np.abs(d) <= mid, d, np.sign(d) * far)


def shaw(c, k=None, low=0, sign=1, clip=True, add=None):
    k = k or c["max_relative_position"]
    d = sign * distances(c) + low
    if clip:
        d = np.clip(d, -k, k)
    return d + (k if add is None else add)


def swin(c, width=None, sign=1, mirror=1, swap=False, stride=None, shift=None, mesh="ij", more=0, absolute=False):
    """Liu et al., arXiv:2103.14030: the index into the table of (2h - 1)(2w - 1) offsets."""
    h, w = c["window_height"], c["window_width"]
    y, x = (a.reshape(-1) for a in np.meshgrid(np.arange(h), np.arange(w), indexing=mesh))
    dy, dx = sign * (y[:, None] - y), mirror * sign * (x[:, None] - x)
    if swap:
        return (dx + w - 1) * (2 * h - 1) + dy + h - 1 + more
    if absolute:
        dy, dx = np.abs(dy), np.abs(dx)
    up, left = (h - 1, w - 1) if shift is None else shift
    return (dy + up) * (stride or 2 * w - 1) + dx + left


def coordinates(c, pretrained=None, log=np.log2, times=8.0, over=8.0, order=1, sign=True, less=1):
    """Swin v2's log-spaced offsets: arXiv:2111.09883."""
    def axis(name):
        n = c["window_" + name]
        last = (pretrained or c.get("pretrained_window_" + name, n)) - less
        x = np.arange(1 - n, n) * times / last
        y = log(1 + np.abs(x)) / log(over)
        return np.sign(x) * y if sign else y
    return np.stack(np.meshgrid(axis("height"), axis("width"), indexing="ij")[::order], -1)


def scale(c, beta=None, length=None, offset=0, log=np.log1p, floor=np.floor, plus=1.0, power=1):
    """The attention temperature of Llama 4: 1 + beta ln(1 + floor(p / original length))."""
    p = ladder.span(c["positions"]) + offset
    return (plus + (c.get("beta", 0.1) if beta is None else beta) * log(floor(p / (length or c["original_max_position_embeddings"])))) ** power


def decay(c, base=None, mean=True, sine=False, d=None, first=0, of=None):
    """The average cosine of all pairs: RoFormer, section 3.4.3. of: what is made of the waves exp(i angle)."""
    w = np.power(base or c.get("rope_theta", 1e4), -(np.arange(0, c["head_dim"], 2) + 2 * first) / (d or c["head_dim"]))
    angles = np.outer(ladder.span(c["offsets"]), w)
    if of:
        return of(np.exp(1j * angles))
    a = (np.sin if sine else np.cos)(angles)
    return a.mean(1) if mean else a.sum(1)


def numbered(c, past=True, token=0, padding=None, masked=True, arange=False, count=None):
    """Position ids of OPT, or of RoBERTa: padding has the id before the first token's. token: added to ids of tokens. count: of a mask."""
    if "input_ids" in c:
        mask, first = (np.array(c["input_ids"]) != 1).astype(int), 2 + past * c.get("past_key_values_length", 0)
        none = 1
    else:
        mask, first = np.array(c["attention_mask"]), c.get("offset", 0)
        none = first - 1
    count = count(mask) if count else np.arange(mask.shape[1]) + 0 * mask if arange else np.cumsum(mask, 1) - 1
    ids = count + first + token
    return ids if arange or not masked else np.where(mask == 1, ids, none if padding is None else padding)


def padded(c, arange=False, start=0, masked=True, none=0, first=False, sign=1):
    """build_alibi_tensor of BLOOM: keys count from the first that is no padding."""
    mask = np.array(c["attention_mask"])
    mask = mask[:1] + 0 * mask if first else mask
    place = np.arange(mask.shape[1]) + 0 * mask if arange else (np.cumsum(mask, 1) - 1 + start) * (mask if masked else 1)
    place = np.where(mask == 0, none, place) if none else place
    return sign * slopes(c["num_heads"])[None, :, None, None] * place[:, None, None, :]


BI, UNI = {"query_length": 40}, {"query_length": 40, "bidirectional": False}
FAR, SMALL = {"query_length": 160, "key_length": 160}, {"query_length": 30, "num_buckets": 16, "max_distance": 32}
PAST = {"query_length": 4, "key_length": 60, "bidirectional": False}
DEBERTA = {"query_length": 60, "num_buckets": 32, "max_distance": 128, "variant": "deberta"}
SHAW = {"query_length": 24, "max_relative_position": 6}
SWIN = {"window_height": 4, "window_width": 6}
CPB = {"window_height": 8, "window_width": 6, "pretrained_window_height": 12, "pretrained_window_width": 12}
MASK = [[0, 0, 0, 1, 1, 1, 1, 1, 1], [1] * 9, [1, 1, 1, 1, 1, 0, 0, 0, 0]]
OPT, PADDED = {"attention_mask": MASK, "offset": 2}, {"attention_mask": MASK, "num_heads": 8}
ROBERTA = {"input_ids": [[0, 31, 52, 7, 2, 1, 1, 1], [0, 9, 8, 7, 6, 5, 4, 2]]}
SQUARE = {**CPB, "window_width": 8}
SCALE = {"positions": "0:131072:2048", "original_max_position_embeddings": 8192, "beta": 0.1}
DECAY = {"head_dim": 64, "offsets": "0:200"}
FUNCTIONS = [
    ("t5/buckets", t5, "int32", [
        ("b: one direction for both", "direction", BI, {"bidirectional": False}, "huggingface/transformers#8518"),
        ("b: both directions for one", "direction", UNI, {"bidirectional": True}, "NVIDIA/TensorRT-LLM#1343"),
        ("b: sign of the distance", "bias_sign|inverse", BI, {"d": lambda d: -d}, "lucidrains/x-transformers#10"),
        ("b: sign of the distance, one direction", "bias_sign|inverse", UNI, {"d": lambda d: -d}, ""),
        ("b: 64 buckets", "buckets", BI, {"buckets": 64}, ""),
        ("b: 16 buckets", "buckets", BI, {"buckets": 16}, ""),
        ("b: max_distance 64", "max_distance", FAR, {"top": 64}, ""),
        ("b: max_distance 256", "max_distance", FAR, {"top": 256}, ""),
        ("b: max_distance 20 (another model's)", "max_distance", SMALL, {"top": 20}, ""),
        ("b: exact part a quarter", "bucket_edge|buckets", BI, {"exact": lambda b: b // 4}, ""),
        ("b: exact part one longer", "bucket_edge", BI, {"exact": lambda b: b // 2 + 1}, ""),
        ("b: not clipped", "clamp|bucket_edge", {**FAR, "query_length": 200, "key_length": 200}, {"clip": False}, "huggingface/candle#1312"),
        ("b: rounded, not floored", "bucket_edge", BI, {"edge": np.rint}, ""),
        ("b: rounded up", "bucket_edge", BI, {"edge": np.ceil}, ""),
        ("b: logarithm of the distance itself", "whole_log", FAR, {"unit": 1}, ""),
        ("b: zero counts as ahead", "bucket_edge|direction|element|diagonal", BI, {"side": 2}, ""),
        ("b: keys before are the upper half", "bias_sign|direction|inverse", BI, {"side": 1}, ""),
        ("b: offset of all buckets", "buckets|direction|offset", BI, {"offset": 32}, ""),
        ("b: past length ignored", "distance_shift", PAST, {"d": lambda d: np.arange(60)[None] - np.arange(4)[:, None]}, "NVIDIA/TensorRT-LLM#1343"),
        ("b: past length one more", "distance_shift", PAST, {"d": lambda d: d - 1}, ""),
        ("b: distances one too large", "distance_shift", BI, {"d": lambda d: d + 1}, ""),
        ("b: absolute distances, one direction", "absolute|bias_sign|direction", UNI, {"d": lambda d: -np.abs(d)}, ""),
        ("b: plain distances, no buckets", "clamp|bucket_edge|max_distance|buckets", FAR, {"exact": lambda b: 15, "top": 1e9}, ""),
        ("b: distances clipped at 40", "clamp", FAR, {"d": lambda d: np.clip(d, -40, 40)}, ""),
        ("b: distances clipped at 24, one direction", "clamp", {**FAR, "bidirectional": False}, {"d": lambda d: np.clip(d, -24, 24)}, ""),
        ("b: sign, and 16 buckets", "buckets + bias_sign|inverse", FAR, {"d": lambda d: -d, "buckets": 16}, ""),
        ("b: 16 buckets, and max_distance 64", "buckets + max_distance", FAR, {"buckets": 16, "top": 64}, ""),
        ("b: rounded, and 16 buckets", "buckets + bucket_edge", FAR, {"edge": np.rint, "buckets": 16}, ""),
    ]),
    ("t5/buckets deberta", deberta, "int32", [
        ("d: key minus query", "bias_sign|inverse", DEBERTA, {"d": lambda d: -d}, ""),
        ("d: floored", "bucket_edge", {**DEBERTA, "query_length": 100}, {"edge": np.floor}, ""),
        ("d: max_distance 512", "max_distance", {**DEBERTA, "query_length": 100}, {"top": 512}, ""),
        ("d: 64 buckets", "buckets", DEBERTA, {"buckets": 64}, ""),
        ("d: distances clipped at 30", "clamp", DEBERTA, {"d": lambda d: np.clip(d, -30, 30)}, ""),
    ]),
    ("shaw/indices", shaw, "int32", [
        ("h: query minus key", "bias_sign|inverse|reverse", SHAW, {"sign": -1}, ""),
        ("h: not clipped", "clamp", SHAW, {"clip": False}, ""),
        ("h: clip one larger", "shaw_clip", SHAW, {"k": 7}, ""),
        ("h: clip half", "shaw_clip", SHAW, {"k": 3}, ""),
        ("h: not moved to 0", "distance_shift|offset", SHAW, {"add": 0}, ""),
        ("h: moved by one more", "distance_shift|offset", SHAW, {"add": 7}, ""),
        ("h: clip exclusive", "shaw_clip", SHAW, {"k": 5, "add": 6}, ""),
        ("h: distances one too large", "distance_shift", SHAW, {"low": 1}, ""),
        ("h: sign, and twice the clip", "shaw_clip + bias_sign|inverse", SHAW, {"sign": -1, "k": 12}, ""),
        ("h: sign, and not moved to 0", "bias_sign|inverse + distance_shift|offset", SHAW, {"sign": -1, "add": 0}, ""),
        ("h: half the clip, and not moved to 0", "shaw_clip + distance_shift|offset", SHAW, {"k": 3, "add": 0}, ""),
    ]),
    ("swin/index", swin, "int32", [
        ("w: key minus query", "bias_sign|inverse|reverse|transposed", SWIN, {"sign": -1}, ""),
        ("w: columns mirrored", "bias_sign|reverse|mirrored", SWIN, {"mirror": -1}, ""),
        ("w: rows upside down", "bias_sign|reverse|mirrored", SWIN, {"mirror": -1, "sign": -1}, ""),
        ("w: rows and columns exchanged", "axes", SWIN, {"swap": True}, ""),
        ("w: stride of the height", "axes|stride", SWIN, {"stride": 7}, ""),
        ("w: stride 2w, not 2w - 1", "stride|off", SWIN, {"stride": 12}, ""),
        ("w: not moved to 0", "offset|distance_shift", SWIN, {"shift": (0, 0)}, ""),
        ("w: into the table of a window of 12", "stride|pretrained", SWIN, {"stride": 23, "shift": (11, 11)}, ""),
        ("w: absolute offsets", "absolute", SWIN, {"absolute": True}, ""),
        ("w: absolute offsets, not moved to 0", "absolute", SWIN, {"absolute": True, "shift": (0, 0)}, ""),
        ("w: meshgrid transposed", "axes", SWIN, {"mesh": "xy"}, ""),
        ("w: sign, and stride of the height", "bias_sign|inverse|reverse + axes|stride", SWIN, {"sign": -1, "stride": 7}, ""),
        ("w: sign, and not moved to 0", "bias_sign|inverse|reverse + offset", SWIN, {"sign": -1, "shift": (0, 0)}, ""),
        ("w: rows and columns exchanged, one more", "axes + offset", SWIN, {"swap": True, "more": 1}, ""),
        ("w: moved by h and w", "offset|distance_shift", SWIN, {"shift": (4, 6)}, ""),
    ]),
    ("swin/coordinates", coordinates, "float", [
        ("c: pretrained window ignored", "pretrained|scale_of", CPB, {"pretrained": 8}, ""),
        ("c: natural logarithm", "log|scale_of", CPB, {"log": np.log, "over": 2.0}, ""),
        ("c: not divided by log2 8", "log|scale_of", CPB, {"over": 2.0}, ""),
        ("c: no logarithm", "log|scale_of|shape_wave", CPB, {"log": lambda x: x - 1 + 1e-12, "over": 9.0}, ""),
        ("c: rows and columns exchanged", "axes", CPB, {"order": -1}, ""),
        ("c: sign lost", "absolute", CPB, {"sign": False}, ""),
        ("c: over the window, not the window - 1", "off", CPB, {"less": 0}, ""),
        ("c: pretrained window ignored, columns first", "pretrained|scale_of + axes", SQUARE, {"pretrained": 8, "order": -1}, ""),
        ("c: pretrained window ignored, natural logarithm", "pretrained|scale_of + log", SQUARE, {"pretrained": 8, "log": np.log, "over": 2.0}, ""),
        ("c: not times 8", "scale_of", CPB, {"times": 1.0}, ""),
        ("c: not times 8, not divided by log2 8", "times_8 + log8", SQUARE, {"times": 1.0, "over": 2.0}, ""),
        ("c: natural logarithm, not divided", "log8", CPB, {"log": np.log, "over": np.e}, ""),
        ("c: natural logarithm, not divided, sign lost", "log8 + absolute", CPB, {"log": np.log, "over": np.e, "sign": False}, ""),
        ("c: pretrained window ignored, not less 1", "pretrained", SQUARE, {"pretrained": 8, "less": 0}, ""),
        ("c: pretrained window ignored, not times 8", "pretrained + times_8", SQUARE, {"pretrained": 8, "times": 1.0}, ""),
        ("c: times 4", "scale_of|linear", CPB, {"times": 4.0}, ""),
    ]),
    ("position-ids", numbered, "int32", [
        ("p: padding counted", "padding", OPT, {"arange": True}, ""),
        ("p: padding counted (input_ids)", "padding", ROBERTA, {"arange": True}, ""),
        ("p: first token has the id of padding", "offset|shift", ROBERTA, {"token": -1}, ""),
        ("p: padding filled with 1", "padding", OPT, {"padding": 1}, ""),
        ("p: count not times the mask", "padding", ROBERTA, {"masked": False}, ""),
        ("p: past ignored", "distance_shift", {**ROBERTA, "past_key_values_length": 9}, {"past": False}, ""),
        ("p: counted through the batch", "running", OPT, {"count": lambda m: np.cumsum(m).reshape(m.shape) - 1}, ""),
        ("p: counted from the right", "reverse|from_right", ROBERTA, {"count": lambda m: np.cumsum(m[:, ::-1], 1)[:, ::-1] - 1}, ""),
        ("p: padding counted, offset 4", "padding + offset|shift", OPT, {"arange": True, "token": 4}, ""),
    ]),
    ("alibi/padded-bias", padded, "float", [
        ("q: padding counted", "padding", PADDED, {"arange": True}, ""),
        ("q: keys from 1", "offset|shift", PADDED, {"start": 1}, ""),
        ("q: padding counted, sign", "padding + bias_sign", PADDED, {"arange": True, "sign": -1}, ""),
        ("q: count not times the mask", "padding", PADDED, {"masked": False}, ""),
        ("q: padding at place -1", "padding", PADDED, {"none": -1}, ""),
        ("q: mask of the first item for all", "mask_of_first", PADDED, {"first": True}, ""),
    ]),
    ("rope/attention-scale", scale, "float", [
        ("m: beta 1", "beta", SCALE, {"beta": 1.0}, ""),
        ("m: beta 0.05", "beta", SCALE, {"beta": 0.05}, ""),
        ("m: original length 16384", "original", SCALE, {"length": 16384}, ""),
        ("m: original length a quarter", "original", SCALE, {"length": 2048}, ""),
        ("m: one position later", "shift", {**SCALE, "positions": "2047:131072:2048"}, {"offset": 1}, ""),
        ("m: not floored", "fraction", SCALE, {"floor": lambda x: x}, ""),
        ("m: log2", "log", SCALE, {"log": lambda x: np.log2(1 + x)}, ""),
        ("m: log10", "log", SCALE, {"log": lambda x: np.log10(1 + x)}, ""),
        ("m: 1 not added", "offset|amplitude|shift|missing_one", SCALE, {"plus": 0.0}, ""),
        ("m: of queries and of keys", "squared", SCALE, {"power": 2}, ""),
        ("m: divided by", "reciprocal", SCALE, {"power": -1}, ""),
        ("m: log for log1p", "log1p", SCALE, {"log": lambda x: np.log(np.maximum(x, 1))}, ""),
        ("m: no logarithm", "no_log", SCALE, {"log": lambda x: x}, ""),
        ("m: ceil", "floored", SCALE, {"floor": np.ceil}, ""),
        ("m: rounded to the nearest", "floored", SCALE, {"floor": np.rint}, ""),
        ("m: original length 6000", "original", SCALE, {"length": 6000}, ""),
        ("m: beta 0.07", "beta", SCALE, {"beta": 0.07}, ""),
        ("m: of queries and keys by halves", "root_scale", SCALE, {"power": 0.5}, ""),
        ("m: not floored, beta 0.3", "fraction + beta_other", SCALE, {"floor": lambda x: x, "beta": 0.3}, ""),
        ("m: always 1", "beta|stuck|constant", SCALE, {"beta": 0.0}, ""),
    ]),
    ("rope/decay", decay, "float", [
        ("y: sum for mean", "amplitude|scale_of", DECAY, {"mean": False}, ""),
        ("y: base 1000", "theta", DECAY, {"base": 1e3}, ""),
        ("y: sine for cosine", "exchange|one_wave", DECAY, {"sine": True}, ""),
        ("y: exponent over 2d", "ladder|root", DECAY, {"d": 128}, ""),
        ("y: exponent over d - 2", "over_two", DECAY, {"d": 62}, ""),
        ("y: pairs from 1", "index", DECAY, {"first": 1}, ""),
        ("y: mean of the first half", "half_of", DECAY, {"of": lambda z: z[:, :z.shape[1] // 2].real.mean(1)}, ""),
        ("y: square of the mean", "squared", DECAY, {"of": lambda z: z.real.mean(1) ** 2}, ""),
        ("y: modulus of the mean", "modulus", DECAY, {"of": lambda z: np.abs(z.mean(1))}, ""),
        ("y: mean of the moduli of partial sums", "bound", DECAY, {"of": lambda z: np.abs(np.cumsum(z, 1)).mean(1)}, ""),
    ]),
]


def function_case(path, make, kind, row, v):
    name, words, claim, changes, cite = row
    store = "int32" if kind == "int32" else pick(["float32", "float64"], v)
    right, got = make(claim), arrays.rounded(make(claim, **changes), store)
    allowed = 0.4 if kind == "int32" else 2.0 ** -18 + 0.51 * arrays.ulp(np.maximum(np.abs(right), 1e-3), store)
    path = path.split(" ")[0]
    return Case(f"{name} [{store}, {pick(['json', 'npy'], v)}]", path, {"encoding": path, "parameters": claim}, {"": got}, store,
                words.split(" + "), {"": right}, {"": allowed + 0 * right}, pick(["json", "npy"], v), cite)


# --- the same mistakes in what a learned table is looked up by ---

LOOKED_UP = {"t5/buckets": ("t5/bias", 32), "swin/index": ("swin/bias", 77)}


def table_of(claim, rows, heads=3):
    return np.round(np.random.default_rng(7).normal(size=(claim.get("num_buckets", rows), heads)), 4)


def look_up(weights, index):
    """As array libraries do: below 0 from the end, beyond the end the last row."""
    index = np.asarray(index).astype(int)
    return weights[np.where(index < 0, index + len(weights), np.minimum(index, len(weights) - 1))].transpose(2, 0, 1)


def lookup_case(path, row, make, v):
    """make: the biases, from the table and the right ones."""
    name, words, claim, cite = row
    path, rows = LOOKED_UP[path]
    weights, store = table_of(claim, rows), pick(["float32", "float32", "bfloat16", "float64"], v + len(name))
    right = look_up(weights, (t5 if path == "t5/bias" else swin)(claim))
    got = arrays.rounded(make(weights, right), store)
    parameters = {**claim, "weights": weights.tolist()}
    return Case(f"{name}, looked up [{store}]", path, {"encoding": path, "parameters": parameters}, {"": got}, store, words.split(" + "),
                {"": right}, {"": 0.51 * arrays.ulp(np.maximum(np.abs(right), 1e-3), store)}, "json", cite)


WHOLE_BIASES = [
    ("t: heads in reverse", "head_order", "t5/buckets", BI, lambda w, x: x[::-1]),
    ("t: heads last in memory", "transposed", "t5/buckets", BI, lambda w, x: x.transpose(1, 2, 0).reshape(x.shape)),
    ("t: table reshaped for transposed", "transposed", "t5/buckets", BI, lambda w, x: look_up(w.reshape(w.shape[::-1]).T, t5(BI))),
    ("t: sign of the distance, heads in reverse", "bias_sign + order_of_heads", "t5/buckets", BI, lambda w, x: look_up(w, t5(BI, d=lambda d: -d))[::-1]),
    ("t: divided by sqrt(head_dim)", "bias_scale", "t5/buckets", BI, lambda w, x: x / 8),
    ("t: max_distance 64, doubled", "max_distance + bias_scale", "t5/buckets", FAR, lambda w, x: 2 * look_up(w, t5(FAR, top=64))),
    ("t: table reshaped, one direction", "transposed + direction", "t5/buckets", BI, lambda w, x: look_up(w.reshape(w.shape[::-1]).T, t5(BI, bidirectional=False))),
    ("t: 16 sigmoid of the biases", "sigmoid", "swin/index", SWIN, lambda w, x: 16 / (1 + np.exp(-x))),
    ("t: meshgrid transposed, negative", "axes + bias_sign", "swin/index", SWIN, lambda w, x: -look_up(w, swin(SWIN, mesh="xy"))),
    ("t: heads last in memory", "transposed", "swin/index", SWIN, lambda w, x: x.transpose(1, 2, 0).reshape(x.shape)),
    ("t: table reshaped for transposed", "transposed", "swin/index", SWIN, lambda w, x: look_up(w.reshape(w.shape[::-1]).T, swin(SWIN))),
]


def cases():
    made = [alibi_case(name, words, pick(claims, v), alibi(pick(claims, v), **changes), k + v, cite)
            for k, (name, words, claims, changes, cite) in enumerate(ALIBI_ROWS) for v in (0, 1)]
    made += [alibi_case(name, words, claim, change(alibi(claim)), k + v) for k, (name, words, claim, change) in enumerate(CHANGES) for v in (0, 1)]
    made += [slope_case(name, words, heads, make, v) for name, words, heads, make in SLOPE_ROWS for v in (0, 1)]
    made += [lookup_case(path, (name, words, claim, cite), lambda w, x, make=make, c=claim, f=changes: look_up(w, make(c, **f)), v)
             for path, make, kind, rows in FUNCTIONS if path in LOOKED_UP
             for name, words, claim, changes, cite in rows if "into the table" not in name for v in (0, 1)]
    made += [lookup_case(path, (name, words, claim, ""), make, v) for name, words, path, claim, make in WHOLE_BIASES for v in (0, 1)]
    return made + [function_case(path, make, kind, row, v) for path, make, kind, rows in FUNCTIONS for row in rows for v in (0, 1)]
