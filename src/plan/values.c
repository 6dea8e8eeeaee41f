/* SPDX-License-Identifier: MIT */
/* values.c - the values that a request gives the parameters, and their defaults. */
#include "plan/values.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    PE_TRY(make_values(pe_params_count(sets), out, why));
    for (size_t i = 0; i < out->n; i++)
        out->value[i].param = pe_params_at(sets, i);
    return PE_OK;
}

/* Most rows hold nothing of their own. */
static bool holds_memory(const pe_value *value)
{
    return value->list != NULL || value->text != NULL || value->runs.list != NULL ||
           value->positions.count > 0 || value->positions.list != NULL ||
           value->positions.rows != NULL || value->tensor.data != NULL;
}

void pe_value_clear(pe_value *value)
{
    if (!holds_memory(value))
        return;
    free(value->list);
    free(value->runs.list);
    free(value->text);
    value->list = NULL;
    value->runs.list = NULL;
    value->text = NULL;
    pe_positions_free(&value->positions);
    pe_array_free(&value->tensor);
}

void pe_values_free(pe_values *values)
{
    if (values == NULL)
        return;
    for (size_t i = 0; i < values->n && values->value != NULL; i++)
        pe_value_clear(&values->value[i]);
    free(values->value);
    *values = (pe_values){0};
}

/* A copy of so many bytes; NULL for none, or when memory runs out, which sets *failed. */
static void *copy_bytes(const void *from, size_t bytes, bool *failed)
{
    if (from == NULL)
        return NULL;
    void *copy = malloc(bytes == 0 ? 1 : bytes);
    *failed |= copy == NULL;
    return copy == NULL ? NULL : memcpy(copy, from, bytes);
}

pe_status pe_value_set_list(pe_value *value, const double *list, size_t n, pe_problem *why)
{
    bool failed = false;
    double *copy = copy_bytes(list, n * sizeof *list, &failed);
    if (failed)
        return pe_fail_memory(why);
    free(value->list);
    value->list = copy;
    value->list_length = n;
    value->present = true;
    return PE_OK;
}

/* A copy owns copies of what the value owns, but for its tensor and listed positions, which nobody
 * changes. */
static pe_status copy_value(const pe_value *from, pe_value *to, pe_problem *why)
{
    bool failed = false;
    *to = *from;
    to->tensor.borrowed = true;
    if (!holds_memory(from))
        return PE_OK;
    const size_t text_bytes = from->text == NULL ? 0 : strlen(from->text) + 1;
    to->positions = (pe_positions){0};
    to->list = copy_bytes(from->list, from->list_length * sizeof *from->list, &failed);
    to->runs.list = copy_bytes(from->runs.list, from->runs.n * sizeof *from->runs.list, &failed);
    to->text = copy_bytes(from->text, text_bytes, &failed);
    if (failed)
        return pe_fail_memory(why);
    return from->positions.count == 0 ? PE_OK
                                      : pe_positions_share(&from->positions, &to->positions, why);
}

pe_status pe_values_lend(const pe_values *from, pe_values *out, pe_problem *why)
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

pe_status pe_values_copy(const pe_values *from, pe_values *out, pe_problem *why)
{
    const pe_status status = pe_values_lend(from, out, why);
    for (size_t i = 0; i < from->n && status == PE_OK; i++) {
        pe_value *value = &out->value[i];
        value->given = false;
        value->parent = value->alias = value->choice_alias = NULL;
        value->is_synonym = value->is_switch = false;
    }
    return status;
}

static pe_value *find(const pe_values *values, const char *name)
{
    for (size_t i = 0; i < values->n; i++) {
        const char *its = values->value[i].param->name;
        if (its[0] == name[0] && strcmp(its, name) == 0)
            return &values->value[i];
    }
    return NULL;
}

pe_value *pe_values_find(const pe_values *values, const char *name)
{
    pe_value *value = find(values, name);
    if (value != NULL && value->refused)
        value->asked = true;
    return value;
}

pe_value *pe_values_called(const pe_values *values, const char *name)
{
    pe_value *value = pe_values_find(values, name);
    for (size_t i = 0; i < values->n && value == NULL; i++)
        if (pe_param_alias(values->value[i].param, name) != NULL)
            value = &values->value[i];
    return value;
}

void pe_values_place(const pe_values *values, const char *name, char *out, size_t bytes)
{
    const pe_value *value = find(values, name);
    const char *parent = value != NULL ? value->parent : NULL;
    snprintf(out, bytes, "%s%s%s", parent != NULL ? parent : "", parent != NULL ? "/" : "",
             value != NULL && value->alias != NULL ? value->alias : name);
}

