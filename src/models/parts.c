/* SPDX-License-Identifier: MIT */
/* parts.c - what a configuration says to resources that ask of other things than its layers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "encodings/registry.h"
#include "models/kinds.h"

static const char class_default[] = "the default of this model type";

/* A value into its parameter, else the default; 0: none. */
static void read_number(pe_reader *reader, pe_values *values, const char *parameter,
                        const char *where, const json_t *value, double otherwise)
{
    if (value != NULL && !json_is_null(value)) {
        (void)pe_reader_set(reader, values, parameter, where, value);
        pe_reader_report(reader, where, value, PE_MODEL_KEY_USED, parameter, NULL);
    } else if (otherwise != 0) {
        pe_reader_default(reader, where, otherwise, parameter, class_default);
        pe_reader_set_number(reader, values, parameter, where, otherwise);
    }
}

/* ----
 * attention temperature ---------------------------------------------------------------------- */

/* Llama 4: keys of their own, and positions count from 1. */
static bool read_temperature(pe_reader *reader, pe_values *values)
{
    const json_t *tuning = pe_reader_member(reader, "attn_temperature_tuning");
    const bool off =
        json_is_false(tuning) || (json_is_number(tuning) && json_number_value(tuning) == 0);
    if (tuning != NULL)
        pe_reader_report(reader, "attn_temperature_tuning", tuning, PE_MODEL_KEY_USED, NULL,
                         off ? "queries are not scaled"
                             : "queries of layers that do not rotate are scaled");
    if (off)
        return false;
    read_number(reader, values, "beta", "attn_scale", pe_reader_member(reader, "attn_scale"), 0.1);
    read_number(reader, values, "original_max_position_embeddings", "floor_scale",
                pe_reader_member(reader, "floor_scale"), 8192);
    pe_reader_set_number(reader, values, "position_offset", "position_offset", 1);
    return true;
}

/* Source  get_llama_4_attn_scale of Ministral3Attention: both keys are
 * read from rope_parameters. */
static bool read_attention_scale(pe_reader *reader, const pe_rope_dictionary *dictionary,
                                 pe_values *values)
{
    static const char beta_key[] = "llama_4_scaling_beta",
                      original_key[] = "original_max_position_embeddings";
    char where[sizeof dictionary->place + sizeof original_key];
    const json_t *beta = json_object_get(dictionary->object, beta_key);
    const json_t *original = json_object_get(dictionary->object, original_key);
    if (reader->type->temperature)
        return read_temperature(reader, values);
    if (beta == NULL || json_is_null(beta))
        return false;
    snprintf(where, sizeof where, "%s%s", dictionary->place, beta_key);
    if (original == NULL || json_is_null(original)) {
        pe_reader_report(reader, where, beta, PE_MODEL_KEY_IGNORED, NULL,
                         "without original_max_position_embeddings beside it");
        pe_reader_warn(reader, "%s goes with %s%s, which is absent", where, dictionary->place,
                       original_key);
        return false;
    }
    read_number(reader, values, "beta", where, beta, 0);
    snprintf(where, sizeof where, "%s%s", dictionary->place, original_key);
    read_number(reader, values, original_key, where, original, 0);
    return true;
}

/* ---- positions
 * of images ------------------------------------------------------------------------ */

/* The vision tower's configuration, beside the language model's. */
static const json_t *vision_of(const pe_reader *reader, const char **place)
{
    const json_t *thinker = json_object_get(reader->whole, "thinker_config");
    const json_t *vision = json_object_get(thinker, "vision_config");
    *place = vision != NULL ? "thinker_config/vision_config" : "vision_config";
    return vision != NULL ? vision : json_object_get(reader->whole, "vision_config");
}

static bool read_mrope_positions(pe_reader *reader, const pe_rope_dictionary *dictionary,
                                 pe_values *values)
{
    static const char merge[] = "spatial_merge_size", speed[] = "tokens_per_second";
    const char *place;
    const json_t *vision = vision_of(reader, &place);
    char path[sizeof reader->path], where[96];
    if (json_is_null(json_object_get(dictionary->object, "mrope_section")) ||
        json_object_get(dictionary->object, "mrope_section") == NULL ||
        (json_object_get(vision, merge) == NULL && reader->type->merge == 0))
        return false;
    memcpy(path, reader->path, sizeof path);
    reader->path[0] = '\0'; /* pointers are from the top meanwhile */
    snprintf(where, sizeof where, "%s/%s", place, merge);
    read_number(reader, values, merge, where, json_object_get(vision, merge), reader->type->merge);
    snprintf(where, sizeof where, "%s/%s", place, speed);
    read_number(reader, values, speed, where, json_object_get(vision, speed),
                reader->type->per_second);
    memcpy(reader->path, path, sizeof path);
    return true;
}

/* ---- rotations
 * of patches ----------------------------------------------------------------------- */

/* Vision towers that rotate: their type (else that of the whole), the keys of their width and heads
 * with the defaults of their class, and whether patches come in blocks that merge.
 *
 * Source  rope_grid.h names the code of each convention; the defaults are those of the types' class
 *         in huggingface/transformers, read where types.c says. */
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

