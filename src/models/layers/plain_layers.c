/* SPDX-License-Identifier: MIT */
/* plain_layers.c - layers that are all alike: they count distances, add sinusoids or learned rows, or
 * rotate patches by their row and column. */
#include <math.h>
#include <string.h>

#include "encodings/registry.h"
#include "models/layers.h"
#include "plan/resource.h"

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

static void take_alibi(pe_reader *reader, pe_model_layers *kind)
{
    if (pe_type_is(reader->type, "divided_bias"))
        pe_reader_warn(reader, "this model type adds the bias before it divides scores by "
                               "sqrt(head_dim): what counts is the bias divided by sqrt(head_dim)");
    set_fact(reader, kind, "num_heads", PE_FACT_HEADS, 0);
    set_fact(reader, kind, "alibi_bias_max", PE_FACT_ALIBI_MAX, 8);
    pe_reader_set_choice(&kind->values, "variant", "press");
}

static void take_t5(pe_reader *reader, pe_model_layers *kind)
{
    const bool decoder = strcmp(kind->layer_type, "decoder") == 0;
    const char *variant = pe_type_text(reader->type, "variant");
    set_fact(reader, kind, "num_buckets", PE_FACT_BUCKETS, 32);
    set_fact(reader, kind, "max_distance", PE_FACT_MAX_DISTANCE, 128);
    pe_reader_set_number(reader, &kind->values, "bidirectional", "bidirectional", decoder ? 0 : 1);
    pe_reader_set_choice(&kind->values, "variant", variant != NULL ? variant : "t5");
}

/* max_relative_positions below 1 stands for max_position_embeddings. */
static void take_deberta(pe_reader *reader, pe_model_layers *kind)
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
static void take_sincos_grid(pe_reader *reader, pe_model_layers *kind)
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
        pe_reader_report(reader, key, value,
                         given != NULL ? PE_MODEL_KEY_USED : PE_MODEL_KEY_DEFAULTED, name, NULL);
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

/* Set what an object of the row says; config/models/README.md tells the forms. */
static void take_values(pe_reader *reader, const json_t *object, pe_values *values)
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

static void take_sinusoidal(pe_reader *reader, pe_model_layers *kind)
{
    const char *layout = pe_type_text(reader->type, "layout");
    take_values(reader, json_object_get(reader->type, "values"), &kind->values);
    if (!pe_values_present(&kind->values, "d_model"))
        set_fact(reader, kind, "d_model", PE_FACT_HIDDEN, 0);
    pe_reader_set_choice(&kind->values, "layout", layout != NULL ? layout : "interleaved");
    pe_reader_set_number(reader, &kind->values, "freq_shift", "freq_shift",
                         pe_type_number(reader->type, "freq_shift"));
}

/* ---- learned rows ---- */

#define ROWS_MAX 1e12

#define COUNT(row, sentence)                                                                       \
    {                                                                                              \
        .name = row, .kind = PE_KIND_INT, .optional = true, .min = 0, .max = ROWS_MAX,             \
        .help = sentence                                                                           \
    }

static const pe_param rows[] = {
    COUNT("rows", "Rows of the table."),
    COUNT("width", "Channels of a row."),
    COUNT("offset", "It is added to every position."),
    COUNT("padding_row", "The row of padding."),
};

/* No request asks for it. */
static const pe_resource learned_layers = {.path = "/v1/learned",
                                           .encoding = "learned",
                                           .name = "learned",
                                           .param_sets = {PE_PARAMS(rows)}};

/* A count under a key, or the element of a list there, reported as what gave the parameter; 0: it
 * is not there. */
static double rows_of(pe_reader *reader, const char *key, size_t element, const char *parameter)
{
    const json_t *value = pe_reader_member(reader, key);
    const json_t *number = json_is_array(value) ? json_array_get(value, element) : value;
    const double count = json_number_value(number);
    if (!json_is_number(number) || count < 0 || count > ROWS_MAX)
        return 0;
    pe_reader_used(reader, key, value, parameter, NULL);
    return count;
}

/* The patches of an image along one side. */
static double count_along(pe_reader *reader, size_t side)
{
    const double image = rows_of(reader, "image_size", side, "rows");
    const double patch = rows_of(reader, "patch_size", side, "rows");
    return patch >= 1 ? floor(image / patch) : 0;
}

