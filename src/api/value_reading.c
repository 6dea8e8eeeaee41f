/* SPDX-License-Identifier: MIT */
/* value_reading.c - the value of one parameter, from a query's text or from JSON, against its row. */
#include "api/value_reading.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/json_read.h"
#include "base/nearest.h"
#include "files/tree.h"
#include "text/number.h"
#include "text/scan.h"

/* ---- against the row ---- */

/* A number as text with its NUL. */
typedef struct number_text {
    char text[PE_NUMBER_TEXT_MAX + 1];
} number_text;

static number_text show(double number)
{
    number_text out;
    out.text[pe_number_print(PE_FLOAT64, number, out.text)] = '\0';
    return out;
}

/* Rows that leave both bounds at 0 have none, but those of integers. text NULL: that of the number. */
static pe_status check_range(const pe_value_reading *to, double number, pe_slice text,
                             pe_problem *why)
{
    const pe_param *param = to->param;
    const bool bounded = param->min != 0 || param->max != 0;
    const double most = param->kind == PE_KIND_INT ? PE_POSITION_LIMIT : HUGE_VAL;
    const double min = bounded ? param->min : -most, max = bounded ? param->max : most;
    const char *noun = param->kind == PE_KIND_REAL_LIST ? "each number of " : "";
    if ((param->above_min ? number > min : number >= min) && number <= max)
        return PE_OK;
    const number_text shown = show(number);
    text = text.text != NULL ? text : pe_slice_of(shown.text);
    if (isinf(max))
        return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s%s must be %s %s, got %.*s", noun,
                       param->name, param->above_min ? "above" : "at least", show(min).text,
                       PE_SHOWN(text));
    if (isinf(min))
        return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s%s must be at most %s, got %.*s",
                       noun, param->name, show(max).text, PE_SHOWN(text));
    return pe_fail(why, PE_INVALID_PARAMETER, to->place,
                   param->above_min ? "%s%s must be above %s and at most %s, got %.*s"
                                    : "%s%s must be between %s and %s, got %.*s",
                   noun, param->name, show(min).text, show(max).text, PE_SHOWN(text));
}

static pe_status check_list(const pe_value_reading *to, pe_problem *why)
{
    const size_t n = to->value->list_length;
    if (to->param->list_row != 0 && n % to->param->list_row != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, to->place,
                       "%s must have rows of %zu numbers, got %zu numbers", to->param->name,
                       to->param->list_row, n);
    if (to->param->list_max != 0 && n > to->param->list_max)
        return pe_fail(why, PE_INVALID_PARAMETER, to->place,
                       "%s takes at most %zu numbers, got %zu", to->param->name,
                       to->param->list_max, n);
    for (size_t i = 0; i < n; i++) {
        to->value->list[i] += 0.0;
        const double number = to->value->list[i];
        if (to->param->integers_only && number != trunc(number))
            return pe_fail(why, PE_INVALID_PARAMETER, to->place,
                           "each number of %s must be an integer, got %s", to->param->name,
                           show(number).text);
        PE_TRY(check_range(to, number, (pe_slice){0}, why));
    }
    return PE_OK;
}

static pe_status check_axes(const pe_value_reading *to, size_t axes, pe_problem *why)
{
    if (axes <= (to->param->three_axes ? 3U : to->param->two_axes ? 2U : 1U))
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s must have %s, got %zu",
                   to->param->name,
                   to->param->three_axes ? "one to three axes"
                   : to->param->two_axes ? "one axis or two"
                                         : "one axis",
                   axes);
}

static pe_status check_positions(const pe_value_reading *to, pe_problem *why)
{
    PE_TRY(check_axes(to, to->value->positions.shape.ndim, why));
    if (to->param->integers_only && to->value->positions.fractional)
        return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s must be integers, got a fraction",
                       to->param->name);
    return PE_OK;
}

pe_status pe_value_check_tensor(const pe_value_reading *to, pe_problem *why)
{
    const pe_param *param = to->param;
    const pe_array *array = &to->value->tensor;
    const size_t axes = array->shape.ndim;
    if (array->elements == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s must not be empty", param->name);
    const size_t most = param->max_dims != 0 ? param->max_dims : (size_t)PE_MAX_DIMS;
    if (param->min_dims == most && axes != most)
        return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s must have %zu axes, got %zu",
                       param->name, most, axes);
    if (axes < param->min_dims || axes > most)
        return pe_fail(why, PE_INVALID_PARAMETER, to->place,
                       "%s must have %zu to %zu axes, got %zu", param->name, param->min_dims, most,
                       axes);
    for (size_t i = 0; i < array->elements && param->integers_only; i++) {
        const char *at = (const char *)array->data + i * pe_dtype_bytes(array->dtype);
        const double number = pe_dtype_load(array->dtype, at);
        if (number != trunc(number))
            return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s must be integers",
                           param->name);
    }
    return PE_OK;
}

