/* SPDX-License-Identifier: MIT */
/* parts.c - what a configuration says to resources that ask of other things than its layers. */
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

/* ---- attention temperature ----------------------------------------------------------------------
 */

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

/* Source  get_llama_4_attn_scale of Ministral3Attention: both keys are read from rope_parameters.
 */
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

/* ---- positions of images ------------------------------------------------------------------------
 */

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

/* ---- all of them --------------------------------------------------------------------------------
 */

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
};

void pe_parts_resolve(pe_reader *reader, const pe_rope_dictionary *dictionary)
{
    pe_model *model = reader->model;
    for (size_t p = 0; p < PE_LEN(parts) && reader->status == PE_OK; p++) {
        const pe_resource *resource = parts[p].resource;
        pe_model_part *part = &model->parts[model->n_parts];
        reader->status =
            pe_values_make(resource->params, resource->n_params, &part->values, reader->why);
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
