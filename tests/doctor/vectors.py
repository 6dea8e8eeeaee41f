"""vectors - mistakes in rotated queries and keys, in inverse frequencies alone, and in rotations of several axes.

Vectors take the rows of rope.py that change positions, frequencies or waves, and rows of their own that turn wrongly.
"""
import numpy as np

import arrays
import ladder
import rope
from case import Case
from rope import CLAIMS, PLAIN, Row, YARN, base_of, both, made, pick, unscaled

SHAPES = [(32,), (2, 32), (2, 2, 32)]
STORES = ["float32", "float64", "float32", "bfloat16", "float16"]


def split(x, d, pairing, apart=None):
    """Both numbers of each pair of the first d channels."""
    if pairing == "interleaved":
        return x[..., 0:d:2], x[..., 1:d:2]
    apart = apart or d // 2
    return x[..., :d // 2], x[..., apart:apart + d // 2]


def joined(x, a, b, d, pairing, apart=None):
    y = np.array(x, float)
    if pairing == "interleaved":
        y[..., 0:d:2], y[..., 1:d:2] = a, b
    else:
        apart = apart or d // 2
        y[..., :d // 2], y[..., apart:apart + d // 2] = a, b
    return y


def turned(x, cos, sin, d, pairing, apart=None):
    a, b = split(x, d, pairing, apart)
    return joined(x, a * cos - b * sin, b * cos + a * sin, d, pairing, apart)


def flipped(pairing):
    return "half" if pairing == "interleaved" else "interleaved"


def concatenated(x, cos, sin, d, pairing):
    a, b = split(x, d, "interleaved")
    return joined(x, a * cos - b * sin, b * cos + a * sin, d, "half")


def overwritten(x, cos, sin, d, pairing):
    a, b = split(x, d, pairing)
    a = a * cos - b * sin
    return joined(x, a, b * cos + a * sin, d, pairing)


def half_signs(first, second):
    def turn(x, cos, sin, d, pairing):
        a, b = split(x, d, pairing)
        return joined(x, a * cos + first * b * sin, b * cos + second * a * sin, d, pairing)
    return turn


def part(chosen, otherwise=lambda x, y: x):
    """Only a part of the leading axes is turned."""
    def turn(x, cos, sin, d, pairing):
        y = turned(x, cos, sin, d, pairing)
        z = otherwise(x, y)
        z = np.array(z, float)
        z[chosen] = y[chosen]
        return z
    return turn


def along_heads(x, cos, sin, d, pairing):
    """Positions run along the axis before the tokens."""
    return turned(x, cos[:x.shape[-3], None], sin[:x.shape[-3], None], d, pairing)


def rest(change):
    """Channels past rotary_dim."""
    def turn(x, cos, sin, d, pairing):
        y = turned(x, cos, sin, d, pairing)
        y[..., d:] = change(y[..., d:])
        return y
    return turn


def tail(x, cos, sin, d, pairing):
    y = np.array(x, float)
    y[..., -d:] = turned(x[..., -d:], cos, sin, d, pairing)
    return y


def rounded_turn(kind):
    def turn(x, cos, sin, d, pairing):
        r = lambda v: arrays.rounded(v, kind)
        a, b = split(x, d, pairing)
        cos, sin = r(cos), r(sin)
        return joined(x, r(r(a * cos) - r(b * sin)), r(r(b * cos) + r(a * sin)), d, pairing)
    return turn


def repeated_waves(x, cos, sin, d, pairing):
    """Cosines repeated for neighbours, but halves turned (or the other way round)."""
    wide = (lambda t: np.repeat(t, 2, -1)) if pairing == "half" else (lambda t: np.concatenate([t, t], -1))
    c, s = wide(cos), wide(sin)
    a, b = split(x, d, pairing)
    ca, cb = split(c, d, pairing)
    sa, sb = split(s, d, pairing)
    return joined(x, a * ca - b * sa, b * cb + a * sb, d, pairing)


def one_head(change, head=1):
    """One head is turned by other angles: change(positions, frequencies) gives both."""
    def turn(x, cos, sin, d, pairing):
        amplitude = np.hypot(cos, sin)
        w = np.arctan2(sin[1] * cos[0] - cos[1] * sin[0], cos[1] * cos[0] + sin[1] * sin[0])
        p = np.round(np.arctan2(sin[:, -1], cos[:, -1]) / w[-1])
        p, w = change(p, w)
        y = turned(x, cos, sin, d, pairing)
        y[..., head, :, :] = turned(x, amplitude * np.cos(p[:, None] * w), amplitude * np.sin(p[:, None] * w), d, pairing)[..., head, :, :]
        return y
    return turn


def both_heads(x, cos, sin, d, pairing):
    """One is at other positions, one is not rotated."""
    y = one_head(lambda p, w: (p + 3, w))(x, cos, sin, d, pairing)
    y[..., 2, :, :] = x[..., 2, :, :]
    return y


SEVERAL = {"shapes": [(4, 32), (2, 4, 32)], "claims": PLAIN}
HEADS = {"shapes": [(2, 32), (2, 2, 32)]}
BATCH = {"shapes": [(2, 2, 32)]}
TURNS = [
    ("v: other pairing", "layout", lambda x, c, s, d, p: turned(x, c, s, d, flipped(p)), {}, "jzhang38/TinyLlama#24, jmaczan/tiny-vllm#6"),
    ("v: rotated twice", "squared|stride", lambda x, c, s, d, p: turned(turned(x, c, s, d, p), c, s, d, p), {"claims": PLAIN}, "EleutherAI/gpt-neox#363"),
    ("v: not rotated", "zero_pos", lambda x, c, s, d, p: x, {}, "kvcache-ai/sglang#66"),
    ("v: rotated back", "inverse", lambda x, c, s, d, p: turned(x, c, -s, d, p), {}, ""),
    ("v: halves written for interleaved", "layout|channels", concatenated, {}, "nntile/nntile#382"),
    ("v: first number overwritten too soon", "in_place", overwritten, {}, ""),
    ("v: no minus in rotate_half", "in_place|sin_sign", half_signs(1, 1), {}, ""),
    ("v: two minuses in rotate_half", "in_place|sin_sign", half_signs(-1, -1), {}, ""),
    ("v: repeated waves for concatenated", "layout|channels|freq_repeat", repeated_waves, {}, "lucidrains/rotary-embedding-torch#47"),
    ("v: first head alone", "head_part", part((Ellipsis, slice(0, 1), slice(None), slice(None))), HEADS, "oxiglade/mlx-rs#359"),
    ("v: second batch item not rotated", "head_part|batch", part((slice(0, 1),)), BATCH, "ml-explore/mlx#3795"),
    ("v: positions along heads", "seq_axis", along_heads, HEADS, "mlfoundations/open_lm#4"),
    ("v: one head negative", "head_part|sin_sign|amplitude", part((Ellipsis, slice(0, 1), slice(None), slice(None)), lambda x, y: -y), HEADS, ""),
    ("v: one head rotated back", "head_part|inverse", None, {**HEADS, "back": True}, ""),
    ("v: heads shuffled", "order_of_heads", lambda x, c, s, d, p: turned(x, c, s, d, p)[..., [2, 0, 3, 1], :, :], SEVERAL, ""),
    ("v: two heads exchanged", "order_of_heads", lambda x, c, s, d, p: turned(x, c, s, d, p)[..., [0, 2, 1, 3], :, :], SEVERAL, ""),
    ("v: keys tiled for groups, not repeated", "order_of_heads", lambda x, c, s, d, p: turned(x, c, s, d, p)[..., [0, 1, 0, 1], :, :], SEVERAL, ""),
    ("v: heads rolled", "order_of_heads", lambda x, c, s, d, p: np.roll(turned(x, c, s, d, p), 1, -3), SEVERAL, ""),
    ("v: batch items exchanged", "order_of_items", lambda x, c, s, d, p: turned(x, c, s, d, p)[::-1], {"shapes": [(2, 4, 32)]}, ""),
    ("v: heads and tokens read for each other", "seq_axis", lambda x, c, s, d, p: np.swapaxes(turned(x, c, s, d, p), -2, -3).reshape(x.shape), SEVERAL, ""),
    ("v: one head of another theta", ["one_head", "theta"], one_head(lambda p, w: (p, w ** 1.2)), SEVERAL, ""),
    ("v: one head at other positions", ["one_head", "shift"], one_head(lambda p, w: (p + 5, w)), SEVERAL, ""),
    ("v: one head interpolated", ["one_head", "linear"], one_head(lambda p, w: (p, w / 4), 3), SEVERAL, ""),
    ("v: one head in the other pairing", ["one_head", "layout"],
     lambda x, c, s, d, p: part((Ellipsis, [0, 1, 3], slice(None), slice(None)), lambda x, y: turned(x, c, s, d, flipped(p)))(x, c, s, d, p), SEVERAL, ""),
    ("v: one head scaled", ["one_head", "amplitude"], part((Ellipsis, [0, 1, 3], slice(None), slice(None)), lambda x, y: 1.25 * y), SEVERAL, ""),
    ("v: two heads, each in its way", ["shift", "zero_pos"], both_heads, SEVERAL, ""),
    ("v: rest zeroed", "rest|slice", rest(lambda r: 0 * r), {"claims": ["gptj"]}, ""),
    ("v: rest scaled", "rest|amplitude", rest(lambda r: 1.5 * r), {"claims": ["gptj"]}, ""),
    ("v: tail rotated, not head", "rest|slice|rotary|tail", tail, {"claims": ["gptj"]}, ""),
    ("v: partial ignored", "rotary", "full", {"claims": ["gptj"]}, "huggingface/transformers#48652, AI-Hypercomputer/maxtext#4616"),
    ("v: partial pairs half a head apart", "layout|rest|rotary", lambda x, c, s, d, p: turned(x, c, s, d, "half", x.shape[-1] // 2),
     {"claims": ["gptj"], "pairing": "half"}, "pie-project/pie#603"),
    ("v: scaled by 1/sqrt d", "amplitude", lambda x, c, s, d, p: turned(x, c, s, d, p) / np.sqrt(x.shape[-1]), {}, ""),
    ("v: bfloat16 products", "low16|bf16", rounded_turn("bfloat16"), {"stores": ["float32", "float64"]}, "rasbt/LLMs-from-scratch#838"),
    ("v: float16 products", "low16|f16", rounded_turn("float16"), {"stores": ["float32", "float64"]}, ""),
    ("v: tokens rolled by one", "shift|permuted", lambda x, c, s, d, p: np.roll(turned(x, c, s, d, p), 1, -2), {}, ""),
    ("v: channels reversed", "channels|reverse", lambda x, c, s, d, p: turned(x, c, s, d, p)[..., ::-1], {}, ""),
    ("v: three tokens of garbage", "row|element", part((Ellipsis, slice(0, 29), slice(None)), lambda x, y: 2.5 + 0 * y), {}, ""),
    ("v: one value off", "element", lambda x, c, s, d, p: turned(x, c, s, d, p) + (np.arange(x.size) == 501).reshape(x.shape) * 0.5,
     {"stores": ["float32", "float64"]}, ""),
    ("v: one NaN", "nan", lambda x, c, s, d, p: np.where((np.arange(x.size) == 501).reshape(x.shape), np.nan, turned(x, c, s, d, p)), {}, ""),
    ("v: cosine part alone", "one_wave|amplitude", lambda x, c, s, d, p: turned(x, c, 0 * s, d, p), {}, ""),
    ("v: sine and cosine exchanged", "exchange", lambda x, c, s, d, p: turned(x, s, c, d, p), {}, ""),
    ("v: second channels negated first", "in_place|sin_sign", lambda x, c, s, d, p: turned(joined(x, split(x, d, p)[0], -split(x, d, p)[1], d, p), c, s, d, p),
     {"claims": PLAIN}, ""),
    ("v: waves added, not rotated", "offset", lambda x, c, s, d, p: joined(x, split(x, d, p)[0] + s, split(x, d, p)[1] + c, d, p), {"claims": PLAIN}, ""),
    ("v: rotated and input added", "amplitude|one_wave|offset", lambda x, c, s, d, p: turned(x, c, s, d, p) + x, {}, ""),
    ("v: attention factor missing", "no_factor", lambda x, c, s, d, p: turned(x, c, s, d, p) / np.hypot(c, s)[0, 0], {"claims": YARN[:2]},
     "GaijinEntertainment/daScript#3479"),
    ("v: attention factor on queries and keys twice", "no_factor|squared", lambda x, c, s, d, p: turned(x, c, s, d, p) * np.hypot(c, s)[0, 0],
     {"claims": YARN[:2]}, "sgl-project/sglang#26203"),
    ("v: waves in bfloat16", "bf16", lambda x, c, s, d, p: turned(x, arrays.rounded(c, "bfloat16"), arrays.rounded(s, "bfloat16"), d, p),
     {"stores": ["float32", "float64"]}, "transformers: cos.to(dtype)"),
    ("v: waves in float16", "f16", lambda x, c, s, d, p: turned(x, arrays.rounded(c, "float16"), arrays.rounded(s, "float16"), d, p),
     {"stores": ["float32", "float64"]}, ""),
]
# The number of a row chooses its windows and types: rows that come later stand at the end.
LATER = [
    ("v: tokens shuffled", "permuted", lambda x, c, s, d, p: turned(x, c, s, d, p)[..., np.random.default_rng(3).permutation(x.shape[-2]), :], {}, ""),
    ("v: tail rotated, the other way", ["rest|slice|rotary|tail", "sin_sign"], lambda x, c, s, d, p: tail(x, c, -s, d, p), {"claims": ["gptj"]}, ""),
    ("v: result in the other order, the other way", ["layout", "sin_sign"],
     lambda x, c, s, d, p: joined(x, *split(turned(x, c, -s, d, p), d, p), d, flipped(p)), {}, ""),
    ("v: no minus in rotate_half, llama3 missing", ["in_place|sin_sign", "no_scaling"], half_signs(1, 1),
     {"claims": ["llama31", "llama32"], "steps": {"params": unscaled}}, ""),
    ("v: first number overwritten too soon, theta 10000", ["in_place", "theta"], overwritten,
     {"claims": ["llama3-8k", "qwen"], "steps": {"params": base_of(1e4)}}, ""),
    ("v: softmax folded in, llama3 missing", ["amplitude", "no_scaling"], lambda x, c, s, d, p: turned(x, c, s, d, p) / 8,
     {"claims": ["llama32"], "stores": ["float32", "float16"], "steps": {"params": unscaled}}, ""),
]


def in_halves(x, cos, sin, d, pairing):
    """Two vectors of half the width, each with every other frequency."""
    halves = [turned(y, cos[..., ::2], sin[..., ::2], d // 2, pairing) for y in (x[..., :d // 2], x[..., d // 2:d])]
    return np.concatenate(halves + [x[..., d:]], -1)


def second_product_missing(x, cos, sin, d, pairing):
    a, b = split(x, d, pairing)
    return joined(x, a * cos - b * sin, a * sin, d, pairing)


def unit_length(power):
    """power 0: the length is 1; power 1/2: so is the mean square."""
    def turn(x, cos, sin, d, pairing):
        y = turned(x, cos, sin, d, pairing)
        return y * y.shape[-1] ** power / np.linalg.norm(y, axis=-1, keepdims=True)
    return turn


LATER += [
    ("v: halves turned as heads of their own", "halved_heads", in_halves, {"claims": PLAIN, "pairing": "half"}, ""),
    ("v: second product missing", "missing_product", second_product_missing, {}, ""),
    ("v: pairs off by one channel", "pairs_shifted", lambda x, c, s, d, p: np.roll(turned(np.roll(x, 1, -1), c, s, d, p), -1, -1), {"claims": PLAIN}, ""),
    ("v: unit length afterwards", "normalized_after", unit_length(0), {}, ""),
    ("v: qk-norm afterwards", "normalized_after", unit_length(0.5), {}, ""),
]
# Rows of tables that mean the same of vectors.
BORROWED = ["one too large", "one too small", "offset of the cache ignored", "restarts in the middle", "packed: does not restart",
            "wraps at 48", "stays at the last trained position", "twice as large", "half as large", "rows in reverse",
            "left padding of 7 rows counts", "left padding of 5 rows at 0", "every row at the last position", "int8", "negative",
            "bfloat16 positions", "a row missing", "rows shuffled", "theta 10000 where 500000 is claimed", "theta odd",
            "theta ten times", "reciprocal frequencies", "exponent over d - 2", "exponent i/d", "slowest first",
            "last half zero", "exponent over head_dim, not rotary_dim", "linear missing", "linear of 4 that was not claimed",
            "yarn missing", "yarn attention factor missing", "llama3 missing", "longrope short where long is claimed",
            *(row.name for row in rope.FAINT), "bfloat16 frequencies", "amplitude 2", "sine from a table of 256", "ntk missing", "dynamic missing"]


def vector_case(row, turn, number, v, shapes=None, pairing=None, back=False, at=None):
    k = 2 * number + v
    name = pick(row.claims or ["llama2", "small", "gptj", "yarn4", "llama31"], number + v)
    claim = dict(CLAIMS[name])
    window = pick(row.at or at or ["0:32", "100:132"], k)
    p = ladder.span(window)
    shape, store = pick(shapes or SHAPES, k), pick(row.stores or STORES, k)
    pairing = pairing or pick(["half", "interleaved"], k)
    d = ladder.rotary_dim(claim)
    x = arrays.rounded(np.random.default_rng(k + 100).normal(size=shape[:-1] + (len(p), claim["head_dim"])), store)
    good = made(claim, p)
    right = turned(x, good[0], good[1], d, pairing)
    cos, sin, _, _ = made(claim, p, row.steps, row.types, pick(["float32", "exact"], v) if store != "float64" else "exact")
    cos, sin = row.steps.get("pairs", lambda c, s: (c, s))(cos, sin)
    if turn == "full":
        claim_full = {**claim, "rotary_dim": claim["head_dim"]}
        cos, sin, _, _ = made(claim_full, p)
        got = turned(x, cos, sin, claim["head_dim"], pairing)
    elif back:
        got = part((Ellipsis, slice(0, 1), slice(None), slice(None)), lambda x, y: turned(x, good[0], -good[1], d, pairing))(
            x, good[0], good[1], d, pairing)
    else:
        got = (turn or turned)(x, cos, sin, d, pairing)
    size = np.abs(x[..., :d]).max() * 2 * good[3]
    slack = joined(0 * x, *[rope.allowed_angle(good[2], p, good[3]) * size + 2.0 ** -21 * size] * 2, d, pairing)
    # 16-bit arithmetic has the rounding of two products and a sum.
    allowed = slack + (0.51 if store in ("float32", "float64") else 2) * arrays.ulp(np.maximum(np.abs(right), 1e-3), store)
    body = {"encoding": "rope", "parameters": {**claim, "pairing": pairing}, "member": "inputs", "positions": rope.window_sent(window)}
    label = f"{row.name} [{name}, {'x'.join(map(str, x.shape))}, {store}, {pairing}]"
    # Of a broadcast the reference has all leading axes.
    right = np.broadcast_to(right, np.shape(x))
    return Case(label, "rotated vectors", body, {"inputs": x, "rotated": arrays.rounded(got, store)}, store, row.words,
                {"rotated": right}, {"rotated": allowed}, "json", row.cite)


def turn_rows(list_of):
    return [(Row(name, words, options.get("claims"), stores=options.get("stores"), cite=cite, **options.get("steps", {})), turn,
             {key: options[key] for key in ("shapes", "pairing", "back") if key in options}) for name, words, turn, options, cite in list_of]


def vector_cases():
    rows = turn_rows(TURNS)
    for row in rope.TABLE_ROWS:
        if row.name in BORROWED:
            copy = Row("v: " + row.name, row.words, row.claims, row.at, [s for s in row.stores] if row.stores else None, cite=row.cite,
                       types=row.types, **row.steps)
            rows.append((copy, None, {"shapes": [(64,), (2, 64)], "at": ["0:64", "100:164"]}))
    rows += turn_rows(LATER)
    return [vector_case(row, turn, number, v, **options) for number, (row, turn, options) in enumerate(rows) for v in (0, 1)]


# --- inverse frequencies alone ---

def frequency_cases():
    rows = [row for row in rope.THETA + rope.LADDER + rope.SCALING + rope.FAINT if set(row.steps) <= {"params", "freq"} and
            "attention_factor" not in row.name and row.name != "yarn frequencies missing, factor kept"]
    rows += [row for row in rope.PRECISION if row.types and set(row.types) == {"freq"} and not row.numerics]
    return [case for number, row in enumerate(rows) for v in (0, 1) if (case := frequency_case(row, number, v))]


def frequency_case(row, number, v):
    name = pick(row.claims or rope.ANY, number + v)
    claim = dict(CLAIMS[name])
    if row.claim:
        row.claim(claim)
    store = pick(["float32", "float64"] if row.types else ["float32", "float64", "bfloat16"], 2 * number + v)
    right = ladder.frequencies(claim)
    got = arrays.rounded(made(claim, [0.0], row.steps, row.types)[2], store)
    allowed = 2.0 ** -20 * right + 0.51 * arrays.ulp(right, store) + 1e-30
    body = {"encoding": "rope/frequencies", "parameters": claim, "tensor": "inv_freq"}
    del body["tensor"]
    return Case(f"f: {row.name} [{name}, {store}]", "inverse frequencies", body, {"inv_freq": got}, store, row.words,
                {"inv_freq": right}, {"inv_freq": allowed}, pick(["json", "safetensors"], v), row.cite)


# --- M-RoPE ---

def multimodal(start=3, h=4, w=5, text=6, t=1):
    """Positions of text, an image of t frames and h x w patches, and text: [3, n], as in Qwen2-VL."""
    first = np.tile(np.arange(start), (3, 1))
    ids = np.stack(np.meshgrid(np.arange(t), np.arange(h), np.arange(w), indexing="ij")).reshape(3, -1) + start
    after = ids.max() + 1 + np.tile(np.arange(text), (3, 1))
    return np.concatenate([first, ids, after], 1).astype(float)


def axes_of(c):
    sections = c["mrope_section"]
    if not c.get("mrope_interleaved"):
        return np.repeat(np.arange(3), sections)
    axis = np.zeros(sum(sections), int)
    for a in (1, 2):
        axis[a:3 * sections[a]:3] = a
    return axis


def of_axis(c):
    """The number of each pair among those of its axis."""
    axis = axes_of(c)
    return np.array([np.sum(axis[:i] == a) for i, a in enumerate(axis)])


def mrope(c, p=None, axis=None, w=None, swap=None, store=None):
    p = np.asarray(c["positions"], float) if p is None else p(np.asarray(c["positions"], float))
    axis = axes_of(c) if axis is None else axis(c)
    w = ladder.frequencies(c) if w is None else w(ladder.frequencies(c), c)
    a = p[axis].T * w
    return np.cos(a), np.sin(a)


MROPE = {"head_dim": 128, "rope_theta": 1000000.0, "mrope_section": [16, 24, 24], "positions": multimodal().astype(int).tolist()}
MROPE3 = {"head_dim": 128, "rope_theta": 5000000.0, "mrope_section": [24, 20, 20], "mrope_interleaved": True,
          "positions": multimodal(4, 3, 6, 5).astype(int).tolist()}
IMAGE = slice(3, 23)


def image(change):
    """Of the first claim and of the second, the patches are between the texts."""
    def positions(p):
        p = p.copy()
        start = int(np.argmax(p[0] != p[1])) if (p[0] != p[1]).any() else 0
        inside = np.arange(p.shape[1])
        start = 3 if p.shape[1] == 29 else 4
        end = 23 if p.shape[1] == 29 else 22
        inside = slice(start, end)
        p[:, inside] = change(p[:, inside], p[0, start], p)
        return p
    return positions


def after_image(change):
    def positions(p):
        p = p.copy()
        end = 23 if p.shape[1] == 29 else 22
        p[:, end:] = change(p[:, end:], p)
        return p
    return positions


MROPE_ROWS = [
    ("o: height and width exchanged", "axes", {"p": lambda p: p[[0, 2, 1]]}, "sgl-project/sglang#3605"),
    ("o: time and width exchanged", "axes", {"p": lambda p: p[[2, 1, 0]]}, ""),
    ("o: time for all axes", "axes|one_axis", {"p": lambda p: p[[0, 0, 0]]}, "sgl-project/sglang#5265"),
    ("o: plain 1-D positions", "axes|one_axis|consecutive", {"p": lambda p: np.tile(np.arange(p.shape[1]) * 1.0, (3, 1))}, "gty111/gLLM#115"),
    ("o: sections for interleaved, or the reverse", "sections|layout", {"axis": lambda c: axes_of({**c, "mrope_interleaved": not c.get("mrope_interleaved")})},
     "ggml-org/llama.cpp#19443, xLLM-AI/xllm#2120"),
    ("o: sections in reverse", "sections|axes", {"axis": lambda c: 2 - axes_of(c)}, ""),
    ("o: sections of 22, 21, 21", "sections", {"axis": lambda c: np.repeat(np.arange(3), [22, 21, 21])}, ""),
    ("o: sections one pair later", "sections", {"axis": lambda c: np.concatenate([[0], axes_of(c)[:-1]])}, ""),
    ("o: frequencies restart in each section", "sections|ladder|restart", {"w": lambda w, c: np.concatenate([w[:24], w[:20], w[:20]])}, ""),
    ("o: each axis counts its pairs from 0", "sections|ladder|restart", {"w": lambda w, c: w[of_axis(c)]}, ""),
    ("o: each axis has a ladder of its own", "sections|ladder|restart",
     {"w": lambda w, c: c["rope_theta"] ** -(of_axis(c) / np.asarray(c["mrope_section"])[axes_of(c)])}, ""),
    ("o: sections ignored, width for all", "axes|one_axis|sections", {"axis": lambda c: np.full(64, 2)}, ""),
    ("o: image not moved behind the text", "shift|image", {"p": image(lambda part, s, p: part - s)}, ""),
    ("o: patches in columns", "axes|permuted|image", {"p": image(lambda part, s, p: part[[0, 2, 1]])}, "huggingface/transformers#41380"),
    ("o: merge of patches ignored", "stride|image|linear", {"p": image(lambda part, s, p: s + 2 * (part - s))}, ""),
    ("o: text after the image counts patches", "shift|image|delta", {"p": after_image(lambda part, p: part + p.shape[1] - 29 + 15)}, "ModelTC/LightLLM#1147"),
    ("o: text after the image one early", "shift|image|delta", {"p": after_image(lambda part, p: part - 1)}, ""),
    ("o: image's time runs", "axes|stride|image", {"p": image(lambda part, s, p: np.stack([part[1], part[1], part[2]]))}, ""),
    ("o: all one too large", "shift", {"p": lambda p: p + 1}, ""),
    ("o: theta 10000", "theta", {"w": lambda w, c: np.power(1e4, -np.arange(64) / 64)}, ""),
    ("o: theta 61357", "theta", {"w": lambda w, c: np.power(61357.0, -np.arange(64) / 64)}, ""),
    ("o: left padding counted", "shift|padding", {"p": lambda p: p + 5}, ""),
    ("o: width one too large", "shift|axes", {"p": lambda p: p + [[0], [0], [1]]}, ""),
    ("o: height and width exchanged, theta 10000", "axes + theta", {"p": lambda p: p[[0, 2, 1]], "w": lambda w, c: np.power(1e4, -np.arange(64) / 64)}, ""),
    ("o: plain 1-D positions, theta 3000", "consecutive + theta", {"p": lambda p: np.tile(np.arange(p.shape[1]) * 1.0, (3, 1)), "w": lambda w, c: np.power(3e3, -np.arange(64) / 64)}, ""),
    ("o: sections and layout of another model", "sections", {"axis": lambda c: axes_of({"mrope_section": [24, 20, 20] if c is MROPE else [16, 24, 24],
                                                                                       "mrope_interleaved": c is MROPE})}, ""),
    ("o: merge of patches ignored, text behind them", "merge", {"p": lambda p: after_image(lambda part, q: part + q[:, :-part.shape[1]].max() + 1 - part.min())(
        image(lambda part, s, q: part + (part - s) * [[0], [1], [1]])(p))}, ""),
    ("o: exponents over n - 1", "freq_shift", {"w": lambda w, c: np.power(c["rope_theta"], -np.arange(64) / 63)}, ""),
    ("o: sine negative, height and width exchanged", "sin_sign + axes", {"p": lambda p: -p[[0, 2, 1]]}, ""),
    ("o: each section has a ladder of its own, in blocks", "sections|ladder|restart",
     {"w": lambda w, c: np.concatenate([np.power(c["rope_theta"], -np.arange(n) / n) for n in c["mrope_section"]])}, ""),
    ("o: image moved on the time axis alone", "shift|image", {"p": image(lambda part, s, p: part - [[0], [s], [s]])}, ""),
]

# --- axes with frequencies of their own: FLUX, Wan, Lumina ---

def axes(c, p=None, dims=None, w=None, wave=lambda a: (np.cos(a), np.sin(a))):
    dims = dims or c["axes_dims"]
    w = [np.power(c["rope_theta"], -np.arange(0, d, 2) / d) for d in dims] if w is None else w(c)
    at = np.asarray(c["positions"], float)
    return wave(np.concatenate([a[:, None] * f for a, f in zip(at if p is None else p(at), w)], 1))


def mesh(t, h, w, start=0):
    return np.stack(np.meshgrid(np.arange(t), np.arange(h), np.arange(w), indexing="ij")).reshape(3, -1) + start


def token_order(t, h, w, order):
    return lambda p: p.reshape(3, t, h, w).transpose(0, *(k + 1 for k in order)).reshape(3, -1)


def ladder_of(c):
    w = np.power(c["rope_theta"], -np.arange(0, c["head_dim"], 2) / c["head_dim"])
    return np.split(w, np.cumsum(np.asarray(c["axes_dims"]) // 2)[:-1])


FLUX = {"head_dim": 128, "rope_theta": 10000.0, "axes_dims": [16, 56, 56], "positions": mesh(2, 4, 6).tolist()}
WAN = {"head_dim": 128, "rope_theta": 256.0, "axes_dims": [44, 42, 42], "positions": mesh(3, 5, 4, 1).tolist()}
AXES_ROWS = [
    ("j: height and width exchanged", "axes", {"p": lambda p: p[[0, 2, 1]]}, "ggml-org/llama.cpp#13282"),
    ("j: axes in reverse", "axes", {"p": lambda p: p[::-1]}, ""),
    ("j: axes_dims in another order", "axes|sections", {"w": lambda c: [np.power(c["rope_theta"], -np.arange(0, d, 2) / d) for d in c["axes_dims"][::-1]]}, ""),
    ("j: one ladder for all axes", "ladder|sections", {"w": ladder_of}, ""),
    ("j: from 0 or 1 on", "shift", {"p": lambda p: p - 1 if p.min() else p + 1}, ""),
    ("j: offset of the reference image on the width alone", "shift|axes", {"p": lambda p: p + [[0], [0], [6]]}, "Saquib764/omini-kontext#2"),
    ("j: centred", "shift|center", {"p": lambda p: p - [[0], [2], [3]]}, ""),
    ("j: tokens down the columns", "axes|permuted", {"order": (0, 2, 1)}, "pytorch/torchtitan#4244"),
    ("j: frames and rows of tokens exchanged", "axes|permuted", {"order": (1, 0, 2)}, ""),
    ("j: interpolated by 2", "linear", {"p": lambda p: p / 2}, ""),
    ("j: time over 4", "axes|linear", {"p": lambda p: p * [[0.25], [1], [1]]}, ""),
    ("j: time constant", "axes|stuck", {"p": lambda p: p * [[0], [1], [1]]}, ""),
    ("j: theta of time times 4", "theta", {"w": lambda c: [np.power(c["rope_theta"] * (1 if k else 4), -np.arange(0, d, 2) / d) for k, d in enumerate(c["axes_dims"])]}, ""),
    ("j: theta 10 times", "theta", {"w": lambda c: [np.power(c["rope_theta"] * 10, -np.arange(0, d, 2) / d) for d in c["axes_dims"]]}, ""),
    ("j: last tokens later", "shift", {"p": lambda p: p + 9 * (np.arange(p.shape[1]) >= p.shape[1] - 7)}, "vllm-project/vllm#10403"),
    ("j: sine negative", "sin_sign", {"wave": lambda a: (np.cos(a), -np.sin(a))}, ""),
    ("j: channels as another model shares them out", "axes|sections", {"other": True}, ""),
    ("j: exponent over head_dim", "rotary|ladder", {"w": lambda c: [np.power(c["rope_theta"], -np.arange(0, d, 2) / c["head_dim"]) for d in c["axes_dims"]]}, ""),
    ("j: theta 1000, height and width exchanged", "theta + axes", {"w": lambda c: [np.power(1e3, -np.arange(0, d, 2) / d) for d in c["axes_dims"]],
                                                             "p": lambda p: p[[0, 2, 1]]}, ""),
    ("j: theta 1000, centred", "theta + shift|center", {"w": lambda c: [np.power(1e3, -np.arange(0, d, 2) / d) for d in c["axes_dims"]], "p": lambda p: p - [[0], [2], [3]]}, ""),
    ("j: amplitude 1.2, exponent over head_dim", "amplitude + rotary|ladder",
     {"w": lambda c: [np.power(c["rope_theta"], -np.arange(0, d, 2) / c["head_dim"]) for d in c["axes_dims"]], "wave": lambda a: (1.2 * np.cos(a), 1.2 * np.sin(a))}, ""),
    ("j: sine negative, one too small", "sin_sign + shift", {"wave": lambda a: (np.cos(a), -np.sin(a)), "p": lambda p: p - 1}, ""),
    ("j: exponents over n - 1", "freq_shift", {"w": lambda c: [np.power(c["rope_theta"], -np.linspace(0, 1, d // 2)) for d in c["axes_dims"]]}, ""),
    ("j: theta 10000 or 256, exponents over n - 1", "theta + freq_shift",
     {"w": lambda c: [np.power(2.56e6 / c["rope_theta"], -np.linspace(0, 1, d // 2)) for d in c["axes_dims"]]}, ""),
    ("j: angles in bfloat16", "bf16", {"wave": lambda a: [f(arrays.rounded(a, "bfloat16")) for f in (np.cos, np.sin)]}, ""),
    ("j: text positions on all axes", "consecutive", {"p": lambda p: np.tile(np.arange(p.shape[1]) * 1.0, (3, 1))}, ""),
]


def rotated_case(kind, family, claim, pairing, right, got, store, words, cite):
    """Vectors that are turned by these waves, as [2, tokens, head_dim]."""
    x = arrays.rounded(np.random.default_rng(7).standard_normal((2, len(right[0]), claim["head_dim"])), store)
    right, got = (turned(x, *waves, claim["head_dim"], pairing) for waves in (right, got))
    return Case(f"{kind} [vectors, {store}]", family, {"encoding": "rope", "parameters": {**claim, "pairing": pairing}, "member": "inputs"},
                {"inputs": x, "rotated": arrays.rounded(got, store)}, store, words, {"rotated": right}, {"rotated": 2.0 ** -16 * np.maximum(np.abs(x), 1)},
                "json", cite)


def axes_case(row, number, v):
    name, words, changes, cite = row
    claim, store = pick([FLUX, WAN], v + number), pick(["float32", "float64", "bfloat16"], number + v)
    changes = dict(changes)
    if "order" in changes:
        changes["p"] = token_order(*((2, 4, 6) if claim is FLUX else (3, 5, 4)), changes.pop("order"))
    if changes.pop("other", False):
        changes["dims"] = (WAN if claim is FLUX else FLUX)["axes_dims"]
    if v == 2:
        return rotated_case(name, "axes", claim, "interleaved", axes(claim), axes(claim, **changes), pick(["float32", "float64"], number), words.split(" + "), cite)
    right, got = (dict(zip(("cos", "sin"), w)) for w in (axes(claim), axes(claim, **changes)))
    allowed = {key: 2.0 ** -18 + 0.51 * arrays.ulp(np.maximum(np.abs(x), 1e-3), store) for key, x in right.items()}
    return Case(f"{name} [{claim['axes_dims'][0]}, {store}]", "axes", {"encoding": "rope/table", "parameters": claim},
                {key: arrays.rounded(x, store) for key, x in got.items()}, store, words.split(" + "), right, allowed, "json", cite)


# --- rope/grid, xPos, positions of M-RoPE, scaled bases ---


def patches(c, swap=False, xy=False, offset=0, norm=1.0, theta=None, d=None, one=False, convention=None, order=None, mix=False, width=None,
            freq=None, angle=None, still=False, flat=False, lin=0, halves=False, sides=None, second=False):
    """Angles of patches: the row's, then the column's (Qwen2-VL, EVA-02); Pixtral gives even pairs to rows and odd ones to columns.
    DINOv3 has coordinates from -1 to 1, times 2 pi; sides: what they are instead, of (place, own side, both sides)."""
    dino = c.get("convention") == "dinov3"
    h, w, theta = c["height"], c["width"], theta or (100.0 if dino else 1e4)
    y, x = (a.reshape(-1) * 1.0 for a in np.meshgrid(np.arange(h), np.arange(w), indexing="ij"))
    if xy:
        y, x = (a.reshape(-1) * 1.0 for a in np.meshgrid(np.arange(h), np.arange(w), indexing="xy"))
    if width:
        y, x = np.arange(h * w) // width, np.arange(h * w) % width
    if c.get("spatial_merge_size") and order is None:
        order = lambda h, w: np.arange(h * w).reshape(h // 2, 2, w // 2, 2).swapaxes(1, 2).reshape(-1)
    if order is not None:
        y, x = y[order(h, w)], x[order(h, w)]
    y, x = (y + offset) * norm, (x + offset) * norm
    if swap:
        y, x = x, y
    if one:
        x = y
    x, y = 0 * x if still else x, np.arange(h * w) * 1.0 if flat else y
    if dino:
        sides = sides or (lambda i, n, both: 2 * np.pi * (2 * (i + 0.5) / n - 1))
        y, x = sides(y, h, (h, w)), sides(x, w, (h, w))
    convention = convention or c.get("convention", "qwen2_vl")
    full = np.power(theta, -np.arange(0, c["head_dim"], 2) / c["head_dim"])
    half = np.power(theta, -np.arange(0, c["head_dim"] // 2, 2) / (d or c["head_dim"] // 2 - 2 * lin))
    full, half = arrays.rounded(full, freq), arrays.rounded(half, freq)
    if halves:
        full = full.reshape(2, -1).T.reshape(-1)
    parts = [y[:, None] * full[::2], x[:, None] * full[1::2]] if convention == "pixtral" else [y[:, None] * half, x[:, None] * half]
    a = arrays.rounded(np.concatenate(parts, 1), angle)
    a = np.roll(a, a.shape[1] // 2, 1) if second else a
    return np.stack(parts, -1).reshape(a.shape) if mix else a


PATCHES = {"head_dim": 64, "height": 6, "width": 10}
PIXTRAL = {**PATCHES, "convention": "pixtral"}
DINOV3 = {**PATCHES, "convention": "dinov3"}
MERGED = {**PATCHES, "spatial_merge_size": 2}
TURN = 2 * np.pi
PATCH_ROWS = [
    ("p: rows and columns exchanged", "axes", {"swap": True}, "Meituan-AutoML/VisionLLaMA#4"),
    ("p: meshgrid transposed", "axes|permuted", {"xy": True}, "huggingface/pytorch-image-models#2541"),
    ("p: coordinates from 1", "shift", {"offset": 1}, "osaurus-ai/vmlx-swift#225"),
    ("p: coordinates of centres", "shift", {"offset": 0.5}, ""),
    ("p: theta 100", "theta", {"theta": 100.0}, ""),
    ("p: theta 500000", "theta", {"theta": 5e5}, ""),
    ("p: exponent over head_dim", "ladder|rotary|root", {"d": 64}, ""),
    ("p: coordinates scaled", "linear|normalized|stride", {"norm": 2.0}, ""),
    ("p: coordinates over the side", "linear|normalized", {"norm": 1 / 6}, ""),
    ("p: one axis twice", "axes|one_axis|stuck", {"one": True}, ""),
    ("p: axes interleaved by pair", "axes|layout|channels|convention", {"mix": True}, ""),
    ("p: width of the row count", "axes|width|stride|permuted", {"width": 6}, ""),
    ("p: width one too large", "axes|width|stride|permuted", {"width": 11}, ""),
    ("p: columns missing", "axes|freq_rest", {"still": True}, ""),
    ("p: number of the patch for its row", "width|axes|one_axis", {"flat": True}, ""),
    ("p: patches in reverse", "reverse|permuted", {"order": lambda h, w: np.arange(h * w)[::-1]}, ""),
    ("p: bfloat16 angles", "low16|bf16", {"angle": "bfloat16"}, ""),
    ("p: frequencies and angles in bfloat16", "low16|bf16", {"freq": "bfloat16", "angle": "bfloat16"}, ""),
    ("p: order of 2 x 2 merges", "permuted|merge", {"order": lambda h, w: np.arange(h * w).reshape(h // 2, 2, w // 2, 2).swapaxes(1, 2).reshape(-1)}, "osaurus-ai/vmlx-swift#225"),
    ("p: order of 2 x 2 merges, theta 100", "permuted|merge + theta",
     {"order": lambda h, w: np.arange(h * w).reshape(h // 2, 2, w // 2, 2).swapaxes(1, 2).reshape(-1), "theta": 100.0}, ""),
    ("p: meshgrid transposed, coordinates from 1", "axes|permuted + shift", {"xy": True, "offset": 1}, ""),
    ("p: exponents by linspace(0, 1)", "freq_shift|ladder", {"lin": 1}, ""),
    ("p: halves of the pairs exchanged (pixtral)", "axes", {"second": True}, ""),
    ("p: frequencies of pixtral in halves", "in_halves", {"halves": True}, ""),
]


# The same of DINOv3, and of patches in blocks.
DINO_ROWS = [
    ("p: DINOv3 corners", "shift", {"sides": lambda i, n, both: TURN * (2 * i / n - 1)}, ""),
    ("p: DINOv3 ends included", "normalized|off", {"sides": lambda i, n, both: TURN * (2 * i / (n - 1) - 1)}, ""),
    ("p: DINOv3 without 2 pi", "two_pi", {"sides": lambda i, n, both: 2 * (i + 0.5) / n - 1}, ""),
    ("p: DINOv3 by the longer side", "width|axes|normalized", {"sides": lambda i, n, both: TURN * (2 * (i + 0.5) / max(both) - 1)}, ""),
    ("p: DINOv3 by the shorter side", "width|axes|normalized", {"sides": lambda i, n, both: TURN * (2 * (i + 0.5) / min(both) - 1)}, ""),
    ("p: DINOv3 from 0 to 1", "normalized|range", {"sides": lambda i, n, both: TURN * (i + 0.5) / n}, ""),
    ("p: DINOv3 whole numbers", "normalized", {"sides": lambda i, n, both: TURN * i}, ""),
    ("p: DINOv3 corners without 2 pi", "shift + two_pi", {"sides": lambda i, n, both: 2 * i / n - 1}, ""),
    ("p: DINOv3 transposed", "axes", {"xy": True}, ""),
    ("p: DINOv3 theta 10000", "theta|root|squared", {"theta": 1e4}, ""),
]
BLOCK_ROWS = [
    ("p: blocks column by column", "merge|permuted", {"order": lambda h, w: np.arange(h * w).reshape(h // 2, 2, w // 2, 2).transpose(2, 0, 1, 3).reshape(-1)}, ""),
]


def patch_case(row, number, v):
    name, words, changes, cite = row
    claim, store = pick([PATCHES, PIXTRAL], v + number), pick(["float32", "float64"] if "angle" in changes else ["float32", "float64", "bfloat16"], number + v)
    if "d" in changes or "lin" in changes:
        claim = PATCHES
    if "halves" in changes or "second" in changes:
        claim = PIXTRAL
    claim = DINOV3 if "DINO" in name else MERGED if row in BLOCK_ROWS else claim
    angles = [patches(claim), patches(claim, **changes)]
    right, got = ({"cos": np.cos(a), "sin": np.sin(a), "angles": a} for a in angles)
    if v:
        right.pop("angles"), got.pop("angles")
    allowed = {key: 2.0 ** -18 + 0.51 * arrays.ulp(np.maximum(np.abs(x), 1e-3), store) for key, x in right.items()}
    return Case(f"{name} [{claim.get('convention', 'qwen2_vl')}, {store}, {len(got)} tensors]", "rope/grid", {"encoding": "rope/grid", "parameters": claim},
                {key: arrays.rounded(x, store) for key, x in got.items()}, store, words.split(" + "), right, allowed, pick(["json", "safetensors"], number), cite)


GRID_TURNS = [
    ("p: vectors, pairs of neighbours for halves", "layout|channels", "interleaved", {}),
    ("p: vectors, turned back", "inverse|sin_sign", "half", {"norm": -1.0}),
]


def grid_turn_case(row, v):
    name, words, pairing, changes = row
    x = arrays.rounded(np.random.default_rng(v).normal(size=(2, 60, 64)), "float32")
    right, got = (turned(x, np.cos(a), np.sin(a), 64, p) for a, p in ((patches(PATCHES), "half"), (patches(PATCHES, **changes), pairing)))
    return Case(f"{name} [{v}]", "rotated vectors", {"encoding": "rope/grid", "parameters": PATCHES, "member": "inputs"},
                {"inputs": x, "rotated": arrays.rounded(got, "float32")}, "float32", [words], {"rotated": right}, {"rotated": 2.0 ** -16 + 0 * right})


def xpos(c, base=None, center=None, gamma=0.4, sign=1, index=0, theta=None, step=2, applied=0, turn=False, waves=0, back=False, swap=False, over=None,
         whole=lambda e: e, away=lambda e: e):
    """Sun et al., arXiv:2212.10554: zeta_i = (2i/d + gamma) / (1 + gamma) to the power (p - center) / scale_base."""
    p, d = ladder.span(c["positions"]), c["head_dim"]
    center = len(p) // 2 if center is None else center
    zeta = (step * (np.arange(d // 2) + index) / d + gamma) / (over or 1 + gamma)
    zeta = zeta[::-1] if turn else zeta
    a = np.outer(p + waves, np.power(theta or 1e4, -np.arange(0, d, 2) / d))
    scale = zeta ** (sign * whole(away(p[:, None] - center) / (base or c.get("scale_base", 512))))
    if swap:
        return {"cos": np.sin(a), "sin": np.cos(a), "scale": scale}
    return {"cos": np.cos(a) * scale ** applied, "sin": np.sin(-a if back else a) * scale ** applied, "scale": scale}


XPOS = {"head_dim": 64, "positions": "0:48"}
XPOS_ROWS = [
    ("x: scale_base 1024", "scale_base", {"base": 1024.0}), ("x: scale_base 64", "scale_base", {"base": 64.0}),
    ("x: not centred", "center", {"center": 0}), ("x: centre one off", "center", {"center": 25}),
    ("x: scales of keys for queries", "reciprocal|inverse", {"sign": -1}), ("x: gamma 0.5", "gamma", {"gamma": 0.5}),
    ("x: zeta one pair later", "index|gamma", {"index": 1}), ("x: i/d for 2i/d", "gamma|root|ladder", {"step": 1}),
    ("x: theta 500000", "theta", {"theta": 5e5}), ("x: scale missing", "no_scale", {"base": 1e30}),
    ("x: scale in the waves, too", "squared|scale_of", {"applied": 1}), ("x: pairs in reverse", "reverse", {"turn": True}),
    ("x: waves one later, the scale not", "shift", {"waves": 1}), ("x: sines negative", "sin_sign|inverse", {"back": True}),
    ("x: cos and sin exchanged", "exchange", {"swap": True}), ("x: zeta not over 1.4", "undivided", {"over": 1.0}),
    ("x: distances from the centre without sign", "absolute", {"away": np.abs}),
    ("x: exponents floored", "floored", {"whole": np.floor}), ("x: exponents cut", "floored", {"whole": np.trunc}),
    ("x: gamma 0.4 missing, over 2", "gamma", {"gamma": 1.0}), ("x: waves over the scale", "over_scale", {"applied": -1}),
    ("x: scales of keys, another centre", "reciprocal + center", {"sign": -1, "center": 5}),
    ("x: scale_base 100, another centre", "scale_base + center", {"base": 100.0, "center": 5}),
    ("x: scales of keys, not over 1.4", "reciprocal + undivided", {"sign": -1, "over": 1.0}),
]


def scaled_base(c, power=None, base=1e4, linear=False, turn=1):
    """NTK's base b s^(d/(d - 2)), and what becomes of each frequency."""
    d, s = c["head_dim"], c["factor"]
    w = np.power(base, -np.arange(0, d, 2) / d)
    scaled = w / s if linear else np.power(base * s ** (power or d / (d - 2)), -np.arange(0, d, 2) / d)
    return {"inv_freq": w, "scaled_inv_freq": scaled, "wavelength": 2 * np.pi / w, "scaled_wavelength": 2 * np.pi / scaled, "stretch": (w / scaled) ** turn}


SCALED = {"head_dim": 64, "factor": 4.0}
SCALED_ROWS = [
    ("z: factor to (d - 2)/d", "power_of_factor", {"power": 62 / 64}), ("z: factor to d/(d - 1)", "power_of_factor", {"power": 64 / 63}),
    ("z: d of the pairs", "power_of_factor", {"power": 32 / 30}), ("z: linear scaling", "linear_for_base", {"linear": True}),
    ("z: stretch inverted", "stretch_inverse", {"turn": -1}), ("z: theta 1000", "theta", {"base": 1e3}),
]


def mixed_ids(c, grid=(1, 4, 6), merge=2, before=2, after=3, hold=False, swap=False, sum_=False, late=0, order=None,
              flat=False, anew=False, columns=False, stride=1, time=0):
    h, w = grid[1] // merge, grid[2] // merge
    ids = np.stack(np.meshgrid(np.arange(grid[0]), np.arange(h), np.arange(w), indexing="ij")).reshape(3, -1) * [[1], [stride], [stride]] + before + late
    ids[0] += time
    if swap:
        ids = ids[[0, 2, 1]]
    if columns:
        ids = ids.reshape(3, h, w).swapaxes(1, 2).reshape(3, -1)
    if order:
        ids = ids[list(order)]
    if hold:
        ids = ids * 0 + before
    top = before + h * w if sum_ else ids.max() + 1
    made = np.concatenate([np.tile(np.arange(before), (3, 1)), ids, (0 if anew else top) + np.tile(np.arange(after), (3, 1))], 1)
    return np.tile(np.arange(made.shape[1]), (3, 1)) if flat else made


IDS = {"token_runs": "text:2,image:6,text:3", "image_grid_thw": "1,4,6"}
IDS_ROWS = [
    ("i: height and width exchanged", "axes", {"swap": True}), ("i: all patches at one place", "stuck|axes|image", {"hold": True}),
    ("i: text after counts patches", "shift|image|delta", {"sum_": True}), ("i: image one late", "shift|image", {"late": 1}),
    ("i: time and width exchanged", "axes", {"order": (2, 1, 0)}), ("i: plain 1-D positions", "axes|one_axis|consecutive", {"flat": True}),
    ("i: text after begins at 0", "restart|shift|delta", {"anew": True}), ("i: image from 0", "shift|image", {"late": -2}),
    ("i: patches in columns", "permuted|axes|image", {"columns": True}), ("i: merge ignored", "merge", {"stride": 2}),
    ("i: merge ignored, height and width exchanged", "merge + axes", {"stride": 2, "swap": True}),
    ("i: time of the image from 0", "image", {"time": -2}),
    ("i: image from 0, text counts patches", "image + delta", {"late": -2, "sum_": True}),
]


def several(path, claim, make, rows, prefix_words):
    out = []
    for number, (name, words, changes) in enumerate(rows):
        for v in (0, 1):
            store = "int32" if path.endswith("positions") else pick(["float32", "float64"], v)
            right, got = make(claim), make(claim, **changes)
            if isinstance(right, np.ndarray):
                right, got = {"position_ids": right * 1.0}, {"position_ids": got * 1.0}
            allowed = {key: 2.0 ** -18 * np.maximum(np.abs(x), 1) for key, x in right.items()}
            if store == "int32" and v:
                continue
            out.append(Case(f"{name} [{store}]", path, {"encoding": path, "parameters": claim}, {key: arrays.rounded(x, store) for key, x in got.items()},
                            store, words.split(" + "), right, allowed, pick(["json", "safetensors"], number + v)))
    return out


def mrope_case(row, number, v):
    name, words, changes, cite = row
    claim, store = pick([MROPE, MROPE3], v), pick(["float32", "float64", "bfloat16"], number)
    if "22, 21, 21" in name or "w" in changes:
        claim = MROPE if "22" in name else pick([MROPE, MROPE3], v)
    if v == 2:
        return rotated_case(name, "M-RoPE", claim, "half", mrope(claim), mrope(claim, **changes), pick(["float32", "float64"], number), words.split(" + "), cite)
    (c0, s0), (c1, s1) = mrope(claim), mrope(claim, **changes)
    right, got = {"cos": c0, "sin": s0}, {"cos": arrays.rounded(c1, store), "sin": arrays.rounded(s1, store)}
    allowed = {key: 2.0 ** -18 + 0.51 * arrays.ulp(np.maximum(np.abs(x), 1e-3), store) for key, x in right.items()}
    return Case(f"{name} [{'interleaved' if claim is MROPE3 else 'sections'}, {store}]", "M-RoPE", {"encoding": "rope/table", "parameters": claim}, got, store,
                words.split(" + "), right, allowed, "json", cite)


def cases():
    out = vector_cases() + frequency_cases()
    out += [mrope_case(row, number, v) for number, row in enumerate(MROPE_ROWS) for v in (0, 1, 2)]
    out += [axes_case(row, number, v) for number, row in enumerate(AXES_ROWS) for v in (0, 1, 2)]
    out += [patch_case(row, number, v) for number, row in enumerate(PATCH_ROWS + DINO_ROWS + BLOCK_ROWS) for v in (0, 1)]
    out += [grid_turn_case(row, v) for row in GRID_TURNS for v in (0, 1)]
    return out + several("rope/xpos/table", XPOS, xpos, XPOS_ROWS, "") \
        + several("rope/scaled-base", SCALED, scaled_base, SCALED_ROWS, "") + several("rope/mrope-positions", IDS, mixed_ids, IDS_ROWS, "")
