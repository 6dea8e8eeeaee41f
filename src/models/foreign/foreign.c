/* SPDX-License-Identifier: MIT */
/* foreign.c - configurations of diffusers, timm, Meta's, Mistral's and OpenAI's own code, Megatron. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/reader.h"

/* ---- the config.json of a part of a diffusers pipeline: a transformer, a UNet, a VAE ---- */

/**
 * A member _class_name names the class; the others are arguments of its constructor, whose names
 * are those of a config.json or of the class's row.
 *
 * Source  huggingface/diffusers at 58eb52c0803ea9af3abec60841c2a093bdf1f951, src/diffusers/models.
 */
static bool read_diffusers(pe_input *out)
{
    static const char name[] = "_class_name", key[] = "use_rotary_positional_embeddings";
    const char *class = json_string_value(pe_input_member(out, name));
    if (class == NULL)
        return false;
    out->failed |= json_object_update(out->config, (json_t *)(uintptr_t)out->whole) != 0;
    /* It rotates only where the key is true. */
    if (strcmp(class, "CogVideoXTransformer3DModel") == 0 &&
        !json_is_true(pe_input_member(out, key)))
        class = "CogVideoX-sincos";
    pe_input_type(out, "diffusers", name, class);
    return true;
}

/* ---- the params.json of Meta's and of Mistral's own code, and OpenAI's of GPT-OSS ---- */

/**
 * Llama 3.1 and later: its code knows 8192 and 1 alone, and until Llama 4 also 8 and 4.
 *
 * Source  meta-llama/llama-models at 408c577168a187941f9359c916004fa3b21fbc3b,
 *         models/llama4/model.py (apply_scaling, apply_rotary_emb); vllm-project/vllm at
 *         01da88c5bef903224038ae4e57d653964740dc04, vllm/transformers_utils/configs/mistral.py;
 *         deepseek-ai/DeepSeek-V3, inference/model.py (ModelArgs, precompute_freqs_cis);
 *         openai/gpt-oss at 0568dfc94f09469e2968c2b90e50561d1b3fc424, gpt_oss/torch/model.py.
 */
static bool read_params(pe_input *out)
{
    static const char *const numbers[] = {"dim", "n_layers", "n_heads"},
                             *const read[] = {"rope_scaling_factor", "rope_high_freq_factor",
                                              "use_scaled_rope",     "yarn",
                                              "rope_ntk_alpha",      "rope_ntk_beta",
                                              "nope_layer_interval"};
    const json_t *whole = out->whole;
    const bool gpt_oss = json_is_number(json_object_get(whole, "rope_ntk_alpha"));
    /* Has the object the arguments of Meta's code, which Mistral's has too? */
    bool params = json_object_get(whole, "hidden_size") == NULL;
    for (size_t n = 0; n < PE_LEN(numbers); n++)
        params &= json_is_number(json_object_get(whole, numbers[n]));
    if (json_object_get(whole, "model_type") != NULL || (!gpt_oss && !params))
        return false;
    out->failed |= json_object_update(out->config, (json_t *)(uintptr_t)whole) != 0;
    for (size_t r = 0; r < PE_LEN(read); r++)
        (void)json_object_del(out->config, read[r]);
    if (gpt_oss) {
        pe_input_rename(out, "params gpt_oss");
        return true;
    }
    pe_input_put(out, "model_type", "dim", json_string("params"));
    pe_input_take(out, "nope_layer_interval", "no_rope_layer_interval");
    if (json_is_true(json_object_get(whole, "use_scaled_rope"))) {
        pe_input_rename(out, "params llama3");
        if (json_object_get(whole, "rope_scaling_factor") == NULL)
            pe_input_warn(out, "use_scaled_rope without rope_scaling_factor: 8, as in Llama 3.1; "
                               "models of Llama 3.2 with 1B and 3B have 32");
    } else if (json_is_object(json_object_get(whole, "yarn"))) {
        pe_input_rename(out, "params yarn");
        if (json_is_false(pe_input_member(out, "yarn/apply_scale")))
            pe_input_put(out, "rope_scaling/attention_factor", "yarn/apply_scale", json_real(1));
    } else if (json_is_number(json_object_get(whole, "qk_rope_head_dim"))) {
        pe_input_warn(out, "DeepSeek's own code scales frequencies beyond 4096 tokens (YaRN, "
                           "rope_factor 40), though no key says so: that is not told here");
    }
    return true;
}

