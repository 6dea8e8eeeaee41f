/* SPDX-License-Identifier: MIT */
/*
 * model_types.c - how each model type turns its pairs, and what its configuration may leave out.
 *
 * Source  for model type NAME of huggingface/transformers, under src/transformers/models/: the
 *         defaults in NAME/configuration_NAME.py, and apply_rotary_pos_emb (or the position
 *         embedding's class) in modeling_NAME.py: interleaved is rotate_half of x[..., 0::2], or
 *         complex numbers. Defaults change from version to version. Where they were read:
 *
 *         008e5743  apertus, cohere, cohere2, exaone4, gemma2, gemma4_text, glm4, glm4_moe_lite,
 *                   helium, llama4_text, longcat_flash, minimax, minimax_m2, ministral3, mistral4,
 *                   mixtral, olmo3, qwen3_5_text, qwen3_moe, qwen3_next, seed_oss, smollm3, youtu
 *         00709b86  qwen3_vl_text (000c33fd has a base of 500000, which no release has)
 *         008f5c8c  bitnet, moonshine      01854809  gemma3n_text
 *         001f85b3  bamba                  02f58079  zamba2
 *         018c8e03  qwen2_vl, qwen2_5_vl   032b32ab  mllama_text_model
 *         040e1a7e  phimoe                 05cd1ec1  lfm2, stablelm
 *
 *         and at b4b5244c, by what the classes themselves compute (tests/golden/data/configs):
 *         bloom, deepseek_v3, gemma3_text, glm4, gpt_neox, gpt_oss, llama, mistral, modernbert,
 *         mpt, phi3, qwen2, qwen2_vl, stablelm, t5.
 *
 *         The other rows are held against no version: they say what is published of the models,
 *         and the models of config/models resolve by them as their sources say. So are the types
 *         whose code lies beside their weights: aquila, baichuan, chatglm, hunyuan, internlm2,
 *         kimi_k2, mimo_v2_flash, minicpm, minicpm3, nomic_bert, orion, qwen, xverse, yi.
 */
#include "models/model_types.h"

#include <string.h>

#include "base/array.h"

#define INTERLEAVED  .interleaved = true
#define SCHEME(name) .scheme = PE_SCHEME_##name

