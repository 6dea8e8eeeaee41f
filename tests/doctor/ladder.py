"""ladder - the frequencies and attention factors of rotary schemes in float64, straight from their papers.

A claim is a dict with the parameters of rope/table. What a mistake changes inside of a formula is a keyword of `twist`.
"""
import numpy as np

DEFAULTS = {"rope_theta": 1e4, "rope_type": "default"}


def rotary_dim(c):
    return c.get("rotary_dim") or int(c["head_dim"] * (1 if c.get("rope_type") == "proportional" else c.get("partial_rotary_factor", 1)))


def plain(c, base=None):
    d = rotary_dim(c)
    return np.power(float(base or c.get("rope_theta", 1e4)), -np.arange(0, d, 2) / d)


def correction_dim(rotations, d, base, length):
    return d * np.log(length / (rotations * 2 * np.pi)) / (2 * np.log(base))


def yarn(c, twist):
    """NTK by parts: arXiv:2309.00071, section 3.2; the ramp's ends as in its reference code."""
    d, base, s = rotary_dim(c), c.get("rope_theta", 1e4), c["factor"]
    length = twist.get("length") or c.get("original_max_position_embeddings") or c["max_position_embeddings"]
    fast, slow = c.get("beta_fast", 32), c.get("beta_slow", 1)
    low, high = (correction_dim(b, twist.get("dim", d), twist.get("base", base), length) for b in (fast, slow))
    if c.get("truncate", True):
        low, high = (end(x) for end, x in zip(twist.get("ends", (np.floor, np.ceil)), (low, high)))
    low, high = max(low, 0), min(high, twist.get("last", d - 1))
    if low == high:
        high += 0.001
    i = np.arange(d // 2) * twist.get("stretch", 1)
    ramp = np.clip((i - low) / (high - low), 0, 1)
    if twist.get("hard"):
        ramp = (ramp > 0.5).astype(float)
    if twist.get("inverted"):
        ramp = 1 - ramp
    w = plain(c)
    return w / s * ramp + w * (1 - ramp)


def llama3(c, twist):
    """Meta's bands by wavelength: the reference code of Llama 3.1."""
    w, s, length = plain(c), c["factor"], twist.get("length") or c["original_max_position_embeddings"]
    low, high = c["low_freq_factor"], c["high_freq_factor"]
    wavelength = twist.get("turn", 2 * np.pi) / w
    smooth = (length / wavelength - low) / (high - low)
    if twist.get("inverted"):
        smooth = 1 - smooth
    if twist.get("hard"):
        smooth = (smooth > 0.5).astype(float)
    if twist.get("clip"):
        smooth = np.clip(smooth, 0, 1)
        return w * smooth + w / s * (1 - smooth)
    start = np.where(wavelength > length / low, w / s, w)
    middle = (wavelength <= length / low) & (wavelength >= length / high)
    mixed = (1 - smooth) * w / s + smooth * w
    if twist.get("middle_scaled"):
        mixed = (1 - smooth) * w / s + smooth * w / s
    return np.where(middle, mixed, start)


def dynamic_scale(c, twist):
    f, most = c["factor"], c["max_position_embeddings"]
    n = max(twist.get("seq_len", c.get("seq_len", most)), most)
    return n / most if twist.get("bare") else f * n / most - (f - 1)


def ntk_base(c, s, twist=None):
    d = twist.get("dim", rotary_dim(c)) if twist else rotary_dim(c)
    power = (twist or {}).get("power", d / (d - 2))
    return c.get("rope_theta", 1e4) * s ** power


def longrope(c, twist):
    most = c["max_position_embeddings"]
    is_long = c.get("seq_len", most) > c["original_max_position_embeddings"]
    is_long = twist.get("long", is_long)
    return plain(c) / np.asarray(c["long_factor" if is_long else "short_factor"], float)


def proportional(c, twist):
    w = plain(c)
    w[int(c["head_dim"] * c["partial_rotary_factor"] / 2):] = 0
    return w


TYPES = {
    "default": lambda c, t: plain(c),
    "linear": lambda c, t: plain(c) / c["factor"],
    "ntk": lambda c, t: plain(c, ntk_base(c, c["factor"], t)),
    "dynamic": lambda c, t: plain(c, ntk_base(c, dynamic_scale(c, t), t)),
    "yarn": yarn, "llama3": llama3, "longrope": longrope, "proportional": proportional,
}


def frequencies(c, **twist):
    return TYPES[c.get("rope_type", "default")](c, twist) / np.asarray(c.get("freq_factors", 1), float) * np.exp(c.get("lerope_alpha", 0.0))


def mscale(s, m=1.0):
    return 0.1 * m * np.log(s) + 1 if s > 1 else 1.0


def attention_factor(c):
    if c.get("attention_factor") is not None:
        return c["attention_factor"]
    kind = c.get("rope_type", "default")
    if kind == "yarn":
        if c.get("mscale") and c.get("mscale_all_dim"):
            return mscale(c["factor"], c["mscale"]) / mscale(c["factor"], c["mscale_all_dim"])
        return mscale(c["factor"])
    if kind == "longrope":
        s = c.get("factor") or c["max_position_embeddings"] / c["original_max_position_embeddings"]
        return np.sqrt(1 + np.log(s) / np.log(c["original_max_position_embeddings"])) if s > 1 else 1.0
    return 1.0


def span(text):
    """0:8, 0:8:2, or a list of numbers, as an array."""
    if isinstance(text, str) and ":" in text:
        parts = [float(part) for part in text.split(":")]
        step = parts[2] if len(parts) > 2 else 1
        return parts[0] + step * np.arange(int(np.ceil((parts[1] - parts[0]) / step)))
    return np.array([float(part) for part in (text.split(",") if isinstance(text, str) else np.ravel(text))])