/* ---- arguments of Megatron-LM, or a configuration of NeMo, whose model it trains ---- */

static void put_latent(pe_input *m)
{
    const char *type = json_string_value(pe_input_member(m, "rope_type"));
    pe_input_rename(m, "megatron latent");
    if ((type != NULL && strcmp(type, "yarn") != 0) ||
        pe_input_number(m, "rotary_scaling_factor", 1) <= 1)
        return;
    pe_input_rename(m, "megatron yarn");
    /* Cosines grow by m(mscale) / m(mscale_all_dim), m(x) = 1 + x ln(factor) / 10, where neither is
     * read as absent. */
    const double mscale = pe_input_number(m, "mscale", 1),
                 all = pe_input_number(m, "mscale_all_dim", 0);
    const double grown = log(pe_input_number(m, "rotary_scaling_factor", 1)) / 10;
    if (mscale != 0 && all != 0) {
        pe_input_take(m, "mscale", "rope_scaling/mscale");
        pe_input_take(m, "mscale_all_dim", "rope_scaling/mscale_all_dim");
    } else if (grown > 0) {
        pe_input_put(m, "rope_scaling/attention_factor", "mscale",
                     json_real((1 + mscale * grown) / (1 + all * grown)));
    }
}

/* Any of some keys, where there is no model_type, is one of Megatron's. */
static bool is_megatron(pe_input *input)
{
    const json_t *telling = pe_input_table("megatron alone");
    bool given = false;
    for (size_t t = 0; t < json_array_size(telling); t++)
        given |= pe_input_member(input, json_string_value(json_array_get(telling, t))) != NULL;
    return given && pe_input_member(input, "model_type") == NULL;
}

/**
 * Source  NVIDIA/Megatron-LM at 00caa53af30912914981c86f39db123961678bbd, megatron/core/models/
 *         common/embeddings/rotary_pos_embedding.py; rope_utils.py beside it (pairs of latent attention);
 *         megatron/training/arguments.py (names, no_rope_freq).
 */
static bool read_megatron(pe_input *m)
{
    bool found = is_megatron(m);
    snprintf(m->prefix, sizeof m->prefix, "%s", found ? "" : "model/");
    if (!found && !(found = is_megatron(m)))
        m->prefix[0] = '\0';
    if (!found)
        return false;
    pe_input_rename(m, "megatron");
    if (json_is_true(pe_input_member(m, "use_rotary_position_embeddings")))
        pe_input_put(m, "position_embedding_type", "use_rotary_position_embeddings",
                     json_string("rope"));
    pe_input_put(m, "model_type", "position_embedding_type", json_string("megatron"));
    const char *divisor = pe_input_member(m, "rotary_seq_len_interpolation_factor") != NULL
                              ? "rotary_seq_len_interpolation_factor"
                              : "seq_len_interpolation_factor";
    const bool divided = pe_input_member(m, divisor) != NULL;
    const bool latent = json_is_true(pe_input_member(m, "multi_latent_attention"));
    if (latent) {
        put_latent(m);
    } else if (json_is_true(pe_input_member(m, "use_rope_scaling"))) { /* as Llama 3.1 */
        pe_input_rename(m, "megatron llama3");
        if (divided)
            pe_input_warn(m, "%s is not told: it divides positions beside use_rope_scaling",
                          divisor);
    } else if (divided) {
        pe_input_put(m, "rope_scaling/rope_type", divisor, json_string("linear"));
        pe_input_take(m, divisor, "rope_scaling/factor");
    }
    if (!latent)
        pe_input_rename(m, "megatron sections");
    /* 1 is for a layer that does not rotate; a number n for every n-th. */
    const json_t *skipped = pe_input_member(m, "no_rope_freq");
    json_t *list = json_is_array(skipped) ? json_array() : NULL;
    for (size_t i = 0; i < json_array_size(skipped); i++)
        m->failed |= json_array_append_new(
                         list, json_real(1 - json_number_value(json_array_get(skipped, i)))) != 0;
    if (list != NULL)
        pe_input_put(m, "no_rope_layers", "no_rope_freq", list);
    else if (skipped != NULL)
        pe_input_take(m, "no_rope_freq", "no_rope_layer_interval");
    return true;
}

/* ---- names of timm's models, and the config.json that it writes beside weights ---- */

