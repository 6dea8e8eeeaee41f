/* SPDX-License-Identifier: MIT */
/* parts.c - what a configuration says to resources that ask of other things than its layers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "encodings/registry.h"
#include "models/parts.h"

/* One part under way. */
typedef struct part {
    pe_reader *reader;
    const pe_dictionary *dictionary;
    const json_t *vision;     /* the vision tower's configuration, beside the language model's */
    const char *vision_place; /* of it */
    pe_values *values;        /* of the resource's rows */
} part;

static bool is_there(const json_t *value)
{
    return value != NULL && !json_is_null(value);
}

/* Set a parameter from a key's value, or from the class's default; 0: there is none. */
static void read_number(const part *p, const char *parameter, const char *where,
                        const json_t *value, double otherwise)
{
    if (is_there(value)) {
        (void)pe_reader_set(p->reader, p->values, parameter, where, value);
        pe_reader_used(p->reader, where, value, parameter, NULL);
    } else if (otherwise != 0) {
        pe_reader_class_default(p->reader, where, otherwise, parameter);
        pe_reader_set_number(p->reader, p->values, parameter, where, otherwise);
    }
}

/* ---- attention temperature ---- */

/* Llama 4: keys of their own, and positions count from 1. */
static bool read_temperature(const part *p)
{
    pe_reader *reader = p->reader;
    const json_t *tuning = pe_reader_member(reader, "attn_temperature_tuning");
    const bool off =
        json_is_false(tuning) || (json_is_number(tuning) && json_number_value(tuning) == 0);
    pe_reader_used(reader, "attn_temperature_tuning", tuning, NULL,
                   off ? "queries are not scaled"
                       : "queries of layers that do not rotate are scaled");
    if (off)
        return false;
    read_number(p, "beta", "attn_scale", pe_reader_member(reader, "attn_scale"), 0.1);
    read_number(p, "original_max_position_embeddings", "floor_scale",
                pe_reader_member(reader, "floor_scale"), 8192);
    pe_reader_set_number(reader, p->values, "position_offset", "position_offset", 1);
    return true;
}

/* Source  get_llama_4_attn_scale of Ministral3Attention, whose keys are in rope_parameters. */
static bool read_attention_scale(const part *p)
{
    pe_reader *reader = p->reader;
    const pe_dictionary *dictionary = p->dictionary;
    static const char beta_key[] = "llama_4_scaling_beta",
                      original_key[] = "original_max_position_embeddings";
    char where[sizeof dictionary->place + sizeof original_key];
    const json_t *beta = json_object_get(dictionary->object, beta_key);
    const json_t *original = json_object_get(dictionary->object, original_key);
    if (reader->type->temperature)
        return read_temperature(p);
    if (!is_there(beta))
        return false;
    snprintf(where, sizeof where, "%s%s", dictionary->place, beta_key);
    if (!is_there(original)) {
        pe_reader_ignored(reader, where, beta,
                          "without original_max_position_embeddings beside it");
        pe_reader_warn(reader, "%s goes with %s%s, which is absent", where, dictionary->place,
                       original_key);
        return false;
    }
    read_number(p, "beta", where, beta, 0);
    snprintf(where, sizeof where, "%s%s", dictionary->place, original_key);
    read_number(p, original_key, where, original, 0);
    return true;
}

/* ---- positions of images ---- */

static void find_vision(part *p)
{
    const json_t *thinker = json_object_get(p->reader->whole, "thinker_config");
    p->vision = json_object_get(thinker, "vision_config");
    p->vision_place = "thinker_config/vision_config";
    if (p->vision != NULL)
        return;
    p->vision = json_object_get(p->reader->whole, "vision_config");
    p->vision_place = "vision_config";
}

/* A key of the tower. */
static void read_vision_number(const part *p, const char *key, double otherwise)
{
    char where[96];
    snprintf(where, sizeof where, "%s/%s", p->vision_place, key);
    read_number(p, key, where, json_object_get(p->vision, key), otherwise);
}

/* Read the tower with places that are told from the top of the configuration. */
static bool read_from_top(const part *p, bool (*read)(const part *p))
{
    char path[sizeof p->reader->path];
    memcpy(path, p->reader->path, sizeof path);
    p->reader->path[0] = '\0';
    const bool found = read(p);
    memcpy(p->reader->path, path, sizeof path);
    return found;
}

static bool read_merge(const part *p)
{
    read_vision_number(p, "spatial_merge_size", p->reader->type->merge);
    read_vision_number(p, "tokens_per_second", p->reader->type->per_second);
    return true;
}

static bool read_mrope_positions(const part *p)
{
    return is_there(json_object_get(p->dictionary->object, "mrope_section")) &&
           (json_object_get(p->vision, "spatial_merge_size") != NULL ||
            p->reader->type->merge != 0) &&
           read_from_top(p, read_merge);
}

/* ---- rotations of patches ---- */

/* Vision towers that rotate: their type (else that of the whole), the keys of their width and heads
 * with the defaults of their class, and whether patches come in blocks that merge.
 *
 * Source  rope_grid.h names the code of each convention; the defaults are those of the types' class
 *         in huggingface/transformers, read where config/model_types.json says. */