/* ---- names that a row offers: one of them, or several ---- */

/* Which of the choices the text is: as many as there are when none. */
static size_t find(const char *const *choices, pe_slice text)
{
    size_t i = 0;
    while (choices[i] != NULL && !pe_slice_is(text, choices[i]))
        i++;
    return i;
}

/* What others call a choice; the first of a name's rows whose choice a parameter offers. */
static const struct {
    const char *name, *meant;
} synonyms[] = {
#include "synonyms_choices.inc"
};

/* The choice that others call so; *name gets the constant. NULL: there is none. */
static const char *choice_of_synonym(const pe_param *param, const char *plain,
                                     int (*compare)(const char *, const char *), const char **name)
{
    for (size_t s = 0; s < PE_LEN(synonyms); s++) {
        const char *choice = param->choices[find(param->choices, pe_slice_of(synonyms[s].meant))];
        if (choice != NULL && compare(synonyms[s].name, plain) == 0) {
            *name = synonyms[s].name;
            return choice;
        }
    }
    return NULL;
}

/* Synonyms of types have one meaning, and are taken. A module before the name, as in torch.float16,
 * does not matter. Returns the type's choice, and *name a constant that stands for the synonym;
 * NULL: it is none. */
static const char *taken(const pe_param *param, const char *row, pe_slice text, const char **name)
{
    static const char module[] = "torch.";
    char given[PE_SHOWN_MAX + 1];
    if (strcmp(row, "dtype") != 0 || text.bytes >= sizeof given)
        return NULL;
    snprintf(given, sizeof given, "%.*s", (int)text.bytes, text.text);
    const bool has_module = strncmp(given, module, sizeof module - 1) == 0;
    const char *plain = has_module ? given + sizeof module - 1 : given;
    const char *choice = param->choices[find(param->choices, pe_slice_of(plain))];
    if (has_module && choice != NULL) {
        *name = "the name of a torch type";
        return choice;
    }
    return choice_of_synonym(param, plain, strcmp, name);
}

/* The choice that others call so, in any case; else the nearest one. A module before the name, as
 * in torch.float16, does not matter. */
static const char *suggest(const pe_param *param, pe_slice text)
{
    char name[PE_SHOWN_MAX + 1];
    snprintf(name, sizeof name, "%.*s", PE_SHOWN(text));
    const char *dot = strrchr(name, '.'), *plain = dot != NULL ? dot + 1 : name, *synonym;
    size_t n = 0;
    for (; param->choices[n] != NULL; n++)
        if (strcasecmp(param->choices[n], plain) == 0)
            return param->choices[n];
    const char *choice = choice_of_synonym(param, plain, strcasecmp, &synonym);
    return choice != NULL ? choice : pe_nearest_name(plain, param->choices, n);
}

/* What is refused leaves *out as it is, a choice: more mistakes are looked for behind this one. */
static pe_status read_one(const pe_value_reading *to, pe_slice text, size_t *out, pe_problem *why)
{
    const char *const *choices = to->param->choices;
    const bool several = to->param->kind == PE_KIND_CHOICES;
    if (text.bytes == 0)
        return pe_fail(why, PE_MALFORMED_REQUEST, to->place, "%s %s", to->param->name,
                       several ? "must not hold an empty name" : "must not be empty");
    const char *of_others =
        taken(to->param, to->value->param->name, text, &to->value->choice_alias);
    const size_t found = find(choices, of_others != NULL ? pe_slice_of(of_others) : text);
    if (choices[found] != NULL) {
        *out = found;
        return PE_OK;
    }
    const char *near = suggest(to->param, text);
    pe_buffer list = {0};
    for (size_t i = 0; choices[i] != NULL; i++)
        pe_buffer_format(&list, i == 0 ? "%s" : ", %s", choices[i]);
    const pe_status status = pe_fail(
        why, PE_INVALID_PARAMETER, to->place, "%s%s must be one of %s; got \"%.*s\"%s%s%s",
        several ? "each of " : "", to->param->name, pe_buffer_text(&list), PE_SHOWN(text),
        near != NULL ? ", did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
    pe_buffer_free(&list);
    return status;
}

static pe_status read_choice(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    return read_one(to, text, &to->value->choice, why);
}

static pe_status read_choices(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    pe_value *value = to->value;
    value->n_picks = 0;
    for (size_t names = pe_slice_pieces(text, ','); names > 0; names--) {
        size_t pick = 0;
        PE_TRY(read_one(to, pe_slice_next(&text, ','), &pick, why));
        for (size_t i = 0; i < value->n_picks; i++)
            if (value->picks[i] == pick)
                return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s names %s more than once",
                               to->param->name, to->param->choices[pick]);
        value->picks[value->n_picks++] = (unsigned char)pick;
    }
    return PE_OK;
}

