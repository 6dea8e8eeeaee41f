/* SPDX-License-Identifier: MIT */
/* dictionary.c - a configuration's rotary dictionary: which it is, and what becomes of its keys. */
#include "models/layers.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "encodings/rope/rope.h"

/* No dictionary has more keys. */
#define DICTIONARY_MAX 64

static const char *const dictionaries[] = {"rope_scaling", "rope_parameters"};

/* Keys of a dictionary that are no parameters: they are read by name, or ignored for a reason. */
static const char no_parameters[] = "no parameters";

/* ---- the dictionary ---- */

/* Are all members dictionaries, or null, and none a parameter? */
static bool is_all_types(const json_t *object)
{
    const char *key;
    json_t *value;
    bool any = false;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if ((!json_is_object(value) && !json_is_null(value)) ||
            pe_rope_key_find(key) != PE_ROPE_KEYS || pe_input_row(no_parameters, key) != NULL)
            return false;
        any |= json_is_object(value);
    }
    return any;
}

/* Has the class types of layers at all? Then a row tells of them, or the configuration does. */
static bool has_layer_types(const pe_reader *reader)
{
    const char *const *members =
        PE_NAMES("typed", "by_type", "sliding_window_pattern", "global_attn_every_n_layers",
                 "full_attention_interval", "rope_local_base_freq", "global_head_dim", "nope_full",
                 "nope_types", "unscaled_local", "labels", "block_types");
    bool told = reader->type == NULL || pe_reader_member(reader, "layer_types") != NULL ||
                is_all_types(json_object_get(reader->type, "rope_parameters"));
    for (size_t m = 0; members[m] != NULL; m++)
        told |= json_object_get(reader->type, members[m]) != NULL;
    return told;
}

bool pe_dictionary_is_by_type(const pe_reader *reader, const json_t *object)
{
    const char *key;
    json_t *value;
    bool listed = false;
    /* Does the configuration list a type of layers? Without a list, names of attention are such. */
    const json_t *types = pe_reader_member(reader, "layer_types");
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        const char *end = strstr(key, "_attention");
        const bool named = types == NULL && end != NULL && strcmp(end, "_attention") == 0;
        listed |= json_is_object(value) && (named || pe_type_lists(types, key));
    }
    return is_all_types(object) || (listed && has_layer_types(reader));
}