static const struct vision_type {
    const char *name, *convention, *width, *heads;
    double width_default, heads_default;
    bool blocks;
} vision_types[] = {
    {"qwen2_vl", "qwen2_vl", "embed_dim", "num_heads", 1280, 16, true},
    {"qwen2_5_vl", "qwen2_vl", "hidden_size", "num_heads", 0, 0, true},
    {"qwen3_vl", "qwen2_vl", "hidden_size", "num_heads", 1152, 16, true},
    {"qwen3_5", "qwen2_vl", "hidden_size", "num_heads", 1152, 16, true},
    {"qwen3_5_vision", "qwen2_vl", "hidden_size", "num_heads", 1152, 16, true},
    {"pixtral", "pixtral", "hidden_size", "num_attention_heads", 1024, 16, false},
    {"llama4_vision_model", "llama4", "hidden_size", "num_attention_heads", 768, 16, false},
};

static const struct vision_type *find_vision_type(const part *p)
{
    const json_t *own = json_object_get(p->vision, "model_type");
    const json_t *type =
        json_is_string(own) ? own : json_object_get(p->reader->whole, "model_type");
    for (size_t t = 0; json_is_string(type) && t < PE_LEN(vision_types); t++)
        if (strcmp(vision_types[t].name, json_string_value(type)) == 0)
            return &vision_types[t];
    return NULL;
}

/* A count of the tower, reported; 0: it has none. */
static double read_count(const part *p, const char *key, double otherwise)
{
    char where[96];
    const json_t *value = json_object_get(p->vision, key);
    snprintf(where, sizeof where, "%s/%s", p->vision_place, key);
    if (!is_there(value)) {
        if (otherwise != 0)
            pe_reader_class_default(p->reader, where, otherwise, "head_dim");
        return otherwise;
    }
    const double count = json_number_value(value);
    if (!json_is_number(value) || count < 1 || count > 65536 || count != floor(count)) {
        pe_reader_fail_type(p->reader, where, "an integer from 1 to 65536", value);
        return 0;
    }
    pe_reader_used(p->reader, where, value, "head_dim", NULL);
    return count;
}

/* In its dictionary, or beside it. */
static void read_tower_theta(const part *p)
{
    static const char key[] = "rope_theta";
    char where[96];
    const json_t *nested = json_object_get(json_object_get(p->vision, "rope_parameters"), key);
    if (nested == NULL) {
        read_vision_number(p, key, 10000);
        return;
    }
    snprintf(where, sizeof where, "%s/rope_parameters/%s", p->vision_place, key);
    read_number(p, key, where, nested, 10000);
}

static bool read_tower(const part *p)
{
    char where[96];
    const struct vision_type *type = find_vision_type(p);
    if (type == NULL)
        return false;
    const double width = read_count(p, type->width, type->width_default);
    const double heads = read_count(p, type->heads, type->heads_default);
    const double head_dim = heads != 0 ? width / heads : 0;
    if (head_dim < 4 || head_dim > 4096 || fmod(head_dim, 4) != 0) /* no convention has such */
        return false;
    snprintf(where, sizeof where, "%s/%s", p->vision_place, type->width);
    pe_reader_set_number(p->reader, p->values, "head_dim", where, head_dim);
    pe_reader_set_choice(p->values, "convention", type->convention);
    if (type->blocks)
        read_vision_number(p, "spatial_merge_size", 2);
    else
        read_tower_theta(p);
    return true;
}

static bool read_grid(const part *p)
{
    return json_is_object(p->vision) && read_from_top(p, read_tower);
}

/* ---- the parts ---- */

static const char no_tower[] = "does not say how a vision tower of its rotates patches";

static const struct {
    const pe_resource *resource;
    const char *lack;
    bool (*read)(const part *p); /* does the configuration say something? */
} parts[PE_MODEL_PARTS_MAX] = {
    {&pe_rope_attention_scale, "scales no queries by their position", read_attention_scale},
    {&pe_rope_mrope_positions,
     "has no positions on several axes, or does not say how its patches merge",
     read_mrope_positions},
    {&pe_rope_grid, no_tower, read_grid},
    {&pe_rope_grid_rotate, no_tower, read_grid},
};

void pe_parts_resolve(pe_reader *reader, const pe_dictionary *dictionary)
{
    pe_model *model = reader->model;
    part p = {.reader = reader, .dictionary = dictionary};
    find_vision(&p);
    for (size_t i = 0; i < PE_LEN(parts) && reader->status == PE_OK; i++) {
        const pe_resource *resource = parts[i].resource;
        pe_model_part *made = &model->parts[model->n_parts];
        p.values = &made->values;
        reader->status = pe_values_make(resource->param_sets, p.values, reader->why);
        if (reader->status != PE_OK)
            return;
        made->resource = resource;
        if (parts[i].read(&p))
            model->n_parts++;
        else
            pe_values_free(p.values);
    }
}

const char *pe_model_part_lack(const pe_resource *resource)
{
    for (size_t p = 0; p < PE_LEN(parts); p++)
        if (parts[p].resource == resource)
            return parts[p].lack;
    return NULL;
}

const pe_values *pe_model_part_find(const pe_model *model, const pe_resource *resource)
{
    for (size_t p = 0; p < model->n_parts; p++)
        if (model->parts[p].resource == resource)
            return &model->parts[p].values;
    return NULL;
}
