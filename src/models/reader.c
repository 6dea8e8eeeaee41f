/* SPDX-License-Identifier: MIT */
/* reader.c - reading a configuration's keys, and what is reported of each. */
#include "models/reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "plan/real.h"

/* What is told of one configuration at most. */
#define KEYS_MAX     512
#define WARNINGS_MAX 64

#define SPELLINGS_MAX 8

/* A fact: its bounds, the parameter it becomes, and its spellings, of which the first that is there
 * counts. */
typedef struct fact_row {
    pe_param_kind kind;
    double min, max;
    const char *parameter;
    const char *names[SPELLINGS_MAX];
} fact_row;

static const fact_row facts[PE_FACTS] = {
#define FACT(name, of_kind, low, high, becomes, ...)                                               \
    [PE_FACT_##name] = {PE_KIND_##of_kind, low, high, becomes, {__VA_ARGS__}},
#include "facts.inc"
#undef FACT
};

const char *pe_reader_fact_name(pe_fact fact)
{
    return facts[fact].names[0];
}

/* Keys that are read and are no facts. */
static const char *const other_keys[] = {
    "rope_scaling",   "rope_parameters",         "layer_types",
    "no_rope_layers", "rope_interleaved",        "sliding_window",
    "model_type",     "position_embedding_type", "layer_rope_theta",
};

bool pe_reader_knows_key(const char *name, const char **near)
{
    const char *known[PE_FACTS * SPELLINGS_MAX + PE_LEN(other_keys)];
    size_t n = 0;
    for (size_t f = 0; f < PE_FACTS; f++)
        for (size_t s = 0; s < SPELLINGS_MAX && facts[f].names[s] != NULL; s++)
            known[n++] = facts[f].names[s];
    for (size_t i = 0; i < PE_LEN(other_keys); i++)
        known[n++] = other_keys[i];
    if (pe_nearest_is_name(name, known, n))
        return true;
    if (near != NULL)
        *near = pe_nearest_name(name, known, n);
    return false;
}

/* ---- failures ---- */

void pe_reader_fail(pe_reader *reader, pe_status status, const char *where, const char *format, ...)
{
    char detail[sizeof reader->why->detail], place[sizeof reader->why->where];
    if (reader->status != PE_OK)
        return;
    va_list list;
    va_start(list, format);
    vsnprintf(detail, sizeof detail, format, list);
    va_end(list);
    const int bytes = snprintf(place, sizeof place, "%s%s", reader->path, where);
    char *name = strrchr(place, '/');
    if ((size_t)bytes >= sizeof place && name != NULL)
        *name = '\0'; /* the object around it, rather than half of a name */
    reader->status = status;
    (void)pe_fail(reader->why, status, place, "%s", detail);
}

void pe_reader_fail_memory(pe_reader *reader)
{
    if (reader->status == PE_OK)
        reader->status = pe_fail_memory(reader->why);
}

const char *pe_reader_type_text(const json_t *value)
{
    static const char *const texts[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a number",  [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };
    /* Numbers that JSON lacks come as strings of their names. */
    static const char *const odd[] = {"NaN", "Infinity", "-Infinity"};
    for (size_t n = 0; json_is_string(value) && n < PE_LEN(odd); n++)
        if (strcmp(json_string_value(value), odd[n]) == 0)
            return odd[n];
    return texts[json_typeof(value)];
}

void pe_reader_fail_type(pe_reader *reader, const char *where, const char *wanted,
                         const json_t *value)
{
    char of[32] = "";
    if (json_is_array(value))
        snprintf(of, sizeof of, " of %zu", json_array_size(value));
    pe_reader_fail(reader, PE_INVALID_PARAMETER, where, "%s must be %s, got %s%s", where, wanted,
                   pe_reader_type_text(value), of);
}

/* ---- the report ---- */

static void print_value(const json_t *value, bool inside, pe_buffer *out)
{
    const json_t *item;
    size_t i;
    if (json_is_string(value)) {
        pe_buffer_json_string(out, json_string_value(value));
    } else if (json_is_number(value)) {
        pe_real_print(json_number_value(value), out);
    } else if (json_is_object(value)) {
        pe_buffer_str(out, "{}");
    } else if (!json_is_array(value)) {
        pe_buffer_str(out, pe_reader_type_text(value));
    } else {
        pe_buffer_str(out, "[");
        json_array_foreach((json_t *)(uintptr_t)value, i, item)
        {
            if (inside)
                break;
            pe_buffer_str(out, i == 0 ? "" : ",");
            print_value(item, true, out);
        }
        pe_buffer_str(out, "]");
    }
}

void pe_reader_print(const json_t *value, pe_buffer *out)
{
    print_value(value, false, out);
}

/* An array of n items with room for one more: it doubles at powers of two. NULL: memory ran out. */
static void *with_room(pe_reader *reader, void *items, size_t n, size_t size)
{
    void *grown = (n & (n - 1)) == 0 ? realloc(items, (2 * n + (n == 0)) * size) : items;
    if (grown == NULL)
        pe_reader_fail_memory(reader);
    return grown;
}

void pe_reader_take_key(pe_reader *reader, pe_model_key *key)
{
    pe_model *model = reader->model;
    pe_model_key *keys = NULL;
    bool reported = model->n_keys == KEYS_MAX;
    if (key->pointer == NULL || key->value == NULL)
        pe_reader_fail_memory(reader);
    for (size_t k = 0; reader->status == PE_OK && !reported && k < model->n_keys; k++)
        reported = strcmp(model->keys[k].pointer, key->pointer) == 0;
    if (reader->status == PE_OK && !reported)
        keys = with_room(reader, model->keys, model->n_keys, sizeof *keys);
    if (keys != NULL) {
        model->keys = keys;
        keys[model->n_keys++] = *key;
    } else {
        free(key->pointer);
        free(key->value);
        free(key->note);
    }
    *key = (pe_model_key){0};
}

static char *pointer_of(const pe_reader *reader, const char *where)
{
    pe_buffer text = {0};
    pe_buffer_format(&text, "#/%s%s", reader->path, where);
    return pe_buffer_take(&text);
}

void pe_reader_report(pe_reader *reader, const char *where, const json_t *value,
                      pe_model_key_status status, const char *parameter, const char *note)
{
    pe_buffer text = {0};
    const bool assumed = reader->dictionary != NULL && strncmp(where, "rope_parameters/", 16) == 0;
    if (reader->status != PE_OK || value == NULL)
        return;
    if (status == PE_MODEL_KEY_USED && assumed) /* the configuration has no such dictionary */
        status = PE_MODEL_KEY_DEFAULTED;
    pe_reader_print(value, &text);
    pe_model_key key = {.pointer = pointer_of(reader, where),
                        .value = pe_buffer_take(&text),
                        .status = status,
                        .parameter = parameter,
                        .note = note == NULL ? NULL : strdup(note)};
    pe_reader_take_key(reader, &key);
}

void pe_reader_used(pe_reader *reader, const char *where, const json_t *value,
                    const char *parameter, const char *note)
{
    pe_reader_report(reader, where, value, PE_MODEL_KEY_USED, parameter, note);
}

void pe_reader_ignored(pe_reader *reader, const char *where, const json_t *value, const char *note)
{
    pe_reader_report(reader, where, value, PE_MODEL_KEY_IGNORED, NULL, note);
}

void pe_reader_unknown(pe_reader *reader, const char *where, const json_t *value, const char *near)
{
    pe_reader_ignored(reader, where, value, "not known");
    if (near != NULL)
        pe_reader_warn(reader, "%s is not known; did you mean %s?", where, near);
    else
        pe_reader_warn(reader, "%s is not known and ignored", where);
}

bool pe_reader_escape(pe_reader *reader, const char *key, char out[PE_READER_KEY])
{
    size_t n = 0;
    for (const char *at = key; *at != '\0'; at++) {
        if (n + 3 > PE_READER_KEY) {
            pe_reader_warn(reader,
                           "a key of %zu bytes is not known and ignored: it begins with %.40s",
                           strlen(key), key);
            return false;
        }
        if (*at == '~' || *at == '/')
            out[n++] = '~';
        out[n++] = (char)(*at == '~' ? '0' : *at == '/' ? '1' : *at);
    }
    out[n] = '\0';
    return true;
}

void pe_reader_default(pe_reader *reader, const char *where, double value, const char *parameter,
                       const char *note)
{
    json_t *number = json_real(value);
    if (number == NULL)
        pe_reader_fail_memory(reader);
    pe_reader_report(reader, where, number, PE_MODEL_KEY_DEFAULTED, parameter, note);
    json_decref(number);
}

void pe_reader_class_default(pe_reader *reader, const char *where, double value,
                             const char *parameter)
{
    pe_reader_default(reader, where, value, parameter, "the default of this model type");
}

void pe_reader_retarget(pe_reader *reader, const char *where, const char *parameter)
{
    char *pointer = pointer_of(reader, where);
    for (size_t k = 0; pointer != NULL && k < reader->model->n_keys; k++)
        if (strcmp(reader->model->keys[k].pointer, pointer) == 0)
            reader->model->keys[k].parameter = parameter;
    if (pointer == NULL)
        pe_reader_fail_memory(reader);
    free(pointer);
}

void pe_reader_drop_parameter(pe_reader *reader, const char *parameter, const char *note)
{
    const pe_model *model = reader->model;
    for (size_t k = 0; k < model->n_keys && reader->status == PE_OK; k++) {
        pe_model_key *key = &model->keys[k];
        if (key->parameter == NULL || strcmp(key->parameter, parameter) != 0)
            continue;
        free(key->note);
        key->note = strdup(note);
        key->status = PE_MODEL_KEY_IGNORED;
        key->parameter = NULL;
        if (key->note == NULL)
            pe_reader_fail_memory(reader);
    }
}

void pe_reader_warn(pe_reader *reader, const char *format, ...)
{
    char text[512];
    pe_model *model = reader->model;
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (reader->status != PE_OK || model->n_warnings == WARNINGS_MAX)
        return;
    for (size_t w = 0; w < model->n_warnings; w++)
        if (strcmp(model->warnings[w], text) == 0)
            return;
    char **warnings = with_room(reader, model->warnings, model->n_warnings, sizeof *warnings);
    if (warnings == NULL)
        return;
    model->warnings = warnings;
    warnings[model->n_warnings] = strdup(text);
    if (warnings[model->n_warnings] == NULL)
        pe_reader_fail_memory(reader);
    else
        model->n_warnings++;
}

/* ---- facts ---- */

const json_t *pe_reader_member(const pe_reader *reader, const char *where)
{
    const json_t *at = reader->config;
    const char *slash = strchr(where, '/');
    char parent[64];
    if (slash != NULL) {
        snprintf(parent, sizeof parent, "%.*s", (int)(slash - where), where);
        at = json_object_get(at, parent);
        where = slash + 1;
    }
    at = json_object_get(at, where);
    return json_is_null(at) ? NULL : at;
}

/* n_embed is a name of few classes. */
bool pe_reader_is_unread(const pe_reader *reader, const char *key)
{
    const json_t *type = reader->type;
    const bool rare = type != NULL && strcmp(key, "n_embed") == 0;
    return (rare && !pe_type_lists(json_object_get(type, "reads"), key)) ||
           pe_type_lists(json_object_get(type, "unread"), key);
}

/* A spelling that is there and read. 0 channels of qk_rope_head_dim are none: attention is not
 * latent. */
static const json_t *spelling(const pe_reader *reader, pe_fact fact, size_t s)
{
    const json_t *value = pe_reader_member(reader, facts[fact].names[s]);
    const bool none =
        fact == PE_FACT_ROPE_HEAD_DIM && json_is_number(value) && json_number_value(value) == 0;
    return none || pe_reader_is_unread(reader, facts[fact].names[s]) ? NULL : value;
}

bool pe_reader_has_fact(const pe_reader *reader, pe_fact fact)
{
    for (size_t s = 0; s < SPELLINGS_MAX && facts[fact].names[s] != NULL; s++)
        if (spelling(reader, fact, s) != NULL)
            return true;
    return false;
}

/* Read a number of the row's kind, within its bounds. False: there is a failure at `where`. */
static bool read_number(pe_reader *reader, const pe_param *row, const char *where,
                        const json_t *value, double *out)
{
    static const char *const wanted[] = {[PE_KIND_INT] = "an integer",
                                         [PE_KIND_REAL] = "a number",
                                         [PE_KIND_BOOL] = "true or false"};
    const bool truth = row->kind == PE_KIND_BOOL;
    if (truth ? !json_is_boolean(value) : !json_is_number(value)) {
        pe_reader_fail_type(reader, where, wanted[row->kind], value);
        return false;
    }
    const double number = truth ? json_is_true(value) : json_number_value(value) + 0.0;
    const bool above = row->above_min ? number > row->min : number >= row->min;
    pe_buffer text = {0};
    if (row->kind == PE_KIND_INT && number != trunc(number)) {
        pe_real_print(number, &text);
        pe_reader_fail(reader, PE_INVALID_PARAMETER, where, "%s must be an integer, got %s", where,
                       pe_buffer_text(&text));
    } else if (!truth && !(above && number <= row->max)) {
        pe_buffer_str(&text, row->above_min ? "above " : "at least ");
        pe_real_print(row->min, &text);
        pe_buffer_str(&text, " and at most ");
        pe_real_print(row->max, &text);
        pe_buffer_str(&text, ", got ");
        pe_real_print(number, &text);
        pe_reader_fail(reader, PE_INVALID_PARAMETER, where, "%s must be %s", where,
                       pe_buffer_text(&text));
    }
    pe_buffer_free(&text);
    *out = number;
    return reader->status == PE_OK;
}

bool pe_reader_finds_fact(pe_reader *reader, pe_fact fact, double *out, const char **where)
{
    const fact_row *row = &facts[fact];
    const pe_param param = {.kind = row->kind, .min = row->min, .max = row->max};
    const char *first = NULL;
    for (size_t s = 0; s < SPELLINGS_MAX && row->names[s] != NULL; s++) {
        const json_t *value = spelling(reader, fact, s);
        double number = 0;
        if (value == NULL || reader->status != PE_OK)
            continue;
        if (first != NULL) {
            char note[128];
            snprintf(note, sizeof note, "%s is read instead", first);
            pe_reader_ignored(reader, row->names[s], value, note);
            if (json_is_number(value) && json_number_value(value) != *out)
                pe_reader_warn(reader, "%s and %s differ; %s is read", first, row->names[s], first);
            continue;
        }
        if (!read_number(reader, &param, row->names[s], value, &number))
            return false;
        first = row->names[s];
        *out = number;
        pe_reader_used(reader, first, value, row->parameter, NULL);
    }
    if (where != NULL && first != NULL)
        *where = first;
    return first != NULL;
}

bool pe_reader_finds_default(pe_reader *reader, pe_fact fact, double *out, const char **where)
{
    const char *name = facts[fact].names[0];
    const double own = pe_type_number(reader->type, name);
    if (own == 0)
        return false;
    pe_reader_class_default(reader, name, own, facts[fact].parameter);
    *out = own;
    if (where != NULL)
        *where = name;
    return true;
}

bool pe_reader_fact(pe_reader *reader, pe_fact fact, double *out, const char **where)
{
    return pe_reader_finds_fact(reader, fact, out, where) ||
           pe_reader_finds_default(reader, fact, out, where);
}

bool pe_reader_finds_key(pe_reader *reader, pe_fact fact, const char *key, double *out,
                         const char **where)
{
    const fact_row *row = &facts[fact];
    const pe_param param = {.kind = row->kind, .min = row->min, .max = row->max};
    const json_t *value = key[0] != '\0' ? pe_reader_member(reader, key) : NULL;
    /* Report spellings that the model type does not read. */
    char note[128];
    snprintf(note, sizeof note, key[0] != '\0' ? "this model type reads %s" : "not read%s", key);
    for (size_t s = 0; s < SPELLINGS_MAX && row->names[s] != NULL; s++) {
        const json_t *other = pe_reader_member(reader, row->names[s]);
        if (other == NULL || strcmp(row->names[s], key) == 0)
            continue;
        pe_reader_ignored(reader, row->names[s], other, note);
        pe_reader_warn(reader, "%s is not read by model type %s%s%s%s", row->names[s],
                       reader->type_name, key[0] != '\0' ? ": " : "", key,
                       key[0] != '\0' ? " is" : "");
    }
    if (value == NULL || !read_number(reader, &param, key, value, out))
        return false;
    pe_reader_used(reader, key, value, row->parameter, NULL);
    *where = key;
    return true;
}

void pe_reader_ignore(pe_reader *reader, const char *key, const char *note)
{
    pe_reader_ignored(reader, key, pe_reader_member(reader, key), note);
}

/* ---- values ---- */

static void put_number(const pe_param *row, pe_value *value, double number)
{
    value->present = value->given = true;
    if (row->kind == PE_KIND_INT)
        value->integer = (int64_t)number;
    else if (row->kind == PE_KIND_BOOL)
        value->truth = number != 0;
    else
        value->real = number;
}

void pe_reader_set_number(pe_reader *reader, pe_values *values, const char *name, const char *where,
                          double number)
{
    pe_value *value = pe_values_find(values, name);
    const pe_param *row = value->param;
    json_t *json = row->kind == PE_KIND_BOOL ? json_boolean(number != 0) : json_real(number);
    if (json == NULL)
        pe_reader_fail_memory(reader);
    else if (read_number(reader, row, where, json, &number))
        put_number(row, value, number);
    json_decref(json);
}

void pe_reader_set_choice(pe_values *values, const char *name, const char *choice)
{
    pe_value *value = pe_values_find(values, name);
    const char *const *choices = value->param->choices;
    for (size_t c = 0; choices[c] != NULL; c++)
        if (strcmp(choices[c], choice) == 0) {
            value->choice = c;
            value->present = value->given = true;
        }
}

json_t *pe_reader_reals(pe_reader *reader, const double *numbers, size_t n)
{
    json_t *list = json_array();
    bool failed = list == NULL;
    for (size_t i = 0; i < n; i++)
        failed |= json_array_append_new(list, json_real(numbers[i])) != 0;
    if (failed)
        pe_reader_fail_memory(reader);
    return list;
}

static void set_list(pe_reader *reader, const pe_param *row, pe_value *value, const char *where,
                     const json_t *json)
{
    const size_t n = json_array_size(json);
    const pe_param item = {
        .kind = PE_KIND_REAL, .min = row->min, .max = row->max, .above_min = row->above_min};
    if (n == 0 || (row->list_max != 0 && n > row->list_max)) {
        pe_reader_fail(reader, PE_INVALID_PARAMETER, where,
                       "%s must be an array of 1 to %zu numbers, got %s%s%zu", where, row->list_max,
                       json_is_array(json) ? "" : pe_reader_type_text(json),
                       json_is_array(json) ? "" : ", not ", n);
        return;
    }
    double *list = calloc(n, sizeof *list);
    if (list == NULL) {
        pe_reader_fail_memory(reader);
        return;
    }
    for (size_t i = 0; i < n && reader->status == PE_OK; i++) {
        char place[128];
        snprintf(place, sizeof place, "%s/%zu", where, i);
        (void)read_number(reader, &item, place, json_array_get(json, i), &list[i]);
    }
    free(value->list);
    value->list = list;
    value->list_length = n;
    value->present = value->given = true;
}

bool pe_reader_set(pe_reader *reader, pe_values *values, const char *name, const char *where,
                   const json_t *json)
{
    pe_value *value = pe_values_find(values, name);
    double number = 0;
    if (value == NULL)
        return false;
    const pe_param *row = value->param;
    if (row->kind == PE_KIND_REAL_LIST)
        set_list(reader, row, value, where, json);
    else if (read_number(reader, row, where, json, &number))
        put_number(row, value, number);
    return true;
}

void pe_reader_take(pe_reader *reader, pe_values *values, const char *parameter, const char *where,
                    const json_t *value, double otherwise)
{
    if (value != NULL && !json_is_null(value)) {
        (void)pe_reader_set(reader, values, parameter, where, value);
        pe_reader_used(reader, where, value, parameter, NULL);
    } else if (otherwise != 0) {
        pe_reader_class_default(reader, where, otherwise, parameter);
        pe_reader_set_number(reader, values, parameter, where, otherwise);
    }
}

void pe_reader_unset(pe_values *values, const char *name)
{
    pe_value *value = pe_values_find(values, name);
    free(value->list);
    *value = (pe_value){.param = value->param};
}
