/* SPDX-License-Identifier: MIT */
/* gguf.c - the metadata of a GGUF file, as JSON or as files/gguf_file.h reads them. */
#include "models/reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- scalings ---- */

/**
 * A factor without a type is linear. A type without a factor divides nothing. An ext_factor below 0
 * is as none; with 0 there is no ramp, and cosines do not grow.
 *
 * Source  ggml-org/llama.cpp, src/llama-model.cpp (load_hparams: rope_freq_scale_train),
 *         src/llama-context.cpp (yarn_ext_factor); ggml/src/ggml-cpu/ops.cpp (rope_yarn).
 */
static void put_factor(pe_input *g)
{
    static const char ext[] = "rope.scaling.yarn_ext_factor";
    const char *type = json_string_value(pe_input_member(g, "rope.scaling.type"));
    const bool divides = type != NULL && (strcmp(type, "yarn") == 0 || strcmp(type, "linear") == 0);
    const char *name = pe_input_member(g, "rope.scaling.factor") != NULL ? "rope.scaling.factor"
                                                                         : "rope.scale_linear";
    const json_t *factor = pe_input_member(g, name);
    if (pe_input_number(g, ext, 1) > 1)
        pe_input_warn(g,
                      "rope.scaling.yarn_ext_factor is %.17g: it is a share, 1 where nobody says "
                      "otherwise, and no factor",
                      pe_input_number(g, ext, 1));
    if (pe_input_number(g, ext, 1) < 0)
        (void)json_object_del(json_object_get(g->config, "rope_scaling"), "extrapolation_factor");
    else if (pe_input_number(g, ext, 1) == 0)
        pe_input_put(g, "rope_scaling/attention_factor", ext,
                     json_real(pe_input_number(g, "rope.scaling.yarn_attn_factor", 1)));
    if (factor == NULL || json_number_value(factor) == 0) {
        if (!divides)
            return;
        pe_input_put(g, "rope_scaling/factor", name, json_real(1));
        pe_input_warn(g,
                      "rope.scaling.type is %s, and there is no rope.scaling.factor: llama.cpp "
                      "scales no frequencies",
                      type);
        return;
    }
    pe_input_take(g, name, "rope_scaling/factor");
    if (pe_input_member(g, "rope.scaling.type") == NULL)
        pe_input_put(g, "rope_scaling/rope_type", "rope.scaling.type", json_string("linear"));
}

/**
 * The key that tells of divisors of frequencies, one a pair, which are tensors; NULL: none does.
 * Files of Phi-3 have no type, but a factor of cosines, or an original length that is shorter.
 *
 * Source  ggml-org/llama.cpp at 00395eb285c7c6821ff372e3ca41dae9da33c2c7, convert_hf_to_gguf.py
 *         (Phi3MiniModel).
 */
static const char *find_divisors(pe_input *g, const char *type)
{
    static const char factor[] = "rope.scaling.attn_factor",
                      original[] = "rope.scaling.original_context_length";
    const double length = json_number_value(pe_input_member(g, original));
    if (type != NULL)
        return strcmp(type, "longrope") == 0 ? "rope.scaling.type" : NULL;
    if (pe_input_member(g, factor) != NULL && json_number_value(pe_input_member(g, factor)) != 1)
        return factor;
    return length > 0 && length < json_number_value(pe_input_member(g, "context_length")) ? original
                                                                                          : NULL;
}

static void put_scalings(pe_input *g)
{
    const char *type = json_string_value(pe_input_member(g, "rope.scaling.type"));
    const char *divisors = find_divisors(g, type);
    if (type != NULL && strcmp(type, "none") == 0)
        return;
    pe_input_rename(g, "gguf scalings");
    put_factor(g);
    /* A tenth of DeepSeek's mscale_all_dim, whose mscale is 1: cosines grow by the ratio of both. */
    static const char tenth[] = "rope.scaling.yarn_log_multiplier";
    const double multiplier = pe_input_number(g, tenth, 0);
    if (multiplier != 0 && type != NULL) {
        pe_input_put(g, "rope_scaling/mscale", tenth, json_real(1));
        pe_input_put(g, "rope_scaling/mscale_all_dim", tenth,
                     json_real(round(multiplier * 1e7) / 1e6));
    }
    /* Four numbers, the last of them 0, as ggml has them. */
    const json_t *sections = pe_input_member(g, "rope.dimension_sections");
    json_t *list = json_array();
    g->failed |= list == NULL;
    for (size_t i = 0; i < json_array_size(sections); i++)
        if (i < 3 || json_number_value(json_array_get(sections, i)) != 0)
            g->failed |= json_array_append(list, json_array_get(sections, i)) != 0;
    if (json_array_size(list) != 0 && json_number_value(json_array_get(list, 0)) != 0)
        pe_input_put(g, "rope_scaling/mrope_section", "rope.dimension_sections", list);
    else
        json_decref(list);
    if (divisors == NULL)
        return;
    if (json_object_get(g->whole, "rope_factors_long.weight") != NULL) {
        pe_input_put(g, "rope_scaling/rope_type", divisors, json_string("longrope"));
        pe_input_take(g, "rope.scaling.attn_factor", "rope_scaling/attention_factor");
        (void)json_object_del(json_object_get(g->config, "rope_scaling"), "attn_factor");
    } else {
        pe_input_put(g, "model_type", divisors, json_string("gguf/longrope"));
    }
}

