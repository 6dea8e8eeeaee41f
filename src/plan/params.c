/* SPDX-License-Identifier: MIT */
/* params.c - the values of a request's parameters, their defaults and their canonical form. */
#include "plan/params.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/number.h"

/* ---- rows ---- */

const pe_param *pe_params_at(const pe_param_set *const *sets, size_t i)
{
    for (size_t s = 0; s < PE_PARAM_SETS_MAX && sets[s] != NULL; i -= sets[s++]->n)
        if (i < sets[s]->n)
            return &sets[s]->rows[i];
    return NULL;
}

size_t pe_params_count(const pe_param_set *const *sets)
{
    size_t n = 0;
    for (size_t s = 0; s < PE_PARAM_SETS_MAX && sets[s] != NULL; s++)
        n += sets[s]->n;
    return n;
}

const pe_param *pe_params_find(const pe_param_set *const *sets, const char *name)
{
    const pe_param *param;
    for (size_t i = 0; (param = pe_params_at(sets, i)) != NULL; i++)
        if (strcmp(param->name, name) == 0)
            return param;
    return NULL;
}

/* ---- values ---- */

static pe_status make_values(size_t n, pe_values *out, pe_problem *why)
{
    pe_value *value = calloc(n == 0 ? 1 : n, sizeof *value);
    if (value == NULL)
        return pe_fail_memory(why);
    *out = (pe_values){n, value};
    return PE_OK;
}

pe_status pe_values_make(const pe_param_set *const *sets, pe_values *out, pe_problem *why)
{
    const pe_status status = make_values(pe_params_count(sets), out, why);
    if (status != PE_OK)
        return status;
    for (size_t i = 0; i < out->n; i++)
        out->value[i].param = pe_params_at(sets, i);
    return PE_OK;
}

void pe_values_free(pe_values *values)
{
    if (values == NULL)
        return;
    for (size_t i = 0; i < values->n && values->value != NULL; i++) {
        free(values->value[i].list);
        free(values->value[i].runs.list);
        free(values->value[i].text);
        pe_positions_free(&values->value[i].positions);
        pe_array_free(&values->value[i].tensor);
    }
    free(values->value);
    *values = (pe_values){0};
}

static pe_status copy_bytes(const void *from, size_t bytes, void **out, pe_problem *why)
{
    if (from == NULL)
        return PE_OK;
    *out = malloc(bytes == 0 ? 1 : bytes);
    if (*out == NULL)
        return pe_fail_memory(why);
    memcpy(*out, from, bytes);
    return PE_OK;
}

/* What the value owns is the copy's own. */
static pe_status copy_value(const pe_value *from, pe_value *to, pe_problem *why)
{
    void *list = NULL, *runs = NULL, *text = NULL;
    *to = *from;
    to->given = false;
    to->parent = NULL;
    to->tensor = (pe_array){0};
    to->positions = (pe_positions){0};
    pe_status status = copy_bytes(from->list, from->list_length * sizeof *from->list, &list, why);
    if (status == PE_OK)
        status = copy_bytes(from->runs.list, from->runs.n * sizeof *from->runs.list, &runs, why);
    if (status == PE_OK && from->text != NULL)
        status = copy_bytes(from->text, strlen(from->text) + 1, &text, why);
    if (status == PE_OK && from->positions.count > 0)
        status = pe_positions_copy(&from->positions, &to->positions, why);
    to->list = list;
    to->runs.list = runs;
    to->text = text;
    return status;
}

pe_status pe_values_copy(const pe_values *from, pe_values *out, pe_problem *why)
{
    pe_values made = {0};
    pe_status status = make_values(from->n, &made, why);
    for (size_t i = 0; i < from->n && status == PE_OK; i++)
        status = copy_value(&from->value[i], &made.value[i], why);
    if (status == PE_OK)
        *out = made;
    else
        pe_values_free(&made);
    return status;
}

pe_value *pe_values_find(const pe_values *values, const char *name)
{
    for (size_t i = 0; i < values->n; i++)
        if (strcmp(values->value[i].param->name, name) == 0)
            return &values->value[i];
    return NULL;
}

static pe_value *present(const pe_values *values, const char *name)
{
    pe_value *value = pe_values_find(values, name);
    assert(value != NULL && value->present);
    return value;
}

int64_t pe_values_int(const pe_values *values, const char *name)
{
    return present(values, name)->integer;
}

double pe_values_real(const pe_values *values, const char *name)
{
    return present(values, name)->real;
}

bool pe_values_bool(const pe_values *values, const char *name)
{
    return present(values, name)->truth;
}

size_t pe_values_choice(const pe_values *values, const char *name)
{
    return present(values, name)->choice;
}

bool pe_values_present(const pe_values *values, const char *name)
{
    const pe_value *value = pe_values_find(values, name);
    return value != NULL && value->present;
}

