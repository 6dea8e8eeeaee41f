/* SPDX-License-Identifier: MIT */
/* megatron.c - arguments of Megatron-LM, or a configuration of NeMo, whose model it trains. */
#include "models/input.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Any of these, where there is no model_type, is one of Megatron's. */
static const char *const telling[] = {
    "rotary_percent",
    "rotary_percentage",
    "rotary_base",
    "use_rotary_position_embeddings",
    "rotary_seq_len_interpolation_factor",
    "seq_len_interpolation_factor",
    "qk_pos_emb_head_dim",
    "num_query_groups",
    "add_position_embedding",
};

/* An argument and the key that it is. Where two are one key, that which comes last counts. */
static const struct {
    const char *place, *key;
} arguments[] = {
    {"num_layers", "num_hidden_layers"},
    {"hidden_size", "hidden_size"},
    {"num_attention_heads", "num_attention_heads"},
    {"kv_channels", "head_dim"},
    {"encoder_seq_length", "max_position_embeddings"},
    {"max_position_embeddings", "max_position_embeddings"},
    {"position_embedding_type", "position_embedding_type"},
    {"relative_attention_num_buckets", "relative_attention_num_buckets"},
    {"relative_attention_max_distance", "relative_attention_max_distance"},
    {"rotary_base", "rope_theta"},
    {"rotary_percentage", "partial_rotary_factor"},
    {"rotary_percent", "partial_rotary_factor"},
    {"rotary_interleaved", "rope_interleave"},
};

/* The same of latent attention, whose frequencies YaRN scales. */
static const struct {
    const char *place, *key;
} latent[] = {
    {"qk_pos_emb_head_dim", "qk_rope_head_dim"},
    {"qk_head_dim", "qk_nope_head_dim"},
    {"rotary_scaling_factor", "rope_scaling/factor"},
    {"original_max_position_embeddings", "rope_scaling/original_max_position_embeddings"},
    {"beta_fast", "rope_scaling/beta_fast"},
    {"beta_slow", "rope_scaling/beta_slow"},
};

typedef struct megatron {
    const json_t *whole; /* the object of the arguments */
    const char *prefix;  /* of its path */
    pe_input *input;
} megatron;

#define NAME_MAX 64

/* An argument may be spelt as on a command line: rotary-base or --rotary-base. The spelling that is
 * there, in *out; else name itself. */
static const json_t *spelling(const json_t *object, const char *name, char out[NAME_MAX])
{
    static const char *const dashes[] = {"", "--"};
    const json_t *value = json_object_get(object, name);
    for (size_t d = 0; d < PE_LEN(dashes) && value == NULL; d++) {
        snprintf(out, NAME_MAX, "%s%s", dashes[d], name);
        for (char *at = out; *at != '\0'; at++)
            *at = (char)(*at == '_' ? '-' : *at);
        value = json_object_get(object, out);
    }
    if (value == NULL || json_object_get(object, name) != NULL)
        snprintf(out, NAME_MAX, "%s", name);
    return json_is_null(value) ? NULL : value;
}

static const json_t *member(const megatron *m, const char *name)
{
    char spelt[NAME_MAX];
    return spelling(m->whole, name, spelt);
}

static void put(const megatron *m, const char *key, const char *name, json_t *value)
{
    char place[128], spelt[NAME_MAX];
    (void)spelling(m->whole, name, spelt);
    snprintf(place, sizeof place, "%s%s", m->prefix, spelt);
    pe_input_put(m->input, key, place, value);
}

static void copy(const megatron *m, const char *name, const char *key)
{
    const json_t *value = member(m, name);
    if (value != NULL || json_object_get(m->input->places, key) == NULL)
        put(m, key, name, json_incref((json_t *)(uintptr_t)value));
}

