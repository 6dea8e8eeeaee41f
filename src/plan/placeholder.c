/* SPDX-License-Identifier: MIT */
/* placeholder.c - what stands in the place of a refused value while others are looked at. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/values.h"

/* Some number within the bounds of a row, another one for each `which`. */
static double number(const pe_param *param, unsigned which)
{
    static const double apart[PE_PLACEHOLDERS + 1] = {6, 0.25, 46, 14};
    const bool bounded = param->min != 0 || param->max != 0;
    const double least = bounded && !isinf(param->min) ? param->min : 0;
    const double span = bounded ? param->max - least : (double)INFINITY;
    const double at = least + fmin(apart[which], span / (PE_PLACEHOLDERS + 1 - which));
    return param->kind == PE_KIND_REAL ? at : floor(at);
}

static bool put_list(pe_value *value, unsigned which)
{
    const size_t row = value->param->list_row != 0 ? value->param->list_row : 1;
    value->list = malloc(row * sizeof *value->list);
    if (value->list == NULL)
        return false;
    for (size_t i = 0; i < row; i++)
        value->list[i] = ceil(number(value->param, which));
    value->list_length = row;
    return value->present = true;
}

/* Of odd numbers of rows, which may be those of as many distances on either side, and channels in
 * pairs. */
static bool put_tensor(pe_value *value, unsigned which, pe_dtype dtype)
{
    const pe_param *param = value->param;
    const size_t most = param->max_dims != 0 ? param->max_dims : (size_t)PE_MAX_DIMS;
    pe_shape shape = {.ndim = param->min_dims};
    pe_problem none;
    if (which == 2 && shape.ndim < most)
        shape.ndim++;
    for (size_t d = 0; d < shape.ndim; d++)
        shape.dim[d] = d + 1 < shape.ndim ? 2 * which + 3 : 2 * (which + 1);
    value->present = pe_array_make(param->as_float64 ? PE_FLOAT64 : dtype, &shape, &value->tensor,
                                   &none) == PE_OK;
    if (value->present)
        memset(value->tensor.data, 0, value->tensor.elements * pe_dtype_bytes(value->tensor.dtype));
    return value->present;
}

static bool put(pe_value *value, unsigned which, pe_dtype dtype)
{
    value->present = true;
    switch (value->param->kind) {
    case PE_KIND_INT:
    case PE_KIND_REAL:
        value->real = number(value->param, which);
        value->integer = value->param->kind == PE_KIND_INT ? (int64_t)value->real : 0;
        return true;
    case PE_KIND_BOOL:
        value->truth = which % 2 != 0;
        return true;
    case PE_KIND_CHOICE:
        value->choice = (size_t)value->param->fallback;
        if (strcmp(value->param->name, "dtype") != 0) { /* tensors were read as the default says */
            size_t n = 1;                               /* there is one at least */
            while (value->param->choices[n] != NULL)
                n++;
            value->choice = (value->choice + which) % n;
        }
        return true;
    case PE_KIND_POSITIONS:
        value->positions = pe_positions_range(0, 1, 2 * which + 1);
        return true;
    case PE_KIND_REAL_LIST:
        return put_list(value, which);
    case PE_KIND_TENSOR:
        return put_tensor(value, which, dtype);
    case PE_KIND_TEXT:
    case PE_KIND_TOKEN_RUNS:
    case PE_KIND_CHOICES:
    case PE_KIND_NAME:
        value->present = false;
        return value->param->optional;
    }
    return false;
}

static bool set_placeholder(pe_value *value, unsigned which, pe_dtype dtype)
{
    pe_problem none;
    const pe_param *param = value->param;
    if (value->needed)
        which++;
    pe_value_clear(value);
    *value = (pe_value){.param = param,
                        .refused = true,
                        .needed = value->needed,
                        .parent = value->parent,
                        .alias = value->alias};
    if (which > 0 || param->required) {
        const bool stands = put(value, which, dtype);
        value->given = value->present;
        return stands;
    }
    return param->optional || pe_value_default(value, &none) == PE_OK;
}

bool pe_values_set_placeholders(pe_values *values, unsigned which)
{
    const pe_dtype dtype = pe_values_dtype(values);
    bool all = true;
    for (size_t i = 0; i < values->n; i++) {
        pe_value *value = &values->value[i];
        if (value->refused || (value->given && !value->present))
            all = set_placeholder(value, which, dtype) && all;
    }
    return all;
}

size_t pe_values_asked(const pe_values *values, pe_param_kind least)
{
    size_t asked = 0;
    for (size_t i = 0; i < values->n; i++)
        asked += values->value[i].asked && values->value[i].param->kind >= least;
    return asked;
}
