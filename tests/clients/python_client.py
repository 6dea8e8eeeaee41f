"""python_client.py - src/clients/python/posenc.py against the program, by pytest."""
import json
import math
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.join(os.environ["POSENC_ROOT"], "src/clients/python"))
import posenc  # noqa: E402

numpy = pytest.importorskip("numpy") if os.environ.get("WITH_NUMPY") else None
CONFIG = {"model_type": "qwen3", "hidden_size": 4096, "head_dim": 128, "num_attention_heads": 32,
          "num_hidden_layers": 36, "max_position_embeddings": 40960, "rope_theta": 1000000, "rope_scaling": None}


def rows(value):
    return value.tolist() if hasattr(value, "tolist") else value


def test_a_table_has_its_tensors():
    both = posenc.table("rope/table", head_dim=4, positions=range(2, 5))
    assert set(both) == {"cos", "sin"}
    assert rows(both["cos"])[0] == pytest.approx([math.cos(2), math.cos(0.02)], abs=1e-7)
    assert rows(posenc.table("rope/table", head_dim=4, positions=[2], tensor="sin"))[0][0] == pytest.approx(math.sin(2))
    assert len(rows(posenc.table("/sinusoidal", d_model=4, positions="0:3"))) == 3


@pytest.mark.parametrize("dtype, off", [("float64", 1e-15), ("float32", 1e-7), ("float16", 1e-3), ("bfloat16", 1e-2)])
def test_each_element_type_is_read(dtype, off):
    got = posenc.table("sinusoidal", d_model=2, positions=1, dtype=dtype)
    assert rows(got)[0] == pytest.approx([math.sin(1), math.cos(1)], abs=off)


def test_indices_are_integers():
    assert rows(posenc.table("t5/buckets", query_length=3))[2][0] == 2


def test_a_configuration_is_resolved(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    for config in (CONFIG, json.dumps(CONFIG), tmp_path, tmp_path / "config.json", str(tmp_path / "config.json")):
        assert posenc.resolve(config)["parameters"]["rope_theta"] == 1000000


def test_a_right_table_passes():
    right = posenc.table("rope/table", model="qwen3-8b", positions=range(64))
    posenc.assert_rope(rows(right["cos"]), rows(right["sin"]), config=CONFIG)
    posenc.assert_rope(right["cos"], right["sin"], model="Qwen/Qwen3-8B")
    posenc.assert_rope(right["cos"], right["sin"], head_dim=128, rope_theta=1000000)
    assert posenc.verify(right["cos"], encoding="rope", rope_theta=1000000)["matches"]


def test_a_wrong_one_is_told_with_the_report():
    wrong = posenc.table("rope/table", head_dim=128, positions=range(64))
    with pytest.raises(AssertionError) as told:
        posenc.assert_rope(wrong["cos"], wrong["sin"], config=CONFIG)
    assert "rope_theta was 10000, not 1000000" in str(told.value)
    assert str(told.value) == posenc.report({"cos": wrong["cos"], "sin": wrong["sin"]}, config=CONFIG)


def test_a_refusal_is_its_sentence():
    with pytest.raises(posenc.Problem, match="did you mean d_model") as told:
        posenc.table("sinusoidal", d_modle=4)
    assert (told.value.status, told.value.code) == (400, "unknown-parameter")
    with pytest.raises(posenc.Problem, match="nothing lives at"):
        posenc.table("sinusoidle", d_model=4)
    with pytest.raises(ValueError, match="one length"):
        posenc.verify([[1.0], [1.0, 2.0]], encoding="sinusoidal")
    with pytest.raises(FileNotFoundError):
        posenc.resolve("no/such/config.json")


def test_arrays_of_numpy_come_and_go():
    if numpy is None:
        pytest.skip("without numpy")
    both = posenc.table("rope/table", head_dim=64, positions="0:100", dtype="float64")
    assert both["cos"].dtype == numpy.float64 and both["cos"].shape == (100, 32)
    posenc.assert_rope(both["cos"], both["sin"], head_dim=64)
    posenc.assert_rope(both["cos"].astype(">f8"), numpy.asfortranarray(both["sin"]), head_dim=64)
    with pytest.raises(ValueError, match="element type must be one of"):
        posenc.verify(numpy.zeros((2, 2), complex), encoding="rope")


def test_a_server_is_asked_by_its_address(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    posenc._program.stop()  # the program of PATH has gone
    monkeypatch.delenv("POSENC_URL", raising=False)
    with pytest.raises(RuntimeError, match="set POSENC_URL"):
        posenc.resolve(CONFIG)
    with pytest.raises(OSError):
        posenc.resolve(CONFIG, url="http://127.0.0.1:1")


def test_the_program_ends_with_its_user():
    code = "import posenc; posenc.resolve({'model_type': 'llama', 'hidden_size': 64, 'num_attention_heads': 4}); " \
           "print(posenc._program._process.pid)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(pathlib.Path(posenc.__file__).parent)})
    assert not pathlib.Path(f"/proc/{int(done.stdout)}").exists()