static double number_or(const megatron *m, const char *name, double otherwise)
{
    const json_t *value = member(m, name);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

/* ---- what needs more than another name ---- */

/* Cosines grow by m(mscale) / m(mscale_all_dim), m(x) = 1 + x ln(factor) / 10, where neither is
 * read as absent. */
static void put_mscale(const megatron *m)
{
    const double mscale = number_or(m, "mscale", 1), all = number_or(m, "mscale_all_dim", 0);
    const double grown = log(number_or(m, "rotary_scaling_factor", 1)) / 10;
    if (mscale != 0 && all != 0) {
        copy(m, "mscale", "rope_scaling/mscale");
        copy(m, "mscale_all_dim", "rope_scaling/mscale_all_dim");
    } else if (grown > 0) {
        put(m, "rope_scaling/attention_factor", "mscale",
            json_real((1 + mscale * grown) / (1 + all * grown)));
    }
}

static void put_latent(const megatron *m)
{
    const char *type = json_string_value(member(m, "rope_type"));
    put(m, "rope_interleave", "multi_latent_attention", json_true());
    copy(m, "qk_pos_emb_head_dim", "qk_rope_head_dim");
    if (member(m, "qk_pos_emb_head_dim") == NULL)
        put(m, "qk_rope_head_dim", "qk_pos_emb_head_dim", json_real(64));
    if ((type != NULL && strcmp(type, "yarn") != 0) ||
        number_or(m, "rotary_scaling_factor", 1) <= 1)
        return;
    for (size_t l = 0; l < PE_LEN(latent); l++)
        copy(m, latent[l].place, latent[l].key);
    put(m, "rope_scaling/rope_type", "rope_type", json_string("yarn"));
    put_mscale(m);
}

/* As Llama 3.1, or positions divided by a factor. */
static void put_scaling(const megatron *m)
{
    const char *name = member(m, "rotary_seq_len_interpolation_factor") != NULL
                           ? "rotary_seq_len_interpolation_factor"
                           : "seq_len_interpolation_factor";
    if (json_is_true(member(m, "use_rope_scaling"))) {
        put(m, "rope_scaling/rope_type", "use_rope_scaling", json_string("llama3"));
        put(m, "rope_scaling/factor", "rope_scaling_factor",
            json_real(number_or(m, "rope_scaling_factor", 8)));
        put(m, "rope_scaling/low_freq_factor", "use_rope_scaling", json_real(1));
        put(m, "rope_scaling/high_freq_factor", "use_rope_scaling", json_real(4));
        put(m, "rope_scaling/original_max_position_embeddings", "use_rope_scaling",
            json_real(8192));
        if (member(m, name) != NULL)
            pe_input_warn(m->input, "%s is not told: it divides positions beside use_rope_scaling",
                          name);
    } else if (member(m, name) != NULL) {
        put(m, "rope_scaling/rope_type", name, json_string("linear"));
        copy(m, name, "rope_scaling/factor");
    }
    if (member(m, "mrope_section") != NULL)
        copy(m, "mrope_section", "rope_scaling/mrope_section");
}

/* 1 is for a layer that does not rotate; a number n for every n-th. */
static void put_unrotated(const megatron *m)
{
    const json_t *skipped = member(m, "no_rope_freq");
    json_t *list = json_is_array(skipped) ? json_array() : NULL;
    for (size_t i = 0; i < json_array_size(skipped); i++)
        m->input->failed |=
            json_array_append_new(
                list, json_real(1 - json_number_value(json_array_get(skipped, i)))) != 0;
    if (list != NULL)
        put(m, "no_rope_layers", "no_rope_freq", list);
    else if (skipped != NULL)
        copy(m, "no_rope_freq", "no_rope_layer_interval");
}

static bool is_megatron(const json_t *object)
{
    bool told = false;
    char spelt[NAME_MAX];
    for (size_t t = 0; t < PE_LEN(telling); t++)
        told |= spelling(object, telling[t], spelt) != NULL;
    return told && json_object_get(object, "model_type") == NULL;
}

/**
 * Source  NVIDIA/Megatron-LM at 00caa53af30912914981c86f39db123961678bbd, megatron/core/models/
 *         common/embeddings/rotary_pos_embedding.py; rope_utils.py beside it (pairs of latent attention);
 *         megatron/training/arguments.py (names, no_rope_freq).
 */
bool pe_input_megatron(const json_t *whole, pe_input *out)
{
    const json_t *inner = json_object_get(whole, "model");
    const bool nested = !is_megatron(whole) && is_megatron(inner);
    const megatron m = {nested ? inner : whole, nested ? "model/" : "", out};
    if (!nested && !is_megatron(whole))
        return false;
    for (size_t a = 0; a < PE_LEN(arguments); a++)
        copy(&m, arguments[a].place, arguments[a].key);
    if (json_is_true(member(&m, "use_rotary_position_embeddings")))
        put(&m, "position_embedding_type", "use_rotary_position_embeddings", json_string("rope"));
    put(&m, "model_type", "position_embedding_type", json_string("megatron"));
    if (json_is_true(member(&m, "multi_latent_attention")))
        put_latent(&m);
    else
        put_scaling(&m);
    put_unrotated(&m);
    return true;
}
