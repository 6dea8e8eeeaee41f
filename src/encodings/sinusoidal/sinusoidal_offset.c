/* SPDX-License-Identifier: MIT */
/* sinusoidal_offset.c - the rotations that move a sinusoidal encoding by an offset. */
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "encodings/sinusoidal/sinusoidal.h"

enum { BLOCKS, MATRIX };

static const char *const forms[] = {[BLOCKS] = "blocks", [MATRIX] = "matrix", NULL};

static const pe_param shift_params[] = {
    PE_PARAM("d_model", INT, .required = true, .min = 2, .max = PE_SINUSOIDAL_WIDTH_MAX,
             .plan_work = PE_PLAN_WORK_PRODUCT, .unit = "channels", .help = "Width of a row, even.",
             .example = "64"),
    PE_PARAM(
        "offset", INT, .required = true, .min = 1 - PE_POSITION_LIMIT, .max = PE_POSITION_LIMIT - 1,
        .unit = "tokens",
        .help =
            "The distance by which the rotations move an encoding: PE(pos + offset) = M PE(pos).",
        .example = "2"),
};

static const pe_param form_params[] = {
    PE_PARAM("form", CHOICE, .choices = forms,
             .help = "blocks: one 2x2 rotation for each frequency. matrix: one matrix with these "
                     "rotations on its diagonal, for the interleaved layout.",
             .example = "blocks"),
};

/* Row `second` of M_i = [cos sin; -sin cos], which acts on (sin, cos). */
static void put_row(const pe_array *waves, size_t i, size_t second, unsigned char *out)
{
    const size_t bytes = pe_dtype_bytes(waves->dtype);
    const unsigned char *sine = (const unsigned char *)waves->data + 2 * i * bytes;
    const unsigned char *cosine = sine + bytes;
    if (second) {
        pe_dtype_store(waves->dtype, 0 - pe_dtype_load(waves->dtype, sine), out);
        memcpy(out + bytes, cosine, bytes);
    } else {
        memcpy(out, cosine, bytes);
        memcpy(out + bytes, sine, bytes);
    }
}

static pe_status fill_blocks(const pe_plan *plan, const pe_region *region, void *out,
                             pe_problem *why PE_UNUSED)
{
    const pe_array *waves = plan->state;
    const size_t row = 2 * pe_dtype_bytes(waves->dtype);
    for (size_t u = 0; u < 2 * region->units; u++)
        put_row(waves, region->first + u / 2, u % 2, (unsigned char *)out + u * row);
    return PE_OK;
}

static pe_status fill_matrix(const pe_plan *plan, const pe_region *region, void *out,
                             pe_problem *why PE_UNUSED)
{
    const pe_array *waves = plan->state;
    const size_t bytes = pe_dtype_bytes(waves->dtype), row = region->columns * bytes;
    unsigned char *to = out;
    memset(out, 0, region->units * row);
    for (size_t u = region->first; u < region->first + region->units; u++, to += row) {
        const size_t at = u / 2 * 2; /* of its two numbers: parts begin and end at even columns */
        if (at >= region->column && at < region->column + region->columns)
            put_row(waves, u / 2, u % 2, to + (at - region->column) * bytes);
    }
    return PE_OK;
}

static pe_status plan_offset(pe_values *values, pe_plan *out, pe_problem *why)
{
    const size_t width = pe_values_size(values, "d_model");
    const pe_dtype dtype = pe_values_dtype(values);
    const bool matrix = pe_values_choice(values, "form") == MATRIX;
    const pe_shape shape =
        matrix ? (pe_shape){2, {width, width}} : (pe_shape){3, {width / 2, 2, 2}};
    if (width % 2 != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "d_model", "d_model must be even, got %zu",
                       width);
    PE_TRY(pe_plan_add_tensor(out, matrix ? "matrix" : "rotations", dtype, &shape,
                              matrix ? width : 4, why));
    PE_TRY(pe_plan_begin_array(out, why));
    out->fill = matrix ? fill_matrix : fill_blocks;
    out->makes_parts = matrix;
    /* sin and cos of offset * w_i, as elements 2i and 2i + 1: the table of one position. */
    pe_array *waves = out->state;
    pe_sinusoid sinusoid;
    pe_sinusoid_spec spec = pe_sinusoid_read(values, width);
    spec.layout = PE_SINUSOIDAL_INTERLEAVED;
    const pe_positions offset = pe_positions_range(pe_values_int(values, "offset"), 1, 1);
    const pe_region row = {.units = 1, .columns = width};
    pe_status status = pe_sinusoid_make(&spec, out->tables, &sinusoid, why);
    if (status == PE_OK)
        status = pe_array_make(dtype, &(pe_shape){1, {width}}, waves, why);
    if (status == PE_OK)
        status = pe_sinusoid_fill(&sinusoid, &offset, &row, waves->data, why);
    pe_sinusoid_free(&sinusoid);
    return status;
}

const pe_resource pe_sinusoidal_offset = {
    PE_NAMED("sinusoidal", "/offset"),
    .kind = PE_TABLE,
    .summary = "The rotations that turn the encoding of one position into that of another.",
    .formula = "PE(pos + k) = M_k PE(pos), M_k,i = [cos(k w_i) sin(k w_i); -sin(k w_i) cos(k w_i)] "
               "on (sin, cos), w_i = base^(-2i/d_model)",
    .labels = PE_LABELS({.axes = "row, column", .value = "rotation"}),
    .source = "Vaswani et al. 2017, arXiv:1706.03762, section 3.5",
    .param_sets = {PE_PARAMS(shift_params), &pe_sinusoidal_base_params, PE_PARAMS(form_params),
                   &pe_params_output_exact},
    .plan = plan_offset,
};
