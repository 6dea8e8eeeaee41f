/* SPDX-License-Identifier: MIT */
/* value_check.c - numbers, lists, positions and tensors against the row of their parameter. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/value_reading.h"
#include "text/number.h"

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

static void add_hint(const pe_value_reading *to, pe_problem *why)
{
    const size_t used = strlen(why->detail);
    if (to->param->hint != NULL && !pe_status_is_ours(why->status))
        snprintf(why->detail + used, sizeof why->detail - used, "; %s", to->param->hint);
}

pe_status pe_value_finish(const pe_value_reading *to, pe_status status, pe_problem *why)
{
    if (status == PE_OK) {
        to->value->present = to->value->given = true;
        return PE_OK;
    }
    pe_value_clear(to->value);
    add_hint(to, why);
    return status;
}

/* Rows that leave both bounds at 0 have none. */
static bool within(const pe_param *param, double number)
{
    if (param->min == 0 && param->max == 0)
        return param->kind != PE_KIND_INT || fabs(number) <= PE_POSITION_LIMIT;
    return (param->above_min ? number > param->min : number >= param->min) && number <= param->max;
}

pe_status pe_value_check_range(const pe_value_reading *to, double number, pe_slice text,
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
            return pe_value_check_range(to, number, pe_slice_of(got.text), why);
        return pe_fail(why, PE_INVALID_PARAMETER, to->place,
                       "each number of %s must be an integer, got %s", to->param->name, got.text);
    }
    return PE_OK;
}

pe_status pe_value_check_axes(const pe_value_reading *to, size_t axes, pe_problem *why)
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
    const pe_status status = pe_value_check_axes(to, to->value->positions.shape.ndim, why);
    if (status != PE_OK)
        return status;
    if (to->param->integers_only && to->value->positions.fractional)
        return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s must be integers, got a fraction",
                       to->param->name);
    return PE_OK;
}

static bool all_integers(const pe_array *array)
{
    const size_t size = pe_dtype_bytes(array->dtype);
    for (size_t i = 0; i < array->elements; i++) {
        double number = pe_dtype_load(array->dtype, (const char *)array->data + i * size);
        if (number != trunc(number))
            return false;
    }
    return true;
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
    if (param->integers_only && !all_integers(array))
        return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s must be integers", param->name);
    return PE_OK;
}
