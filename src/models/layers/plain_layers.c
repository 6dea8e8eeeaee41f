/* SPDX-License-Identifier: MIT */
/* plain_layers.c - layers that count distances or add sinusoids. */
#include <math.h>
#include <string.h>

#include "encodings/registry.h"
#include "models/layers.h"

/* Set a row from a fact, the class's default, or the fallback. MISSING_PARAMETER where that is 0. */
static void set_fact(pe_reader *reader, pe_model_layers *kind, const char *name, pe_fact fact,
                     double fallback)
{
    const char *where = pe_reader_fact_name(fact);
    double value = fallback;
    if (!pe_reader_fact(reader, fact, &value, &where)) {
        if (fallback == 0)
            pe_reader_fail(reader, PE_MISSING_PARAMETER, where, "%s is missing", where);
        else
            pe_reader_class_default(reader, where, fallback, name);
    }
    pe_reader_set_number(reader, &kind->values, name, where, value);
    pe_reader_retarget(reader, where, name);
}

void pe_plain_layers_alibi(pe_reader *reader, pe_model_layers *kind)
{
    if (pe_type_is(reader->type, "divided_bias"))
        pe_reader_warn(reader, "this model type adds the bias before it divides scores by "
                               "sqrt(head_dim): what counts is the bias divided by sqrt(head_dim)");
    set_fact(reader, kind, "num_heads", PE_FACT_HEADS, 0);
    set_fact(reader, kind, "alibi_bias_max", PE_FACT_ALIBI_MAX, 8);
    pe_reader_set_choice(&kind->values, "variant", "press");
}

void pe_plain_layers_t5(pe_reader *reader, pe_model_layers *kind)
{
    const bool decoder = strcmp(kind->layer_type, "decoder") == 0;
    const char *variant = pe_type_text(reader->type, "variant");
    set_fact(reader, kind, "num_buckets", PE_FACT_BUCKETS, 32);
    set_fact(reader, kind, "max_distance", PE_FACT_MAX_DISTANCE, 128);
    pe_reader_set_number(reader, &kind->values, "bidirectional", "bidirectional", decoder ? 0 : 1);
    pe_reader_set_choice(&kind->values, "variant", variant != NULL ? variant : "t5");
}

/* max_relative_positions below 1 stands for max_position_embeddings. */
void pe_plain_layers_deberta(pe_reader *reader, pe_model_layers *kind)
{
    const char *where = pe_reader_fact_name(PE_FACT_POSITION_BUCKETS);
    double buckets = -1, farthest = -1;
    if (!pe_reader_finds_fact(reader, PE_FACT_POSITION_BUCKETS, &buckets, &where) || buckets < 2) {
        pe_reader_fail(reader, PE_MISSING_PARAMETER, where,
                       "position_buckets is missing: without buckets distances are only clipped, "
                       "which no resource does DeBERTa's way");
        return;
    }
    pe_reader_set_number(reader, &kind->values, "num_buckets", where, buckets);
    where = pe_reader_fact_name(PE_FACT_MAX_RELATIVE);
    if (!pe_reader_finds_fact(reader, PE_FACT_MAX_RELATIVE, &farthest, &where) || farthest < 1) {
        farthest = 512;
        if (!pe_reader_finds_fact(reader, PE_FACT_MAX_POSITIONS, &farthest, &where))
            pe_reader_class_default(reader, "max_position_embeddings", farthest, "max_distance");
    }
    pe_reader_set_number(reader, &kind->values, "max_distance", where, farthest);
    pe_reader_set_number(reader, &kind->values, "bidirectional", "bidirectional", 1);
    pe_reader_set_choice(&kind->values, "variant", "deberta");
}

/* A number under a key, or the element of a list there; else its fallback, or (0) the class's default;
 * 0: none of these. */
static double count_of(pe_reader *reader, const char *key, size_t element, const char *parameter,
                       double fallback)
{
    const json_t *value = pe_reader_member(reader, key);
    const json_t *item = json_is_array(value) ? json_array_get(value, element) : value;
    fallback = fallback != 0 ? fallback : pe_type_number(reader->type, key);
    if (value == NULL && fallback != 0)
        pe_reader_class_default(reader, key, fallback, parameter);
    if (value != NULL && !json_is_number(item))
        pe_reader_fail_type(reader, key, "a number, or a list of them", value);
    pe_reader_used(reader, key, value, parameter, NULL);
    return value != NULL ? json_number_value(item) : fallback;
}

/**
 * Source  PatchEmbed of huggingface/diffusers at 58eb52c0803ea9af3abec60841c2a093bdf1f951,
 *         src/diffusers/models/embeddings.py; interpolation_scale as PixArtTransformer2DModel's.
 */