/* ---- from text ---- */

/* How the number that is meant is written. */
static const char *number_hint(pe_slice text)
{
    if (memchr(text.text, ';', text.bytes) != NULL || memchr(text.text, '?', text.bytes) != NULL)
        return "; & stands between parameters";
    if (text.text[0] == '"' || text.text[0] == '\'')
        return "; write it without quotes";
    if (strchr("0123456789", text.text[0]) == NULL)
        return "";
    return strchr("kKM", text.text[text.bytes - 1]) != NULL
               ? "; write its digits, as 131072 or 128000 for 128k"
               : "; a number is 10000, 1e4 or 0.25, all of it";
}

/* One number that takes up all of the text. */
static pe_status scan(const pe_value_reading *to, pe_slice text, double *out, pe_problem *why)
{
    size_t used = 0;
    const char *name = to->param->name;
    if (text.bytes == 0)
        return pe_fail(why, PE_MALFORMED_REQUEST, to->place,
                       "%s must be a number, got an empty value", name);
    pe_scan found = pe_scan_number(text.text, text.bytes, out, &used);
    if (found == PE_SCAN_OVERFLOW && used == text.bytes)
        return pe_fail(why, PE_MALFORMED_REQUEST, to->place,
                       "%s must be a number that float64 can hold, got %.*s", name, PE_SHOWN(text));
    if (found != PE_SCAN_OK || used != text.bytes)
        return pe_fail(why, PE_MALFORMED_REQUEST, to->place, "%s must be a number, got \"%.*s\"%s",
                       name, PE_SHOWN(text), number_hint(text));
    *out += 0.0; /* -0 is 0: equal requests have one form */
    return PE_OK;
}

static pe_status read_number(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    double number = 0;
    PE_TRY(scan(to, text, &number, why));
    if (to->param->kind == PE_KIND_INT && number != trunc(number))
        return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s must be an integer, got %.*s",
                       to->param->name, PE_SHOWN(text));
    PE_TRY(check_range(to, number, text, why));
    if (to->param->kind == PE_KIND_INT)
        to->value->integer = (int64_t)number;
    else
        to->value->real = number;
    return PE_OK;
}

static pe_status read_bool(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    to->value->truth = pe_slice_is(text, "true");
    if (!to->value->truth && !pe_slice_is(text, "false"))
        return pe_fail(why, PE_MALFORMED_REQUEST, to->place,
                       "%s must be true or false, got \"%.*s\"", to->param->name, PE_SHOWN(text));
    return PE_OK;
}

/* Rows of a list may end in semicolons. */
static bool separates(const pe_param *param, char c)
{
    return c == ',' || (c == ';' && param->list_row != 0);
}

static pe_status read_list(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    size_t n = 1;
    for (size_t i = 0; i < text.bytes; i++)
        n += separates(to->param, text.text[i]);
    double *list = calloc(n, sizeof *list);
    if (list == NULL)
        return pe_fail_memory(why);
    to->value->list = list;
    to->value->list_length = n;
    const char *at = text.text, *end = text.text + text.bytes;
    for (size_t i = 0; i < n; i++) {
        const char *comma = at;
        while (comma < end && !separates(to->param, *comma))
            comma++;
        pe_slice item = {at, (size_t)(comma - at)};
        PE_TRY(scan(to, item, &list[i], why));
        if (comma < end && *comma == ';' && (i + 1) % to->param->list_row != 0)
            return pe_fail(why, PE_INVALID_PARAMETER, to->place,
                           "%s must have rows of %zu numbers, got a semicolon after %zu",
                           to->param->name, to->param->list_row, (i + 1) % to->param->list_row);
        at = comma + 1;
    }
    return check_list(to, why);
}

static pe_status read_positions(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    if (text.bytes == 0)
        return pe_fail(why, PE_MALFORMED_REQUEST, to->place, "%s must not be empty",
                       to->param->name);
    const bool several = pe_slice_pieces(text, ';') > 1;
    pe_status status = check_axes(to, several ? 2 : 1, why); /* before any is held */
    PE_TRY(status);
    status =
        pe_positions_parse(text, to->place, to->limits->max_positions, &to->value->positions, why);
    return status == PE_OK ? check_positions(to, why) : status;
}

static pe_status read_text(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    if (text.bytes == 0)
        return pe_fail(why, PE_MALFORMED_REQUEST, to->place, "%s must not be empty",
                       to->param->name);
    if ((double)text.bytes > to->param->max)
        return pe_fail(why, PE_INVALID_PARAMETER, to->place,
                       "%s must be at most %.0f bytes long, got %zu", to->param->name,
                       to->param->max, text.bytes);
    free(to->value->text);
    to->value->text = strndup(text.text, text.bytes);
    return to->value->text != NULL ? PE_OK : pe_fail_memory(why);
}

