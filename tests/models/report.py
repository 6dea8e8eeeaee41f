#!/usr/bin/env python3
"""report.py - what `make models-report` writes: every configuration class of transformers, and the program's verdict.

Configurations need no torch; modules are built without memory (torch's meta device), and a forward pass with functions
that rotate replaced by ones that note who calls them tells which layers rotate, and which channels make a pair. Their
rotary classes compute inv_freq and the attention factor, which are compared with those of /v1/rope/frequencies.

    right    the answer agrees with the modules
    unknown  the program says so
    none     the program says that there are no positions, and nothing in the modules rotates
    refused  400 or 422, with the key that is at fault
    unseen   the modules could not be run: nothing was compared
    wrong    the answer disagrees: a mistake of the program

verdicts measures the classes that are in no FILE and whose configuration or answer is not the one that is known, and
prints each row that is new or another.

Usage: report.py measure SHARD/SHARDS FILE | verdicts [FILE...] | variants COUNT [CLASSES]
"""
import ast
import contextlib
import functools
import glob
import importlib
import importlib.machinery
import importlib.util
import inspect
import io
import json
import lzma
import math
import os
import pathlib
import random
import re
import signal
import sys
import types
import warnings

FOLDER = pathlib.Path(__file__).parent
APPLIES = re.compile("(?=.*(rotary|rope|rotate_))(?=.*(apply|rotate))")
TABLE = re.compile("(^|_)(pos|position|positions|positional)(_|$)|^wpe$|attention_biases|relative|rel_pos")
HELPERS = {"rotate_half", "rotate_every_two", "dynamic_rope_update"}
LIMIT_SECONDS = 90
GRID = [0, 1, 0, 2], [0, 0, 1, 5]  # rows and columns of patches that are compared


def lasting(config):
    """What a release does not change by itself."""
    return {key: value for key, value in config.items() if key != "transformers_version"}


def load_classes():
    """Every configuration class that can be made by default, with the file that defines it."""
    import transformers
    found, root = {}, pathlib.Path(transformers.__file__).parent
    for path in sorted(root.glob("models/*/configuration_*.py")):
        name = "transformers." + ".".join(path.relative_to(root).with_suffix("").parts)
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        for cls in vars(module).values():
            if inspect.isclass(cls) and issubclass(cls, transformers.PretrainedConfig) and cls.__module__ == name:
                try:
                    text = cls().to_json_string(use_diff=False)
                except Exception as error:  # a class that has no default says so in many ways
                    print(f"{cls.__name__} has no default: {str(error)[:100]!r}", file=sys.stderr)
                    continue
                found[cls.__name__] = {"class": cls, "folder": path.parent, "config": json.loads(text, object_hook=lasting)}
    return found


# ---- what modules do ----


def modeling_modules(folder):
    modules = []
    for path in sorted(glob.glob(f"{folder}/modeling_*.py")):
        name = f"transformers.models.{folder.name}.{os.path.basename(path)[:-3]}"
        try:
            modules.append(importlib.import_module(name))
        except ImportError as error:
            print(f"{name}: {error}", file=sys.stderr)
    return modules


def config_of(cls):
    """The name of the configuration class that a module's __init__ takes."""
    parameter = inspect.signature(cls.__init__).parameters.get("config")
    annotation = getattr(parameter, "annotation", None)
    if annotation is inspect.Parameter.empty:
        return None
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", None)


def classes_for(modules, name, base):
    return [cls for module in modules for cls in vars(module).values()
            if inspect.isclass(cls) and issubclass(cls, base) and cls.__module__ == module.__name__
            and config_of(cls) == name]


def measure_rotary(modules, entry, torch, config=None):
    """inv_freq and attention factor of the rotary classes of this configuration."""
    found = []
    for cls in classes_for(modules, entry["class"].__name__, torch.nn.Module):
        if not re.search("rotary|rope", cls.__name__, re.I):
            continue
        try:
            made = cls(config or entry["class"]()).eval()
        except Exception as error:
            print(f"{cls.__name__}: {str(error)[:100]!r}", file=sys.stderr)
            continue
        freq = {key: value.double().flatten().tolist() for key, value in made.named_buffers()
                if key.endswith("inv_freq") and "original" not in key and value.dim() <= 2}
        scale = {key: float(value) for key, value in vars(made).items() if key.endswith("attention_scaling")}
        found.append({"class": cls.__name__, "freq": freq, "scale": scale, "grid": measure_grid(made, torch)})
    return found


