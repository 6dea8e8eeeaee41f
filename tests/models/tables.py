#!/usr/bin/env python3
"""tables.py - tables that configurations without rotations resolve to, beside those of transformers' own modules.

`make models-report` runs it. A case is a configuration, what the request adds, and the table of the class's code.

Usage: tables.py
"""
import importlib
import os
import sys
import warnings

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import torch  # noqa: E402

import report  # noqa: E402

WIDTH, ROWS, HEIGHT, COLUMNS = 64, 9, 5, 7
LINE, IMAGE = {"positions": f"0:{ROWS}"}, {"height": HEIGHT, "width": COLUMNS}


def module(name):
    return importlib.import_module(f"transformers.models.{name}.modeling_{name}")


def settings(name, cls, **keys):
    return getattr(importlib.import_module(f"transformers.models.{name}.configuration_{name}"), cls + "Config")(**keys)


def find(model, name):
    return next(getattr(part, name) for part in model.modules() if hasattr(part, name))


def detr(name, cls):
    made = getattr(module(name), cls + "SinePositionEmbedding")(WIDTH // 2, normalize=True)
    return made(torch.Size([1, 3, HEIGHT, COLUMNS]), "cpu", torch.float32)[0].permute(1, 2, 0)


def dab_detr():
    made = module("dab_detr").DabDetrSinePositionEmbedding(settings("dab_detr", "DabDetr", hidden_size=WIDTH))
    return made(torch.zeros(1, 3, HEIGHT, COLUMNS), torch.ones(1, HEIGHT, COLUMNS))[0].permute(1, 2, 0)


def vit_mae():
    embeddings = module("vit_mae").ViTMAEEmbeddings(settings("vit_mae", "ViTMAE", hidden_size=WIDTH))
    embeddings.initialize_weights()
    return embeddings.position_embeddings[0]


def conformer(name, cls, part, *more):
    told = getattr(module(name), part)(settings(name, cls, hidden_size=WIDTH), *more)(torch.zeros(1, ROWS, WIDTH))
    return told[-1]


def xlnet(attn_type):
    config = settings("xlnet", "XLNet", d_model=WIDTH, n_head=4, n_layer=1, d_inner=8, vocab_size=9, attn_type=attn_type)
    return module("xlnet").XLNetModel(config).relative_positional_encoding(ROWS, ROWS)[:, 0]


def swin(name, cls, buffer):
    config = settings(name, cls, depths=[1], num_heads=[2], embed_dim=8)
    return find(getattr(module(name), cls + "Model")(config), buffer)


def made(name, cls, *more):
    table = getattr(module(name), cls)(*more)
    return table.create_weight() if hasattr(table, "create_weight") else table.positional_embedding


def counted(name, cls):
    return getattr(module(name), cls).get_embedding(ROWS, WIDTH)


RELATIVE = {"query_length": ROWS}
CASES = [
    ({"model_type": "detr", "d_model": WIDTH}, IMAGE, lambda: detr("detr", "Detr")),
    ({"model_type": "deformable_detr", "d_model": WIDTH}, IMAGE, lambda: detr("deformable_detr", "DeformableDetr")),
    ({"model_type": "mask2former", "hidden_dim": WIDTH}, IMAGE, lambda: detr("mask2former", "Mask2Former")),
    ({"model_type": "sam2_vision_model", "fpn_hidden_size": WIDTH}, IMAGE, lambda: detr("sam2", "Sam2")),
    ({"model_type": "dab-detr", "hidden_size": WIDTH}, IMAGE, dab_detr),
    ({"model_type": "rt_detr", "encoder_hidden_dim": WIDTH}, IMAGE,
     lambda: module("rt_detr").build_2d_sinusoidal_position_embedding(HEIGHT, COLUMNS, WIDTH)),
    ({"model_type": "vit_mae", "hidden_size": WIDTH}, {}, vit_mae),
    ({"model_type": "videomae", "hidden_size": WIDTH}, LINE,
     lambda: module("videomae").get_sinusoid_encoding_table(ROWS, WIDTH)[0]),
    ({"model_type": "parakeet_encoder", "hidden_size": WIDTH}, RELATIVE,
     lambda: conformer("parakeet", "ParakeetEncoder", "ParakeetEncoderRelPositionalEncoding")),
    ({"model_type": "wav2vec2-conformer", "hidden_size": WIDTH}, RELATIVE,
     lambda: conformer("wav2vec2_conformer", "Wav2Vec2Conformer", "Wav2Vec2ConformerRelPositionalEmbedding")),
    ({"model_type": "fastspeech2_conformer", "hidden_size": WIDTH}, RELATIVE,
     lambda: conformer("fastspeech2_conformer", "FastSpeech2Conformer", "FastSpeech2ConformerRelPositionalEncoding",
                       {"positional_dropout_rate": 0})),
    ({"model_type": "xlnet", "d_model": WIDTH}, RELATIVE, lambda: xlnet("bi")),
    ({"model_type": "xlnet", "d_model": WIDTH, "attn_type": "uni"}, RELATIVE, lambda: xlnet("uni")),
    ({"model_type": "swin"}, {}, lambda: swin("swin", "Swin", "relative_position_index")),
    ({"model_type": "swinv2"}, {}, lambda: swin("swinv2", "Swinv2", "relative_coords_table")),
    ({"model_type": "informer", "d_model": WIDTH}, LINE,
     lambda: made("informer", "InformerSinusoidalPositionalEmbedding", ROWS, WIDTH)),
    ({"model_type": "autoformer", "d_model": WIDTH}, LINE,
     lambda: made("autoformer", "AutoformerSinusoidalPositionalEmbedding", ROWS, WIDTH)),
    ({"model_type": "time_series_transformer", "d_model": WIDTH}, LINE,
     lambda: made("time_series_transformer", "TimeSeriesSinusoidalPositionalEmbedding", ROWS, WIDTH)),
    ({"model_type": "qwen2_5_omni_audio_encoder", "d_model": WIDTH}, LINE,
     lambda: made("qwen2_5_omni", "SinusoidsPositionEmbedding", ROWS, WIDTH)),
    ({"model_type": "qwen3_asr_encoder", "d_model": WIDTH}, LINE,
     lambda: made("qwen3_asr", "SinusoidsPositionEmbedding", ROWS, WIDTH)),
    ({"model_type": "qwen3_omni_moe_audio_encoder", "d_model": WIDTH}, LINE,
     lambda: made("qwen3_omni_moe", "SinusoidsPositionEmbedding", ROWS, WIDTH)),
    ({"model_type": "canary_decoder", "hidden_size": WIDTH}, LINE,
     lambda: made("canary", "CanaryPositionalEmbedding", ROWS, WIDTH)),
    ({"model_type": "fsmt", "d_model": WIDTH}, LINE,
     lambda: module("fsmt").SinusoidalPositionalEmbedding.get_embedding(ROWS, WIDTH, None)),
    ({"model_type": "nllb-moe", "d_model": WIDTH}, LINE, lambda: counted("nllb_moe", "NllbMoeSinusoidalPositionalEmbedding")),
    ({"model_type": "kosmos_2_text_model", "embed_dim": WIDTH}, LINE,
     lambda: counted("kosmos2", "Kosmos2TextSinusoidalPositionalEmbedding")),
    ({"model_type": "kosmos_2_5_text_model", "embed_dim": WIDTH}, LINE,
     lambda: counted("kosmos2_5", "Kosmos2_5TextSinusoidalPositionalEmbedding")),
    ({"model_type": "musicgen_decoder", "hidden_size": WIDTH}, LINE,
     lambda: counted("musicgen", "MusicgenSinusoidalPositionalEmbedding")),
    ({"model_type": "musicgen_melody_decoder", "hidden_size": WIDTH}, LINE,
     lambda: counted("musicgen_melody", "MusicgenMelodySinusoidalPositionalEmbedding")),
    ({"model_type": "tipsv2_text_model", "hidden_size": WIDTH}, LINE,
     lambda: counted("tipsv2", "Tipsv2SinusoidalPositionalEmbedding")),
    ({"model_type": "seamless_m4t", "hidden_size": WIDTH}, LINE,
     lambda: counted("seamless_m4t", "SeamlessM4TSinusoidalPositionalEmbedding")),
    ({"model_type": "pegasus_x", "d_model": WIDTH}, LINE,
     lambda: module("pegasus_x").PegasusXSinusoidalPositionalEmbedding(WIDTH)(torch.zeros(1, ROWS, WIDTH))[0]),
    ({"model_type": "videoprism_text_model", "hidden_size": WIDTH}, LINE,
     lambda: module("videoprism").create_sinusoidal_positions(ROWS, WIDTH)),
    ({"model_type": "speecht5", "hidden_size": WIDTH}, LINE,
     lambda: module("speecht5").SpeechT5ScaledPositionalEncoding(0, WIDTH, ROWS).pe[0]),
]


def answer(server, config, more):
    """The table that the resolved parameters make; a text where they make none."""
    status, told = server.post("/v1/models/resolve", config)
    if status != 200:
        return told["detail"]
    part = (told["resources"] or [{"path": "/v1/sinusoidal", "parameters": told["parameters"]}])[0]
    status, table = server.post(part["path"], part["parameters"] | more)
    return np.array(table.get("table", table)["data"], dtype=float) if status == 200 else table["detail"]


def main():
    server, wrong = report.load_test().Server(), 0
    for config, more, theirs in CASES:
        ours, table = answer(server, config, more), theirs().detach().double().numpy()
        same = not isinstance(ours, str) and ours.size == table.size and np.abs(ours - table.reshape(ours.shape)).max() < 2e-4
        wrong += not same
        if not same:
            print(f"another table: {config}: {ours if isinstance(ours, str) else ours.shape}, {table.shape}")
    server.stop()
    print(f"{len(CASES) - wrong} passed, {wrong} failed")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
