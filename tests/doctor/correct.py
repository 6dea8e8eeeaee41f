"""correct - outputs that are right, as the code of others computes them. None may be refused, and none needs a tolerance.

The arithmetic is numpy's float32, rounded at every step as torch, jax, mlx and ggml do, in their orders of operations; 16-bit
arithmetic is a float32 operation rounded to the type. The comment of each form names whose it is.
"""
import numpy as np

import arrays
import bias
import ladder
import rope
import sinusoidal
import vectors
from case import Case
from rope import CLAIMS, pick

F = np.float32


def f32(x):
    return np.asarray(x, F)


# --- frequencies of float32: e_i = 2i/d ---

def exponents(d):
    return f32(np.arange(0, d, 2)) / F(d)


def power_of(base, d, scale=1):
    return np.power(F(base), exponents(d)) * f32(scale)


def running(base, d):
    """ggml_rope_cache_init multiplies from pair to pair."""
    ratio, out, now = np.power(F(base), F(-2.0) / F(d)), np.empty(d // 2, F), F(1)
    for i in range(d // 2):
        out[i], now = now, now * ratio
    return out


FORMS = {
    "1/base^e (transformers)": lambda base, d: F(1) / power_of(base, d),
    "base^-e (keras, jax)": lambda base, d: np.power(F(base), -exponents(d)),
    "exp(-e log base)": lambda base, d: np.exp(-exponents(d) * np.log(F(base))),
    "exp(i (-log base / d)) (annotated transformer)": lambda base, d: np.exp(f32(np.arange(0, d, 2)) * F(-np.log(base) / d)),
    "exp2(-e log2 base) (mlx, triton)": lambda base, d: np.exp2(-exponents(d) * F(np.log2(base))),
    "float64, then float32": lambda base, d: f32(np.power(float(base), -np.arange(0, d, 2) / d)),
    "running product (ggml)": running,
    "arange(d/2) over d/2 (meta)": lambda base, d: F(1) / np.power(F(base), f32(np.arange(0, d, 2)[:d // 2]) / F(d)),
}


def scaled_base(c):
    kind = c.get("rope_type")
    base = c.get("rope_theta", 1e4)
    if kind == "ntk":
        return ladder.ntk_base(c, c["factor"])
    return ladder.ntk_base(c, ladder.dynamic_scale(c, {})) if kind == "dynamic" else base


def yarn(c, w):
    d, base = ladder.rotary_dim(c), c["rope_theta"]
    low, high = (ladder.correction_dim(b, d, base, c["original_max_position_embeddings"]) for b in (c.get("beta_fast", 32), c.get("beta_slow", 1)))
    if c.get("truncate", True):
        low, high = np.floor(low), np.ceil(high)
    low, high = max(low, 0), min(high, d - 1)
    ramp = np.clip((f32(np.arange(d // 2)) - F(low)) / F(high - low), F(0), F(1))
    keep = F(1) - ramp
    slow = F(1) / (F(c["factor"]) * (F(1) / w))
    return slow * (F(1) - keep) + w * keep


def llama3(c, w):
    length, low, high = c["original_max_position_embeddings"], c["low_freq_factor"], c["high_freq_factor"]
    wavelength = F(2 * np.pi) / w
    out = np.where(wavelength > F(length / low), w / F(c["factor"]), w)
    smooth = (F(length) / wavelength - F(low)) / F(high - low)
    mixed = (F(1) - smooth) * out / F(c["factor"]) + smooth * out
    return np.where(~(wavelength < F(length / high)) & ~(wavelength > F(length / low)), mixed, out)


def frequencies(c, form):
    d, kind = ladder.rotary_dim(c), c.get("rope_type", "default")
    w = f32(FORMS[form](scaled_base(c), d))
    if kind == "linear":
        return w / F(c["factor"])
    if kind == "yarn":
        return yarn(c, w)
    if kind == "llama3":
        return llama3(c, w)
    if kind == "longrope":
        is_long = c.get("seq_len", c["max_position_embeddings"]) > c["original_max_position_embeddings"]
        return F(1) / (f32(c["long_factor" if is_long else "short_factor"]) * (F(1) / w))
    if kind == "proportional":
        return np.where(np.arange(d // 2) < int(c["head_dim"] * c["partial_rotary_factor"] / 2), w, F(0))
    return w


ANGLES = {
    "outer product": lambda p, w: f32(p)[:, None] * w[None],
    "division by the timescale (maxtext)": lambda p, w: f32(p)[:, None] / np.where(w == 0, F(np.inf), F(1) / np.where(w == 0, F(1), w)),
    "linear: scaled positions": None,
}


def waves(c, p, form, angle="outer product"):
    w = frequencies(c, form)
    if angle.startswith("linear"):
        a = (f32(p) / F(c["factor"]))[:, None] * frequencies({**c, "rope_type": "default"}, form)
    else:
        a = ANGLES[angle](p, w)
    factor = F(ladder.attention_factor(c))
    return np.cos(a) * factor, np.sin(a) * factor


WINDOWS = ["0:64", "0:2048:32", "4000:4064", "0:64", "30000:30064", "131000:131064"]
STORES = ["float32", "float32", "bfloat16", "float16", "float32", "float64"]


def tables():
    """rope tables: every claim in every form of arithmetic, twice."""
    for n, (name, form, again) in enumerate((name, form, again) for name in CLAIMS for form in FORMS for again in (0, 1)):
        claim, k = CLAIMS[name], n // 2 + again
        window, store, layout, pairing = pick(WINDOWS, n), pick(STORES, n // 6 + n), pick(rope.LAYOUTS, k), pick(["half", "interleaved"], k)
        ways = ["outer product"] + (["linear: scaled positions"] if name == "linear4" else [] if "ggml" in form else list(ANGLES)[1:2])
        angle = pick(ways, again)
        cos, sin = waves(claim, ladder.span(window), form, angle)
        tensors = rope.laid_out(arrays.rounded(cos, store), arrays.rounded(sin, store), layout, pairing)
        parameters = {**claim, "cache_layout": layout, "pairing": pairing}
        body = {"encoding": pick(["rope", "rope/table"], k), "parameters": parameters, "positions": window}
        yield f"{name}: {form}, {angle} [{window}, {store}, {layout}]", "rope table", body, tensors, store


def exact_tables():
    """Float64 arithmetic, rounded once."""
    for k, (name, claim) in enumerate(CLAIMS.items()):
        for j, store in enumerate(["float64", "float32", "bfloat16", "float16"]):
            window = pick(WINDOWS, k + j)
            cos, sin, _, _ = rope.made(claim, ladder.span(window))
            layout = pick(rope.LAYOUTS, k + 3 * j)
            tensors = rope.laid_out(arrays.rounded(cos, store), arrays.rounded(sin, store), layout, "half")
            body = {"encoding": "rope", "parameters": {**claim, "cache_layout": layout, "pairing": "half"}, "positions": window}
            yield f"{name}: float64 [{window}, {store}, {layout}]", "rope table", body, tensors, store


def inverse_frequencies():
    for k, (name, claim) in enumerate(CLAIMS.items()):
        for j, form in enumerate(FORMS):
            store = pick(["float32", "float32", "float64", "bfloat16", "float16"], k + j)
            yield f"{name}: inv_freq, {form} [{store}]", "inverse frequencies", {"encoding": "rope/frequencies", "parameters": claim}, {
                "inv_freq": arrays.rounded(frequencies(claim, form), store)}, store


def multiplied(kind, x, y):
    return arrays.rounded(np.asarray(x, float) * y, kind)


def turned(x, cos, sin, d, pairing, kind):
    """q cos + rotate_half(q) sin, every product and the sum rounded."""
    a, b = vectors.split(x, d, pairing)
    left = arrays.rounded(multiplied(kind, a, cos) - multiplied(kind, b, sin), kind)
    right = arrays.rounded(multiplied(kind, b, cos) + multiplied(kind, a, sin), kind)
    return vectors.joined(x, left, right, d, pairing)


def rotated():
    names = ["llama2", "small", "gptj", "yarn4", "llama31", "linear4", "phi3", "qwen"]
    k = 0
    for name in names:
        for form in list(FORMS)[:7]:
            for kind in ("float32", "bfloat16", "float16"):
                k += 1
                if k % 3 == 1 and kind != "float32":
                    continue
                claim, window, pairing = CLAIMS[name], pick(["0:24", "1000:1024", "30000:30024"], k), pick(["half", "interleaved"], k)
                shape = pick([(24,), (2, 24), (1, 2, 24)], k) + (claim["head_dim"],)
                x = arrays.rounded(np.random.default_rng(k).normal(size=shape), kind)
                cos, sin = waves(claim, ladder.span(window), form)
                # vLLM and llama.cpp turn in float32 and round once; transformers turns in the type of the model.
                once = kind == "float32" or k % 2
                step = "float32" if once else kind
                y = turned(x, arrays.rounded(cos, kind if not once else None), arrays.rounded(sin, kind if not once else None),
                           ladder.rotary_dim(claim), pairing, step)
                body = {"encoding": "rope", "parameters": {**claim, "pairing": pairing}, "member": "inputs", "positions": window}
                label = f"{name}: rotated, {form} [{window}, {kind}{'' if once else ' arithmetic'}, {pairing}]"
                yield label, "rotated vectors", body, {"inputs": x, "rotated": arrays.rounded(y, kind)}, kind


def multimodal():
    for k, form in enumerate(FORMS):
        for claim in (vectors.MROPE, vectors.MROPE3):
            for store in ("float32", "bfloat16"):
                w = f32(FORMS[form](claim["rope_theta"], claim["head_dim"]))
                a = f32(claim["positions"])[vectors.axes_of(claim)].T * w
                layout = pick(["pairs", "hf"], k)
                tensors = rope.laid_out(arrays.rounded(np.cos(a), store), arrays.rounded(np.sin(a), store), layout, "half")
                body = {"encoding": "rope/table", "parameters": {**claim, "cache_layout": layout, "pairing": "half"}}
                yield f"{form} [{'interleaved' if claim is vectors.MROPE3 else 'sections'}, {store}, {layout}]", "M-RoPE", body, tensors, store


def grids():
    for k, form in enumerate(FORMS):
        for claim in (vectors.PATCHES, vectors.PIXTRAL, {**vectors.PATCHES, "head_dim": 80, "height": 14, "width": 14}):
            d, store = claim["head_dim"], pick(["float32", "bfloat16", "float32"], k)
            y, x = (f32(a.reshape(-1)) for a in np.meshgrid(np.arange(claim["height"]), np.arange(claim["width"]), indexing="ij"))
            if claim.get("convention") == "pixtral":
                w = f32(FORMS[form](1e4, d))
                a = np.concatenate([y[:, None] * w[::2], x[:, None] * w[1::2]], 1)
            else:
                w = f32(FORMS[form](1e4, d // 2))
                a = np.concatenate([y[:, None] * w, x[:, None] * w], 1)
            tensors = {"cos": np.cos(a), "sin": np.sin(a), **({"angles": a} if k % 2 else {})}
            tensors = {key: arrays.rounded(t, store) for key, t in tensors.items()}
            yield f"{form} [{claim.get('convention', 'qwen2_vl')}, {d}, {store}, {len(tensors)} tensors]", "rope/grid", {"encoding": "rope/grid", "parameters": claim}, tensors, store


def grid_vectors():
    """Queries of patches, turned in float32."""
    for v, (convention, pairing) in enumerate((("qwen2_vl", "half"), ("eva02", "interleaved"), ("sam2", "interleaved"))):
        claim = {**vectors.PATCHES, "convention": convention}
        a = vectors.patches(claim)
        a = f32(np.concatenate(np.split(a, 2, 1)[::-1], 1) if convention == "sam2" else a)
        x = arrays.rounded(np.random.default_rng(v).normal(size=(2, len(a), 64)), "float32")
        y = vectors.turned(f32(x), np.cos(a), np.sin(a), 64, pairing)
        yield convention, "rotated vectors", {"encoding": "rope/grid", "parameters": claim, "member": "inputs"}, {"inputs": x, "rotated": y * 1.0}, "float32"


def xpos():
    """torchscale and x-transformers."""
    for form in FORMS:
        for claim in (vectors.XPOS, {"head_dim": 128, "positions": "0:100"}):
            d, p = claim["head_dim"], f32(ladder.span(claim["positions"]))
            zeta = (f32(np.arange(0, d, 2)) + F(0.4 * d)) / F(1.4 * d)
            a = p[:, None] * f32(FORMS[form](1e4, d))
            power = (p - F(len(p) // 2)) / F(512)
            tensors = {"cos": np.cos(a), "sin": np.sin(a), "scale": np.power(zeta, power[:, None])}
            yield f"{form} [{d}]", "rope/xpos/table", {"encoding": "rope/xpos/table", "parameters": claim}, {key: arrays.rounded(t, None) for key, t in tensors.items()}, "float32"


LADDERS = {
    "10000^-(i/h)": lambda base, h, n: np.power(F(base), -(f32(np.arange(n)) / F(h))),
    "1/10000^(i/h)": lambda base, h, n: F(1) / np.power(F(base), f32(np.arange(n)) / F(h)),
    "exp(-log(base) i / h) (diffusers, DiT)": lambda base, h, n: np.exp(F(-np.log(base)) * f32(np.arange(n)) / F(h)),
    "exp(i (-log(base)/h)) (fairseq, annotated transformer)": lambda base, h, n: np.exp(f32(np.arange(n)) * F(-np.log(base) / h)),
    "float64": lambda base, h, n: f32(np.power(float(base), -np.arange(n) / h)),
}


def sinusoids():
    k = 0
    for name, claim in sinusoidal.CLAIMS.items():
        for form, make in LADDERS.items():
            for store in ("float32", "bfloat16", "float16", "float64"):
                k += 1
                window = pick(["0:64", "0:1000:16", "500:564"], k) if name != "flux" else "0:1:0.03125"
                half = claim["d_model"] // 2
                w = make(claim.get("base", 1e4), half - claim.get("freq_shift", 0), half)
                p = f32(ladder.span(window))
                if name == "flux":
                    # The timestep is multiplied before or after the frequencies.
                    a = (p * F(1000))[:, None] * w if k % 2 else (p[:, None] * w) * F(1000)
                else:
                    a = p[:, None] * w
                t = sinusoidal.laid_out(np.sin(a), np.cos(a), claim.get("layout", "interleaved"))
                yield f"{name}: {form} [{window}, {store}]", "sinusoidal", {"encoding": "sinusoidal", "parameters": claim, "positions": window}, {
                    "": arrays.rounded(t, store)}, store


def signals():
    for k, (form, make) in enumerate(LADDERS.items()):
        for store in ("float32", "bfloat16"):
            for claim in (sinusoidal.SIGNAL, {"d_model": 128, "length": 60}, {"d_model": 64, "length": 32, "max_timescale": 1000.0}):
                half = claim["d_model"] // 2
                w = make(claim.get("max_timescale", 1e4), half - 1, half)
                a = f32(np.arange(claim["length"]) + claim.get("start_index", 0))[:, None] * w
                yield f"{form} [{claim['d_model']}, {store}]", "sinusoidal/timing", {"encoding": "sinusoidal/timing", "parameters": claim}, {
                    "": arrays.rounded(np.concatenate([np.sin(a), np.cos(a)], 1), store)}, store
            for d in (64, 128):
                q = 24
                a = f32(np.arange(q, -q, -1))[:, None] * make(1e4, d // 2, d // 2)
                yield f"{form} [{d}, {store}]", "sinusoidal/relative", {"encoding": "sinusoidal/relative", "parameters": {"d_model": d, "query_length": q}}, {
                    "table": arrays.rounded(np.concatenate([np.sin(a), np.cos(a)], 1), store)}, store
            for height, width, d in ((6, 10, 64), (14, 14, 128)):
                w = make(1e4, d // 4, d // 4)
                y, x = (f32(a.reshape(-1, 1)) for a in np.meshgrid(np.arange(height), np.arange(width), indexing="ij"))
                t = np.concatenate([np.sin(x * w), np.cos(x * w), np.sin(y * w), np.cos(y * w)], 1)
                yield f"{form} [{height}x{width}, {d}, {store}]", "sinusoidal/grid", {"encoding": "sinusoidal/grid", "parameters": {
                    "d_model": d, "height": height, "width": width}}, {"": arrays.rounded(t, store)}, store


def bloom(heads):
    """build_alibi_tensor: powers of a float32 base by torch.pow."""
    n = 2 ** int(np.floor(np.log2(heads)))
    m = np.power(F(2 ** (-(2 ** -(np.log2(n) - 3)))), f32(np.arange(1, n + 1)))
    if n == heads:
        return m
    more = np.power(F(2 ** (-(2 ** -(np.log2(2 * n) - 3)))), f32(np.arange(1, 1 + 2 * min(n, heads - n), 2)))
    return np.concatenate([m, more])


def published(heads):
    """get_slopes of the paper's code: start times ratio to the power i, in Python's float64."""
    def power(n):
        start = 2 ** (-(2 ** -(np.log2(n) - 3)))
        return [start * start ** i for i in range(n)]
    n = 2 ** int(np.floor(np.log2(heads)))
    return f32(power(n) + (power(2 * n)[::2][:heads - n] if n != heads else []))


def mpt(heads):
    """gen_slopes of MPT: 1 / 2^m."""
    n = 2 ** int(np.ceil(np.log2(heads)))
    m = F(1) / np.power(F(2), f32(np.arange(1, n + 1)) * F(8 / n))
    return m if n == heads else np.concatenate([m[1::2], m[::2]])[:heads]


def ggml(heads):
    """ggml_soft_max: powf(m0, h + 1) and powf(m1, 2 (h - n) + 1)."""
    n = 2 ** int(np.floor(np.log2(heads)))
    m0, m1 = np.power(F(2), F(-8.0) / F(n)), np.power(F(2), F(-4.0) / F(n))
    h = np.arange(heads)
    return f32(np.where(h < n, np.power(m0, f32(h + 1)), np.power(m1, f32(2 * (h - n) + 1))))


SLOPES = {"BLOOM": bloom, "the paper's code": published, "MPT": mpt, "ggml": ggml}


def alibis():
    k = 0
    for who, make in SLOPES.items():
        for heads in (4, 6, 8, 12, 16, 20, 32, 40, 71, 112):
            for store in ("float32", "bfloat16"):
                yield f"{who}: slopes [{heads}, {store}]", "alibi slopes", {"encoding": "alibi", "parameters": {"num_heads": heads}, "member": "slopes"}, {
                    "": arrays.rounded(make(heads), store)}, store
        for heads in (6, 8, 12, 16, 40):
            for claim in ({"num_heads": heads, "query_length": 24}, {"num_heads": heads, "query_length": 24, "form": "causal"},
                          {"num_heads": heads, "query_length": 1, "key_length": 100, "form": "key"}):
                k += 1
                store = pick(["float32", "bfloat16", "float16"], k)
                m = make(heads)
                if store != "float32" and k % 2:
                    # Falcon rounds the slopes before it multiplies, and multiplies in bfloat16.
                    m = arrays.rounded(m, store)
                b = bias.alibi(claim, m=lambda h: arrays.rounded(m, None))
                yield f"{who}: bias [{heads}, {claim.get('form', 'symmetric')}, {store}]", "alibi", {
                    "encoding": "alibi", "parameters": claim, "member": "bias"}, {"": arrays.rounded(f32(b), store)}, store


def t5_torch(c):
    """T5Attention._relative_position_bucket: float32 logarithms, cut to integers."""
    d = bias.distances(c)
    buckets, top, first = c.get("num_buckets", 32), c.get("max_distance", 128), 0 * d
    if c.get("bidirectional", True):
        buckets //= 2
        first = (d > 0) * buckets
        n = np.abs(d)
    else:
        n = np.maximum(-d, 0)
    exact = buckets // 2
    with np.errstate(divide="ignore"):
        large = exact + np.trunc(np.log(f32(n) / F(exact)) / F(np.log(top / exact)) * F(buckets - exact)).clip(-1e6)
    return first + np.where(n < exact, n, np.minimum(large, buckets - 1))


def indices():
    for claim in [{"query_length": n, "num_buckets": b, "max_distance": t, "bidirectional": both} for n in (20, 70, 160)
                  for b, t in ((32, 128), (64, 256), (16, 40), (32, 100)) for both in (True, False)]:
        yield f"{claim}", "t5/buckets", {"encoding": "t5/buckets", "parameters": claim}, {"": t5_torch(claim) * 1.0}, "int32"
    for n in (20, 60, 120):
        claim = {**bias.DEBERTA, "query_length": n}
        yield f"deberta {n}", "t5/buckets", {"encoding": "t5/buckets", "parameters": claim}, {"": bias.deberta(claim)}, "int32"
    for n, k in ((10, 3), (24, 6), (40, 16), (30, 1)):
        claim = {"query_length": n, "max_relative_position": k}
        yield f"{n}, {k}", "shaw/indices", {"encoding": "shaw/indices", "parameters": claim}, {"": bias.shaw(claim) * 1.0}, "int32"
    for h, w in ((3, 3), (4, 6), (7, 7), (8, 5)):
        claim = {"window_height": h, "window_width": w}
        yield f"{h}x{w}", "swin/index", {"encoding": "swin/index", "parameters": claim}, {"": bias.swin(claim) * 1.0}, "int32"
    for k, claim in enumerate((bias.OPT, bias.ROBERTA, {"attention_mask": bias.MASK}, {**bias.ROBERTA, "past_key_values_length": 9})):
        yield f"{k}", "position-ids", {"encoding": "position-ids", "parameters": claim}, {"": bias.numbered(claim) * 1.0}, "int32"
    for path, index, claim in (("t5/bias", bias.t5, bias.BI), ("t5/bias", bias.t5, bias.PAST), ("swin/bias", bias.swin, bias.SWIN)):
        weights = np.round(np.random.default_rng(5).normal(size=(32 if path == "t5/bias" else 77, 3)), 4)
        for store in ("float32", "float16"):
            t = arrays.rounded(weights, store)[index(claim).astype(int)].transpose(2, 0, 1)
            yield f"{len(t[0])} [{store}]", path, {"encoding": path, "parameters": {**claim, "weights": weights.tolist()}}, {"": t}, store
    for claim in (bias.CPB, {"window_height": 8, "window_width": 8}, {"window_height": 16, "window_width": 16, "pretrained_window_height": 8, "pretrained_window_width": 8}):
        def axis(name):
            n = claim["window_" + name]
            x = f32(np.arange(1 - n, n)) / F(claim.get("pretrained_window_" + name, n) - 1) * F(8)
            return np.sign(x) * np.log2(np.abs(x) + F(1)) / F(np.log2(8))
        t = np.stack(np.meshgrid(axis("height"), axis("width"), indexing="ij"), -1)
        for store in ("float32", "float16", "bfloat16"):
            yield f"{claim['window_height']} [{store}]", "swin/coordinates", {"encoding": "swin/coordinates", "parameters": claim}, {"": arrays.rounded(t, store)}, store


def scalars():
    for beta, length in ((0.1, 8192), (0.1, 16384), (0.25, 4096)):
        for store in ("float32", "bfloat16"):
            claim = {"positions": "0:131072:2048", "beta": beta, "original_max_position_embeddings": length}
            p = f32(ladder.span(claim["positions"]))
            # Llama 4 and Mistral 3 write log1p and log(1 + x).
            for how, log in (("log", lambda x: np.log(F(1) + x)), ("log1p", np.log1p)):
                t = F(1) + F(beta) * log(np.floor(p / F(length)))
                yield f"{how} {beta}, {length} [{store}]", "rope/attention-scale", {"encoding": "rope/attention-scale", "parameters": claim}, {"": arrays.rounded(t, store)}, store
    for form in FORMS:
        for claim in (bias.DECAY, {"head_dim": 128, "offsets": "0:100", "rope_theta": 500000.0}):
            a = f32(ladder.span(claim["offsets"]))[:, None] * f32(FORMS[form](claim.get("rope_theta", 1e4), claim["head_dim"]))
            yield f"{form} [{claim['head_dim']}]", "rope/decay", {"encoding": "rope/decay", "parameters": claim}, {"": arrays.rounded(np.cos(a).mean(1, dtype=F), None)}, "float32"
    for claim, ids in ((vectors.IDS, vectors.mixed_ids(vectors.IDS)),):
        yield "Qwen2-VL", "rope/mrope-positions", {"encoding": "rope/mrope-positions", "parameters": claim}, {"position_ids": ids * 1.0}, "int32"


def offsets():
    for form, make in LADDERS.items():
        for d, offset, store in ((64, 5, "float32"), (32, 100, "float32"), (64, 17, "float64"), (16, -3, "float16")):
            w = make(1e4, d // 2, d // 2)
            a = F(offset) * w if store != "float64" else offset * np.power(1e4, -np.arange(d // 2) * 2 / d)
            t = np.stack([np.stack([np.cos(a), np.sin(a)], -1), np.stack([-np.sin(a), np.cos(a)], -1)], -2)
            yield f"{form} [{d}, {offset}, {store}]", "sinusoidal/offset", {"encoding": "sinusoidal/offset", "parameters": {"d_model": d, "offset": offset}}, {
                "": arrays.rounded(t, store)}, store


def scaled_bases():
    """In float16 long wavelengths are infinite."""
    for form in FORMS:
        for d, theta, factor, store in ((128, 1e4, 4.0, "float32"), (64, 5e5, 8.0, "float32"), (64, 5e5, 8.0, "float16")):
            claim = {"head_dim": d, "rope_theta": theta, "factor": factor, "method": "ntk"}
            w, scaled = f32(FORMS[form](theta, d)), f32(FORMS[form](ladder.ntk_base({"head_dim": d, "rope_theta": theta}, factor), d))
            t = {"inv_freq": w, "scaled_inv_freq": scaled, "wavelength": F(2 * np.pi) / w, "scaled_wavelength": F(2 * np.pi) / scaled, "stretch": w / scaled}
            yield f"{form} [{d}, {store}]", "rope/scaled-base", {"encoding": "rope/scaled-base", "parameters": claim}, {
                key: arrays.rounded(x, store) for key, x in t.items()}, store


def doubles():
    """Float64 arithmetic of numpy, which is a few units of its last place off, in its type and rounded to float32."""
    functions = [("M-RoPE", "rope/table", c, lambda c: dict(zip(("cos", "sin"), vectors.mrope(c)))) for c in (vectors.MROPE, vectors.MROPE3)]
    functions += [("axes", "rope/table", c, lambda c: dict(zip(("cos", "sin"), vectors.axes(c)))) for c in (vectors.FLUX, vectors.WAN)]
    functions += [("rope/xpos/table", "rope/xpos/table", vectors.XPOS, vectors.xpos)]
    functions += [(path, path, claim, make) for path, claim, make, _ in sinusoidal.FUNCTIONS]
    functions += [(path, path, rows[-1][2], make) for path, make, kind, rows in bias.FUNCTIONS if kind == "float"]
    for family, path, claim, make in functions:
        t = make(claim)
        t = t if isinstance(t, dict) else {"table" if path == "sinusoidal/relative" else "": t}
        for store in ("float64", "float32", "bfloat16"):
            body = {"encoding": path, "parameters": claim}
            yield f"float64 arithmetic [{claim.get('mrope_interleaved', '')}, {store}]", family, body, {key: arrays.rounded(x, store) for key, x in t.items()}, store


def cases():
    made = []
    for group in (tables, exact_tables, inverse_frequencies, rotated, multimodal, grids, grid_vectors, xpos, sinusoids, signals, alibis, indices, scalars, doubles, offsets, scaled_bases):
        for k, (label, family, body, tensors, store) in enumerate(group()):
            upload = pick(["json", "npy" if "" in tensors else "safetensors"], k) if body.get("member", "table") == "table" else "json"
            made.append(Case(label, family, body, tensors, store, None, upload=upload))
    return made