def measure_grid(made, torch):
    """Cosines of a rotation by rows and columns at GRID, all channels; None: it is none, or takes other things."""
    config, (rows, columns) = getattr(made, "config", None), GRID
    if hasattr(made, "freqs_ci"):  # the patches of the whole image, row by row
        side = config.image_size // config.patch_size
        return [made.freqs_ci[r * side + c].real.flatten().repeat_interleave(2).tolist() for r, c in zip(rows, columns)]
    try:
        if "pixel_values" in inspect.signature(made.forward).parameters:
            side = 8 * config.patch_size
            cos = made(torch.zeros(1, 3, side, side))[0]
            return [cos[r * 8 + c].tolist() for r, c in zip(rows, columns)]
        source = inspect.getsource(sys.modules[type(made).__module__])
        origin = 1 if "index_copy(0, patch_index, position_ids + 1)" in source else 0  # Inkling 2's model adds it
        places = [columns, rows] if "stack([wpos_ids" in source else [rows, columns]  # SAM 3's has columns first
        if "freq_h, freq_h, freq_w, freq_w" in source:  # Gemma 4's has a batch, and columns first
            return made(torch.zeros(1), torch.tensor([columns, rows]).T[None])[0][0].tolist()
        cos = made(torch.zeros(1), torch.tensor(places).T + origin)[0]
    except Exception as error:
        print(f"{type(made).__name__}: {str(error)[:100]!r}", file=sys.stderr)
        return None
    return cos.reshape(len(rows), -1).tolist() if cos.numel() % len(rows) == 0 else None


def stand_in(value, role, torch):
    """What a function that rotates is tried with: channel 0 alone, turned by an angle of cosine 0.6."""
    if isinstance(value, (tuple, list)):
        roles = ("cos", "sin") if len(value) == 2 else (role,) * len(value)
        return type(value)(stand_in(item, part, torch) for item, part in zip(value, roles))
    if not isinstance(value, torch.Tensor):
        return value
    if value.is_complex():
        return torch.full(value.shape, 0.6 + 0.8j)
    if not value.is_floating_point():
        return torch.zeros(value.shape, dtype=value.dtype)
    if role in ("q", "k"):
        one = torch.zeros(value.shape)
        one[..., 0] = 1
        return one
    return torch.full(value.shape, 0.8 if "sin" in role else 0.6)


def role_of(name, first):
    if first and not re.search("cos|sin|freq", name):
        return "q"
    return "k" if name in ("k", "xk", "k_rot", "key", "key_states") else name


def try_rotation(function, args, kwargs, torch):
    """The channels that channel 0 becomes."""
    names = list(inspect.signature(function).parameters)
    mine = [stand_in(arg, role_of(names[i] if i < len(names) else "", i == 0), torch) for i, arg in enumerate(args)]
    more = {key: stand_in(arg, role_of(key, key in ("q", "x", "query")), torch) for key, arg in kwargs.items()}
    turned = function(*mine, **more)
    turned = turned[0] if isinstance(turned, (tuple, list)) else turned
    first = turned.reshape(-1, turned.shape[-1])[0]
    return [[i, round(float(x), 3)] for i, x in enumerate(first) if abs(float(x)) > 1e-6]


def watch(modules, calls, torch):
    tried = {}

    def wrapped(function, name):
        def call(*args, **kwargs):
            caller = sys._getframe(1).f_locals.get("self")
            tensors = [arg for arg in [*args, *kwargs.values()] if isinstance(arg, torch.Tensor)]
            key = (name, tuple(tensors[0].shape)) if tensors else (name,)
            if key not in tried:
                try:
                    tried[key] = try_rotation(function, args, kwargs, torch)
                except Exception as error:
                    tried[key] = str(error)[:100]
            calls.append([getattr(caller, "layer_idx", None), name, tried[key]])
            return function(*args, **kwargs)
        return call

    for module in modules:
        for name, function in list(vars(module).items()):
            if isinstance(function, types.FunctionType) and APPLIES.search(name) and name not in HELPERS \
                    and function.__module__ == module.__name__:
                setattr(module, name, wrapped(function, name))