void pe_plain_layers_sincos_grid(pe_reader *reader, pe_model_layers *kind)
{
    const double own = json_number_value(json_object_get(reader->type, "rows"));
    const double sample = count_of(reader, "sample_size", 0, "base_size", 128);
    const double patch = count_of(reader, "patch_size", 0, "base_size", 2);
    const double side = own != 0 ? count_of(reader, "pos_embed_max_size", 0, "height", own) : 0;
    const double base = patch >= 1 ? trunc(sample / patch) : 0;
    const double scale = sample >= 128 ? trunc(sample / 64) : 1;
    double heads = 0, dim = 0;
    if (!pe_reader_finds_fact(reader, PE_FACT_HEADS, &heads, NULL) ||
        !pe_reader_finds_fact(reader, PE_FACT_HEAD_DIM, &dim, NULL))
        pe_reader_fail(reader, PE_MISSING_PARAMETER, "attention_head_dim",
                       "attention_head_dim or num_attention_heads is missing");
    pe_reader_set_number(reader, &kind->values, "d_model", "attention_head_dim", heads * dim);
    pe_reader_set_number(reader, &kind->values, "height", "pos_embed_max_size",
                         side != 0 ? side : base);
    pe_reader_set_number(reader, &kind->values, "base_size", "sample_size", base);
    if (own == 0)
        pe_reader_set_number(
            reader, &kind->values, "interpolation_scale", "interpolation_scale",
            count_of(reader, "interpolation_scale", 0, "interpolation_scale", scale));
    if (reader->status == PE_OK)
        (void)pe_parts_add(reader, &pe_sinusoidal_grid, &kind->values);
}

/* A choice, [key] of one, or [key, choice where it is false, choice where it is true]. */
static void take_choice(pe_reader *reader, pe_values *values, const char *name, const json_t *item)
{
    const char *key = json_string_value(json_array_get(item, 0));
    const json_t *given = key != NULL ? pe_reader_member(reader, key) : NULL;
    const json_t *value = key == NULL     ? item
                          : given != NULL ? given
                                          : json_object_get(reader->type, key);
    const bool named = json_array_size(item) < 2;
    if (given != NULL && !(named ? json_is_string(given) : json_is_boolean(given)))
        pe_reader_fail_type(reader, key, named ? "a string" : "true or false", given);
    if (reader->status != PE_OK)
        return;
    if (key != NULL)
        pe_reader_told(reader, key, given, value, name, NULL);
    if (!named)
        value = json_array_get(item, json_is_true(value) ? 2 : 1);
    if (value != NULL)
        pe_reader_set_choice(values, name, json_string_value(value));
    if (given != NULL && !pe_values_given(values, name))
        pe_reader_warn(reader, "%s %.40s is not known", key, json_string_value(given));
}

/* A key, [key, what is added to it], or "patches" along a side. */
static void take_key(pe_reader *reader, pe_values *values, const char *name, const json_t *item)
{
    const bool added = json_is_array(item);
    const char *key = json_string_value(added ? json_array_get(item, 0) : item);
    const size_t side = strcmp(name, "width") == 0 ? 1 : 0;
    double number = 0;
    if (strcmp(key, "patches") == 0) {
        const double image = count_of(reader, "image_size", side, name, 0);
        const double patch = count_of(reader, "patch_size", side, name, 0);
        number = patch >= 1 ? floor(image / patch) : 0;
    } else {
        number = count_of(reader, key, 0, name, 0) + json_number_value(json_array_get(item, 1));
    }
    if (number != 0 && reader->status == PE_OK)
        pe_reader_set_number(reader, values, name, key, number);
}

void pe_plain_layers_take(pe_reader *reader, const json_t *object, pe_values *values)
{
    const char *key;
    json_t *item;
    json_object_foreach((json_t *)(uintptr_t)object, key, item)
    {
        const pe_param *param = pe_values_find(values, key)->param;
        const char *name = param->name; /* the model keeps it; key is jansson's */
        if (json_is_number(item))
            pe_reader_set_number(reader, values, name, name, json_number_value(item));
        else if (param->kind == PE_KIND_CHOICE)
            take_choice(reader, values, name, item);
        else
            take_key(reader, values, name, item);
    }
}

void pe_plain_layers_sinusoidal(pe_reader *reader, pe_model_layers *kind)
{
    const char *layout = pe_type_text(reader->type, "layout");
    pe_plain_layers_take(reader, json_object_get(reader->type, "values"), &kind->values);
    if (!pe_values_present(&kind->values, "d_model"))
        set_fact(reader, kind, "d_model", PE_FACT_HIDDEN, 0);
    pe_reader_set_choice(&kind->values, "layout", layout != NULL ? layout : "interleaved");
    pe_reader_set_number(reader, &kind->values, "freq_shift", "freq_shift",
                         pe_type_number(reader->type, "freq_shift"));
}

const pe_resource *pe_plain_layers_resource(const char *name)
{
    static const pe_resource *const all[] = {
        &pe_sinusoidal,       &pe_sinusoidal_grid, &pe_sinusoidal_relative, &pe_swin_index,
        &pe_swin_coordinates, &pe_shaw_indices,    &pe_rope_mrope_positions};
    size_t r = PE_LEN(all) - 1;
    while (r > 0 && strcmp(all[r]->name, name) != 0)
        r--;
    return all[r];
}

void pe_plain_layers_named(pe_reader *reader, pe_model_layers *kind)
{
    pe_plain_layers_take(reader, json_object_get(reader->type, "values"), &kind->values);
    if (reader->status == PE_OK)
        (void)pe_parts_add(reader, kind->resource, &kind->values);
}