static const struct vision_type *vision_type_of(const pe_reader *reader, const json_t *vision)
{
    const json_t *own = json_object_get(vision, "model_type");
    const json_t *type = json_is_string(own) ? own : json_object_get(reader->whole, "model_type");
    for (size_t t = 0; json_is_string(type) && t < PE_LEN(vision_types); t++)
        if (strcmp(vision_types[t].name, json_string_value(type)) == 0)
            return &vision_types[t];
    return NULL;
}

/* A count of the tower, reported; 0: it has none. */
static double read_count(pe_reader *reader, const json_t *vision, const char *place,
                         const char *key, double otherwise)
{
    char where[96];
    const json_t *value = json_object_get(vision, key);
    snprintf(where, sizeof where, "%s/%s", place, key);
    if (value == NULL || json_is_null(value)) {
        if (otherwise != 0)
            pe_reader_default(reader, where, otherwise, "head_dim", class_default);
        return otherwise;
    }
    const double count = json_number_value(value);
    if (!json_is_number(value) || count < 1 || count > 65536 || count != floor(count)) {
        pe_reader_fail(reader, PE_INVALID_PARAMETER, where,
                       "%s must be an integer from 1 to 65536, got %s", where,
                       pe_reader_type_text(value));
        return 0;
    }
    pe_reader_report(reader, where, value, PE_MODEL_KEY_USED, "head_dim", NULL);
    return count;
}

/* In its dictionary, or beside it. */
static void read_tower_theta(pe_reader *reader, const json_t *vision, const char *place,
                             pe_values *values)
{
    static const char key[] = "rope_theta";
    char where[96];
    const json_t *nested = json_object_get(json_object_get(vision, "rope_parameters"), key);
    snprintf(where, sizeof where, nested != NULL ? "%s/rope_parameters/%s" : "%s/%s", place, key);
    read_number(reader, values, key, where, nested != NULL ? nested : json_object_get(vision, key),
                10000);
}

static bool read_tower(pe_reader *reader, const json_t *vision, const char *place,
                       pe_values *values)
{
    char where[96];
    const struct vision_type *type = vision_type_of(reader, vision);
    if (type == NULL)
        return false;
    const double width = read_count(reader, vision, place, type->width, type->width_default);
    const double heads = read_count(reader, vision, place, type->heads, type->heads_default);
    const double head_dim = heads != 0 ? width / heads : 0;
    if (head_dim < 4 || head_dim > 4096 || fmod(head_dim, 4) != 0) /* no convention has such */
        return false;
    snprintf(where, sizeof where, "%s/%s", place, type->width);
    pe_reader_set_number(reader, values, "head_dim", where, head_dim);
    pe_reader_set_choice(values, "convention", type->convention);
    if (!type->blocks)
        read_tower_theta(reader, vision, place, values);
    snprintf(where, sizeof where, "%s/spatial_merge_size", place);
    if (type->blocks)
        read_number(reader, values, "spatial_merge_size", where,
                    json_object_get(vision, "spatial_merge_size"), 2);
    return true;
}

static bool read_grid(pe_reader *reader, const pe_rope_dictionary *dictionary, pe_values *values)
{
    const char *place;
    const json_t *vision = vision_of(reader, &place);
    char path[sizeof reader->path];
    (void)dictionary;
    if (!json_is_object(vision))
        return false;
    memcpy(path, reader->path, sizeof path);
    reader->path[0] = '\0'; /* pointers are from the top meanwhile */
    const bool said = read_tower(reader, vision, place, values);
    memcpy(reader->path, path, sizeof path);
    return said;
}

/* ---- all
 * of them -------------------------------------------------------------------------------- */

static const char no_tower[] = "does not say how a vision tower of its rotates patches";

static const struct {
    const pe_resource *resource;
    const char *lack;
    /* Does the configuration say something? */
    bool (*read)(pe_reader *reader, const pe_rope_dictionary *dictionary, pe_values *values);
} parts[PE_MODEL_PARTS_MAX] = {
    {&pe_rope_attention_scale, "scales no queries by their position", read_attention_scale},
    {&pe_rope_mrope_positions,
     "has no positions on several axes, or does not say how its patches "
     "merge",
     read_mrope_positions},
    {&pe_rope_grid, no_tower, read_grid},
    {&pe_rope_grid_rotate, no_tower, read_grid},
};

void pe_parts_resolve(pe_reader *reader, const pe_rope_dictionary *dictionary)
{
    pe_model *model = reader->model;
    for (size_t p = 0; p < PE_LEN(parts) && reader->status == PE_OK; p++) {
        const pe_resource *resource = parts[p].resource;
        pe_model_part *part = &model->parts[model->n_parts];
        reader->status = pe_values_make(resource->param_sets, &part->values, reader->why);
        if (reader->status != PE_OK)
            return;
        part->resource = resource;
        if (parts[p].read(reader, dictionary, &part->values))
            model->n_parts++;
        else
            pe_values_free(&part->values);
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
