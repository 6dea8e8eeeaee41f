/* SPDX-License-Identifier: MIT */
/* gguf.c - the metadata of a GGUF file, as JSON or as files/gguf_file.h reads them. */
#include "models/input.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PLACE_MAX 128

/**
 * What stands behind the architecture's name and a dot, and the key that it is.
 *
 * Source  ggml-org/llama.cpp at 00395eb285c7c6821ff372e3ca41dae9da33c2c7, src/llama-arch.cpp
 *         (LLM_KV_NAMES); how they are read: load_hparams of src/llama-model.cpp. Rows gguf/... of
 *         config/model_types.json are llama_model_rope_type there.
 */
static const struct {
    const char *place, *key;
} plain[] = {
    {"block_count", "num_hidden_layers"},
    {"context_length", "max_position_embeddings"},
    {"embedding_length", "hidden_size"},
    {"attention.max_alibi_bias", "alibi_bias_max"},
    {"attention.relative_buckets_count", "relative_attention_num_buckets"},
    {"attention.sliding_window", "sliding_window"},
    {"full_attention_interval", "full_attention_interval"},
    {"rope.freq_base", "rope_theta"},
    {"rope.freq_base_swa", "rope_local_base_freq"},
};

/* The same of a dictionary. */
static const struct {
    const char *place, *key;
} scalings[] = {
    {"rope.scaling.type", "rope_scaling/rope_type"},
    {"rope.scaling.original_context_length", "rope_scaling/original_max_position_embeddings"},
    {"rope.scaling.attn_factor", "rope_scaling/attn_factor"},
    {"rope.scaling.finetuned", "rope_scaling/finetuned"},
    {"rope.scaling.yarn_ext_factor", "rope_scaling/extrapolation_factor"},
    {"rope.scaling.yarn_attn_factor", "rope_scaling/attn_factor"},
    {"rope.scaling.yarn_beta_fast", "rope_scaling/beta_fast"},
    {"rope.scaling.yarn_beta_slow", "rope_scaling/beta_slow"},
};

/* What is read besides, and what no rotation depends on. */
static const char *const others[] = {
    "rope.scaling.factor",  "rope.scale_linear",       "rope.scaling.yarn_log_multiplier",
    "rope.dimension_count", "rope.dimension_sections",
};

typedef struct gguf {
    const json_t *whole;
    const char *arch;
    pe_input *input;
} gguf;

static const char *place_of(const gguf *g, const char *name, char place[PLACE_MAX])
{
    snprintf(place, PLACE_MAX, "%.64s.%s", g->arch, name);
    return place;
}

static const json_t *member(const gguf *g, const char *name)
{
    char place[PLACE_MAX];
    const json_t *value = json_object_get(g->whole, place_of(g, name, place));
    return json_is_null(value) ? NULL : value;
}

static void put(const gguf *g, const char *key, const char *name, json_t *value)
{
    char place[PLACE_MAX];
    pe_input_put(g->input, key, place_of(g, name, place), value);
}

/* One number for each layer: that of the layers that have one, if it is the same. */
static json_t *common_of(const json_t *value)
{
    double common = 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const double number = json_number_value(json_array_get(value, i));
        if (number != 0 && common != 0 && number != common)
            return json_incref((json_t *)(uintptr_t)value); /* refused, as it is no number */
        common = number != 0 ? number : common;
    }
    return json_is_array(value) ? json_real(common) : json_incref((json_t *)(uintptr_t)value);
}

/* ---- heads ---- */

/* Where keys and values are compressed, dimension_count is the part of a head that rotates. */
static void put_heads(const gguf *g)
{
    const json_t *heads = member(g, "attention.head_count");
    const json_t *rotated = member(g, "rope.dimension_count");
    const bool latent = member(g, "attention.kv_lora_rank") != NULL;
    const char *length = member(g, "attention.key_length_mla") != NULL ? "attention.key_length_mla"
                                                                       : "attention.key_length";
    const double nope = json_number_value(member(g, length)) - json_number_value(rotated);
    put(g, "num_attention_heads", "attention.head_count", heads != NULL ? common_of(heads) : NULL);
    put(g, latent ? "qk_rope_head_dim" : "rotary_dim", "rope.dimension_count",
        json_incref((json_t *)(uintptr_t)rotated));
    if (!latent)
        put(g, "head_dim", "attention.key_length",
            json_incref((json_t *)(uintptr_t)member(g, "attention.key_length")));
    else if (nope >= 0 && member(g, length) != NULL)
        put(g, "qk_nope_head_dim", length, json_real(nope));
}

/* A period, or whether each layer slides. */
static void put_pattern(const gguf *g)
{
    static const char name[] = "attention.sliding_window_pattern";
    const json_t *pattern = member(g, name);
    json_t *types = json_is_array(pattern) ? json_array() : NULL;
    if (json_is_number(pattern))
        put(g, "sliding_window_pattern", name, json_incref((json_t *)(uintptr_t)pattern));
    for (size_t i = 0; i < json_array_size(pattern); i++) {
        const json_t *slides = json_array_get(pattern, i);
        const bool is_sliding = json_is_true(slides) || json_number_value(slides) != 0;
        g->input->failed |=
            json_array_append_new(
                types, json_string(is_sliding ? "sliding_attention" : "full_attention")) != 0;
    }
    if (types != NULL)
        put(g, "layer_types", name, types);
}