void pe_dictionary_find(pe_reader *reader, pe_dictionary *out)
{
    const json_t *first = NULL, *own = json_object_get(reader->type, "rope_parameters");
    for (size_t d = 0; d < PE_LEN(dictionaries); d++) {
        const json_t *object = json_object_get(reader->config, dictionaries[d]);
        const char *only = pe_type_text(reader->type, "dictionary");
        if (object == NULL)
            continue;
        if (only != NULL && strcmp(only, dictionaries[d]) != 0) {
            pe_reader_ignored(reader, dictionaries[d], object, "not read by this model type");
            if (json_object_size(object) != 0)
                pe_reader_warn(reader,
                               "%s is not read by model type %s: frequencies are not scaled by it",
                               dictionaries[d], reader->type_name);
        } else if (json_is_null(object)) {
            pe_reader_ignored(reader, dictionaries[d], object,
                              own != NULL ? "null counts as absent"
                                          : "null: frequencies are not scaled");
        } else if (!json_is_object(object)) {
            pe_reader_fail_type(reader, dictionaries[d], "an object or null", object);
        } else if (json_object_size(object) > DICTIONARY_MAX) {
            pe_reader_fail(reader, PE_INVALID_PARAMETER, dictionaries[d],
                           "%s may have at most %d members, got %zu", dictionaries[d],
                           DICTIONARY_MAX, json_object_size(object));
        } else if (first != NULL) {
            pe_reader_ignored(reader, dictionaries[d], object, "rope_scaling is read instead");
            if (!json_equal((json_t *)(uintptr_t)first, (json_t *)(uintptr_t)object))
                pe_reader_warn(reader, "rope_scaling and rope_parameters differ; rope_scaling is "
                                       "read, as transformers does");
        } else if (json_object_size(object) != 0) {
            first = object;
            *out = (pe_dictionary){.object = object};
            snprintf(out->place, sizeof out->place, "%s/", dictionaries[d]);
        }
    }
    const json_t *given = pe_reader_member(reader, "rope_parameters");
    if (first == NULL && (given == NULL || (json_object_size(given) == 0 &&
                                            pe_dictionary_is_by_type(reader, own)))) {
        /* Where the configuration has no dictionary at all, the model type's counts. An empty
         * rope_scaling is none, an empty rope_parameters is one, unless the model type's is by type
         * of layers. */
        if (own != NULL && reader->dictionary == NULL) {
            reader->dictionary = json_incref((json_t *)(uintptr_t)own);
            pe_reader_warn(reader, "no rope_parameters: those of model type %s are assumed",
                           reader->type_name);
        }
        *out = (pe_dictionary){.object = reader->dictionary, .place = "rope_parameters/"};
    } else if (first != NULL && pe_dictionary_is_by_type(reader, first) &&
               !has_layer_types(reader)) {
        /* Parameters by type of layers count for nothing where the class has no such types: its own
         * base is left.
         *
         * Source  nested_rope_parameter_keys of huggingface/transformers 5.23.0,
         *         modeling_rope_utils.py. */
        char name[sizeof out->place];
        snprintf(name, sizeof name, "%.*s", (int)strlen(out->place) - 1, out->place);
        pe_reader_ignored(reader, name, first, "model type without types of layers");
        pe_reader_warn(reader,
                       "%s has members for types of layers, which model type %s does not have: "
                       "transformers reads none of them, and takes the defaults of the class",
                       name, reader->type_name);
        *out = (pe_dictionary){0};
    }
}

void pe_dictionary_choose(pe_reader *reader, const pe_dictionary *all, const char *layer_type,
                          pe_dictionary *out)
{
    const char *key;
    json_t *value;
    const json_t *object = json_object_get(all->object, layer_type);
    char where[sizeof out->place - 1];
    snprintf(where, sizeof where, "%.96s%.64s", all->place, layer_type);
    if (object == NULL && !pe_type_is(reader->type, "by_type"))
        pe_reader_fail(reader, PE_MISSING_PARAMETER, where,
                       "%.*s has parameters for some types of layers, but none for %s",
                       (int)strlen(all->place) - 1, all->place, layer_type);
    json_object_foreach((json_t *)(uintptr_t)all->object, key, value)
    {
        char safe[PE_READER_KEY], beside[sizeof all->place + sizeof safe];
        if (json_is_object(value) || json_is_null(value) || !pe_reader_escape(reader, key, safe))
            continue;
        snprintf(beside, sizeof beside, "%s%s", all->place, safe);
        pe_reader_ignored(reader, beside, value, "the parameters of a type of layers are read");
    }
    if (json_object_size(object) > DICTIONARY_MAX)
        pe_reader_fail(reader, PE_INVALID_PARAMETER, where, "%s may have at most %d members",
                       layer_type, DICTIONARY_MAX);
    *out = (pe_dictionary){.object = json_is_object(object) ? object : NULL};
    snprintf(out->place, sizeof out->place, "%s/", where);
}

/* ---- its members ---- */

const char *pe_dictionary_place(pe_rope_reading *r, const char *key)
{
    snprintf(r->place, sizeof r->place, "%s%.95s", r->dictionary.place, key);
    return r->place;
}

const json_t *pe_dictionary_member(const pe_rope_reading *r, const char *key)
{
    const json_t *value = json_object_get(r->dictionary.object, key);
    return json_is_null(value) ? NULL : value;
}

void pe_dictionary_ignore(pe_rope_reading *r, const char *key, const char *note)
{
    pe_reader_ignored(r->reader, pe_dictionary_place(r, key), pe_dictionary_member(r, key), note);
}

