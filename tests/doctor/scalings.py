"""scalings - scaled frequencies and attention factors that were computed in another way, in tables, vectors and inv_freq.

Each row is what somebody does inside of find_correction_range, of llama3's blend, of ntk's power or of a narrow type.
"""
import numpy as np

import arrays
import ladder
import sinusoidal
from rope import CLAIMS, FINE, PLAIN, Row, YARN, table_case, twist
from vectors import frequency_case, vector_case

CLAIMS.update({
    "yarn-partial": {"head_dim": 128, "partial_rotary_factor": 0.5, "rope_theta": 10000.0, "rope_type": "yarn", "factor": 4.0,
                     "original_max_position_embeddings": 4096},
    "yarn-partial-96": {"head_dim": 96, "rotary_dim": 48, "rope_theta": 500000.0, "rope_type": "yarn", "factor": 8.0,
                        "original_max_position_embeddings": 4096},
    "yarn-long": {"head_dim": 64, "rope_theta": 10000.0, "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 131072},
    "yarn-longer": {"head_dim": 128, "rope_theta": 10000.0, "rope_type": "yarn", "factor": 8.0,
                    "original_max_position_embeddings": 262144},
    "yarn-betas": {**CLAIMS["yarn4"], "beta_fast": 16.0, "beta_slow": 2.0},
    "ntk-partial": {"head_dim": 128, "partial_rotary_factor": 0.5, "rope_theta": 10000.0, "rope_type": "ntk", "factor": 4.0},
    "dynamic-partial": {"head_dim": 128, "rotary_dim": 32, "rope_theta": 10000.0, "rope_type": "dynamic", "factor": 4.0,
                        "max_position_embeddings": 2048, "seq_len": 6000},
    "phi3-20000": {**CLAIMS["phi3"], "seq_len": 20000},
})
LLAMA = ["llama31", "llama32"]
PART = ["yarn-partial", "yarn-partial-96"]
NTK = ["ntk8", "ntk-partial"]
DYNAMIC = ["dynamic2", "dynamic-partial"]
PHI = ["phi3", "phi3-20000"]


def dim(of):
    """find_correction_range with another dim."""
    return lambda c: {**c, "twist": {"dim": of(ladder.rotary_dim(c), c["head_dim"])}}


def smooth(change):
    """llama3's blend with another smooth, of (turns over the original length, claim)."""
    def freq(w, c):
        turns = c["original_max_position_embeddings"] * ladder.plain(c) / (2 * np.pi)
        kept = change(turns, c)
        between = (turns >= c["low_freq_factor"]) & (turns <= c["high_freq_factor"])
        return np.where(between, ladder.plain(c) * (kept + (1 - kept) / c["factor"]), w)
    return freq


def mean_wavelength(w, c):
    kept = (w / ladder.plain(c) - 1 / c["factor"]) / (1 - 1 / c["factor"])
    return 1 / (kept / ladder.plain(c) + (1 - kept) * c["factor"] / ladder.plain(c))


def base_grown(scale, power=lambda d: d / (d - 2)):
    def freq(w, c):
        return ladder.plain(c, c["rope_theta"] * scale(c) ** power(ladder.rotary_dim(c)))
    return freq


def narrow(kind, base=False, exponent=True):
    """inv_freq with its steps in a narrow type."""
    def freq(w, c):
        r = lambda x: arrays.rounded(x, kind)
        e = np.arange(len(w)) / len(w)
        return r(1 / r((r(c["rope_theta"]) if base else c["rope_theta"]) ** (r(e) if exponent else e)))
    return freq


def mscale(change):
    """Another attention factor of ln s, ln of the original length and of the longest."""
    return lambda a, c: change(a, np.log(c.get("factor", 32.0)), np.log(c["original_max_position_embeddings"]))


def negative(c, s):
    return c, -s


ROWS = [
    Row("yarn betas left at their defaults", "betas_default", ["yarn-betas"],
        params=lambda c: {**c, "beta_fast": 32.0, "beta_slow": 1.0}),
    Row("yarn ramp of head_dim", "ramp_head", PART, params=dim(lambda d, h: h)),
    Row("yarn ramp of the part, twice", "ramp_part", PART, params=dim(lambda d, h: d * d // h)),
    Row("yarn ramp of d/2", "ramp_half", YARN, params=dim(lambda d, h: d / 2)),
    # Of these two, vectors of 16 bits cannot tell every pair from the claim's, or from a longer original length.
    Row("yarn ramp of 2d", "ramp_double", ["yarn32", "deepseek"], stores=FINE, params=dim(lambda d, h: 2 * d)),
    Row("yarn ramp up to d/2 - 1", "ramp_clamped", ["yarn-long", "yarn-longer"], stores=FINE,
        params=lambda c: {**c, "twist": {"last": ladder.rotary_dim(c) // 2 - 1}}),
    Row("yarn ramp over channels, near", "ramp_channels", YARN + PART, params=twist(stretch=2)),
    Row("yarn ramp rounded inward", "ramp_inward", ["yarn4", "deepseek"], params=twist(ends=(np.ceil, np.floor))),
    Row("yarn ramp cut", "ramp_cut", ["yarn4", "deepseek"], params=twist(ends=(np.floor, np.floor))),
    Row("yarn ramp rounded to nearest", "ramp_nearest", ["yarn4", "deepseek"], params=twist(ends=(np.rint, np.rint))),
    Row("llama3 wavelengths blended", "blended_wavelengths", LLAMA, freq=mean_wavelength),
    Row("yarn wavelengths blended", "blended_wavelengths", YARN[:2], freq=mean_wavelength),
    Row("llama3 smooth of wavelengths", "smooth_wavelength", LLAMA, freq=smooth(
        lambda n, c: (1 / c["low_freq_factor"] - 1 / n) / (1 / c["low_freq_factor"] - 1 / c["high_freq_factor"]))),
    Row("llama3 smooth with factor", "smooth_factor", LLAMA, freq=smooth(
        lambda n, c: (n - c["low_freq_factor"]) / (c["factor"] - c["low_freq_factor"]))),
    Row("ntk exponent of head_dim", "power_head", ["ntk-partial"], params=lambda c: {**c, "twist": {"dim": c["head_dim"]}}),
    Row("ntk exponent of d/2", "power_half", NTK, params=dim(lambda d, h: d // 2)),
    Row("dynamic exponent of head_dim", "power_head", ["dynamic-partial"], params=lambda c: {**c, "twist": {"dim": c["head_dim"]}}),
    Row("dynamic base times the scale", "naive_ntk", DYNAMIC, freq=base_grown(lambda c: ladder.dynamic_scale(c, {}), lambda d: 1)),
    Row("dynamic without - (f - 1)", "not_less", DYNAMIC,
        freq=base_grown(lambda c: c["factor"] * c["seq_len"] / c["max_position_embeddings"])),
    Row("ntk of theta times factor, backward", "naive_ntk", NTK, at=["0:64", "0:256"], params=twist(power=1), pairs=negative),
    Row("dynamic base times the scale, backward", "naive_ntk", DYNAMIC, at=["0:64"], pairs=negative,
        freq=base_grown(lambda c: ladder.dynamic_scale(c, {}), lambda d: 1)),
    Row("bfloat16 frequencies, backward", "bf16", ["llama31", "llama3-8k"], at=["0:256"], stores=FINE, pairs=negative,
        types={"freq": "bfloat16"}),
    Row("reciprocal frequencies, most of them unseen", "reciprocal", ["llama3-8k", "qwen", "llama31", "yarn4"],
        at=["0:64", "0:256", "1000:1064"], freq=lambda w, c: 1 / w, cases=4),
    Row("frequencies all in bfloat16", "all_steps|bf16", PLAIN, at=["0:64", "0:256", "1000:1064"], freq=narrow("bfloat16"), cases=3),
    Row("frequencies all in float16", "all_steps|f16", ["llama2", "small"], at=["0:64", "0:256"], freq=narrow("float16")),
    Row("frequencies all in bfloat16, theta too", "all_steps|bf16", ["llama2", "llama3-8k"], at=["0:256"], freq=narrow("bfloat16", True)),
    Row("powers and frequencies in bfloat16", "bf16", PLAIN, at=["0:256"], freq=narrow("bfloat16", exponent=False)),
    Row("yarn attention factor without 1", "missing_one", YARN[:2], factor=mscale(lambda a, s, n: 0.1 * s)),
    Row("yarn attention factor of the softmax", "softmax", ["deepseek"], factor=mscale(lambda a, s, n: (0.1 * s + 1) ** 2)),
    Row("longrope attention factor of ln of the longest", "longest", PHI[:1], factor=mscale(lambda a, s, n: np.sqrt(1 + s / (s + n)))),
    Row("longrope attention factor of the inverse scale", "inverse_scale", PHI, factor=mscale(lambda a, s, n: np.sqrt(1 - s / n))),
    Row("longrope attention factor of seq_len", "of_sequence", PHI[1:], stores=FINE, factor=mscale(lambda a, s, n: np.sqrt(np.log(20000) / n))),
    Row("longrope attention factor without root", "squared", PHI, factor=mscale(lambda a, s, n: 1 + s / n)),
    Row("longrope short with a factor of 1", "short_alone", PHI, params=twist(long=False), factor=lambda a, c: 1.0),
    Row("yarn beta_fast twice as large", "beta_fast", YARN, stores=FINE, params=lambda c: {**c, "beta_fast": 2 * c.get("beta_fast", 32.0)}),
    Row("llama3 original length of the long context, 131072", "original_max_position_embeddings", LLAMA, stores=FINE,
        params=lambda c: {**c, "original_max_position_embeddings": 16 * c["original_max_position_embeddings"]}),
    Row("llama3 high_freq_factor of 8", "high_freq_factor", LLAMA, stores=FINE, params=lambda c: {**c, "high_freq_factor": 8.0}),
]
FAIRSEQ = {"d_model": 64, "layout": "sin_cos", "freq_shift": 1, "padding_idx": 1}


def fairseq(c):
    c.update(FAIRSEQ)


SINUSOIDAL = [
    Row("s: freq_shift 0, padding not zero", ["freq_shift", "padding"], ["paper"], at=["0:32", "0:64"], stores=FINE, claim=fairseq,
        params=lambda c: {"d_model": 64, "layout": "sin_cos"}),
    Row("s: base 1000, padding not zero", ["theta", "padding"], ["paper"], at=["0:32", "0:64"], stores=FINE, claim=fairseq,
        params=lambda c: {"d_model": 64, "layout": "sin_cos", "freq_shift": 1, "base": 1e3}),
]
SHAPES = {"shapes": [(64,), (2, 64)], "at": ["0:64", "100:164"]}


def cases():
    tables = [table_case(row, 1000 + number, v) for number, row in enumerate(ROWS) for v in range(row.cases)]
    vectors = [vector_case(Row("v: " + row.name, row.words, row.claims, stores=row.stores, types=row.types, **row.steps),
                           None, 1000 + number, v, **SHAPES) for number, row in enumerate(ROWS) for v in (0, 1)]
    alone = [frequency_case(row, 1000 + number, v) for number, row in enumerate(ROWS) for v in (0, 1)
             if set(row.steps) <= {"params", "freq"} and not row.types]
    waves = [sinusoidal.table_case(row, 1000 + number, v) for number, row in enumerate(SINUSOIDAL) for v in (0, 1)]
    return tables + vectors + alone + waves
