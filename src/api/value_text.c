/* SPDX-License-Identifier: MIT */
/* value_text.c - the value of one parameter from query text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/value_reading.h"
#include "text/scan.h"

/* How the number that is meant is written. */
static const char *number_hint(pe_slice text)
{
    if (memchr(text.text, ';', text.bytes) != NULL || memchr(text.text, '?', text.bytes) != NULL)
        return "; & stands between parameters";
    if (text.text[0] == '"' || text.text[0] == '\'')
        return "; write it without quotes";
    if (strchr("0123456789", text.text[0]) != NULL)
        return "; a number is 10000, 1e4 or 0.25, all of it";
    return "";
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
    pe_status status = scan(to, text, &number, why);
    if (status != PE_OK)
        return status;
    if (to->param->kind == PE_KIND_INT && number != trunc(number))
        return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s must be an integer, got %.*s",
                       to->param->name, PE_SHOWN(text));
    status = pe_value_check_range(to, number, text, why);
    if (status != PE_OK)
        return status;
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

static size_t count_items(const pe_param *param, pe_slice text)
{
    size_t n = 1;
    for (size_t i = 0; i < text.bytes; i++)
        n += separates(param, text.text[i]);
    return n;
}

static pe_status read_list(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    const size_t n = count_items(to->param, text);
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
        pe_status status = scan(to, item, &list[i], why);
        if (status != PE_OK)
            return status;
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
    pe_status status = pe_value_check_axes(to, several ? 2 : 1, why); /* before any is held */
    if (status != PE_OK)
        return status;
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
    char *copy = malloc(text.bytes + 1);
    if (copy == NULL)
        return pe_fail_memory(why);
    memcpy(copy, text.text, text.bytes);
    copy[text.bytes] = '\0';
    free(to->value->text);
    to->value->text = copy;
    return PE_OK;
}

static pe_status read_token_runs(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    return pe_token_runs_parse(text, to->param, to->place, &to->value->runs, why);
}

static pe_status fail_in_query(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    (void)text;
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
    return pe_value_finish(to, read[to->param->kind](to, text, why), why);
}
