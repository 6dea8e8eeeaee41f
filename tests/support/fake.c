/* SPDX-License-Identifier: MIT */
/* fake.c - small resources and plans whose numbers are known by heart. */
#include "plan/resource.h"
#include "support/fake.h"

#include <stdio.h>

#include "plan/common_params.h"

static const char *const layouts[] = {"interleaved", "sin_cos", "cos_sin", NULL};

static const pe_param table_rows[] = {
    {.name = "d_model",
     .kind = PE_KIND_INT,
     .required = true,
     .min = 1,
     .max = 65536,
     .unit = "channels",
     .help = "Width of a row.",
     .example = "512"},
    {.name = "base", .kind = PE_KIND_REAL, .min = 1, .max = 1e12, .fallback = 10000, .help = "b"},
    {.name = "scale",
     .kind = PE_KIND_REAL,
     .max = 8,
     .above_min = true,
     .fallback = 1,
     .help = "s"},
    {.name = "mask_value", .kind = PE_KIND_REAL, .optional = true, .help = "Unbounded."},
    {.name = "layout", .kind = PE_KIND_CHOICE, .choices = layouts, .help = "Layout."},
    {.name = "causal", .kind = PE_KIND_BOOL, .fallback = 1, .help = "Causal."},
    {.name = "short_factor",
     .kind = PE_KIND_REAL_LIST,
     .optional = true,
     .min = 0.5,
     .max = 100,
     .list_max = 4,
     .help = "Divisors."},
    {.name = "heads",
     .kind = PE_KIND_POSITIONS,
     .integers_only = true,
     .optional = true,
     .help = "Heads."},
    {.name = "orders",
     .kind = PE_KIND_CHOICES,
     .choices = layouts,
     .optional = true,
     .help = "Some of the layouts."},
};

const pe_resource fake_table = {
    .path = "/v1/fake/table",
    .encoding = "fake",
    .name = "fake/table",
    .kind = PE_TABLE,
    .summary = "A table for tests.",
    .formula = "f(pos, i) = pos + i",
    .source = "made up",
    .param_sets = {PE_PARAMS(table_rows), &pe_params_positions, &pe_params_dtype}};

static const pe_param transform_rows[] = {
    {.name = "vectors",
     .kind = PE_KIND_TENSOR,
     .required = true,
     .min_dims = 2,
     .max_dims = 4,
     .help = "Vectors."},
    {.name = "weights", .kind = PE_KIND_TENSOR, .min_dims = 1, .as_float64 = true, .help = "W."},
    {.name = "delta",
     .kind = PE_KIND_TENSOR,
     .max_dims = 1,
     .integers_only = true,
     .as_float64 = true,
     .help = "An integer, or one per token."},
    {.name = "factor", .kind = PE_KIND_REAL, .min = 1, .max = 1000, .fallback = 1, .help = "f"},
    {.name = "positions",
     .kind = PE_KIND_POSITIONS,
     .optional = true,
     .two_axes = true,
     .fallback_text = "0:n",
     .help = "Positions."},
};
static const pe_param transform_picks[] = {
    {.name = "orders",
     .kind = PE_KIND_CHOICES,
     .choices = layouts,
     .optional = true,
     .help = "Some of the layouts."},
};

const pe_resource fake_transform = {
    .path = "/v1/fake/transform",
    .encoding = "fake",
    .name = "fake/transform",
    .kind = PE_TRANSFORM,
    .summary = "A transform for tests.",
    .param_sets = {PE_PARAMS(transform_rows), &pe_params_dtype, PE_PARAMS(transform_picks)},
    .nested = "rope_parameters"};

const pe_read_limits fake_limits = {.max_elements = 100000, .max_positions = 1000, .max_depth = 10};

size_t fake_units_filled;

double fake_element(pe_dtype dtype, size_t tensor, size_t e)
{
    unsigned char at[8];
    double value = (double)((e * 2654435761U + tensor * 97) % 4096) / 1000 - 2;
    if (dtype == PE_INT32)
        return (double)(int)(value * 100);
    pe_dtype_store(dtype, value, at);
    return pe_dtype_load(dtype, at);
}

size_t fake_parts_elements;

static void check_part(const pe_plan *plan, const pe_region *part)
{
    const size_t unit = plan->tensors[part->tensor].unit, end = part->column + part->columns;
    if (!plan->makes_parts || part->units != 1 || part->column % PE_PART_ELEMENTS != 0 ||
        (end % PE_PART_ELEMENTS != 0 && end != unit) || end > unit)
        fprintf(stderr, "fake_plan: part %zu, %zu of a unit of %zu\n", part->column, part->columns,
                unit);
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    const pe_tensor *tensor = &plan->tensors[region->tensor];
    const size_t size = pe_dtype_bytes(tensor->dtype);
    const size_t first = region->first * tensor->unit + region->column;
    char *to = out;
    (void)why;
    if (pe_plan_whole(plan, region)) {
        fake_units_filled += region->units;
    } else {
        fake_parts_elements += region->columns;
        check_part(plan, region);
    }
    for (size_t e = first; e < first + region->units * region->columns; e++, to += size)
        pe_dtype_store(tensor->dtype, fake_element(tensor->dtype, region->tensor, e), to);
    return PE_OK;
}

void fake_plan_cut(pe_plan *plan)
{
    plan->makes_parts = true;
}

void fake_plan(pe_plan *out, size_t n_tensors, pe_dtype dtype, const pe_shape *shape, size_t unit)
{
    static const char *const names[] = {"cos", "sin", "tan", "cot"};
    static const pe_limits limits = {.max_elements = (size_t)1 << 28};
    pe_problem why;
    *out = (pe_plan){.limits = &limits, .fill = fill};
    for (size_t t = 0; t < n_tensors; t++)
        if (pe_plan_add_tensor(out, n_tensors > 1 ? names[t] : NULL, dtype, shape, unit, &why) !=
            PE_OK)
            fprintf(stderr, "fake_plan: %s\n", why.detail);
}