#define NAME_MAX 128

/* A model's name, and the key that has it. */
typedef struct named {
    const char *key;
    char name[NAME_MAX];
} named;

static void put(pe_input *input, const named *from, const char *key, double number)
{
    if (number > 0)
        pe_input_put(input, key, from->key, json_real(number));
}

/** {"architecture": "vit_base_patch16_224.augreg_in21k"}: what follows a dot are the weights, what
 * stands before a slash says where they are. A timm_backbone of transformers has the name under
 * "backbone". The row of config/model_types.json is the first whose parts stand one behind the other
 * in the name, which the first begins.
 *
 * Source  huggingface/pytorch-image-models, timm 1.0.31 of PyPI, timm/models: vision_transformer.py
 *         (no_embed_class, reg_tokens, class_token), deit.py, eva.py, beit.py, swin_transformer.py.
 */
static bool read_timm(pe_input *out)
{
    const char *type = json_string_value(json_object_get(out->whole, "model_type"));
    const bool backbone = type != NULL && strcmp(type, "timm_backbone") == 0;
    named from = {.key = backbone ? "backbone" : "architecture"};
    const char *text = json_string_value(json_object_get(out->whole, from.key));
    if (text == NULL || (type != NULL && strncmp(type, "timm_", strlen("timm_")) != 0))
        return false;
    const char *slash = strrchr(text, '/'), *name = slash != NULL ? slash + 1 : text;
    snprintf(from.name, sizeof from.name, "%.*s", (int)strcspn(name, "."), name);
    const json_t *names = pe_input_table("timm names");
    const char *row = NULL;
    for (size_t f = 0; f < json_array_size(names) && row == NULL; f++) {
        const json_t *parts = json_array_get(names, f);
        const char *first = json_string_value(json_array_get(parts, 0));
        const size_t bytes = strlen(first);
        if (strncmp(from.name, first, bytes) == 0 &&
            strstr(from.name + bytes - 1, json_string_value(json_array_get(parts, 1))) != NULL)
            row = json_string_value(json_array_get(parts, 2));
    }
    row = row != NULL ? row : "timm";
    /* "_patch16_" and, at the end, "_224": the sides of a patch and of the image. */
    const char *patch = strstr(from.name, "_patch"), *last = strrchr(from.name, '_');
    if (patch != NULL)
        put(out, &from, "patch_size", strtod(patch + strlen("_patch"), NULL));
    if (last != NULL && last != patch && strspn(last + 1, "0123456789") == strlen(last + 1))
        put(out, &from, "image_size", strtod(last + 1, NULL));
    /* Widths and heads by the word of the size, of vision_transformer.py's own models, and by more
     * of the name for others. The last that fits counts. */
    const json_t *sizes = pe_input_table("timm sizes");
    for (size_t s = 0; s < json_array_size(sizes); s++) {
        const json_t *size_row = json_array_get(sizes, s);
        if (strstr(from.name, json_string_value(json_array_get(size_row, 0))) == NULL)
            continue;
        put(out, &from, "hidden_size", json_number_value(json_array_get(size_row, 1)));
        put(out, &from, "num_attention_heads", json_number_value(json_array_get(size_row, 2)));
    }
    /* Does the row want to know how wide heads are? */
    pe_problem why;
    json_t *its;
    out->failed |= pe_model_type_find(row, &its, &why) != PE_OK;
    if (pe_model_type_scheme(its) == PE_SCHEME_GRID &&
        json_object_get(out->config, "hidden_size") == NULL)
        row = "timm/unknown";
    json_decref(its);
    if (strcmp(row, "timm") == 0) /* a name that no row is for is told */
        pe_input_type(out, "timm model", from.key, from.name);
    else
        pe_input_put(out, "model_type", from.key, json_string(row));
    /* What stands beside the name counts. */
    static const char size[] = "pretrained_cfg/input_size", width[] = "num_features";
    json_t *height = json_array_get(pe_input_member(out, size), 1);
    if (json_is_number(pe_input_member(out, width)))
        pe_input_take(out, width, "hidden_size");
    if (json_is_number(height))
        pe_input_put(out, "image_size", size, json_incref(height));
    return true;
}

bool (*const pe_input_readers[PE_INPUT_READERS])(pe_input *out) = {
    pe_input_gguf, read_diffusers, read_timm, read_params, read_megatron};
