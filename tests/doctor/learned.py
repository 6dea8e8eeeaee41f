"""learned - mistakes in a learned table of patches that is interpolated to another grid."""
import numpy as np

import arrays
from case import Case

KERNELS = {"bilinear": lambda x, a: np.maximum(1 - x, 0),
           "bicubic": lambda x, a: np.where(x <= 1, ((a + 2) * x - (a + 3)) * x * x + 1, np.where(x < 2, ((a * x - 5 * a) * x + 8 * a) * x - 4 * a, 0))}
PLACES = {"centres": lambda i, s, t: (i + 0.5) * s / t - 0.5, "corners": lambda i, s, t: i * (s - 1) / (t - 1), "starts": lambda i, s, t: i * s / t,
          "offset": lambda i, s, t: (i + 0.5) * s / (t + 0.1) - 0.5}  # facebookresearch/dinov2: interpolate_offset


def weights(s, t, mode, place, a):
    """What each of t patches takes of each of s, as PyTorch's interpolate has it; the edges stand for what is beyond them."""
    i, w = np.arange(t), np.zeros((t, s))
    if mode == "crop":
        return np.eye(t, s)
    if mode.startswith("nearest"):
        w[i, np.floor((i + (0.5 if mode == "nearest-exact" else 0)) * s / t).astype(int)] = 1
        return w
    at = PLACES[place](i, s, t)
    for j in range(-3, s + 3):
        w[:, min(max(j, 0), s - 1)] += KERNELS[mode](np.abs(at - j), a)
    return w


def interpolate(c, mode=None, place="centres", a=-0.75, columns=False, source_columns=False, target=1, source=1, last=False, flat=False):
    table, mode = np.array(c["table"]), mode or c["mode"]
    extra, rows = table[:c["extra_tokens"]], table[c["extra_tokens"]:]
    (h, w), (to_h, to_w) = c["source_grid"][::source], c["target_grid"][::target]
    grid = rows.reshape(w, h, -1).transpose(1, 0, 2) if source_columns else rows.reshape(h, w, -1)
    if flat:
        return np.concatenate([extra, weights(h * w, to_h * to_w, mode, place, a) @ rows])
    made = np.einsum("ty,ux,yxc->tuc", weights(h, to_h, mode, place, a), weights(w, to_w, mode, place, a), grid)
    made = (made.transpose(1, 0, 2) if columns else made).reshape(to_h * to_w, -1)
    return np.concatenate([made, extra] if last else [extra, made])


def claim(source, target, extra, mode):
    table = np.round(np.random.default_rng(9).normal(size=(extra + source[0] * source[1], 6)), 3)
    return {"table": table.tolist(), "source_grid": list(source), "target_grid": list(target), "extra_tokens": extra, "mode": mode}


CUBIC, LINEAR, SQUARE = claim((4, 5), (6, 7), 1, "bicubic"), claim((4, 5), (6, 9), 1, "bilinear"), claim((6, 6), (4, 9), 0, "bicubic")
CROP = claim((6, 7), (4, 5), 1, "bicubic")
ROWS = [
    ("i: nearest", "nearest", CUBIC, {"mode": "nearest"}),
    ("i: nearest-exact", "nearest", LINEAR, {"mode": "nearest-exact"}),
    ("i: bilinear for bicubic", "bilinear", SQUARE, {"mode": "bilinear"}),
    ("i: corners aligned", "corners", LINEAR, {"place": "corners"}),
    ("i: patches at their starts", "half_pixel", CUBIC, {"place": "starts"}),
    ("i: scale_factor with an offset of 0.1", "scale_factor", CUBIC, {"place": "offset"}),
    ("i: cubic of a = -0.5", "cubic", SQUARE, {"a": -0.5}),
    ("i: answer by columns", "axes", LINEAR, {"columns": True}),
    ("i: table by columns", "axes", CUBIC, {"source_columns": True}),
    ("i: target width first", "target_grid", SQUARE, {"target": -1}),
    ("i: source width first", "source_grid", CUBIC, {"source": -1}),
    ("i: cropped", "cropped", CROP, {"mode": "crop"}),
    ("i: as one sequence", "one_axis", LINEAR, {"flat": True}),
    ("i: as one sequence, linear", "one_axis", CUBIC, {"flat": True, "mode": "bilinear"}),
    ("i: class row at the end", "extra_rows", LINEAR, {"last": True}),
    ("i: nearest, answer by columns", "nearest + axes", CUBIC, {"mode": "nearest", "columns": True}),
    ("i: bilinear, corners aligned", "bilinear + corners", CUBIC, {"mode": "bilinear", "place": "corners"}),
    ("i: class row at the end, answer by columns", "extra_rows + axes", LINEAR, {"last": True, "columns": True}),
]


def cases():
    made = []
    for v, (name, words, c, changes) in enumerate(row for row in ROWS for _ in (0, 1)):
        store, right = ("float32", "float64")[v % 2], interpolate(c)
        body = {"encoding": "learned/interpolate", "parameters": c}
        made.append(Case(f"{name} [{store}]", "learned/interpolate", body, {"": arrays.rounded(interpolate(c, **changes), store)}, store,
                         words.split(" + "), {"": right}, {"": 2.0 ** -18 + 0 * right}))
    for c in (CUBIC, LINEAR, SQUARE):
        made.append(Case(f"{c['target_grid']} {c['mode']}", "learned/interpolate", {"encoding": "learned/interpolate", "parameters": c},
                         {"": arrays.rounded(interpolate(c), "float32")}, "float32", None))
    return made
