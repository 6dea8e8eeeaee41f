/* SPDX-License-Identifier: MIT */
/* input.c - what other programs write of a model, in the keys of a config.json. */

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/tree.h"
#include "models/reader.h"

#define KEY_MAX  128
#define NAME_MAX 64

/* config/renamings.json, from catalogue_data.S */
extern const char pe_renamings_text[];

/* The file is parsed at the first question, and stays. Two who ask at once may both parse it. */
static const json_t *tables(void)
{
    static _Atomic(json_t *) parsed;
    json_t *made = atomic_load(&parsed), *none = NULL;
    pe_problem why;
    if (made != NULL || pe_tree_load(pe_slice_of(pe_renamings_text), JSON_DECODE_INT_AS_REAL, "",
                                     &made, &why) != PE_OK)
        return made;
    if (atomic_compare_exchange_strong(&parsed, &none, made))
        return made;
    json_decref(made);
    return none;
}

pe_status pe_input_read(const json_t *whole, pe_input *out, pe_problem *why)
{
    *out = (pe_input){
        .whole = whole, .config = json_object(), .places = json_object(), .warnings = json_array()};
    out->failed =
        out->config == NULL || out->places == NULL || out->warnings == NULL || tables() == NULL;
    bool found = out->failed;
    for (size_t r = 0; r < PE_INPUT_READERS && !found; r++)
        found = pe_input_readers[r](out);
    if (!found) {
        json_decref(out->config);
        out->config = NULL;
    }
    if (!out->failed)
        return PE_OK;
    pe_input_free(out);
    return pe_fail_memory(why);
}

void pe_input_free(pe_input *input)
{
    json_decref(input->config);
    json_decref(input->places);
    json_decref(input->warnings);
    *input = (pe_input){0};
}

/* ---- for the readers ---- */

/* A member of the whole, or of an object in it. */
static const json_t *member_at(const json_t *whole, const char *place)
{
    const json_t *value = json_object_get(whole, place);
    const char *slash = strchr(place, '/');
    char outer[KEY_MAX];
    if (value != NULL || slash == NULL)
        return value;
    snprintf(outer, sizeof outer, "%.*s", (int)(slash - place), place);
    return json_object_get(json_object_get(whole, outer), slash + 1);
}

/* What is there under a spelling of the name, whose place is told; else the name's. */
static const json_t *find(const pe_input *input, const char *name, char place[KEY_MAX])
{
    static const char *const dashes[] = {"", "--"};
    snprintf(place, KEY_MAX, "%s%s", input->prefix, name);
    const json_t *value = member_at(input->whole, place);
    for (size_t d = 0; d < PE_LEN(dashes) && value == NULL; d++) {
        snprintf(place, KEY_MAX, "%s%s%s", input->prefix, dashes[d], name);
        for (char *at = place + strlen(input->prefix); *at != '\0'; at++)
            *at = (char)(*at == '_' ? '-' : *at);
        value = member_at(input->whole, place);
    }
    if (value == NULL)
        snprintf(place, KEY_MAX, "%s%s", input->prefix, name);
    return json_is_null(value) ? NULL : value;
}

const json_t *pe_input_member(const pe_input *input, const char *name)
{
    char place[KEY_MAX];
    return find(input, name, place);
}

double pe_input_number(const pe_input *input, const char *name, double otherwise)
{
    const json_t *value = pe_input_member(input, name);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

void pe_input_put(pe_input *input, const char *key, const char *name, json_t *value)
{
    char place[KEY_MAX];
    (void)find(input, name, place);
    if (value == NULL && json_object_get(input->places, key) != NULL)
        return;
    input->failed |= json_object_set_new(input->places, key, json_string(place)) != 0;
    if (value == NULL)
        return;
    /* The object that the key stands in is made where it is not there yet. */
    const char *slash = strchr(key, '/');
    json_t *parent = input->config;
    if (slash != NULL) {
        snprintf(place, sizeof place, "%.*s", (int)(slash - key), key);
        if (!json_is_object(json_object_get(parent, place)))
            input->failed |= json_object_set_new(parent, place, json_object()) != 0;
        parent = json_object_get(parent, place);
        key = slash + 1;
    }
    input->failed |= json_object_set_new(parent, key, value) != 0;
}

void pe_input_take(pe_input *input, const char *name, const char *key)
{
    pe_input_put(input, key, name, json_incref((json_t *)(uintptr_t)pe_input_member(input, name)));
}

const json_t *pe_input_table(const char *table)
{
    return json_object_get(tables(), table);
}

const json_t *pe_input_row(const char *table, const char *name)
{
    const json_t *rows = pe_input_table(table), *row;
    size_t i;
    json_array_foreach((json_t *)(uintptr_t)rows, i, row)
    {
        if (strcmp(json_string_value(json_array_get(row, 0)), name) == 0)
            return row;
    }
    return NULL;
}

void pe_input_rename(pe_input *input, const char *table)
{
    size_t i;
    const json_t *rows = pe_input_table(table);
    for (i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *name = json_string_value(json_array_get(row, 0)),
                   *key = json_string_value(json_array_get(row, 1));
        json_t *own = json_array_get(row, 2);
        const json_t *given = pe_input_member(input, name); /* true of a switch: as usual */
        const bool fixed =
            own != NULL && (!json_is_number(own) || given == NULL || json_is_true(given));
        if (fixed)
            pe_input_put(input, key, name, json_incref(own));
        else if (key != NULL)
            pe_input_take(input, name, key);
    }
}

void pe_input_warn(pe_input *input, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    input->failed |= json_array_append_new(input->warnings, json_string(text)) != 0;
}

void pe_input_type(pe_input *input, const char *program, const char *name, const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    char type[2 * NAME_MAX];
    if (text == NULL || strlen(text) > NAME_MAX || text[strspn(text, letters)] != '\0')
        text = "";
    snprintf(type, sizeof type, "%.31s%s%s", program, text[0] != '\0' ? "/" : "", text);
    pe_input_put(input, "model_type", name, json_string(type));
}

/* ---- where keys stand in what came ---- */

static const char *place_of(const pe_input *input, const char *key)
{
    return json_string_value(json_object_get(input->places, key));
}

pe_status pe_input_restore(const pe_input *input, size_t within, pe_model *model, pe_problem *why)
{
    const size_t before = strlen("#/") + within;
    const char *place = model == NULL ? place_of(input, why->where) : NULL;
    if (place != NULL)
        snprintf(why->where, sizeof why->where, "%s", place);
    for (size_t k = 0; model != NULL && k < model->n_keys; k++) {
        pe_model_key *key = &model->keys[k];
        pe_buffer pointer = {0}, value = {0};
        place = strlen(key->pointer) < before ? NULL : place_of(input, key->pointer + before);
        if (place == NULL)
            continue;
        const json_t *sent = json_object_get(input->whole, place);
        pe_buffer_format(&pointer, "%.*s%s", (int)before, key->pointer, place);
        free(key->pointer);
        key->pointer = pe_buffer_take(&pointer);
        if (sent != NULL) {
            pe_reader_print(sent, &value);
            free(key->value);
            key->value = pe_buffer_take(&value);
        }
        if (key->pointer == NULL || key->value == NULL)
            return pe_fail_memory(why);
    }
    return PE_OK;
}