static pe_status read_token_runs(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    return pe_token_runs_parse(text, to->param, to->place, &to->value->runs, why);
}

static pe_status fail_in_query(const pe_value_reading *to, pe_slice text PE_UNUSED, pe_problem *why)
{
    return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s must be in the body, not in the query",
                   to->param->name);
}

/* ---- the kinds ---- */

/* How a kind is read from the text of a query, and what its values in JSON may begin as. */
enum { STRING = 1, NUMBER = 2, TRUTH = 4, NUMBERS = 8, NAMES = 16 };
static const struct {
    pe_status (*read)(const pe_value_reading *to, pe_slice text, pe_problem *why);
    unsigned takes;
    const char *wanted; /* in JSON */
} kinds[] = {
    [PE_KIND_INT] = {read_number, NUMBER, "an integer"},
    [PE_KIND_REAL] = {read_number, NUMBER, "a number"},
    [PE_KIND_BOOL] = {read_bool, TRUTH, "true or false"},
    [PE_KIND_CHOICE] = {read_choice, STRING, "a string"},
    [PE_KIND_REAL_LIST] = {read_list, STRING | NUMBERS, "an array of numbers"},
    [PE_KIND_POSITIONS] = {read_positions, STRING | NUMBERS,
                           "an array of numbers, a string as in a query, or a number"},
    [PE_KIND_TEXT] = {read_text, STRING, "a string"},
    [PE_KIND_TENSOR] = {fail_in_query, NUMBERS, "an array of numbers"},
    [PE_KIND_TOKEN_RUNS] = {read_token_runs, STRING | NAMES,
                            "an array of kinds and lengths, or a string as in a query"},
    [PE_KIND_CHOICES] = {read_choices, STRING | NAMES,
                         "an array of strings, or a string as in a query"},
    [PE_KIND_NAME] = {read_text, STRING, "a string"},
};

static pe_status read_query_text(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    const pe_param_kind kind = to->param->kind;
    /* "[0,1]" is a list as JSON has it. */
    if ((kind == PE_KIND_REAL_LIST || kind == PE_KIND_POSITIONS) && text.bytes >= 3 &&
        text.text[0] == '[' && text.text[text.bytes - 1] == ']' &&
        memchr(text.text + 1, '[', text.bytes - 1) == NULL)
        text = (pe_slice){text.text + 1, text.bytes - 2};
    return kinds[kind].read(to, text, why);
}

/* ---- arrays of names: ["half", "axial"], [["text", 4], "image", ["text", 2]] ---- */

/* One item as query text; its name must be a word, so that it means there what it means here. */
static pe_status add_item(const pe_value_reading *to, const json_t *item, size_t i, pe_buffer *text,
                          pe_problem *why)
{
    const bool runs = to->param->kind == PE_KIND_TOKEN_RUNS, pair = runs && json_is_array(item);
    const json_t *name = pair ? json_array_get(item, 0) : item, *length = json_array_get(item, 1);
    const bool marked = json_is_string(name) && strpbrk(json_string_value(name), ":,") != NULL;
    if (marked && !runs) /* which is none of the names */
        return read_choice(to, pe_slice_of(json_string_value(name)), why);
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
        status =
            text.failed ? pe_fail_memory(why) : read_query_text(to, pe_buffer_slice(&text), why);
    pe_buffer_free(&text);
    json_decref(list);
    return status;
}

/* ---- JSON ---- */

/* Values of the wrong type are told from broken JSON up to this size. */
#define CHECKED_MAX 65536

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
        return check_positions(to, why);
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
    return check_list(to, why);
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

static pe_status read_json(const pe_value_reading *to, pe_slice json, pe_problem *why)
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
        pe_status status = read_query_text(to, pe_slice_of(text), why);
        free(text);
        return status;
    }
    if (first == '[' && (takes & NAMES) != 0)
        return read_names(to, json, why);
    if (number && (takes & NUMBER) != 0)
        return read_number(to, json, why);
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

pe_status pe_value_parse(const pe_value_reading *to, pe_slice text, bool json, pe_problem *why)
{
    const pe_status status = json ? read_json(to, text, why) : read_query_text(to, text, why);
    to->value->given = true;
    to->value->present = status == PE_OK;
    if (status == PE_OK)
        return PE_OK;
    pe_value_clear(to->value);
    const size_t used = strlen(why->detail);
    if (to->param->hint != NULL && !pe_status_is_ours(status))
        snprintf(why->detail + used, sizeof why->detail - used, "; %s", to->param->hint);
    return status;
}
