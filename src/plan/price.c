/* SPDX-License-Identifier: MIT */
/* price.c - what a request costs, as far as its parameters tell. */
#include "plan/price.h"

#include <math.h>

uint64_t pe_price_times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t pe_price_plus(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t pe_price_sum(const pe_price *price)
{
    const uint64_t known = pe_price_plus(price->reading, price->planning);
    return pe_price_plus(known, pe_price_plus(price->computing, price->coding));
}

/* ---- from parameters ---- */

/* Units of work, as measured. */
#define POSITION_WORK ((uint64_t)16)

static uint64_t planning(const pe_values *values)
{
    size_t longest = 0; /* axis of a tensor */
    uint64_t work = 0, channels = 0, more = 0;
    for (size_t p = 0; p < values->n; p++) {
        const pe_shape *shape = &values->value[p].tensor.shape;
        for (size_t d = 0; d < shape->ndim; d++)
            longest = shape->dim[d] > longest ? shape->dim[d] : longest;
    }
    for (size_t p = 0; p < values->n; p++) {
        const pe_value *value = &values->value[p];
        const pe_param *param = value->param;
        /* How many frequencies or slopes a row stands for. Where one that makes planning long is
         * absent, a tensor will tell: at most its longest axis. */
        const uint64_t own = param->plan_work == 0 ? 0
                             : value->present      ? (uint64_t)value->integer
                                                   : longest;
        work += param->plan_work * own;
        channels += own;
        /* A listed position is read and looked at by itself; one of a range follows from others. */
        if (param->kind == PE_KIND_POSITIONS && value->positions.list != NULL)
            work += value->positions.count * POSITION_WORK;
        /* What this value adds to the work of each channel. */
        const bool free = param->fractions_cost && value->real == floor(value->real);
        if (param->channel_work != NULL && value->present && !free)
            more += param->channel_work[value->choice];
    }
    return work + channels * more;
}

/* Where tensors came, the answer is about as large as they are. */
static uint64_t computing(const pe_values *values)
{
    uint64_t axes = 1, tensors = 0;
    for (size_t p = 0; p < values->n; p++) {
        const pe_value *value = &values->value[p];
        const pe_param *param = value->param;
        size_t elements;
        if (param->kind == PE_KIND_TENSOR && value->present)
            tensors = pe_price_plus(tensors, pe_array_elements(&value->tensor.shape, &elements)
                                                 ? elements
                                                 : UINT64_MAX);
        if (param->kind == PE_KIND_POSITIONS && value->present)
            axes = pe_price_times(axes, value->positions.count);
        if (param->kind != PE_KIND_INT || (!param->axis && param->plan_work == 0))
            continue;
        /* The number of a row; where it is absent, that of the row that its default names. */
        if (!value->present && param->fallback_text != NULL)
            value = pe_values_find(values, param->fallback_text);
        if (value != NULL && value->present && value->integer > 0)
            axes = pe_price_times(axes, (uint64_t)value->integer);
    }
    return tensors > 0 ? tensors : axes;
}

pe_price pe_price_estimate(const pe_values *values)
{
    return (pe_price){.planning = planning(values), .computing = computing(values)};
}

/* ---- the bound ---- */

pe_status pe_price_check(uint64_t work, uint64_t max_work, pe_problem *why)
{
    if (work <= max_work)
        return PE_OK;
    pe_fail(why, PE_TOO_MUCH_WORK, "",
            "this would cost %s%llu units of work, at most %llu are allowed (max_work); ask for "
            "fewer positions or channels at a time",
            work == UINT64_MAX ? "at least " : "", (unsigned long long)work,
            (unsigned long long)max_work);
    why->max_work = max_work;
    why->requested_work = work;
    return why->status;
}