void pe_values_synonyms(const pe_values *values, pe_buffer *out)
{
    const char *verb = " is taken for ";
    for (size_t i = 0; i < values->n; i++) {
        const pe_value *value = &values->value[i];
        const char *given[] = {value->is_synonym ? value->alias : NULL, value->choice_alias};
        for (size_t g = 0; g < PE_LEN(given); g++) {
            if (given[g] == NULL)
                continue;
            pe_buffer_format(out, "%s%s%s%s", out->bytes > 0 ? ", " : "", given[g], verb,
                             g == 0 ? value->param->name : value->param->choices[value->choice]);
            if (g == 0 && value->is_switch && value->param->kind == PE_KIND_CHOICE)
                pe_buffer_format(out, "=%s", value->param->choices[value->choice]);
            if (g == 0 && value->is_switch && value->param->kind == PE_KIND_BOOL)
                pe_buffer_str(out, value->truth ? "=true" : "=false");
            verb = " for ";
        }
    }
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

size_t pe_values_size(const pe_values *values, const char *name)
{
    return (size_t)present(values, name)->integer;
}

const pe_array *pe_values_tensor(const pe_values *values, const char *name)
{
    return &pe_values_find(values, name)->tensor;
}

const pe_positions *pe_values_positions(const pe_values *values, const char *name)
{
    return &pe_values_find(values, name)->positions;
}

size_t pe_values_choice(const pe_values *values, const char *name)
{
    return present(values, name)->choice;
}

bool pe_values_present(const pe_values *values, const char *name)
{
    pe_value *value = find(values, name);
    if (value == NULL || value->present)
        return value != NULL;
    value->asked |= value->refused;
    return false;
}

bool pe_values_given(const pe_values *values, const char *name)
{
    const pe_value *value = pe_values_find(values, name);
    return value != NULL && value->given;
}

static pe_value *to_set(const pe_values *values, const char *name)
{
    pe_value *value = pe_values_find(values, name);
    assert(value != NULL);
    value->present = true;
    return value;
}

void pe_values_set_int(pe_values *values, const char *name, int64_t integer)
{
    to_set(values, name)->integer = integer;
}

void pe_values_set_real(pe_values *values, const char *name, double real)
{
    to_set(values, name)->real = real;
}

void pe_values_set_range(pe_values *values, const char *name, int64_t first, size_t count)
{
    pe_value *value = pe_values_find(values, name);
    assert(value != NULL);
    if (value->present)
        return;
    value->positions = pe_positions_range(first, 1, count);
    value->present = true;
}

pe_array pe_values_take(pe_values *values, const char *name)
{
    pe_array *tensor = &present(values, name)->tensor;
    const pe_array taken = *tensor;
    if (!taken.borrowed)
        *tensor = (pe_array){0};
    return taken;
}

pe_status pe_values_invalid(const pe_values *values, const char *name, pe_problem *why,
                            const char *format, ...)
{
    char where[sizeof why->where], detail[sizeof why->detail];
    va_list list;
    pe_values_place(values, name, where, sizeof where);
    va_start(list, format);
    vsnprintf(detail, sizeof detail, format, list);
    va_end(list);
    return pe_fail(why, PE_INVALID_PARAMETER, where, "%s", detail);
}

/* ---- defaults ---- */

pe_status pe_value_default(pe_value *value, pe_problem *why)
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
        return pe_positions_parse((pe_slice){param->fallback_text, strlen(param->fallback_text)},
                                  param->name, SIZE_MAX, &value->positions, why);
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

static pe_status fail_missing(const pe_values *values, const pe_param *param, pe_problem *why)
{
    const pe_value *model = pe_values_find(values, "model");
    if (param->by_model && model != NULL && model->given)
        return pe_fail(why, PE_MISSING_PARAMETER, param->name,
                       "%s is required, since the model does not say it: %s", param->name,
                       param->help);
    return pe_fail(why, PE_MISSING_PARAMETER, param->name, "%s is required%s: %s%s%s", param->name,
                   param->by_model ? ", or a model" : "", param->help,
                   param->hint != NULL ? " " : "", param->hint != NULL ? param->hint : "");
}

pe_status pe_values_defaults(pe_values *values, pe_problem *why)
{
    pe_status status = PE_OK;
    pe_problem mistake;
    for (size_t i = 0; i < values->n; i++) {
        const pe_param *param = values->value[i].param;
        if (values->value[i].present || values->value[i].given || param->kind == PE_KIND_NAME)
            continue;
        if (param->optional || values->value[i].refused)
            continue;
        const pe_status filled = param->required ? fail_missing(values, param, &mistake)
                                                 : pe_value_default(&values->value[i], &mistake);
        status = PE_ALSO(status, filled);
    }
    return status;
}

pe_dtype pe_values_dtype(const pe_values *values)
{
    const pe_value *value = pe_values_find(values, "dtype");
    pe_dtype dtype = PE_FLOAT64;
    if (value != NULL)
        (void)pe_dtype_find(
            pe_slice_of(value->param->choices[value->present ? value->choice
                                                             : (size_t)value->param->fallback]),
            &dtype);
    return dtype;
}
