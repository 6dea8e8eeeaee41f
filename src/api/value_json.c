/* SPDX-License-Identifier: MIT */
/* value_json.c - the value of one parameter from its JSON text. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "api/json_read.h"
#include "api/value_reading.h"
#include "files/tree.h"
#include "text/scan.h"

/* ---- arrays of names: ["half", "axial"], [["text", 4], "image", ["text", 2]] ---- */

/* One item as query text; its name must be a word, so that it means there what it means here. */
static pe_status add_item(const pe_value_reading *to, const json_t *item, size_t i, pe_buffer *text,
                          pe_problem *why)
{
    const bool runs = to->param->kind == PE_KIND_TOKEN_RUNS, pair = runs && json_is_array(item);
    const json_t *name = pair ? json_array_get(item, 0) : item, *length = json_array_get(item, 1);
    const bool marked = json_is_string(name) && strpbrk(json_string_value(name), ":,") != NULL;
    if (marked && !runs) /* which is none of the names */
        return pe_value_choice_text_parse(to, pe_slice_of(json_string_value(name)), why);
    if (!json_is_string(name) || marked ||
        (pair && (json_array_size(item) != 2 || !json_is_number(length))))
        return pe_fail(why, PE_INVALID_PARAMETER, to->place, "item %zu of %s must be %s", i,
                       to->param->name,
                       runs ? "a kind of token, or [kind, length]" : "a string, one of its names");
    pe_buffer_format(text, i == 0 ? "%s" : ",%s", json_string_value(name));
    if (pair)
        pe_buffer_format(text, ":%.17g", json_number_value(length));
    return PE_OK;
}

/* The array is read as query text. */
static pe_status read_names(const pe_value_reading *to, pe_slice json, pe_problem *why)
{
    json_t *list = NULL;
    pe_buffer text = {0};
    PE_TRY(pe_tree_load(json, JSON_DECODE_INT_AS_REAL, to->place, &list, why));
    pe_status status = json_array_size(list) > 0 ? PE_OK
                                                 : pe_fail(why, PE_INVALID_PARAMETER, to->place,
                                                           "%s must not be empty", to->param->name);
    for (size_t i = 0; i < json_array_size(list) && status == PE_OK; i++)
        status = add_item(to, json_array_get(list, i), i, &text, why);
    if (status == PE_OK)
        status = text.failed ? pe_fail_memory(why)
                             : pe_value_text_parse(to, pe_buffer_slice(&text), why);
    pe_buffer_free(&text);
    json_decref(list);
    return status;
}

/* ---- any kind ---- */

/* Values of the wrong type are told from broken JSON up to this size. */
#define CHECKED_MAX 65536

/* What values of a kind may begin as. */
enum { STRING = 1, NUMBER = 2, TRUTH = 4, NUMBERS = 8, NAMES = 16 };
static const struct {
    const char *wanted;
    unsigned takes;
} kinds[] = {
    [PE_KIND_INT] = {"an integer", NUMBER},
    [PE_KIND_REAL] = {"a number", NUMBER},
    [PE_KIND_BOOL] = {"true or false", TRUTH},
    [PE_KIND_CHOICE] = {"a string", STRING},
    [PE_KIND_REAL_LIST] = {"an array of numbers", STRING | NUMBERS},
    [PE_KIND_POSITIONS] = {"an array of numbers, a string as in a query, or a number",
                           STRING | NUMBERS},
    [PE_KIND_TEXT] = {"a string", STRING},
    [PE_KIND_TENSOR] = {"an array of numbers", NUMBERS},
    [PE_KIND_TOKEN_RUNS] = {"an array of kinds and lengths, or a string as in a query",
                            STRING | NAMES},
    [PE_KIND_CHOICES] = {"an array of strings, or a string as in a query", STRING | NAMES},
    [PE_KIND_NAME] = {"a string", STRING},
};

static const char *type_of(pe_slice json)
{
    static const char begins[] = "\"[{tfn";
    static const char *const types[] = {"a string",  "an array", "an object", "a boolean",
                                        "a boolean", "null",     "a number"};
    return types[strcspn(begins, (const char[]){json.text[0], '\0'})];
}