void pe_dictionary_set_member(pe_rope_reading *r, const char *key, const char *parameter,
                              const char *note)
{
    const json_t *value = pe_dictionary_member(r, key);
    const pe_values *values = &r->kind->values;
    const pe_value *row = pe_values_find(values, parameter);
    if (pe_reader_set(r->reader, &r->kind->values, parameter, pe_dictionary_place(r, key), value))
        pe_reader_used(r->reader, r->place, value, row->param->name, note); /* key is jansson's */
    else
        pe_reader_ignored(r->reader, r->place, value, "nothing here reads it");
}

void pe_dictionary_set_over(pe_rope_reading *r, const char *key, const char *beside,
                            const char *note)
{
    const json_t *other = pe_reader_member(r->reader, beside);
    pe_dictionary_set_member(r, key, key, NULL);
    pe_reader_ignored(r->reader, beside, other, note);
    if (other != NULL &&
        json_number_value(other) != json_number_value(pe_dictionary_member(r, key)))
        pe_reader_warn(r->reader, "%s and %s differ; %s is read", beside, r->place, r->place);
}

void pe_dictionary_set_number(pe_rope_reading *r, const char *parameter, const char *where,
                              double number)
{
    if (r->reader->status == PE_OK && pe_values_find(&r->kind->values, parameter) != NULL)
        pe_reader_set_number(r->reader, &r->kind->values, parameter, where, number);
}

bool pe_dictionary_reads(const pe_rope_reading *r, pe_rope_key key)
{
    return (r->type->reads & PE_ROPE_BIT(key)) != 0;
}

/* ---- its type ---- */

/* The type that a name means. Hunyuan's dynamic with alpha grows the base by alpha, whatever the
 * length. */
static const char *meaning_of(pe_rope_reading *r, const char *name, const char **note)
{
    if ((strcmp(name, "dynamic") == 0 || strcmp(name, "xdrope") == 0) &&
        json_number_value(pe_dictionary_member(r, "alpha")) != 0) {
        *note = "with alpha, the base grows by alpha^(d/(d-2)) whatever the length: ntk_alpha";
        return "ntk_alpha";
    }
    if (pe_type_is(r->reader->type, "yarn_is_longrope") && strcmp(name, "yarn") == 0) {
        *note = "an old name of longrope in this model type";
        return "longrope";
    }
    if (json_object_get(r->reader->type, "axes") != NULL && strcmp(name, "axial") == 0) {
        *note = "the frequencies of several axes";
        return pe_rope_default.name;
    }
    const json_t *row = pe_input_row("rope_type", name);
    *note = json_string_value(json_array_get(row, 2));
    return row != NULL ? json_string_value(json_array_get(row, 1)) : name;
}