bool pe_values_given(const pe_values *values, const char *name)
{
    const pe_value *value = pe_values_find(values, name);
    return value != NULL && value->given;
}

static size_t longest_axis(const pe_values *values)
{
    size_t longest = 0;
    for (size_t p = 0; p < values->n; p++) {
        const pe_shape *shape = &values->value[p].tensor.shape;
        for (size_t d = 0; d < shape->ndim; d++)
            longest = shape->dim[d] > longest ? shape->dim[d] : longest;
    }
    return longest;
}

uint64_t pe_values_plan_work(const pe_values *values)
{
    const uint64_t longest = longest_axis(values);
    uint64_t work = 0;
    for (size_t p = 0; p < values->n; p++) {
        const pe_value *value = &values->value[p];
        work += values->value[p].param->plan_work *
                (value->present ? (uint64_t)value->integer : longest);
    }
    return work;
}

void pe_values_set_int(pe_values *values, const char *name, int64_t integer)
{
    pe_value *value = pe_values_find(values, name);
    assert(value != NULL);
    value->integer = integer;
    value->present = true;
}

void pe_values_set_real(pe_values *values, const char *name, double real)
{
    pe_value *value = pe_values_find(values, name);
    assert(value != NULL);
    value->real = real;
    value->present = true;
}

pe_array pe_values_take(pe_values *values, const char *name)
{
    pe_array *tensor = &present(values, name)->tensor;
    const pe_array taken = *tensor;
    *tensor = (pe_array){0};
    return taken;
}

pe_status pe_values_invalid(const pe_values *values, const char *name, pe_problem *why,
                            const char *format, ...)
{
    char where[sizeof why->where], detail[sizeof why->detail];
    const pe_value *value = pe_values_find(values, name);
    const bool nested = value != NULL && value->parent != NULL;
    snprintf(where, sizeof where, "%s%s%s", nested ? value->parent : "", nested ? "/" : "", name);
    va_list list;
    va_start(list, format);
    vsnprintf(detail, sizeof detail, format, list);
    va_end(list);
    return pe_fail(why, PE_INVALID_PARAMETER, where, "%s", detail);
}

/* ---- defaults ---- */

static pe_status fill_default(pe_value *value, pe_problem *why)
{
    const pe_param *param = value->param;
    value->present = true;
    switch (param->kind) {
    case PE_KIND_INT:
        value->integer = (int64_t)param->fallback;
        return PE_OK;
    case PE_KIND_REAL:
        value->real = param->fallback;
        return PE_OK;
    case PE_KIND_BOOL:
        value->truth = param->fallback != 0;
        return PE_OK;
    case PE_KIND_CHOICE:
        value->choice = (size_t)param->fallback;
        return PE_OK;
    case PE_KIND_POSITIONS:
        return pe_positions_parse(param->fallback_text, strlen(param->fallback_text), param->name,
                                  SIZE_MAX, &value->positions, why);
    case PE_KIND_REAL_LIST:
    case PE_KIND_TEXT:
    case PE_KIND_TENSOR:
    case PE_KIND_TOKEN_RUNS:
    case PE_KIND_CHOICES:
    case PE_KIND_NAME:
        value->present = false; /* these have no default */
        return PE_OK;
    }
    return PE_OK;
}

pe_status pe_values_defaults(pe_values *values, pe_problem *why)
{
    for (size_t i = 0; i < values->n; i++) {
        const pe_param *param = values->value[i].param;
        if (values->value[i].present || param->kind == PE_KIND_NAME)
            continue;
        if (param->required)
            return pe_fail(why, PE_MISSING_PARAMETER, param->name, "%s is required%s: %s",
                           param->name, param->by_model ? ", or a model" : "", param->help);
        if (param->optional)
            continue;
        const pe_status status = fill_default(&values->value[i], why);
        if (status != PE_OK)
            return status;
    }
    return PE_OK;
}

/* ---- the canonical form ---- */

void pe_real_print(double real, pe_buffer *out)
{
    char *at = pe_buffer_reserve(out, PE_NUMBER_TEXT_MAX);
    if (at != NULL)
        out->bytes += pe_number_print(PE_FLOAT64, real + 0.0, at);
}

static void print_list(const double *list, size_t n, pe_buffer *out)
{
    for (size_t i = 0; i < n; i++) {
        if (i != 0)
            pe_buffer_str(out, ",");
        pe_real_print(list[i], out);
    }
}

/* A list of rows, with `between` between them. */
static void print_rows(const pe_value *value, const char *between, pe_buffer *out)
{
    const size_t row = value->param->list_row;
    for (size_t i = 0; i < value->list_length; i += row) {
        pe_buffer_str(out, i == 0 ? "" : between);
        print_list(value->list + i, row, out);
    }
}

