/* SPDX-License-Identifier: MIT */
/* plan.c - what an answer will hold. */
#include "plan/plan.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "plan/common_params.h"
#include "plan/price.h"
#include "plan/resource.h"

/* Of the steps of an element, each of which numerics=float32 rounds. */
#define FLOAT32_WORK 2

pe_status pe_plan_make(const pe_resource *resource, pe_values *values, struct pe_tables *tables,
                       const pe_limits *limits, pe_plan *out, pe_problem *why)
{
    *out = (pe_plan){.tables = tables, .limits = limits};
    pe_status status = resource->plan(values, out, why);
    const pe_value *numerics = pe_values_find(values, "numerics");
    if (numerics != NULL && numerics->choice == PE_NUMERICS_FLOAT32)
        for (size_t t = 0; t < out->n_tensors && status == PE_OK; t++)
            status = pe_plan_set_work(out, t, out->tensors[t].work + FLOAT32_WORK, why);
    out->tables = NULL;
    out->limits = NULL;
    return status;
}

/* requested: SIZE_MAX when the count itself overflows. */
static pe_status too_many(const pe_plan *plan, size_t requested, pe_problem *why)
{
    pe_fail(why, PE_TOO_MANY_ELEMENTS, "",
            "the answer would hold %s%zu elements, at most %zu are allowed (max_elements); ask for "
            "fewer at a time",
            requested == SIZE_MAX ? "at least " : "", requested, plan->limits->max_elements);
    why->max_elements = plan->limits->max_elements;
    why->requested_elements = requested;
    return why->status;
}

pe_status pe_plan_add_tensor(pe_plan *plan, const char *name, pe_dtype dtype, const pe_shape *shape,
                             size_t unit, pe_problem *why)
{
    assert(plan->n_tensors < PE_MAX_TENSORS);
    size_t elements, total;
    if (!pe_array_elements(shape, &elements))
        return too_many(plan, SIZE_MAX, why);
    total = elements;
    for (size_t t = 0; t < plan->n_tensors; t++)
        if (!pe_size_add(total, plan->tensors[t].elements, &total))
            return too_many(plan, SIZE_MAX, why);
    if (total > plan->limits->max_elements)
        return too_many(plan, total, why);
    assert(unit > 0 && elements % unit == 0);
    plan->tensors[plan->n_tensors++] = (pe_tensor){.name = name,
                                                   .dtype = dtype,
                                                   .shape = *shape,
                                                   .elements = elements,
                                                   .units = elements / unit,
                                                   .unit = unit,
                                                   .work = 1};
    return pe_plan_set_work(plan, plan->n_tensors - 1, 1, why);
}

pe_status pe_plan_set_work(pe_plan *plan, size_t tensor, size_t work, pe_problem *why)
{
    uint64_t all = 0;
    plan->tensors[tensor].work = work;
    for (size_t t = 0; t < plan->n_tensors; t++)
        all = pe_price_plus(all, pe_plan_tensor_work(&plan->tensors[t]));
    const uint64_t most = plan->limits->max_work;
    return pe_price_check(all, most == 0 ? UINT64_MAX : most, why);
}

uint64_t pe_plan_tensor_work(const pe_tensor *tensor)
{
    return pe_price_times(tensor->elements, tensor->work);
}

void pe_plan_owns(pe_plan *plan, void *what, void (*release)(void *what))
{
    assert(plan->n_owned < PE_MAX_OWNED);
    plan->owned[plan->n_owned++] = (pe_owned){what, release};
}

pe_status pe_plan_begin(pe_plan *plan, size_t bytes, pe_plan_fill fill, pe_problem *why)
{
    plan->state = calloc(1, bytes);
    if (plan->state == NULL)
        return pe_fail_memory(why);
    plan->fill = fill;
    pe_plan_owns(plan, plan->state, free);
    return PE_OK;
}

static void release_array(void *array)
{
    pe_array_free(array);
}

void pe_plan_owns_array(pe_plan *plan, pe_array *array)
{
    pe_plan_owns(plan, array, release_array);
}

static void release_positions(void *positions)
{
    pe_positions_free(positions);
}

