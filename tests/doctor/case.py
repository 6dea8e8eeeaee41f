"""case - what is posted, what it should have been, and which words name the mistake.

A row of a collection (a *kind*) makes several cases: other claims, windows, types, layouts and upload formats.
"""
import json
import re
import urllib.parse

import numpy as np

import arrays

# Causes, and the words of an answer by which a person would say that it names the cause. All are searched in the codes, the
# sentence and the remedy of one finding, in any case of letters.
WORDS = {
    "shift": r"too (large|small|high|low|big)|off by|shift|offset|start\w* (at|from)|later|earlier|ahead|behind|plus.one|minus.one"
             r"|by one|position \+ ?\d|positions? \+ ?\d|past length|1-based|one-based",
    "restart": r"restart|reset|start\w* (again|over|anew)|segment|begin again|chunk|wrap|modulo|periodic|repeat",
    "running": r"restart|reset|r[au]n on|went on|continu|running|consecutive|segment|as if .*one sequence|unpacked",
    "wrap": r"wrap|modulo|\bmod\b|overflow|periodic|restart|repeat|bits? (signed|unsigned|wide)|u?int(8|16)",
    "overflow": r"overflow|u?int(8|16|32)|wrap|modulo|(8|16|32).bit|negative from",
    "clamp": r"clamp|clip|stuck|stop\w* at|saturat|constant|stay|capp?ed|last (row|position)|no further|at most|limit|repeat",
    "mirrored": r"mirror|upside|sign",
    "lerope": r"lerope",
    "summed": r"cumul|cumsum|added up|sum of",
    "columns": r"column.*exponent|exponent.*column|frequency of their own",
    "exchanged_rows": r"exchang|swap|permut",
    "elsewhere": r"at position|row of position|rows \d+ to \d+ at",
    "stride": r"stride|step|doubl|twice|times|multipl|every (second|other)|scale|×|linear|factor",
    "halved": r"half|halv|// ?2|floor|each position (twice|repeated)|repeated|divided|linear|factor|scale|stride|step|two rows",
    "linear": r"linear|interpolat|divided|scale|factor|slower|faster|times|×|stride|step|multipl|half|doubl|twice",
    "reverse": r"revers|backward|descend|flip|negative|last to first|upside|step -1|stride -1",
    "padding": r"pad|left|start\w* (late|after|at)|shift|zero|first \w+ rows|mask|offset",
    "stuck": r"same position|constant|one position|all rows|equal|identical|stuck|not rotat|zero|position 0|broadcast",
    "zero_pos": r"zero|not rotat|position 0|identity|constant|same position|ones",
    "inverse": r"invers|negat|sign|opposite|backward|conjugat|direction|transpose",
    "pos16": r"(float|bf|fp|f)\w*16|16.bit|half precision|bfloat|round\w* to|precision",
    "pos32": r"float32|single|fp32|24.bit|round\w* to|precision|2\^24",
    "permuted": r"permut|order|exchang|swap|shuffl|blocks?|moved|rearrang|zig.?zag|interleav|rows \d+.*rows \d+|elsewhere",
    "skip": r"skip|missing|miss|left out|dropped|omitted|shift|from row|gap|jump|off by|duplicat|repeat|twice|insert",
    "normalized": r"normali[sz]|divided|scale|linear|fraction|interpolat|slower|times|factor|stride|step|between 0 and 1",
    "fraction": r"integer|truncat|floor|round|whole|fraction",
    "theta": r"rope_theta|theta|base",
    "ladder": r"exponent|denominator|base|theta|ladder|progression|frequenc|head_dim|rotary_dim|freq_shift|head dim|pairs?",
    "rotary": r"rotary_dim|partial|head_dim|exponent|denominator|rotary|width|dimension",
    "freq_shift": r"freq_shift|denominator|h ?- ?1|d ?- ?2|half.*(- ?1|minus one)|downscale|exponent|ladder|/ ?\(.*- ?1|linspace|end ?point",
    "index": r"index|shift\w*|one pair|pair i ?\+|off by|neighbou?r|base|offset|later|next|moved|times|scale|factor|amplitude",
    "reciprocal": r"reciproc|invers|grow|sign of the exponent|1/|wavelength|positive exponent|upside|inverted|increas",
    "squared": r"squar|twice|doubl|power|exponent|two times|ladder",
    "root": r"root|half|halv|exponent|denominator|i/d|ladder|head_dim|2d",
    "all_one": r"same frequency|all frequencies|equal|one frequency|integer division|frequency 1|constant|base was 1|theta was 1",
    "radians": r"2.?pi|2 ?π|π|degree|radian|turns?|times|factor|scale|linear|slower|faster",
    "two_pi": r"2.?pi|2 ?π|π|\bpi\b|turns",
    "degrees": r"degree|radian|pi/180|180",
    "freq_reversed": r"revers|order|backward|flip|descend|ascend|permut|slowest first",
    "freq_rest": r"zero|do(es)? not turn|not turn|pairs? \d+.*(stand|still|not)|missing|partial|truncat|proportional|constant|unrotated|not rotat",
    "freq_repeat": r"repeat|twice|duplicat|half|interleav|layout|pairing|pairs? \d+|floor|same as",
    "over_two": r"divided by d - 2",
    "of_all_heads": r"d_model|all heads|num_heads",
    "whole_log": r"log",
    "half_of": r"half",
    "sigmoid": r"sigmoid",
    "cropped": r"crop|corner|not (resized|interpolated)",
    "one_axis": r"one sequence|1-?d|one axis|flat",
    "vector_added": r"vector (was|were) added|vector.*to each row|type embedding|bias|constant row",
    "number_added": r"(number|offset|constant).*(added|plus)|added to",
    "of_pair": r"all pairs have the frequency of pair \d+",
    "harmonic": r"frequencies are 1/\(1 \+ i\)",
    "many_times": r"multiplied by (50|1000)\b",
    "other_head": r"as those of another head.dim|2i/head.dim, not 2i/rotary.dim",
    "goes_on": r"second half of the columns goes on with the ladder",
    "waves_twice": r"cosines of cosines",
    "other_bits": r"bits of b?float16 (were|was) read as another type",
    "sines_scaled": r"amplitude of (tensor sin|columns)",
    "missing_product": r"lacks a product",
    "halved_heads": r"each half of the channels was turned",
    "pairs_shifted": r"pairs are off by one channel",
    "normalized_after": r"normalized after it was rotated",
    "twofold": r"exponents are 4i/d",
    "naive_ntk": r"theta was multiplied by the factor itself",
    "long_length": r"seq.len",
    "rotary_exponent": r"exponents of the frequencies were 2i/rotary.dim|rope.type was default",
    "exchanged_factors": r"low.freq.factor and high.freq.factor were exchanged",
    "hard_bands": r"blend of the middle band is missing",
    "ramp_base": r"ramp .*with a base of 10000",
    "betas_default": r"betas default|beta.fast was 32, not 16; beta.slow was 1, not 2",
    "ramp_head": r"ramp .*found with head.dim",
    "ramp_part": r"ramp .*part was taken twice",
    "ramp_half": r"ramp .*with d/2|ramp was laid over channels",
    "ramp_double": r"ramp .*with 2d",
    "ramp_channels": r"ramp was laid over channels|ramp .*with d/2",
    "ramp_clamped": r"ramp .*clamped to d/2 - 1",
    "ramp_inward": r"ramp were rounded inward",
    "ramp_cut": r"ramp .*were rounded down",
    "ramp_nearest": r"ramp .*were rounded to nearest",
    "blended_wavelengths": r"wavelengths were blended",
    "smooth_wavelength": r"blend .*linear in the wavelength",
    "smooth_factor": r"blend .*with factor in the place of high.freq.factor",
    "power_head": r"d = head.dim, not rotary.dim",
    "power_half": r"half of d, the number of pairs",
    "not_less": r"factor - 1 was not taken off",
    "all_steps": r"frequencies \(inv.freq\) were computed in",
    "softmax": r"attention factor was that of the softmax",
    "longest": r"with ln\(max.position.embeddings\)",
    "inverse_scale": r"inverse scale",
    "of_sequence": r"with seq.len in the place",
    "short_alone": r"short.factor was taken .*attention factor of 1",
    "less_factor": r"0\.07",
    "base_2": r"logarithm of base 2",
    "yarn_factor": r"attention factor was that of yarn",
    "other_original": r"another original length",
    "tf32_exact": r"tf32",
    "twice_shifted": r"scaling( \(factor\))? was applied twice",
    "no_scaling": r"not scaled|scaling|without|missing|ignored|dropped|rope_type was default|unscaled|not applied|factor was 1",
    "extra_linear": r"linear|scal|factor|divided|slower|interpolat|times|×",
    "extra_parts": r"(yarn|llama3), not default",
    "inverse_scaling": r"multipl|invers|reciproc|instead of divid|faster|times|factor|×|stretch|direction",
    "factor": r"factor|scal|times|×|interpolat",
    "scaling_type": r"rope_type|scal|linear|ntk|dynamic|yarn|llama3|longrope|interpolat|base",
    "ntk": r"ntk|exponent|scaled.?base|power",
    "dynamic": r"dynamic|seq_len|length|ntk|not scaled",
    "seq_len": r"seq_len|length|dynamic|max_position|long prompt",
    "no_factor": r"attention.?factor|mscale|amplitude|magnitude|attn_factor|1\.0 instead|scale of cos",
    "bands": r"beta|band|ramp|low|high|original_max_position|correction|interpolat|edge|truncate|blend|pairs? \d+|mix",
    "betas": r"beta",
    "truncate": r"truncat|floor|ceil|round|ramp|band|edge",
    "original": r"original_max|original length|max_position|length|beta",
    "llama_bands": r"low_freq|high_freq|band|wavelength|smooth|original_max|factor|medium|middle|interpolat|pairs? \d+",
    "long_short": r"short|long|seq_len",
    "factors_order": r"short|long|factor|revers|order|shift|index|permut|divis|multipl|invers",
    "exchange": r"exchang|swap|cos.*sin|sin.*cos|order of|flip",
    "sin_sign": r"sign|negat|invers|conjugat|opposite|direction",
    "cos_sign": r"cos\w*.*(sign|negat)|negat.*cos|sign|half turn|pi\b|π|amplitude.*-1|multiplied by -1",
    "one_wave": r"sin\w*|cos\w*|zero|one|constant|missing|same|copy|equal|twice|both|exchang|squar|absolute|amplitude",
    "absolute": r"absolute|sign|sqrt|positive|magnitude|abs|non-negative",
    "layout": r"layout|interleav|half|halves|pairing|concatenat|order|repeat|neox|gpt-?j|permut|exchang|split",
    "channels": r"channel|column|pair|order|permut|revers|roll|shift|exchang|swap|layout|half|halves|slice|index|rotat",
    "slice": r"zero|missing|half|halves|slice|pairs? \d+|columns?|channels?|partial|rotary_dim|not rotat|not written|blank|unwritten|"
             r"do(es)? not turn|identity",
    "amplitude": r"amplitude|scale|multipl|times|magnitude|factor|normali[sz]|radius|×|divided",
    "shape_wave": r"tan|not a (sine|cosine|wave)|square|offset|added|clip|clamp|saturat|\[0, ?1\]|amplitude|affine|plus|mean|halved|shift",
    "quantized": r"quanti[sz]|int8|8.bit|fp8|float8|levels|step|round\w* to|precision|coarse|mantissa|bits",
    "low16": r"bf16|bfloat|float16|fp16|f16|half precision|16.bit|precision|round|mantissa|truncat|bits",
    "bf16": r"bf16|bfloat",
    "decimals": r"decimal|digit",
    "f16": r"float16|fp16|f16|half precision",
    "tf32": r"tf32|tensor.?float|10.bit|11.bit|matmul|precision|float16|round",
    "f32": r"float32|fp32|single|f32|24.bit",
    "recurrence": r"recurr|running|accumul|cumulat|product|drift|error.*grow|sum|rounding|step by step|repeated",
    "reduction": r"reduc|2.?pi|π|range|large (angle|argument)|precision|float32|fast|approximat|trig|angle|polynomial",
    "lookup": r"lookup|table|interpolat|approximat|grid|steps|nearest|precision|quanti[sz]|resolution",
    "row": r"rows?\b|positions? \d+|element|block|bad|place|memory|part of|local|region",
    "element": r"element|bit|single|one (number|place|value)|rows?\b|bad|corrupt|isolated|place",
    "nan": r"nan|not finite|non-?finite|infinit|\binf\b|not a number",
    "endian": r"endian|byte.?order|byte.?swap|swapped bytes|bytes",
    "misread": r"misread|bfloat16|float16|read as|type|reinterpret|bytes|bits|dtype",
    "variant": r"variant|formula|press|power of two|powers of two|2\^n|heads|count",
    "heads": r"heads?\b.*\d|num_heads|made for|count of heads|number of heads|bias_max|tensor.?parallel|rank|shard",
    "slope_start": r"start|first|from (0|1)|index|exponent|one head|by one|off by|shift|later|earlier|times 2|twice|doubl|factor|times|half|bias_max",
    "head_order": r"order|revers|permut|exchang|swap|roll|rotat|shift|head\w* \d+",
    "bias_max": r"bias_max|slope|exponent|ratio|power|base",
    "slope_base": r"base|slope|ratio|\be\b|bias_max",
    "slope_form": r"slopes? (are|were|is|was)|slope|linear|constant|same|equal|geometric",
    "one_head": r"heads? \d|one head|single head|part|bad",
    "bias_sign": r"sign|negat|invers|opposite|direction|revers|mirror|positive|exchang|transpos|key (-|minus) query|query (-|minus) key",
    "bias_scale": r"scale|times|factor|multipl|divided|sqrt|twice|doubl|half|amplitude|×|slope",
    "distance_shift": r"off by|shift|offset|too (large|small)|by one|one (more|less)|start|past|cache|constant|added|distance|later|earlier|position",
    "distance_form": r"squar|log|form|clip|clamp|window|not linear|nonlinear|distance|revers|modulo|wrap",
    "form": r"form\b|symmetric|causal|\bkey\b|by key|absolute|mask|distance",
    "mask": r"mask|causal|infin|-inf|null|not finite|form|future",
    "offset": r"offset|constant|added|shift|minus|plus|bucket",
    "direction": r"bidirection|direction|sign|one.?sided|both sides|causal|half of the buckets|negat|exchang",
    "buckets": r"num_buckets|buckets|number of",
    "max_distance": r"max_distance|maximum distance|distance|clip|edge",
    "bucket_edge": r"edge|floor|round|ceil|exact|bound|bucket|log|max_exact",
    "diagonal": r"diagonal|distance 0|zero distance|element",
    "shaw_clip": r"clip|clamp|max_relative_position|left_max|right_max|window",
    "off": r"off by|one|2 ?\w* ?- ?1",
    "pretrained": r"pretrain|window",
    "log8": r"not divided by (log2|ln)\(8\)",
    "times_8": r"not multiplied by 8",
    "log": r"\blog|logarithm|\bln\b|base",
    "scale_of": r"scale|factor|times|multipl|divided|×|sum|mean|amplitude|normali",
    "beta": r"beta|factor|strength|times|scale",
    "missing_one": r"without 1|1 (was )?(not added|missing)|minus 1|lower by",
    "constant": r"constant|always|not applied|missing|same",
    "in_place": r"overwrit|in place|sign|not a rotation|minus|first (half|number)|reflect|amplitude|negat",
    "head_part": r"heads? \d|head|part|batch|some|only|of \d+ (heads|items|vectors)",
    "batch": r"batch|item|row|part",
    "order_of_heads": r"heads?.*(order|permut|exchang|roll|revers|hold)",
    "from_right": r"from the right",
    "order_of_places": r"(order|exchang|places?).*has those of",
    "order_of_items": r"items?.*(order|permut|exchang|roll|revers|hold)",
    "seq_axis": r"axis|axes|seq_axis|heads?|transpos|position",
    "rest": r"pass|rest|beyond|past|rotary_dim|partial|channels|tail|unrotated",
    "tail": r"tail|last|end|offset",
    "one_axis": r"ax[ei]s|one position|same|time|temporal|1-?D|sections?|text",
    "consecutive": r"consecutive|running|plain|position",
    "sections": r"section|interleav|ax[ei]s|mrope|pairs? \d+",
    "image": r"rows? \d+|positions? \d+|image|patch|segment|from row|start",
    "delta": r"delta|later|text after|from row",
    "convention": r"convention|pixtral|qwen|kimi",
    "width": r"width|height|row length|columns",
    "extra_rows": r"extra_tokens|class|cls",
    "nearest": r"nearest",
    "bilinear": r"bilinear, not",
    "corners": r"align_corners",
    "cubic": r"bicubic kernel",
    "half_pixel": r"half pixel",
    "scale_factor": r"scale_factor",
    "target_grid": r"target grid",
    "source_grid": r"source grid",
    "in_halves": r"first half|halves|even|odd",
    "range": r"0 to 1|-1 to 1",
    "merge": r"merge|block|tile|window",
    "scale_base": r"scale_base|base|scale|power|times",
    "center": r"cent[er]{2}|shift|offset|position",
    "gamma": r"gamma|0\.4|zeta|scale|index|exponent",
    "undivided": r"not divided by 1\.4",
    "floored": r"rounded down|round(ed)? (up|to the nearest)|toward 0",
    "over_scale": r"divided by the scale",
    "log1p": r"log1p",
    "no_log": r"no logarithm",
    "beta_other": r"beta was|times the claimed",
    "root_scale": r"square roots of the claimed",
    "mask_of_first": r"mask was taken for all",
    "modulus": r"modul[ui]",
    "bound": r"partial sums",
    "power_of_factor": r"factor was raised|without an exponent",
    "linear_for_base": r"as linear scaling does it",
    "stretch_inverse": r"stretch is the reciprocal",
    "offset_too": r"offset",
    "no_scale": r"scale|missing|one|constant|xpos|not applied",
    "axes": r"ax[ei]s|row\w*.*column|column\w*.*row|height|width|transpos|order|exchang|swap|grid",
    "start_index": r"start.index was",
    "ignored": r"was ignored",
    "convention": r"convention was",  # another model's, whose axes have that order
    "timescale": r"timescale|base|theta|ladder|exponent|denominator|n - 1|frequenc|times|factor|scale|slower|faster",
    "transposed": r"transpos|axes|column-major|fortran|order of (the )?axes|reshap|row.?major|layout",
    "shape": r"shape|transpos|size|dimension|expected|axes",
    "stale": r"rows?\b|block|from row|rest|stale|other|mixture|two|part|base|theta",
    "tile": r"tile|block|transpos|permut|exchang|rows?\b|region",
    "flat": r"roll|shift|offset|element|stride|flat|misalign|row|buffer|diagonal|column",
}