static const pe_model_type types[] = {
    /* halves, as Llama */
    {.name = "llama", .fallback_head_dim = 128},
    {.name = "aquila", .fallback_head_dim = 128},
    {.name = "apertus",
     .theta = 12e6,
     .dictionary = "{\"rope_type\":\"llama3\",\"factor\":8,\"low_freq_factor\":1,"
                   "\"high_freq_factor\":4,\"original_max_position_embeddings\":8192}"},
    {.name = "arcee"},
    {.name = "aria_text"},
    {.name = "bamba", .partial = 0.5},
    {.name = "bitnet", .theta = 500000},
    {.name = "dbrx"},
    {.name = "deepseek"},
    {.name = "diffllama"},
    {.name = "dots1"},
    {.name = "esm"},
    {.name = "exaone"},
    {.name = "exaone4", .pattern = 4, .nope_full = true},
    {.name = "falcon", .theta = 10000, .fallback_head_dim = 64},
    {.name = "falcon_h1"},
    {.name = "gemma", .head_dim = 256},
    {.name = "gemma2", .head_dim = 256, .pattern = 2},
    {.name = "gemma3", .head_dim = 256, .theta = 1e6, .local_theta = 10000, .pattern = 6},
    {.name = "gemma3_text", .head_dim = 256, .theta = 1e6, .local_theta = 10000, .pattern = 6},
    {.name = "gemma3n_text", .head_dim = 256, .theta = 1e6, .local_theta = 10000, .pattern = 5},
    {.name = "gemma4_text",
     .head_dim = 256,
     .full_head_dim = 512,
     .pattern = 6,
     .last_full = true,
     .dictionary =
         "{\"sliding_attention\":{\"rope_type\":\"default\",\"rope_theta\":10000},"
         "\"full_attention\":{\"rope_type\":\"proportional\",\"partial_rotary_factor\":0.25,"
         "\"rope_theta\":1000000}}"},
    {.name = "glm4_moe", .partial = 0.5},
    {.name = "gpt_neox", .partial = 0.25},
    {.name = "gpt_neox_japanese"},
    {.name = "gpt_oss",
     .head_dim = 64,
     .theta = 150000,
     .pattern = 2,
     .dictionary = "{\"rope_type\":\"yarn\",\"factor\":32,\"beta_fast\":32,\"beta_slow\":1,"
                   "\"truncate\":false,\"original_max_position_embeddings\":4096}"},
    {.name = "granite"},
    {.name = "granitemoe"},
    {.name = "granitemoehybrid"},
    {.name = "granitemoeshared"},
    {.name = "baichuan"},
    {.name = "hunyuan_v1_dense"},
    {.name = "hunyuan_v1_moe"},
    {.name = "hunyuan"},
    {.name = "internlm"},
    {.name = "internlm2"},
    {.name = "internlm3"},
    {.name = "lfm2", .theta = 1e6},
    {.name = "mimo"},
    {.name = "mimo_v2_flash", .theta = 5e6, .local_theta = 10000, .partial = 0.334},
    {.name = "minicpm"},
    {.name = "minicpm3"},
    {.name = "minimax", .theta = 1e6},
    {.name = "minimax_m2", .head_dim = 128, .theta = 5e6},
    {.name = "ministral"},
    {.name = "ministral3",
     .head_dim = 128,
     .theta = 1e6,
     .dictionary =
         "{\"rope_type\":\"yarn\",\"factor\":16,\"beta_fast\":32,\"beta_slow\":1,\"mscale\":1,"
         "\"mscale_all_dim\":1,\"llama_4_scaling_beta\":0.1,\"original_max_position_embeddings\":"
         "16384}"},
    {.name = "mistral", .fallback_head_dim = 128},
    {.name = "mistral3"},
    {.name = "mllama_text_model", .theta = 500000, .cross_layers = "[3,8,13,18,23,28,33,38]"},
    {.name = "mixtral", .theta = 1e6, .fallback_head_dim = 128},
    {.name = "modernbert", .theta = 160000, .local_theta = 10000, .every = 3},
    {.name = "nemotron", .partial = 0.5},
    {.name = "nomic_bert"},
    {.name = "olmo"},
    {.name = "olmo2"},
    {.name = "olmo3", .pattern = 4, .unscaled_local = true, .theta = 500000},
    {.name = "olmoe"},
    {.name = "orion"},
    {.name = "persimmon", .theta = 25000, .partial = 0.5},
    {.name = "phi", .partial = 0.5},
    {.name = "phi3"},
    {.name = "phi3_v"},
    {.name = "phi4_multimodal"},
    {.name = "phi4mm"},
    {.name = "phimoe", .theta = 1e6},
    {.name = "qwen"},
    {.name = "qwen2"},
    {.name = "qwen2_moe"},
    {.name = "qwen2_vl", .merge = 2, .theta = 1e6},
    {.name = "qwen2_vl_text", .merge = 2, .theta = 1e6},
    {.name = "qwen2_5_vl", .merge = 2, .per_second = 4, .theta = 1e6},
    {.name = "qwen2_5_vl_text", .merge = 2, .per_second = 4, .theta = 1e6},
    {.name = "qwen2_5_omni_text"},
    {.name = "qwen3", .head_dim = 128},
    {.name = "qwen3_moe"},
    {.name = "qwen3_next", .head_dim = 256, .partial = 0.25, .attention_every = 4},
    {.name = "qwen3_5_text",
     .head_dim = 256,
     .partial = 0.25,
     .attention_every = 4,
     .merge = 2,
     .mrope_layout = "interleaved"},
    {.name = "qwen3_5_moe_text",
     .head_dim = 256,
     .partial = 0.25,
     .attention_every = 4,
     .merge = 2,
     .mrope_layout = "interleaved"},
    {.name = "qwen3_vl_text",
     .head_dim = 128,
     .theta = 5e6,
     .merge = 2,
     .mrope_layout = "interleaved"},
    {.name = "qwen3_vl_moe_text", .theta = 5e6, .merge = 2, .mrope_layout = "interleaved"},
    {.name = "qwen3_omni_moe_text", .theta = 1e6, .mrope_layout = "interleaved"},
    {.name = "recurrent_gemma", .partial = 0.5},
    {.name = "RefinedWeb", .theta = 10000},
    {.name = "RefinedWebModel", .theta = 10000},
    {.name = "seed_oss", .head_dim = 128},
    {.name = "smollm3", .theta = 2e6, .nope_every = 4},
    {.name = "stablelm", .partial = 0.25},
    {.name = "stablelm_epoch", .partial = 0.25},
    {.name = "starcoder2"},
    {.name = "vaultgemma", .head_dim = 256},
    {.name = "xverse"},
    {.name = "yi"},
    {.name = "zamba2", .rope_if_mem_rope = true},

    /* pairs (2i, 2i+1) */
    {.name = "chatglm", INTERLEAVED, .partial = 0.5},
    {.name = "codegen", INTERLEAVED, .theta = 10000, .rotary_dim = 64},
    {.name = "cohere", INTERLEAVED, .theta = 500000},
    {.name = "cohere2", INTERLEAVED, .pattern = 4, .nope_full = true},
    {.name = "deepseek_v2", INTERLEAVED},
    {.name = "deepseek_v3", INTERLEAVED},
    {.name = "deepseek_v32", INTERLEAVED},
    {.name = "ernie4_5", INTERLEAVED, .theta = 500000},
    {.name = "ernie4_5_moe", INTERLEAVED, .theta = 500000},
    {.name = "ernie4_5_vl_moe", INTERLEAVED, .theta = 500000, .mrope_layout = "ernie"},
    {.name = "ernie4_5_vl_moe_text", INTERLEAVED, .theta = 500000, .mrope_layout = "ernie"},
    {.name = "glm", INTERLEAVED, .head_dim = 128, .partial = 0.5},
    {.name = "glm4", INTERLEAVED, .head_dim = 128, .partial = 0.5},
    {.name = "glm4v_text", INTERLEAVED, .partial = 0.5},
    {.name = "glm4_moe_lite", INTERLEAVED},
    {.name = "glm_moe_dsa", INTERLEAVED},
    {.name = "gptj", INTERLEAVED, .theta = 10000, .rotary_dim = 64},
    {.name = "helium", INTERLEAVED, .head_dim = 128, .theta = 100000},
    {.name = "kimi_k2", INTERLEAVED},
    {.name = "llama4",
     INTERLEAVED,
     .head_dim = 128,
     .theta = 500000,
     .nope_every = 4,
     .temperature = true},
    {.name = "llama4_text",
     INTERLEAVED,
     .head_dim = 128,
     .theta = 500000,
     .nope_every = 4,
     .temperature = true},
    {.name = "longcat_flash", INTERLEAVED, .theta = 1e7},
    {.name = "mistral4",
     INTERLEAVED,
     .dictionary =
         "{\"rope_type\":\"yarn\",\"factor\":128,\"beta_fast\":32,\"beta_slow\":1,"
         "\"mscale\":1,\"mscale_all_dim\":1,\"llama_4_scaling_beta\":0.1,\"rope_theta\":10000,"
         "\"original_max_position_embeddings\":8192}"},
    {.name = "moonshine", INTERLEAVED, .partial = 0.9},
    {.name = "roformer", INTERLEAVED, .theta = 10000},
    {.name = "youtu", INTERLEAVED},

    {.name = "bloom", SCHEME(ALIBI)},
    {.name = "mpt", SCHEME(ALIBI)},

    {.name = "longt5", SCHEME(T5)},
    {.name = "mpnet", SCHEME(T5), .variant = "mpnet"},
    {.name = "mt5", SCHEME(T5)},
    {.name = "switch_transformers", SCHEME(T5)},
    {.name = "t5", SCHEME(T5)},
    {.name = "umt5", SCHEME(T5)},
    {.name = "wavlm", SCHEME(T5), .variant = "wavlm", .buckets = 320, .max_distance = 800},
    {.name = "deberta", SCHEME(DEBERTA)},
    {.name = "deberta-v2", SCHEME(DEBERTA)},

    {.name = "ctrl", SCHEME(SINUSOIDAL), .layout = "sin_cos"},
    {.name = "distilbert", SCHEME(SINUSOIDAL), .layout = "interleaved", .sinusoidal_if_key = true},
    {.name = "flaubert", SCHEME(SINUSOIDAL), .layout = "interleaved", .sinusoidal_if_key = true},
    {.name = "m2m_100", SCHEME(SINUSOIDAL), .layout = "sin_cos", .freq_shift = 1},
    {.name = "marian", SCHEME(SINUSOIDAL), .layout = "sin_cos"},
    {.name = "pegasus", SCHEME(SINUSOIDAL), .layout = "sin_cos"},
    {.name = "speech_to_text", SCHEME(SINUSOIDAL), .layout = "sin_cos", .freq_shift = 1},
    {.name = "whisper", SCHEME(SINUSOIDAL), .layout = "sin_cos", .freq_shift = 1},
    {.name = "xglm", SCHEME(SINUSOIDAL), .layout = "sin_cos", .freq_shift = 1},
    {.name = "xlm", SCHEME(SINUSOIDAL), .layout = "interleaved", .sinusoidal_if_key = true},

    {.name = "albert", SCHEME(LEARNED)},
    {.name = "bart", SCHEME(LEARNED)},
    {.name = "bert", SCHEME(LEARNED)},
    {.name = "big_bird", SCHEME(LEARNED)},
    {.name = "biogpt", SCHEME(LEARNED)},
    {.name = "camembert", SCHEME(LEARNED)},
    {.name = "clip", SCHEME(LEARNED)},
    {.name = "clip_text_model", SCHEME(LEARNED)},
    {.name = "deit", SCHEME(LEARNED)},
    {.name = "electra", SCHEME(LEARNED)},
    {.name = "ernie", SCHEME(LEARNED)},
    {.name = "gpt2", SCHEME(LEARNED)},
    {.name = "gpt_bigcode", SCHEME(LEARNED)},
    {.name = "gpt_neo", SCHEME(LEARNED)},
    {.name = "longformer", SCHEME(LEARNED)},
    {.name = "mbart", SCHEME(LEARNED)},
    {.name = "openai-gpt", SCHEME(LEARNED)},
    {.name = "opt", SCHEME(LEARNED)},
    {.name = "roberta", SCHEME(LEARNED)},
    {.name = "siglip", SCHEME(LEARNED)},
    {.name = "vit", SCHEME(LEARNED)},
    {.name = "xlm-roberta", SCHEME(LEARNED)},

    {.name = "jamba", SCHEME(NONE)},
    {.name = "mamba", SCHEME(NONE)},
    {.name = "mamba2", SCHEME(NONE)},
    {.name = "rwkv", SCHEME(NONE)},
};

const pe_model_type *pe_model_type_find(const char *name)
{
    for (size_t i = 0; i < PE_LEN(types); i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}