static pe_status take_array(const pe_value_reading *to, pe_array *array, pe_problem *why)
{
    const pe_param *param = to->param;
    const bool rows = param->list_row != 0 && array->shape.ndim == 2;
    if (param->kind == PE_KIND_POSITIONS) {
        PE_TRY(pe_positions_from_list(array, to->place, &to->value->positions, why));
        return pe_value_check_positions(to, why);
    }
    if (param->kind == PE_KIND_TENSOR) {
        to->value->tensor = *array;
        *array = (pe_array){0}; /* the value's now */
        return pe_value_check_tensor(to, why);
    }
    if (array->shape.ndim != 1 && !rows)
        return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s must have one axis, got %zu",
                       param->name, array->shape.ndim);
    if (rows && array->shape.dim[1] != param->list_row)
        return pe_fail(why, PE_INVALID_PARAMETER, to->place,
                       "%s must have rows of %zu numbers, got %zu", param->name, param->list_row,
                       array->shape.dim[1]);
    if (array->elements == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s must not be empty", param->name);
    to->value->list = array->data;
    to->value->list_length = array->elements;
    *array = (pe_array){0};
    return pe_value_check_list(to, why);
}

/* A number where positions or a tensor without axes may stand is an array of one. The scanner takes
 * arrays only, and it rounds once: so the number gets brackets. */
static pe_status read_array(const pe_value_reading *to, pe_slice json, pe_problem *why)
{
    const pe_param *param = to->param;
    const bool lone = json.text[0] != '[', tensor = param->kind == PE_KIND_TENSOR;
    const pe_scan_wanted wanted_array = {
        to->place, tensor && !param->as_float64 ? to->dtype : PE_FLOAT64,
        param->kind == PE_KIND_POSITIONS ? to->limits->max_positions : to->limits->max_elements,
        false};
    pe_buffer text = {0};
    pe_array array = {0};
    size_t used = 0;
    if (lone) {
        pe_buffer_format(&text, "[%.*s]", (int)json.bytes, json.text);
        json = pe_buffer_slice(&text);
    }
    pe_status status = text.failed ? pe_fail_memory(why)
                                   : pe_scan_numbers(json, &wanted_array, &array, &used, why);
    if (status == PE_OK && used < json.bytes)
        status = pe_fail(why, PE_MALFORMED_REQUEST, to->place,
                         "%s is not a JSON array: its brackets do not match", param->name);
    if (lone && tensor)
        array.shape.ndim = 0;
    if (status == PE_OK)
        status = take_array(to, &array, why);
    pe_array_free(&array);
    pe_buffer_free(&text);
    return status;
}

static pe_status read_value(const pe_value_reading *to, pe_slice json, pe_problem *why)
{
    const pe_param *param = to->param;
    const unsigned takes = kinds[param->kind].takes;
    const char first = json.text[0];
    const bool number = first == '-' || (first >= '0' && first <= '9');
    const bool may_be_lone =
        param->kind == PE_KIND_POSITIONS || (param->kind == PE_KIND_TENSOR && param->min_dims == 0);
    if (first == '"' && (takes & STRING) != 0) {
        char *text = NULL;
        PE_TRY(pe_json_string_decode(json, to->place, &text, why));
        pe_status status = pe_value_text_parse(to, pe_slice_of(text), why);
        free(text);
        return status;
    }
    if (first == '[' && (takes & NAMES) != 0)
        return read_names(to, json, why);
    if (number && (takes & NUMBER) != 0)
        return pe_value_text_number(to, json, why);
    if ((first == '[' && (takes & NUMBERS) != 0) || (number && may_be_lone))
        return read_array(to, json, why);
    if ((takes & TRUTH) != 0 && (pe_slice_is(json, "true") || pe_slice_is(json, "false"))) {
        to->value->truth = first == 't';
        return PE_OK;
    }
    /* Valid JSON of a type that the row does not take; or no JSON at all. */
    if (json.bytes <= CHECKED_MAX) {
        json_t *value = NULL;
        PE_TRY(
            pe_tree_load(json, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, to->place, &value, why));
        json_decref(value);
    }
    return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s must be %s, got %s%s", param->name,
                   kinds[param->kind].wanted, type_of(json),
                   first == 'n'   ? "; leave it out for its default"
                   : first == '"' ? "; write it without quotes"
                                  : "");
}

pe_status pe_value_json_parse(const pe_value_reading *to, pe_slice json, pe_problem *why)
{
    return pe_value_finish(to, read_value(to, json, why), why);
}