/* ---- scalings ---- */

/* Four numbers, the last of them 0, as ggml has them. */
static void put_sections(const gguf *g)
{
    const json_t *sections = member(g, "rope.dimension_sections");
    json_t *list = json_array();
    g->input->failed |= list == NULL;
    for (size_t i = 0; i < json_array_size(sections); i++)
        if (i < 3 || json_number_value(json_array_get(sections, i)) != 0)
            g->input->failed |= json_array_append(list, json_array_get(sections, i)) != 0;
    if (json_array_size(list) != 0 && json_number_value(json_array_get(list, 0)) != 0)
        put(g, "rope_scaling/mrope_section", "rope.dimension_sections", list);
    else
        json_decref(list);
}

/* A factor without a type is linear. */
static void put_factor(const gguf *g)
{
    const char *name =
        member(g, "rope.scaling.factor") != NULL ? "rope.scaling.factor" : "rope.scale_linear";
    const json_t *factor = member(g, name);
    if (factor == NULL || json_number_value(factor) == 0)
        return;
    put(g, "rope_scaling/factor", name, json_incref((json_t *)(uintptr_t)factor));
    if (member(g, "rope.scaling.type") == NULL)
        put(g, "rope_scaling/rope_type", "rope.scaling.type", json_string("linear"));
}

/* A tenth of DeepSeek's mscale_all_dim, whose mscale is 1: cosines grow by the ratio of both. */
static void put_log_multiplier(const gguf *g)
{
    static const char name[] = "rope.scaling.yarn_log_multiplier";
    const double multiplier = json_number_value(member(g, name));
    if (multiplier == 0 || member(g, "rope.scaling.type") == NULL)
        return;
    put(g, "rope_scaling/mscale", name, json_real(1));
    put(g, "rope_scaling/mscale_all_dim", name, json_real(round(multiplier * 1e7) / 1e6));
}

/**
 * The key that tells of divisors of frequencies, one a pair, which are tensors; NULL: none does.
 * Files of Phi-3 have no type, but a factor of cosines, or an original length that is shorter.
 *
 * Source  ggml-org/llama.cpp at 00395eb285c7c6821ff372e3ca41dae9da33c2c7, convert_hf_to_gguf.py
 *         (Phi3MiniModel).
 */
static const char *find_divisors(const gguf *g, const char *type)
{
    static const char factor[] = "rope.scaling.attn_factor",
                      original[] = "rope.scaling.original_context_length";
    const double length = json_number_value(member(g, original));
    if (type != NULL)
        return strcmp(type, "longrope") == 0 ? "rope.scaling.type" : NULL;
    if (member(g, factor) != NULL && json_number_value(member(g, factor)) != 1)
        return factor;
    return length > 0 && length < json_number_value(member(g, "context_length")) ? original : NULL;
}

static void put_scalings(const gguf *g)
{
    const char *type = json_string_value(member(g, "rope.scaling.type"));
    const char *divisors = find_divisors(g, type);
    if (type != NULL && strcmp(type, "none") == 0)
        return;
    for (size_t s = 0; s < PE_LEN(scalings); s++) {
        char place[PLACE_MAX];
        if (member(g, scalings[s].place) != NULL)
            pe_input_take(g->input, g->whole, place_of(g, scalings[s].place, place),
                          scalings[s].key);
    }
    put_factor(g);
    put_log_multiplier(g);
    put_sections(g);
    if (divisors != NULL)
        put(g, "model_type", divisors, json_string("gguf/longrope"));
}

/* ---- what is not read ---- */

static bool is_read(const char *name)
{
    bool read = false;
    for (size_t p = 0; p < PE_LEN(plain); p++)
        read |= strcmp(name, plain[p].place) == 0;
    for (size_t s = 0; s < PE_LEN(scalings); s++)
        read |= strcmp(name, scalings[s].place) == 0;
    for (size_t o = 0; o < PE_LEN(others); o++)
        read |= strcmp(name, others[o]) == 0;
    return read;
}

static void warn_of_unread(const gguf *g)
{
    const size_t prefix = strlen(g->arch);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)g->whole, key, value)
    {
        const bool own = strncmp(key, g->arch, prefix) == 0 && key[prefix] == '.';
        if (own && strstr(key, "rope") != NULL && !is_read(key + prefix + 1) &&
            json_array_size(g->input->warnings) < 16)
            pe_input_warn(g->input, "%.100s is not known and ignored", key);
    }
}

bool pe_input_gguf(const json_t *whole, pe_input *out)
{
    const json_t *architecture = json_object_get(whole, "general.architecture");
    const gguf g = {whole, json_string_value(architecture), out};
    if (g.arch == NULL)
        return false;
    pe_input_name(out, "gguf", "general.architecture", architecture);
    for (size_t p = 0; p < PE_LEN(plain); p++) {
        char place[PLACE_MAX];
        pe_input_take(out, whole, place_of(&g, plain[p].place, place), plain[p].key);
    }
    put_heads(&g);
    put_pattern(&g);
    put_scalings(&g);
    warn_of_unread(&g);
    const json_t *cut = json_object_get(whole, "");
    if (json_is_string(cut))
        pe_input_warn(out, "the bytes end in or behind %.100s: keys behind it are not known",
                      json_string_value(cut));
    return true;
}