def let_meta_pass(torch):
    """Masks look at values, which tensors on the meta device do not have."""
    import transformers.masking_utils as masks
    masks.find_packed_sequence_indices = lambda *args, **kwargs: None
    truth, item = torch.Tensor.__bool__, torch.Tensor.item
    torch.Tensor.__bool__ = lambda self: False if self.is_meta else truth(self)
    torch.Tensor.item = lambda self: 0 if self.is_meta else item(self)


def inputs_of(model, config, torch):
    wants = inspect.signature(model.forward).parameters
    inputs = {key: torch.zeros(1, 8, dtype=torch.long, device="meta")
              for key in ("input_ids", "decoder_input_ids") if key in wants}
    side = getattr(config, "image_size", 224)
    side = side[0] if isinstance(side, (list, tuple)) else side
    if "input_ids" not in wants and "pixel_values" in wants:
        inputs["pixel_values"] = torch.zeros(1, getattr(config, "num_channels", 3), side, side, device="meta")
    elif "input_ids" not in wants and "inputs_embeds" in wants:
        inputs["inputs_embeds"] = torch.zeros(1, 8, config.hidden_size, device="meta")
    return inputs | ({"use_cache": False} if "use_cache" in wants else {})


def tables_of(model):
    """The sides of weights whose names speak of positions, by module."""
    found = {}
    for path, weight in model.named_parameters():
        names = path.removesuffix(".weight").split(".")
        if TABLE.search(names[-1]) and weight.dim() > 1:
            found[".".join(name for name in names if not name.isdigit())] = list(weight.shape)
    return found


def run_model(modules, entry, torch):
    """Who rotates in a forward pass of the class's model; whether it came to its end; its tables of positions."""
    import transformers
    calls, config, tables = [], entry["class"](), {}
    config._attn_implementation = "eager"
    watch(modules, calls, torch)
    models = [cls for cls in classes_for(modules, type(config).__name__, transformers.PreTrainedModel)
              if not cls.__name__.endswith("PreTrainedModel")]
    for cls in sorted(models, key=lambda cls: (not cls.__name__.endswith("Model"), len(cls.__name__)))[:1]:
        try:
            with torch.device("meta"), torch.no_grad():
                model = cls(config)
                tables = tables_of(model)
                model(**inputs_of(model, config, torch))
            return calls, True, tables
        except Exception as error:
            print(f"{cls.__name__}: {str(error)[:100]!r}", file=sys.stderr)
    return calls, False, tables


def try_modules(modules, torch):
    """What the function that rotates does where no forward pass comes to it, unless others put pairs into halves."""
    head, angle = torch.zeros(1, 1, 1, 8), torch.zeros(1, 1, 8)
    for module in modules:
        function = vars(module).get("apply_rotary_pos_emb")
        if any("interleave" in name for name in vars(module)):
            continue
        if function and list(inspect.signature(function).parameters)[:4] == ["q", "k", "cos", "sin"]:
            with contextlib.suppress(Exception):
                yield [None, function.__name__, try_rotation(function, (head, head, angle, angle), {}, torch)]


def measure_class(entry):
    import torch
    torch.set_num_threads(1)
    let_meta_pass(torch)
    modules = modeling_modules(entry["folder"])
    rotary = measure_rotary(modules, entry, torch)
    tried = list(try_modules(modules, torch))
    calls, ran, tables = run_model(modules, entry, torch)
    seen = {json.dumps(call): call for call in calls}
    methods = any(APPLIES.search(name) for of in (entry["class"].__name__, None)  # None: any configuration
                  for cls in classes_for(modules, of, torch.nn.Module) for name in vars(cls))
    return {"rotary": rotary, "calls": list(seen.values()), "tried": tried, "ran": ran, "methods": methods,
            "tables": tables}


def measure_in_child(name, entry, out):
    import torch
    child = os.fork()
    if child == 0:
        signal.alarm(LIMIT_SECONDS)
        told = {"class": name, "torch": torch.__version__}
        try:
            told |= measure_class(entry)
        finally:
            out.write(json.dumps(told) + "\n")
            out.flush()
            os._exit(0)
    os.waitpid(child, 0)