static void print_picks(const pe_value *value, const char *between, pe_buffer *out)
{
    for (size_t i = 0; i < value->n_picks; i++)
        pe_buffer_format(out, "%s%s", i == 0 ? "" : between,
                         value->param->choices[value->picks[i]]);
}

void pe_value_print(const pe_value *value, pe_buffer *out)
{
    const pe_param *param = value->param;
    switch (param->kind) {
    case PE_KIND_INT:
        pe_buffer_format(out, "%lld", (long long)value->integer);
        break;
    case PE_KIND_REAL:
        pe_real_print(value->real, out);
        break;
    case PE_KIND_BOOL:
        pe_buffer_str(out, value->truth ? "true" : "false");
        break;
    case PE_KIND_CHOICE:
        pe_buffer_str(out, param->choices[value->choice]);
        break;
    case PE_KIND_REAL_LIST:
        if (param->list_row != 0)
            print_rows(value, ";", out);
        else
            print_list(value->list, value->list_length, out);
        break;
    case PE_KIND_TOKEN_RUNS:
        pe_token_runs_print(&value->runs, param->choices, out);
        break;
    case PE_KIND_CHOICES:
        print_picks(value, ",", out);
        break;
    case PE_KIND_POSITIONS:
        pe_positions_print(&value->positions, out);
        break;
    case PE_KIND_NAME:
        pe_buffer_str(out, value->text);
        break;
    case PE_KIND_TEXT:
    case PE_KIND_TENSOR:
        break;
    }
}

/* Positions [axes, batch, n] have no query text; in JSON they are nested arrays. */
static void print_nested(const pe_shape *shape, size_t axis, const double **next, pe_buffer *out)
{
    const size_t n = shape->dim[axis];
    pe_buffer_str(out, "[");
    if (axis + 1 == shape->ndim) {
        print_list(*next, n, out);
        *next += n;
    } else {
        for (size_t i = 0; i < n; i++) {
            pe_buffer_str(out, i == 0 ? "" : ",");
            print_nested(shape, axis + 1, next, out);
        }
    }
    pe_buffer_str(out, "]");
}

static void print_json(const pe_value *value, pe_buffer *out)
{
    const pe_param *param = value->param;
    const char *open = "", *close = "";
    if (param->kind == PE_KIND_POSITIONS && value->positions.shape.ndim > 2) {
        const double *next = value->positions.list;
        print_nested(&value->positions.shape, 0, &next, out);
        return;
    }
    if (param->kind == PE_KIND_REAL_LIST && param->list_row != 0) {
        pe_buffer_str(out, "[[");
        print_rows(value, "],[", out);
        pe_buffer_str(out, "]]");
        return;
    }
    if (param->kind == PE_KIND_CHOICES) {
        pe_buffer_str(out, "[\"");
        print_picks(value, "\",\"", out);
        pe_buffer_str(out, "\"]");
        return;
    }
    if (param->kind == PE_KIND_CHOICE || param->kind == PE_KIND_POSITIONS ||
        param->kind == PE_KIND_TOKEN_RUNS ||
        param->kind == PE_KIND_NAME) /* what has a name here has plain letters in it */
        open = close = "\"";
    else if (param->kind == PE_KIND_REAL_LIST) {
        open = "[";
        close = "]";
    }
    pe_buffer_str(out, open);
    pe_value_print(value, out);
    pe_buffer_str(out, close);
}

/* The next name after `after` in order among the present rows that have a canonical form, those of
 * kind `without` left out; n when none. */
static size_t next_by_name(const pe_values *values, const char *after, pe_param_kind without)
{
    size_t best = values->n;
    for (size_t i = 0; i < values->n; i++) {
        const char *name = values->value[i].param->name;
        const pe_param_kind kind = values->value[i].param->kind;
        if (!values->value[i].present || kind == PE_KIND_TENSOR || kind == PE_KIND_TEXT ||
            kind == without)
            continue;
        if (after != NULL && strcmp(name, after) <= 0)
            continue;
        if (best == values->n || strcmp(name, values->value[best].param->name) < 0)
            best = i;
    }
    return best;
}

void pe_values_query(const pe_values *values, pe_buffer *out)
{
    const char *after = NULL;
    for (size_t i; (i = next_by_name(values, after, PE_KIND_NAME)) < values->n;
         after = values->value[i].param->name) {
        pe_buffer_format(out, "%s%s=", after == NULL ? "" : "&", values->value[i].param->name);
        pe_value_print(&values->value[i], out);
    }
}

void pe_values_json(const pe_values *values, pe_buffer *out)
{
    const char *after = NULL;
    pe_buffer_str(out, "{");
    for (size_t i; (i = next_by_name(values, after, PE_KIND_TENSOR)) < values->n;
         after = values->value[i].param->name) {
        pe_buffer_format(out, "%s\"%s\":", after == NULL ? "" : ",", values->value[i].param->name);
        print_json(&values->value[i], out);
    }
    pe_buffer_str(out, "}");
}