static pe_status copy_array(const pe_plan *plan, const pe_region *region, void *out,
                            pe_problem *why PE_UNUSED)
{
    const pe_array *array = plan->state;
    const size_t bytes = region->columns * pe_dtype_bytes(array->dtype);
    memcpy(out, (const char *)array->data + region->first * bytes, region->units * bytes);
    return PE_OK;
}

pe_status pe_plan_begin_array(pe_plan *plan, pe_problem *why)
{
    PE_TRY(pe_plan_begin(plan, sizeof(pe_array), copy_array, why));
    pe_plan_owns_array(plan, plan->state);
    return PE_OK;
}

pe_region pe_plan_units(const pe_plan *plan, size_t tensor, size_t first, size_t units)
{
    return (pe_region){
        .tensor = tensor, .first = first, .units = units, .columns = plan->tensors[tensor].unit};
}

bool pe_plan_whole(const pe_plan *plan, const pe_region *region)
{
    return region->columns == plan->tensors[region->tensor].unit;
}

pe_status pe_plan_make_region(const pe_plan *plan, const pe_region *region, void *out,
                              pe_problem *why)
{
    /* in turns: nobody waits for more */
    const pe_tensor *tensor = &plan->tensors[region->tensor];
    const uint64_t unit = pe_price_times(region->columns, tensor->work);
    const size_t most = unit == 0 ? SIZE_MAX : (size_t)(PE_YIELD_WORK / unit);
    pe_status status = PE_OK;
    pe_region part = *region;
    for (size_t done = 0; status == PE_OK && done < region->units; done += part.units) {
        const size_t left = region->units - done;
        part.first = region->first + done;
        part.units = left <= most ? left : most > 0 ? most : 1;
        char *to = (char *)out + done * part.columns * pe_dtype_bytes(tensor->dtype);
        status = plan->fill(plan, &part, to, why);
        pe_yield_spend(pe_price_times(part.units, unit));
        if (status == PE_OK)
            status = pe_yield_check(why);
    }
    return status;
}

void pe_plan_add_scalar(pe_plan *plan, const char *name, double value)
{
    assert(plan->n_scalars < PE_MAX_SCALARS);
    plan->scalars[plan->n_scalars++] = (pe_scalar){.name = name, .value = value};
}

void pe_plan_add_text(pe_plan *plan, const char *name, const char *text)
{
    assert(plan->n_scalars < PE_MAX_SCALARS);
    plan->scalars[plan->n_scalars++] = (pe_scalar){.name = name, .text = text};
}

void pe_plan_warn(pe_plan *plan, const char *format, ...)
{
    char *text;
    va_list list;
    assert(plan->n_warnings < PE_MAX_WARNINGS);
    va_start(list, format);
    const int length = vasprintf(&text, format, list);
    va_end(list);
    if (length >= 0) /* without memory the answer goes out without its warning */
        plan->warnings[plan->n_warnings++] = text;
}

pe_status pe_plan_add_engine_setting(pe_plan *plan, const pe_engine_setting *setting,
                                     pe_problem *why)
{
    pe_engine_setting *grown =
        realloc(plan->engine_settings, (plan->n_engine_settings + 1) * sizeof *grown);
    if (grown == NULL) {
        free(setting->text);
        return pe_fail_memory(why);
    }
    plan->engine_settings = grown;
    plan->engine_settings[plan->n_engine_settings++] = *setting;
    return PE_OK;
}

void pe_plan_take(pe_plan *plan, pe_values *values, const char *name, pe_array *out)
{
    *out = pe_values_take(values, name);
    pe_plan_owns_array(plan, out);
}

pe_status pe_plan_positions(pe_plan *plan, const pe_values *values, const char *name,
                            pe_positions *out, pe_problem *why)
{
    pe_plan_owns(plan, out, release_positions);
    return pe_positions_share(pe_values_positions(values, name), out, why);
}

void pe_plan_free(pe_plan *plan)
{
    if (plan == NULL)
        return;
    for (size_t o = plan->n_owned; o-- > 0;)
        plan->owned[o].release(plan->owned[o].what);
    for (size_t w = 0; w < plan->n_warnings; w++)
        free(plan->warnings[w]);
    for (size_t s = 0; s < plan->n_engine_settings; s++)
        free(plan->engine_settings[s].text);
    free(plan->engine_settings);
    *plan = (pe_plan){0};
}