#define RESTS 1e29 /* what Gemma 4's files divide frequencies by that are 0 */

static size_t count_from(const json_t *list, size_t first, double low, double high)
{
    size_t n = first;
    while (n < json_array_size(list) && json_number_value(json_array_get(list, n)) >= low &&
           json_number_value(json_array_get(list, n)) <= high)
        n++;
    return n;
}

/* Divisors of frequencies are a tensor. Or it was not sent, or is not in the file. */
static void put_divisors(pe_input *g, const char *arch)
{
    static const char name[] = "rope_freqs.weight";
    const json_t *divisors = json_object_get(g->whole, name);
    const size_t n = json_array_size(divisors), turn = count_from(divisors, 0, 1, 1);
    if (turn < n && count_from(divisors, turn, RESTS, INFINITY) == n) {
        (void)json_object_del(json_object_get(g->config, "rope_scaling"), "freq_factors");
        (void)json_object_del(g->config, "rotary_dim"); /* all of the head has frequencies */
        pe_input_put(g, "rope_scaling/rope_type", name, json_string("proportional"));
        pe_input_put(g, "rope_scaling/partial_rotary_factor", name,
                     json_real((double)turn / (double)n));
    }
    if (divisors != NULL)
        return;
    if (strcmp(arch, "gemma4") == 0)
        pe_input_put(g, "model_type", "general.architecture", json_string("gguf/gemma4-undivided"));
    else if (strcmp(arch, "llama") == 0 || strcmp(arch, "deci") == 0)
        pe_input_warn(g,
                      "there is no tensor rope_freqs.weight among what was sent: where the model "
                      "has one (Llama 3.1 and later), frequencies are divided by it");
}

/**
 * Names stand behind the architecture's and a dot.
 *
 * Source  ggml-org/llama.cpp at 00395eb285c7c6821ff372e3ca41dae9da33c2c7, src/llama-arch.cpp
 *         (LLM_KV_NAMES); how they are read: load_hparams of src/llama-model.cpp. Rows gguf/... of
 *         config/model_types.json are llama_model_rope_type there.
 */
bool pe_input_gguf(pe_input *g)
{
    static const char name[] = "general.architecture";
    const char *arch = json_string_value(json_object_get(g->whole, name));
    if (arch == NULL)
        return false;
    pe_input_type(g, "gguf", name, arch);
    pe_input_rename(g, "gguf tensors");
    snprintf(g->prefix, sizeof g->prefix, "%.64s.", arch);
    pe_input_rename(g, "gguf");
    /* Where keys and values are compressed, dimension_count is the part of a head that rotates. */
    const json_t *heads = pe_input_member(g, "attention.head_count");
    const json_t *rotated = pe_input_member(g, "rope.dimension_count");
    const bool latent = pe_input_member(g, "attention.kv_lora_rank") != NULL;
    const char *length = pe_input_member(g, "attention.key_length_mla") != NULL
                             ? "attention.key_length_mla"
                             : "attention.key_length";
    const double nope = json_number_value(pe_input_member(g, length)) - json_number_value(rotated);
    /* One number for each layer: that of the layers that have one, if it is the same. Else it is
     * refused, as it is no number. */
    double common = 0;
    bool alike = json_is_array(heads);
    for (size_t i = 0; i < json_array_size(heads); i++) {
        const double number = json_number_value(json_array_get(heads, i));
        alike &= number == 0 || common == 0 || number == common;
        common = number != 0 ? number : common;
    }
    pe_input_put(g, "num_attention_heads", "attention.head_count",
                 alike ? json_real(common) : json_incref((json_t *)(uintptr_t)heads));
    pe_input_take(g, "rope.dimension_count", latent ? "qk_rope_head_dim" : "rotary_dim");
    if (!latent)
        pe_input_take(g, "attention.key_length", "head_dim");
    else if (nope >= 0 && pe_input_member(g, length) != NULL)
        pe_input_put(g, "qk_nope_head_dim", length, json_real(nope));
    /* A period, or whether each layer slides. */
    static const char slides[] = "attention.sliding_window_pattern";
    const json_t *pattern = pe_input_member(g, slides);
    json_t *types = json_is_array(pattern) ? json_array() : NULL;
    if (json_is_number(pattern))
        pe_input_take(g, slides, "sliding_window_pattern");
    for (size_t i = 0; i < json_array_size(pattern); i++) {
        const json_t *item = json_array_get(pattern, i);
        const bool sliding = json_is_true(item) || json_number_value(item) != 0;
        g->failed |= json_array_append_new(
                         types, json_string(sliding ? "sliding_attention" : "full_attention")) != 0;
    }
    if (types != NULL)
        pe_input_put(g, "layer_types", slides, types);
    put_scalings(g);
    put_divisors(g, arch);
    const size_t prefix = strlen(g->prefix);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)g->whole, key, value)
    {
        if (strncmp(key, g->prefix, prefix) == 0 && strstr(key + prefix, "rope") != NULL &&
            pe_input_row("gguf", key + prefix) == NULL &&
            pe_input_row("gguf scalings", key + prefix) == NULL &&
            json_array_size(g->warnings) < 16)
            pe_input_warn(g, "%.100s is not known and ignored", key);
    }
    const json_t *cut = json_object_get(g->whole, "");
    if (json_is_string(cut))
        pe_input_warn(g, "the bytes end in or behind %.100s: keys behind it are not known",
                      json_string_value(cut));
    return true;
}
