#!/usr/bin/env python3
"""rope_utils.py - transformers' own test of its rope functions, with this service in their place.

    rope_utils.py FOLDER    run test_modeling_rope_utils.py of the installed transformers, kept in FOLDER
    rope_utils.py steps     compare the functions with the service, number by number, for many parameters

Each function of ROPE_INIT_FUNCTIONS is replaced by GET /v1/rope/frequencies with numerics=float32. The default rope is a
function of each model's class, so those of the two classes that the test asks are replaced, too: it compares frequencies with
theirs by <=, and one of Gemma 3's 128 powers of 10000 is not correctly rounded in torch. Nothing else is replaced.
FOLDER/test_modeling_rope_utils.py is taken as it is, or fetched from GitHub at the tag of the installed version. Both need
transformers and torch, the first parameterized, too (make rope-utils).
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

import torch
import transformers
from transformers import LlamaConfig, modeling_rope_utils
from transformers.models.gemma3.modeling_gemma3 import Gemma3RotaryEmbedding
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

SOURCE = "https://raw.githubusercontent.com/huggingface/transformers/v{}/tests/utils/test_modeling_rope_utils.py"
UPSTREAM = dict(modeling_rope_utils.ROPE_INIT_FUNCTIONS)
SHARED = ("factor", "original_max_position_embeddings", "attention_factor", "beta_fast", "beta_slow", "mscale",
          "mscale_all_dim", "truncate", "low_freq_factor", "high_freq_factor", "short_factor", "long_factor")
READ = {"linear": ("factor",), "dynamic": ("factor",), "proportional": ("factor",),
        "yarn": SHARED[:8], "longrope": ("factor", "original_max_position_embeddings", "attention_factor", *SHARED[10:]),
        "llama3": ("factor", "original_max_position_embeddings", *SHARED[8:10]), "default": ()}


def ask(url, body):
    request = urllib.request.Request(url + "/v1/rope/frequencies", json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise ValueError(error.read().decode()) from None


def replacement(url, rope_type):
    """The function of this type, as the service has it."""

    def function(config, device=None, seq_len=None, layer_type=None, **_):
        config.standardize_rope_params()
        given = config.rope_parameters[layer_type] if layer_type is not None else config.rope_parameters
        head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        body = {name: given[name] for name in READ[rope_type] if given.get(name) is not None}
        longest = config.max_position_embeddings
        body.update(head_dim=head_dim, rope_theta=given["rope_theta"], rope_type=rope_type, numerics="float32",
                    partial_rotary_factor=given.get("partial_rotary_factor") or 1, max_position_embeddings=longest)
        if rope_type == "yarn" and given.get("factor") is None:
            body["factor"] = longest / given["original_max_position_embeddings"]
        if rope_type == "dynamic":
            body["seq_len"] = max(int(seq_len or 0), longest)
        if rope_type == "longrope":
            body["seq_len"] = int(seq_len or 1)
        answer = ask(url, body)
        return torch.tensor(answer["inv_freq"]["data"], dtype=torch.float32, device=device), answer["attention_factor"]

    return function


def replace(url):
    for rope_type in UPSTREAM:
        modeling_rope_utils.ROPE_INIT_FUNCTIONS[rope_type] = replacement(url, rope_type)
    for model in (LlamaRotaryEmbedding, Gemma3RotaryEmbedding):
        model.compute_default_rope_parameters = staticmethod(replacement(url, "default"))


# --- upstream's test ---

def upstreams_test(folder):
    path = pathlib.Path(folder) / "test_modeling_rope_utils.py"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with urllib.request.urlopen(SOURCE.format(transformers.__version__)) as answer:
            path.write_bytes(answer.read())
    sys.path.insert(0, str(path.parent))
    return unittest.defaultTestLoader.loadTestsFromName("test_modeling_rope_utils")


def run_upstreams(url, folder):
    replace(url)
    result = unittest.TextTestRunner(verbosity=1).run(upstreams_test(folder))
    wrong = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - wrong} of {result.testsRun} of upstream's tests pass with the service in the place of its functions")
    return wrong > 0 or result.testsRun == 0


# --- number by number ---

def cases():
    for head_dim, theta in ((64, 10000.0), (128, 500000.0), (80, 1e6)):
        for factor in (1.3, 2.0, 4.0, 10.0, 20.0, 40.0):
            yield head_dim, {"rope_type": "linear", "rope_theta": theta, "factor": factor}, None
            for seq_len in (None, 1, 4097, 16384, 100003):
                yield head_dim, {"rope_type": "dynamic", "rope_theta": theta, "factor": factor}, seq_len
            for more in ({}, {"truncate": False}, {"mscale": 0.707, "mscale_all_dim": 1.0}, {"beta_fast": 64, "beta_slow": 2}):
                yield head_dim, {"rope_type": "yarn", "rope_theta": theta, "factor": factor,
                                 "original_max_position_embeddings": 2048, **more}, None
            yield head_dim, {"rope_type": "llama3", "rope_theta": theta, "factor": factor, "low_freq_factor": 1.0,
                             "high_freq_factor": 4.0, "original_max_position_embeddings": 2048}, None
            for seq_len in (None, 5000):
                yield head_dim, {"rope_type": "longrope", "rope_theta": theta, "factor": factor,
                                 "original_max_position_embeddings": 2048, "short_factor": [1.0 + i / 37 for i in range(head_dim // 2)],
                                 "long_factor": [2.0 + i / 11 for i in range(head_dim // 2)]}, seq_len
        yield head_dim, {"rope_type": "proportional", "rope_theta": theta, "partial_rotary_factor": 0.25}, None


def tell(counts):
    for rope_type, (equal, numbers, most, factors, calls) in sorted(counts.items()):
        print(f"{rope_type:13} {equal} of {numbers} frequencies are the same bits, the others differ by {most} ulp at most; "
              f"{factors} of {calls} attention factors are the same")
    return any(most > 2 or factors != calls for _, _, most, factors, calls in counts.values())


def ulps(one, other):
    return int((one.view(torch.int32) - other.view(torch.int32)).abs().max())


def run_steps(url):
    """powf of torch is not correctly rounded, so frequencies may differ by an ulp or two; attention factors may not."""
    counts = {}
    for head_dim, parameters, seq_len in cases():
        config = LlamaConfig(hidden_size=4 * head_dim, num_attention_heads=4, head_dim=head_dim, max_position_embeddings=4096,
                             rope_parameters=parameters)
        rope_type = parameters["rope_type"]
        beyond = rope_type == "dynamic" and seq_len is not None and seq_len > config.max_position_embeddings
        length = torch.tensor(seq_len) if beyond else seq_len  # as dynamic_rope_update passes it
        wanted, factor = UPSTREAM[rope_type](config, "cpu", seq_len=length)
        got, ours = replacement(url, rope_type)(config, "cpu", seq_len=seq_len)
        equal, numbers, most, factors, calls = counts.get(rope_type, (0, 0, 0, 0, 0))
        counts[rope_type] = (equal + int((got == wanted).sum()), numbers + got.numel(), max(most, ulps(got, wanted)),
                             factors + (ours == factor), calls + 1)
    return tell(counts)


def main():
    server = subprocess.Popen([os.environ["POSENC_BINARY"], "serve", "--port", "0", "--admin-listen="], stderr=subprocess.PIPE,
                              text=True)
    try:
        listening = next(line for line in server.stderr if '"listening"' in line)
        url = f"http://127.0.0.1:{json.loads(listening)['port']}"
        return run_steps(url) if sys.argv[1] == "steps" else run_upstreams(url, sys.argv[1])
    finally:
        server.terminate()
        server.communicate()


if __name__ == "__main__":
    sys.exit(main())