void pe_dictionary_read_type(pe_rope_reading *r)
{
    const json_t *new = pe_dictionary_member(r, "rope_type"),
                 *old = pe_dictionary_member(r, "type"), *value = new != NULL ? new : old;
    const char *key = new != NULL ? "rope_type" : "type", *note = NULL;
    const char *name = json_string_value(value);
    if (new != NULL && old != NULL) {
        pe_dictionary_ignore(r, "type", "rope_type is read instead");
        if (json_equal((json_t *)(uintptr_t) new, (json_t *)(uintptr_t)old) == 0)
            pe_reader_warn(r->reader, "rope_type and type differ in %s; rope_type is read",
                           r->dictionary.place);
    }
    r->type = &pe_rope_default;
    pe_reader_set_choice(&r->kind->values, "rope_type", r->type->name);
    /* Where transformers puts rope_scaling into the parameters of a type of layers, which have a
     * rope_type already, it does not read the old spelling. */
    if (pe_type_is(r->reader->type, "by_type") && value != NULL && strcmp(key, "type") == 0 &&
        strcmp(r->dictionary.place, "rope_scaling/") == 0) {
        pe_dictionary_ignore(r, key, "transformers 5 reads rope_type alone in this model type");
        pe_reader_warn(r->reader,
                       "rope_scaling has type and no rope_type, which transformers 5 does not "
                       "read in model type %s: frequencies are not scaled",
                       r->reader->type_name);
        return;
    }
    if (value == NULL) {
        if (r->dictionary.object != NULL && pe_dictionary_member(r, "factor") != NULL)
            pe_reader_warn(r->reader,
                           "%s has a factor and no rope_type: frequencies are not scaled",
                           r->dictionary.place);
        return;
    }
    if (name == NULL) {
        pe_reader_fail(r->reader, PE_INVALID_PARAMETER, pe_dictionary_place(r, key),
                       "%s must be a string, got %s", key, pe_reader_type_text(value));
        return;
    }
    const char *means = meaning_of(r, name, &note);
    for (size_t t = 0; pe_rope_types[t] != NULL; t++)
        if (strcmp(pe_rope_types[t]->name, means) == 0) {
            r->type = pe_rope_types[t];
            pe_reader_set_choice(&r->kind->values, "rope_type", means);
            pe_reader_used(r->reader, pe_dictionary_place(r, key), value, "rope_type", note);
            return;
        }
    pe_buffer known = {0};
    for (size_t t = 0; pe_rope_type_names[t] != NULL; t++)
        pe_buffer_format(&known, "%s, ", pe_rope_type_names[t]);
    const json_t *names = pe_input_table("rope_type");
    for (size_t t = 0; t < json_array_size(names); t++)
        pe_buffer_format(&known, t == 0 ? "%s" : ", %s",
                         json_string_value(json_array_get(json_array_get(names, t), 0)));
    pe_reader_fail(r->reader, PE_INVALID_PARAMETER, pe_dictionary_place(r, key),
                   "%s must be one of %s; got \"%.40s\"", key, pe_buffer_text(&known), name);
    pe_buffer_free(&known);
}

/* ---- the other keys of the dictionary ---- */

static void report_unknown(pe_rope_reading *r, const char *key, const json_t *value)
{
    const pe_values *values = &r->kind->values;
    const char *names[128], *near;
    char safe[PE_READER_KEY];
    size_t n = 0;
    for (size_t i = 0; i < values->n && n < PE_LEN(names); i++)
        names[n++] = values->value[i].param->name;
    const json_t *others = pe_input_table(no_parameters);
    for (size_t i = 0; i < json_array_size(others) && n < PE_LEN(names); i++)
        names[n++] = json_string_value(json_array_get(json_array_get(others, i), 0));
    near = pe_nearest_name(key, names, n);
    if (!pe_reader_escape(r->reader, key, safe))
        return;
    const char *place = pe_dictionary_place(r, safe);
    if (json_is_object(value)) {
        pe_reader_ignored(r->reader, place, value,
                          "an object among parameters: nothing in it is read");
        pe_reader_warn(r->reader,
                       "%s is an object among parameters of all layers: nothing in it is read; "
                       "parameters by type of layers stand in no company",
                       place);
        return;
    }
    if (near != NULL) {
        memcpy(r->unknown_key, safe, sizeof safe);
        r->meant_key = near;
    }
    pe_reader_unknown(r->reader, place, value, near);
}