def measure(shard, path):
    """Each class in a process of its own: watched modules stay watched, and some never end."""
    first, step = (int(part) for part in shard.split("/"))
    import torch  # once, before the processes part
    classes = load_classes()
    with open(path, "w", encoding="utf-8") as out:
        for name in sorted(classes)[first::step]:
            measure_in_child(name, classes[name], out)


# ---- which classes rotate at all, by their source ----

ROTATES = re.compile("rotary|rope(?!rt)|rotate_(half|every|pairs|queries)", re.I)
ROTATES_NOT = {  # its classes share code with others that rotate, or do so by a key
    "ClvpDecoderConfig": "the attention of its encoders",
    "Gemma3nAudioConfig": "one base class for all modules", "Gemma4AudioConfig": "one base class for all modules",
    "PPDocLayoutV2Config": "frequencies of relations between boxes",
    "PPDocLayoutV2ReadingOrderConfig": "frequencies of relations between boxes",
    "SeamlessM4TConfig": "position_embeddings_type is relative",
    "Wav2Vec2BertConfig": "position_embeddings_type is relative_key",
    "Wav2Vec2ConformerConfig": "position_embeddings_type is relative",
}


@functools.cache
def source_units(folder):
    """Classes and functions of the files modeling_*.py, by name."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("modeling_*.py"))]
    return {node.name: node for tree in trees for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}


def source_configs(unit):
    """The configuration classes that a class's __init__ takes; None: it says none."""
    for node in unit.body if isinstance(unit, ast.ClassDef) else []:
        for arg in node.args.args if isinstance(node, ast.FunctionDef) and node.name == "__init__" else []:
            if arg.arg == "config" and arg.annotation is not None:
                return set(re.findall(r"\w+Config\b", ast.unparse(arg.annotation))) - {"PreTrainedConfig"} or None
    return None


def rotates(name, folder):
    """Does what the classes for this configuration use, and what that uses in turn, speak of rotations?"""
    units = source_units(folder)
    todo, seen = [unit for unit in units if name in (source_configs(units[unit]) or ())], set()
    while todo and name not in ROTATES_NOT:
        unit = todo.pop()
        if unit in seen:
            continue
        seen.add(unit)
        used = {getattr(node, "id", getattr(node, "attr", "")) for part in units[unit].body for node in ast.walk(part)}
        if any(ROTATES.search(word) for word in used | {unit}):
            return True
        todo += [word for word in used & units.keys() if name in (source_configs(units[word]) or (name,))]
    return False


# ---- variants ----


