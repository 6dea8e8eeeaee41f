/* SPDX-License-Identifier: MIT */
/* value_text.c - the value of one parameter from query text, and against the row of its parameter. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/value_reading.h"
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

pe_status pe_value_finish(const pe_value_reading *to, pe_status status, pe_problem *why)
{
    if (status == PE_OK) {
        to->value->present = to->value->given = true;
        return PE_OK;
    }
    pe_value_clear(to->value);
    const size_t used = strlen(why->detail);
    if (to->param->hint != NULL && !pe_status_is_ours(why->status))
        snprintf(why->detail + used, sizeof why->detail - used, "; %s", to->param->hint);
    return status;
}

/* Rows that leave both bounds at 0 have none. */
static bool within(const pe_param *param, double number)
{
    if (param->min == 0 && param->max == 0)
        return param->kind != PE_KIND_INT || fabs(number) <= PE_POSITION_LIMIT;
    return (param->above_min ? number > param->min : number >= param->min) && number <= param->max;
}

static pe_status check_range(const pe_value_reading *to, double number, pe_slice text,
                             pe_problem *why)
{
    const pe_param *param = to->param;
    const bool bounded = param->min != 0 || param->max != 0;
    const double min = bounded ? param->min : -PE_POSITION_LIMIT;
    const double max = bounded ? param->max : PE_POSITION_LIMIT;
    const char *noun = param->kind == PE_KIND_REAL_LIST ? "each number of " : "";
    if (within(param, number))
        return PE_OK;
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

pe_status pe_value_check_list(const pe_value_reading *to, pe_problem *why)
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
        const bool whole = !to->param->integers_only || number == trunc(number);
        if (whole && within(to->param, number))
            continue;
        const number_text got = show(number);
        if (whole)
            return check_range(to, number, pe_slice_of(got.text), why);
        return pe_fail(why, PE_INVALID_PARAMETER, to->place,
                       "each number of %s must be an integer, got %s", to->param->name, got.text);
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

pe_status pe_value_check_positions(const pe_value_reading *to, pe_problem *why)
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

pe_status pe_value_text_number(const pe_value_reading *to, pe_slice text, pe_problem *why)
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
    return pe_value_check_list(to, why);
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
    return status == PE_OK ? pe_value_check_positions(to, why) : status;
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

pe_status pe_value_text_parse(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    static pe_status (*const read[])(const pe_value_reading *to, pe_slice text, pe_problem *why) = {
        [PE_KIND_INT] = pe_value_text_number,
        [PE_KIND_REAL] = pe_value_text_number,
        [PE_KIND_BOOL] = read_bool,
        [PE_KIND_CHOICE] = pe_value_choice_text_parse,
        [PE_KIND_CHOICES] = pe_value_choices_text_parse,
        [PE_KIND_REAL_LIST] = read_list,
        [PE_KIND_POSITIONS] = read_positions,
        [PE_KIND_TOKEN_RUNS] = read_token_runs,
        [PE_KIND_TEXT] = read_text,
        [PE_KIND_NAME] = read_text,
        [PE_KIND_TENSOR] = fail_in_query,
    };
    const pe_param_kind kind = to->param->kind;
    /* "[0,1]" is a list as JSON has it. */
    if ((kind == PE_KIND_REAL_LIST || kind == PE_KIND_POSITIONS) && text.bytes >= 3 &&
        text.text[0] == '[' && text.text[text.bytes - 1] == ']' &&
        memchr(text.text + 1, '[', text.bytes - 1) == NULL)
        text = (pe_slice){text.text + 1, text.bytes - 2};
    return pe_value_finish(to, read[kind](to, text, why), why);
}