static void read_key(pe_rope_reading *r, const char *key, const json_t *value)
{
    const pe_rope_key known = pe_rope_key_find(key);
    const bool is_null = json_is_null(value), reads = pe_dictionary_reads(r, known);
    const double number = json_number_value(value);
    const char *place = pe_dictionary_place(r, key);
    pe_reader *reader = r->reader;
    const json_t *other = pe_input_row(no_parameters, key);
    /* Is there a row of that name, which a configuration gives in its dictionary? */
    static const char *const beside[] = {"head_dim", "rotary_dim", "seq_len",
                                         "max_position_embeddings"};
    const pe_value *row = pe_values_find(&r->kind->values, key);
    const pe_param_kind kind = row != NULL ? row->param->kind : PE_KIND_CHOICE;
    const bool is_row = (kind == PE_KIND_INT || kind == PE_KIND_REAL || kind == PE_KIND_BOOL ||
                         kind == PE_KIND_REAL_LIST) &&
                        !pe_nearest_is_name(key, beside, PE_LEN(beside));
    if (json_array_size(other) > 1) {
        pe_reader_ignored(reader, place, value, json_string_value(json_array_get(other, 1)));
    } else if (other != NULL) {
        return; /* it is read by name */
    } else if (known == PE_ROPE_TRUNCATE && r->by_type && reads) {
        /* It is looked for beside the types of layers, where there are such. */
        pe_reader_ignored(reader, place, value,
                          "transformers does not read it for one type of layers");
        if (!json_is_true(value))
            pe_reader_warn(reader,
                           "%s is not read by transformers, which rounds the bounds of the "
                           "ramp where layers have parameters by their types",
                           place);
    } else if (known == PE_ROPE_ATTN_FACTOR &&
               (pe_dictionary_member(r, "attention_factor") != NULL || r->compressed)) {
        /* attention_factor is the whole factor, which attn_factor would multiply. */
        pe_reader_ignored(reader, place, value, "attention_factor is read instead");
        if (json_is_number(value) && number != 1)
            pe_reader_warn(reader,
                           "%s is not read beside attention_factor; vLLM before 0.33 reads it, and "
                           "not attention_factor",
                           place);
    } else if (!is_row && (known == PE_ROPE_KEYS || known == PE_ROPE_MAX_POSITIONS)) {
        report_unknown(r, key, value);
    } else if (is_null && known == PE_ROPE_TRUNCATE && reads) {
        pe_reader_used(reader, place, value, "truncate", "null counts as false");
        pe_dictionary_set_number(r, key, place, 0);
    } else if (is_null) {
        pe_reader_ignored(reader, place, value, "null counts as absent");
    } else if ((known == PE_ROPE_BETA_FAST || known == PE_ROPE_BETA_SLOW) &&
               json_is_number(value) && number == 0) {
        /* transformers takes beta_fast or 32, beta_slow or 1 */
        pe_reader_ignored(reader, place, value, "0 counts as absent");
    } else if (known != PE_ROPE_KEYS && !reads) {
        char note[96];
        snprintf(note, sizeof note, "rope_type %s does not read it", r->type->name);
        pe_reader_ignored(reader, place, value, note);
        if (known == PE_ROPE_FACTOR && number != 1)
            pe_reader_warn(reader, "%s is not read by rope_type %s", place, r->type->name);
    } else {
        pe_dictionary_set_member(r, key, key, NULL);
    }
}

void pe_dictionary_read_keys(pe_rope_reading *r)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)r->dictionary.object, key, value)
    {
        if (r->reader->status == PE_OK)
            read_key(r, key, value);
    }
}

void pe_dictionary_read_defaults(pe_rope_reading *r)
{
    char note[96];
    snprintf(note, sizeof note, "the default of rope_type %s", r->type->name);
    for (size_t p = 0; p < r->kind->values.n; p++) {
        const char *name = r->kind->values.value[p].param->name;
        const pe_rope_key key = pe_rope_key_find(name);
        for (size_t d = 0; d < r->type->n_defaults; d++) {
            if (key != r->type->defaults[d].key || r->kind->values.value[p].present)
                continue;
            /* A number, or true and false where the parameter is such. */
            const double value = r->type->defaults[d].value;
            const char *place = pe_dictionary_place(r, name);
            if (r->kind->values.value[p].param->kind == PE_KIND_BOOL)
                pe_reader_report(r->reader, place, json_boolean(value != 0), PE_MODEL_KEY_DEFAULTED,
                                 name, note);
            else
                pe_reader_default(r->reader, place, value, name, note);
            pe_dictionary_set_number(r, name, place, value);
        }
    }
}