def draw_scaling(draw, head_dim):
    """A dictionary of a rope type, without its base."""
    name = draw.choice(["default", "linear", "dynamic", "yarn", "longrope", "llama3"])
    scaling = {"rope_type": name}
    if name != "default":
        scaling["factor"] = draw.choice([2.0, 4.0, 8.0, 32.0])
    if name in ("yarn", "longrope", "llama3"):
        scaling["original_max_position_embeddings"] = draw.choice([2048, 4096, 8192])
    if name == "llama3":
        scaling |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
    if name == "yarn":
        more = {"beta_fast": 16.0, "beta_slow": 2.0, "mscale": 0.7, "mscale_all_dim": 1.0, "attention_factor": 1.3,
                "truncate": False}
        scaling |= {key: draw.choice([value, None]) for key, value in more.items() if draw.random() < 0.3}
    if name == "longrope":
        scaling |= {key: [draw.choice([1.0, 1.25, 3.0]) for _ in range(head_dim // 2)]
                    for key in ("short_factor", "long_factor")}
    return scaling


def draw_variant(draw, config, head_dim):
    """The default configuration with another rotation, in the spelling of transformers 4 or 5."""
    own = "rope_|layer_rope_theta|partial_rotary|original_max"
    variant = {key: value for key, value in config.items() if not re.match(own, key)}
    theta = draw.choice([5e5, 1e6, 10000.0, None])
    scaling = draw.choice([None, draw_scaling(draw, head_dim), draw_scaling(draw, head_dim)])
    if draw.random() < 0.2:
        variant["partial_rotary_factor"] = draw.choice([0.5, 0.25])
    if draw.random() < 0.5:  # transformers 4
        if theta is not None:
            variant["rope_theta"] = theta
        if scaling is not None and draw.random() < 0.5:
            scaling["type"] = scaling.pop("rope_type")
        variant["rope_scaling"] = scaling
        return variant
    variant["rope_parameters"] = scaling if scaling is None or theta is None else scaling | {"rope_theta": theta}
    if scaling is not None and draw.random() < 0.2:
        scaling["partial_rotary_factor"] = 0.5
    return variant


def judge_variant(server, modules, cls, variant, torch):
    """None: transformers refuses it, or its module cannot be made."""
    try:
        config = cls.from_dict(json.loads(json.dumps(variant)))
        rotary = measure_rotary(modules, {"class": cls, "config": variant}, torch, config)
    except Exception:
        return None
    rotary = [one for one in rotary if one["freq"]]
    if not rotary:
        return None
    status, answer = server.post("/v1/models/resolve", variant)
    if status != 200:
        return "refused", answer["detail"]
    if answer["encoding"] != "rope":
        return answer["encoding"], ""
    layers = [layer for layer in answer["layers"] if layer["encoding"] == "rope"]
    wrong = min((compare_frequencies(server, one, layers) for one in rotary), key=len)
    if wrong and any("frequencies, and fails" in text for text in answer["warnings"]):
        return "warned", ""  # the class's own modules fail
    return ("wrong", "; ".join(wrong)) if wrong else ("right", "")


def write_variants(count, only=""):
    """Draw variants of the classes whose rotation is right by default, and print those that are told wrong."""
    import torch
    torch.set_num_threads(1)
    test, classes, counts = load_test(), load_classes(), {}
    verdicts, draw, server = test.read_verdicts(), random.Random(1), test.Server()
    names = [name for name, row in sorted(verdicts.items()) if row[2] == "right" and "inv_freq" in row[5]
             and name in classes and re.search(only, name)]
    for name in (names * (int(count) // max(1, len(names)) + 1))[:int(count)]:
        entry = classes[name]
        status, answer = server.post("/v1/models/resolve", entry["config"])
        dims = [layer["parameters"]["rotary_dim"] for layer in answer["layers"] if "rotary_dim" in layer["parameters"]]
        if not dims:
            continue
        head_dim = dims[0]
        variant = draw_variant(draw, entry["config"], head_dim)
        with contextlib.redirect_stderr(io.StringIO()):
            verdict = judge_variant(server, modeling_modules(entry["folder"]), entry["class"], variant, torch)
        if verdict is None:
            verdict = "refused by transformers", ""
        counts[verdict[0]] = counts.get(verdict[0], 0) + 1
        if verdict[0] in ("wrong", "refused", "unknown"):
            told = {key: variant.get(key) for key in ("rope_scaling", "rope_parameters", "rope_theta",
                                                      "partial_rotary_factor") if key in variant}
            print(f"{name} {verdict[0]}: {verdict[1]}: {json.dumps(told)[:300]}")
    server.stop()
    print(", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items())))


# ---- verdicts ----


def close(mine, theirs):
    return len(mine) == len(theirs) and all(abs(a - b) <= 2e-6 * max(abs(a), abs(b)) + 1e-12
                                            for a, b in zip(sorted(mine), sorted(theirs)))


def of_kind(table, kind, plain):
    return [value for key, value in table.items() if key.startswith(kind)] or \
        [value for key, value in table.items() if key == plain] or list(table.values())


def compare_frequencies(server, rotary, layers):
    wrong = []
    for layer in layers:
        numerics = {} if "axes_dims" in layer["parameters"] else {"numerics": "float32"}
        status, answer = server.post("/v1/rope/frequencies", layer["parameters"] | numerics)
        if status != 200:
            return [f"/v1/rope/frequencies refuses {layer['layer_type']}"]
        mine, factor = answer["inv_freq"]["data"], answer["attention_factor"]
        axes = len(layer["parameters"].get("axes_dims", [0]))  # whose frequencies are the same
        if not any(close(mine, freq * axes) for freq in of_kind(rotary["freq"], layer["layer_type"], "inv_freq")):
            wrong.append(f"inv_freq of {layer['layer_type']}")
        scales = of_kind(rotary["scale"], layer["layer_type"], "attention_scaling")
        if scales and not any(abs(scale - factor) <= 1e-6 * factor for scale in scales):
            wrong.append(f"attention factor of {layer['layer_type']}: {scales[0]}, got {factor}")
    return wrong


def compare_calls(measured, layers):
    """Pairing, and which layers rotate. A function called interleave puts halves out of pairs."""
    wrong, pairs = [], set()
    for _, name, turned in measured["calls"] or measured.get("tried", []):
        if isinstance(turned, list) and len(turned) == 2:
            pairs.add("interleaved" if turned[1][0] == 1 or "interleave" in name else "half")
    mine = {layer["parameters"]["pairing"] for layer in layers}
    if "interleaved" in pairs and "half" in pairs and any("interleave" in call[1] for call in measured["calls"]):
        pairs = {"interleaved"}  # its indexer turns halves
    if pairs and pairs != mine:
        wrong.append(f"pairing {'/'.join(sorted(pairs))}, got {'/'.join(sorted(mine))}")
    theirs = {call[0] for call in measured["calls"] if isinstance(call[0], int)}
    indices = {index for layer in layers for index in layer["indices"]}
    stack = theirs == set(range(len(theirs)))  # layers that run several times have the numbers of one stack
    if theirs and indices and measured["ran"] and theirs != indices and not stack:
        wrong.append(f"{len(theirs)} layers rotate, got {len(indices)}")
    return wrong


def compare_grid(server, measured, answer):
    """Cosines of patches in the columns that the class's own code has."""
    told = {key: value for key, value in answer["parameters"].items() if key != "spatial_merge_size"}
    normalized = {"height": 8, "width": 8} if told["convention"] == "dinov3" else {}
    status, table = server.post("/v1/rope/grid", told | normalized | {"positions": list(GRID), "cache_layout": "hf"})
    theirs = [rotary["grid"] for rotary in measured["rotary"] if rotary.get("grid")]
    if status != 200:
        return [f"/v1/rope/grid refuses {told}"]
    same = [[len(ours) == len(row) and all(abs(a - b) < 1e-5 for a, b in zip(ours, row))
             for ours, row in zip(table["cos"]["data"], cos)] for cos in theirs]
    return [] if not theirs or any(all(rows) for rows in same) else ["cosines of patches"]


def compare_towers(server, config, towers):
    """A tower is what its configuration alone is, or unknown: names of timm's models are read of whole ones alone."""
    wrong = []
    for tower in towers:
        inner = config
        for name in tower["pointer"][2:].split("/"):
            inner = inner[name]
        status, alone = server.post("/v1/models/resolve", inner)
        if tower["encoding"] != "unknown" and (status != 200 or alone["layers"] != tower["layers"]):
            wrong.append(f"{tower['pointer']} alone is another")
    return wrong


def compare_tables(tables, answer):
    """A model without positions has no tables of them; a learned one has one with the rows and width that are told."""
    told = [[layer["parameters"][side] for side in ("rows", "width") if side in layer["parameters"]]
            for layer in answer["layers"] if "rows" in layer["parameters"]]
    if answer["encoding"] == "none" and tables and not answer["towers"]:
        return [f"none, but has {next(iter(tables))}"]
    return [f"rows and width {sides}, but {tables}" for sides in told
            if tables and not any(set(sides) <= {*shape, math.prod(shape[:-1])} for shape in tables.values())]


def judge(server, measured, status, answer, config):
    rotary = [one for one in measured.get("rotary", []) if one["freq"]]
    if status != 200:
        return "refused", answer["detail"]
    if wrong := compare_towers(server, config, answer["towers"]):
        return "wrong", "; ".join(wrong)
    if answer["encoding"] == "unknown":
        own = [text for text in answer["warnings"] if re.match("model type |nothing says", text)]
        return "unknown", own[0].split(": looked")[0]
    if "ran" not in measured:
        return "unseen", "the modules did not end"
    if answer["encoding"] != "rope":
        if measured["calls"]:
            return "wrong", f"{answer['encoding']}, but rotates"
        if wrong := compare_tables(measured.get("tables", {}), answer):
            return "wrong", "; ".join(wrong)
        rows = any("rows" in layer["parameters"] for layer in answer["layers"]) and measured.get("tables")
        return ("none" if answer["encoding"] == "none" else "right"), "rows of its table" if rows else "nothing rotates"
    layers = [layer for layer in answer["layers"] if layer["encoding"] == "rope"]
    if "convention" in answer["parameters"]:
        wrong = compare_grid(server, measured, answer)
        seen = any(one.get("grid") for one in measured["rotary"])
        return ("wrong", "; ".join(wrong)) if wrong else ("right" if seen else "unseen", "cosines of patches")
    if is_composite(config):
        return "right", "as its text model's configuration"
    tried = [compare_frequencies(server, one, layers) for one in rotary]
    wrong = min(tried, key=len, default=[]) + compare_calls(measured, layers)
    if wrong:
        return "wrong", "; ".join(wrong)
    if not rotary and not measured["calls"]:
        hidden = not measured["ran"] or measured.get("methods")
        return ("unseen", "nothing was seen to rotate") if hidden else ("wrong", "nothing rotates")
    return "right", " and ".join(["inv_freq"] * bool(rotary) + ["rotations"] * bool(measured["calls"]))


def is_composite(config):
    return any(isinstance(config.get(key), dict) for key in
               ("text_config", "thinker_config", "language_config", "llm_config", "vlm_config", "decoder",
                "decoder_config"))


def load_test():
    """verdicts.test has the server and the digest."""
    loader = importlib.machinery.SourceFileLoader("verdicts", str(FOLDER / "verdicts.test"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("verdicts", loader))
    loader.exec_module(module)
    return module


def row_of(test, name, entry, measured, status, answer):
    verdict, why = judge(measured[0], measured[1], status, answer, entry["config"])
    turns = "rope" if status == 200 and answer["encoding"] == "rope" else "-"
    if verdict in ("unknown", "refused") and rotates(name, entry["folder"]):
        turns = "rotates"
    return [name, entry["class"].model_type or "-", verdict, test.digest(status, answer), turns, why[:160]]


def write_rows(rows):
    import transformers
    counts = {}
    for row in rows:
        counts[row[2]] = counts.get(row[2], 0) + 1
    summary = ", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items()))
    known, lost = ([row for row in rows if row[4] == turns] for turns in ("rope", "rotates"))
    summary += f"; of {len(known) + len(lost)} that rotate, {len(lost)} unknown or refused"
    head = f"# transformers {transformers.__version__} (PyPI): {summary}\n# class\tmodel type\tverdict\tanswer\trotates\twhy\n"
    text = "".join("\t".join(row) + "\n" for row in rows)
    (FOLDER / "verdicts.tsv").write_text(head + text, encoding="utf-8")
    print(summary)
    for row in lost:
        print(f"{row[2]}, but rotates: {row[1]}: {row[5]}")


def measure_alone(name, entry):
    with open(os.memfd_create("told"), "w+", encoding="utf-8") as out:
        measure_in_child(name, entry, out)
        out.seek(0)
        return json.loads(out.readline() or "{}")


def write_verdicts(paths):
    """Classes that are in no file of measurements are measured now, unless configuration and answer are those known."""
    import torch  # once, before the processes part
    test, classes, rows = load_test(), load_classes(), []
    known = test.read_verdicts() if (FOLDER / "verdicts.tsv").exists() else {}
    before = test.read_configurations() if known else {}
    measured = {told["class"]: told for path in paths for told in map(json.loads, open(path, encoding="utf-8"))}
    server = test.Server()
    for name, entry in sorted(classes.items()):
        status, answer = server.post("/v1/models/resolve", entry["config"])
        row, old = known.get(name), before.get(name, {}).get("config")
        if name not in measured and row and row[3] == test.digest(status, answer) and old == entry["config"]:
            rows.append(row)
            continue
        told = measured.get(name) or measure_alone(name, entry)
        rows.append(row_of(test, name, entry, (server, told), status, answer))
        if rows[-1] != row:
            print(("new: " if row is None else "") + " ".join(rows[-1]), flush=True)
    server.stop()
    for name in sorted(known.keys() - classes.keys()):
        print(f"gone: {name}")
    configurations = {name: {"config": entry["config"]} for name, entry in sorted(classes.items())}
    with lzma.open(FOLDER / "configurations.json.xz", "wt", encoding="utf-8", preset=9) as file:
        json.dump(configurations, file)
    write_rows(rows)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    os.environ["POSENC_IDLE_TIMEOUT_MS"] = "86400000"  # modules are measured between two requests
    if sys.argv[1] == "measure":
        measure(*sys.argv[2:])
    elif sys.argv[1] == "variants":
        write_variants(*sys.argv[2:])
    else:
        write_verdicts(sys.argv[2:])
