/* SPDX-License-Identifier: MIT */
/* model_parts.c - what a configuration says to resources that ask of other things than its layers. */
#include <stdio.h>
#include <string.h>

#include "encodings/registry.h"
#include "models/layers.h"

/* One part under way. */
typedef struct part {
    pe_reader *reader;
    const pe_dictionary *dictionary;
    const json_t *vision; /* the vision tower's configuration, beside the language model's */
    const json_t *around; /* what holds it */
    const char *place;    /* of that: "", "thinker_config/" */
    pe_values *values;    /* of the resource's rows */
} part;

static const char in_tower[] = "vision_config/";

static bool is_there(const json_t *value)
{
    return value != NULL && !json_is_null(value);
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
    pe_reader_take(reader, p->values, "beta", "attn_scale", pe_reader_member(reader, "attn_scale"),
                   0.1);
    pe_reader_take(reader, p->values, "original_max_position_embeddings", "floor_scale",
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
    if (pe_type_is(reader->type, "temperature"))
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
    pe_reader_take(reader, p->values, "beta", where, beta, 0);
    snprintf(where, sizeof where, "%s%s", dictionary->place, original_key);
    pe_reader_take(reader, p->values, original_key, where, original, 0);
    return true;
}

/* ---- positions of images ---- */

/* A key of the tower ("vision_config/"), or ("") beside it. */
static void read_number(const part *p, const char *parameter, const char *object, const char *key)
{
    char where[96];
    snprintf(where, sizeof where, "%s%s%s", p->place, object, key);
    pe_reader_take(p->reader, p->values, parameter, where,
                   json_object_get(object[0] != '\0' ? p->vision : p->around, key),
                   pe_type_number(p->reader->type, key));
}

/* Qwen-Omni has the speed of time beside its towers, and one of its models chunks of time. Places are
 * told from the top of the configuration.
 *
 * Source  get_rope_index of models/qwen2_5_omni and models/qwen3_omni_moe in
 *         huggingface/transformers 5.23.0. */
static void read_merge(const part *p)
{
    static const char speed[] = "position_id_per_seconds", chunk[] = "seconds_per_chunk";
    static const char tokens[] = "tokens_per_second";
    const json_t *type = p->reader->type;
    const bool apart = json_object_get(type, speed) != NULL;
    const char *after = pe_type_text(type, "after_grid");
    const char *variant = pe_type_text(type, "positions_variant");
    char path[sizeof p->reader->path];
    memcpy(path, p->reader->path, sizeof path);
    p->reader->path[0] = '\0';
    read_number(p, "spatial_merge_size", in_tower, "spatial_merge_size");
    read_number(p, "temporal_merge_size", in_tower, "temporal_merge_size");
    read_number(p, tokens, apart ? "" : in_tower, apart ? speed : tokens);
    if (apart && json_object_get(type, chunk) != NULL)
        read_number(p, chunk, "", chunk);
    if (apart && pe_type_is(type, "unrounded"))
        pe_reader_set_choice(p->values, "dtype", "float32");
    if (after != NULL)
        pe_reader_set_choice(p->values, "after_grid", after);
    if (variant != NULL)
        pe_reader_set_choice(p->values, "variant", variant);
    if (pe_type_is(type, "frames_apart"))
        pe_reader_set_choice(p->values, "video_frames", "apart");
    memcpy(p->reader->path, path, sizeof path);
}

static bool read_mrope_positions(const part *p)
{
    const json_t *section = json_object_get(p->dictionary->object, "mrope_section");
    if (!is_there(section))
        section = json_object_get(p->dictionary->object, "xdrope_section");
    if (json_array_size(section) == 4)
        pe_reader_set_choice(p->values, "variant", "xdrope");
    const bool found =
        !p->reader->plain_images &&
        (is_there(section) || json_object_get(p->reader->type, "mrope_section") != NULL) &&
        (json_object_get(p->vision, "spatial_merge_size") != NULL ||
         pe_type_number(p->reader->type, "spatial_merge_size") != 0);
    if (found)
        read_merge(p);
    return found;
}

/* ---- the parts ---- */

static const char no_tower[] = "does not say how a vision tower of its rotates patches";

static const struct {
    const pe_resource *resource;
    const char *lack;
    bool (*read)(const part *p); /* does the configuration say something? */
} parts[] = {
    {&pe_rope_attention_scale, "scales no queries by their position", read_attention_scale},
    {&pe_rope_mrope_positions,
     "has no positions on several axes, or does not say how its patches merge",
     read_mrope_positions},
    {&pe_rope_grid, no_tower, NULL}, /* the tower says it */
    {&pe_rope_grid_rotate, no_tower, NULL},
    {&pe_sinusoidal_grid, "has no sinusoidal table of a grid", NULL}, /* its layers say it */
};

pe_values *pe_parts_add(pe_reader *reader, const pe_resource *resource, const pe_values *from)
{
    pe_model *model = reader->model;
    if (pe_model_part_find(model, resource) != NULL || reader->status != PE_OK ||
        model->n_parts == PE_MODEL_PARTS_MAX)
        return NULL;
    pe_model_part *made = &model->parts[model->n_parts];
    reader->status = pe_values_make(resource->param_sets, &made->values, reader->why);
    if (reader->status != PE_OK)
        return NULL;
    made->resource = resource;
    model->n_parts++;
    if (from != NULL)
        reader->status = pe_model_fill(from, &made->values, reader->why);
    return &made->values;
}

void pe_parts_resolve(pe_reader *reader, const pe_dictionary *dictionary)
{
    pe_model *model = reader->model;
    static const char thinker[] = "thinker_config";
    part p = {.reader = reader, .dictionary = dictionary, .around = reader->whole, .place = ""};
    if (json_object_get(json_object_get(p.around, thinker), "vision_config") != NULL) {
        p.around = json_object_get(p.around, thinker);
        p.place = "thinker_config/";
    }
    p.vision = json_object_get(p.around, "vision_config");
    for (size_t i = 0; i < PE_LEN(parts) && reader->status == PE_OK; i++) {
        if (parts[i].read == NULL)
            continue;
        p.values = pe_parts_add(reader, parts[i].resource, NULL);
        if (p.values != NULL && !parts[i].read(&p)) {
            pe_values_free(p.values);
            model->n_parts--;
        }
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