static void take_learned(pe_reader *reader, pe_model_layers *kind)
{
    const json_t *type = reader->type;
    const json_t *padding = pe_reader_member(reader, "pad_token_id");
    const json_t *from = json_object_get(type, "rows");
    const char *where;
    double width = 0, n = json_number_value(from);
    if (json_is_string(from))
        n = strcmp(json_string_value(from), "patches") == 0
                ? count_along(reader, 0) * count_along(reader, 1)
                : rows_of(reader, json_string_value(from), 0, "rows");
    else if (from == NULL && pe_reader_finds_fact(reader, PE_FACT_MAX_POSITIONS, &n, &where))
        pe_reader_retarget(reader, where, "rows");
    if (n > 0)
        pe_reader_set_number(reader, &kind->values, "rows", "rows",
                             n + pe_type_number(type, "offset") +
                                 pe_type_number(type, "class_rows"));
    if (pe_type_text(type, "width_key") != NULL) {
        width = rows_of(reader, pe_type_text(type, "width_key"), 0, "width");
        if (width > 0)
            pe_reader_set_number(reader, &kind->values, "width", "width", width);
    } else if (pe_reader_finds_fact(reader, PE_FACT_HIDDEN, &width, &where)) {
        pe_reader_set_number(reader, &kind->values, "width", "width", width);
        pe_reader_retarget(reader, where, "width");
    }
    if (!pe_type_is(type, "padded")) {
        pe_reader_set_number(reader, &kind->values, "offset", "offset",
                             pe_type_number(type, "offset"));
        return;
    }
    const double row = json_is_number(padding) ? json_number_value(padding) : 1;
    if (padding == NULL)
        pe_reader_class_default(reader, "pad_token_id", row, "padding_row");
    pe_reader_used(reader, "pad_token_id", padding, "padding_row", NULL);
    pe_reader_set_number(reader, &kind->values, "padding_row", "padding_row", row);
    pe_reader_set_number(reader, &kind->values, "offset", "offset", row + 1);
}

/* ---- patches ---- */

/**
 * Source  rope_grid.h names the code of each convention; config/model_types.json has the towers of
 *         huggingface/transformers that follow it as rows, whose facts are those of their classes.
 */
static void take_grid(pe_reader *reader, pe_model_layers *kind)
{
    /* Transformers calls these frequencies axial, and has no others for two axes. */
    static const char where[] = "rope_parameters/rope_type";
    const json_t *value = pe_reader_member(reader, where);
    const char *name = json_string_value(value);
    if (name != NULL && strcmp(name, "axial") != 0 && strcmp(name, "default") != 0)
        pe_reader_fail(reader, PE_INVALID_PARAMETER, where,
                       "rope_type of a vision tower must be axial or default, got %.40s", name);
    pe_reader_used(reader, where, value, "convention", NULL);
    double dim = 0, wide = 0, heads = 0, theta = 10000;
    if (!pe_reader_finds_fact(reader, PE_FACT_HEAD_DIM, &dim, NULL)) {
        const bool embeds = json_object_get(reader->type, "embed_dim") != NULL;
        (void)pe_reader_fact(reader, embeds ? PE_FACT_EMBED : PE_FACT_HIDDEN, &wide, NULL);
        (void)pe_reader_fact(reader, PE_FACT_HEADS, &heads, NULL);
        const json_t *rate = pe_reader_member(reader, "memory_attention_downsample_rate");
        pe_reader_used(reader, "memory_attention_downsample_rate", rate, "head_dim", NULL);
        heads *= json_number_value(rate) > 0 ? json_number_value(rate) : 1;
        dim = heads != 0 ? floor(wide / heads) : 0;
    }
    if (dim < 4 || dim > 4096 || fmod(dim, 4) != 0)
        pe_reader_fail(reader, PE_INVALID_PARAMETER, "head_dim",
                       "head_dim of a tower of two axes must be a multiple of 4 from 4 to 4096, "
                       "got %.17g",
                       dim);
    if (reader->status != PE_OK)
        return;
    pe_reader_set_choice(&kind->values, "convention", pe_type_text(reader->type, "convention"));
    pe_reader_set_number(reader, &kind->values, "head_dim", "head_dim", dim);
    /* In its dictionary, or beside it. */
    static const char nested[] = "rope_parameters/rope_theta";
    if (pe_reader_member(reader, nested) != NULL) {
        pe_reader_take(reader, &kind->values, "rope_theta", nested,
                       pe_reader_member(reader, nested), 0);
    } else {
        if (!pe_reader_fact(reader, PE_FACT_THETA, &theta, NULL))
            pe_reader_class_default(reader, "rope_theta", theta, "rope_theta");
        pe_reader_set_number(reader, &kind->values, "rope_theta", "rope_theta", theta);
    }
    static const char key[] = "spatial_merge_size";
    const double own = pe_type_number(reader->type, key);
    if (own != 0)
        pe_reader_take(reader, &kind->values, key, key, pe_reader_member(reader, key), own);
    if (pe_type_text(reader->type, "grid_pairing") != NULL)
        pe_reader_set_choice(&kind->values, "pairing", pe_type_text(reader->type, "grid_pairing"));
    (void)pe_parts_add(reader, &pe_rope_grid, &kind->values);
    (void)pe_parts_add(reader, &pe_rope_grid_rotate, &kind->values);
}