# Parameters that no query string takes.
BODY_ONLY = {"attention_mask", "input_ids", "weights"}


class Case:
    """One upload with its claim."""

    def __init__(self, kind, family, body, tensors, dtype, words, right=None, allowed=None, upload="json", cite="", sent=None):
        self.kind, self.family, self.body, self.tensors, self.dtype = kind, family, body, tensors, dtype
        self.words, self.upload, self.cite, self.sent = words, upload, cite, sent or {}
        self.shown = self.can_show(right, allowed)

    def can_show(self, right, allowed):
        """True: beyond 1.5 times what the arithmetic may do. False: within it. None: between them, which is not scored."""
        if right is None:
            return True
        worst = 0.0
        for name, wanted in right.items():
            got = self.tensors[name]
            if np.shape(got) != np.shape(wanted):
                return True
            with np.errstate(all="ignore"):
                both = np.isfinite(got) & np.isfinite(wanted)
                if np.any(~both & ~((got == wanted) | (np.isnan(got) & np.isnan(wanted)))):
                    return True
                if both.any():
                    worst = max(worst, float(np.max(np.abs(got - wanted)[both] / allowed[name][both])))
        return True if worst > 1.5 else False if worst <= 1 else None

    def payload(self):
        """Query, content type and bytes of the request."""
        member = self.body.get("member", "table")
        body = {key: value for key, value in self.body.items() if key != "member"}
        finite = all(np.all(np.isfinite(x) | np.isneginf(x)) for x in self.tensors.values())
        alone = list(self.tensors) == [""]
        if member == "table" and self.upload != "json" and not BODY_ONLY & set(body.get("parameters", {})) or not finite:
            return self.binary(body, alone and self.dtype != "bfloat16" and self.upload != "safetensors")
        sent = {name: arrays.nested(x, self.dtype) for name, x in self.tensors.items()}
        body = {**body, "dtype": self.dtype, **self.sent}
        if member == "inputs":
            body.update(sent)
        else:
            body[member] = sent[""] if alone else sent
        return "", "application/json", json.dumps(body).encode()

    def binary(self, body, as_npy):
        query = {key: value for key, value in body.items() if key != "parameters"}
        query.update(body.get("parameters", {}))
        query["dtype"] = self.dtype
        text = {key: plain_text(value) for key, value in query.items() if value is not None}
        if as_npy:
            return "?" + urllib.parse.urlencode(text), "application/x-npy", arrays.npy(self.tensors[""], self.dtype)
        named = {name or "data": x for name, x in self.tensors.items()}
        return "?" + urllib.parse.urlencode(text), "application/vnd.safetensors", arrays.safetensors(named, self.dtype)

    def named_by(self, text):
        """Which of the causes the text of one finding names."""
        return [bool(re.search(pattern(cause), text, re.IGNORECASE)) for cause in self.words]


def pattern(cause):
    """Of `a|b`, either will do. What is none of WORDS is a name of a fault."""
    return "|".join(WORDS.get(name, name) for name in cause.split("|"))


def plain_text(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple, np.ndarray)):
        if len(value) and isinstance(value[0], (list, tuple, np.ndarray)):
            return ";".join(plain_text(part) for part in value)
        return ",".join(plain_text(part) for part in value)
    return repr(float(value)) if isinstance(value, float) else str(value)