/* ---- which layers ---- */

/* A resource that rows name; they name no other. */
static const pe_resource *resource_named(const char *name)
{
    static const pe_resource *const all[] = {
        &pe_sinusoidal,       &pe_sinusoidal_grid, &pe_sinusoidal_relative, &pe_swin_index,
        &pe_swin_coordinates, &pe_shaw_indices,    &pe_rope_mrope_positions};
    size_t r = PE_LEN(all) - 1;
    while (r > 0 && strcmp(all[r]->name, name) != 0)
        r--;
    return all[r];
}

static void take_named(pe_reader *reader, pe_model_layers *kind)
{
    take_values(reader, json_object_get(reader->type, "values"), &kind->values);
    if (reader->status == PE_OK)
        (void)pe_parts_add(reader, kind->resource, &kind->values);
}

/* Each scheme's resource, whose rows hold its parameters, and the function that sets them. NULL:
 * there is none, the row names it, or (rotations) layers are read one by one. */
static const struct {
    const pe_resource *resource;
    void (*take)(pe_reader *reader, pe_model_layers *kind);
} schemes[] = {
    [PE_SCHEME_ROPE] = {&pe_rope_table, NULL},
    [PE_SCHEME_ALIBI] = {&pe_alibi_slopes, take_alibi},
    [PE_SCHEME_T5] = {&pe_t5_buckets, take_t5},
    [PE_SCHEME_DEBERTA] = {&pe_t5_buckets, take_deberta},
    [PE_SCHEME_SINUSOIDAL] = {&pe_sinusoidal, take_sinusoidal},
    [PE_SCHEME_SINCOS_GRID] = {&pe_sinusoidal_grid, take_sincos_grid},
    [PE_SCHEME_LEARNED] = {&learned_layers, take_learned},
    [PE_SCHEME_GRID] = {&pe_rope_grid, take_grid},
    [PE_SCHEME_RESOURCE] = {NULL, take_named},
    [PE_SCHEME_UNKNOWN] = {NULL, NULL},
};

static const pe_resource *resource_of(const pe_reader *reader, pe_scheme scheme)
{
    return scheme == PE_SCHEME_RESOURCE ? resource_named(pe_type_text(reader->type, "encoding"))
                                        : schemes[scheme].resource;
}

const char *pe_plain_layers_encoding(const pe_reader *reader, pe_scheme scheme)
{
    const pe_resource *resource = resource_of(reader, scheme);
    return resource != NULL ? resource->encoding : scheme == PE_SCHEME_UNKNOWN ? "unknown" : "none";
}

void pe_plain_layers_add(pe_reader *reader, pe_scheme scheme, const char *name)
{
    pe_model_layers *kind = pe_kinds_add(reader, name, resource_of(reader, scheme), NULL, 0);
    if (reader->status == PE_OK && schemes[scheme].take != NULL)
        schemes[scheme].take(reader, kind);
}

void pe_plain_layers_resources(pe_reader *reader)
{
    const char *name;
    json_t *object;
    json_object_foreach(json_object_get(reader->type, "resources"), name, object)
    {
        pe_values *values = pe_parts_add(reader, resource_named(name), NULL);
        if (values != NULL && reader->status == PE_OK)
            take_values(reader, object, values);
    }
}
