/* SPDX-License-Identifier: MIT */
/* sinusoidal.c - the table of sines and cosines of the Transformer paper, and its relatives. */
#include "encodings/sinusoidal/sinusoidal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"

static const pe_param width_params[] = {
    PE_PARAM("d_model", INT, .required = true, .by_model = true, .min = 1,
             .max = PE_SINUSOIDAL_WIDTH_MAX, .plan_work = PE_PLAN_WORK_PRODUCT, .unit = "channels",
             .help = "Width of a row.", .example = "64"),
};

static const pe_param padding_params[] = {
    PE_PARAM("padding_idx", INT, .optional = true, .min = 0, .max = 0x1p53 - 1, .unit = "tokens",
             .help = "The position whose row is zero. fairseq and M2M-100 use 1, for padding. By "
                     "default no row is zero.",
             .example = "1"),
};

typedef struct table {
    pe_sinusoid sinusoid;
    pe_positions positions;
    bool padded; /* the row of position `padding` is zero */
    double padding;
} table;

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    const table *state = plan->state;
    const size_t row_bytes = region->columns * pe_dtype_bytes(state->sinusoid.dtype);
    const pe_status status =
        pe_sinusoid_fill(&state->sinusoid, &state->positions, region, out, why);
    for (size_t u = 0; state->padded && u < region->units; u++)
        if (pe_positions_at(&state->positions, region->first + u) == state->padding)
            memset((char *)out + u * row_bytes, 0, row_bytes);
    return status;
}

/* Of float32 angles from 2^64 on, sines come from MPFR. They are those of the first frequencies.
 * Float32 arithmetic takes so much for a row, too. */
#define FAR_WORK 500
#define ROW_WORK 8

static size_t work_of_element(const pe_values *values)
{
    double least, most;
    pe_positions_bounds(pe_values_positions(values, "positions"), &least, &most);
    const double far = fmax(fabs(least), fabs(most)) * pe_values_real(values, "scale") / 0x1p64;
    if (!pe_values_present(values, "numerics") ||
        pe_values_choice(values, "numerics") != PE_NUMERICS_FLOAT32)
        return 1;
    const size_t width = pe_values_size(values, "d_model"), near = 1 + ROW_WORK / width;
    const double share = log(far) / log(fmax(pe_values_real(values, "base"), 1.0001));
    return far > 1 ? near + (size_t)(FAR_WORK * fmin(share + 2.0 / (double)width, 1)) : near;
}

static pe_status plan_table(pe_values *values, pe_plan *out, pe_problem *why)
{
    const size_t width = pe_values_size(values, "d_model");
    const pe_shape shape = {2, {pe_values_positions(values, "positions")->count, width}};
    PE_TRY(pe_plan_add_tensor(out, "table", pe_values_dtype(values), &shape, width, why));
    PE_TRY(pe_plan_begin(out, sizeof(table), fill, why));
    table *state = out->state;
    PE_TRY(pe_plan_set_work(out, 0, work_of_element(values), why));
    out->makes_parts = true;
    state->padded = pe_values_present(values, "padding_idx");
    if (state->padded)
        state->padding = (double)pe_values_int(values, "padding_idx");
    const pe_sinusoid_spec spec = pe_sinusoid_read(values, width);
    PE_TRY(pe_plan_positions(out, values, "positions", &state->positions, why));
    return pe_sinusoid_plan(&spec, &state->positions, 0, out, &state->sinusoid, why);
}

/**
 * Source    freq_shift 1 is tensor2tensor, fairseq, M2M-100 and Whisper; with freq_shift and scale,
 *           diffusers' timesteps. fairseq and M2M-100 count tokens from padding_idx + 1 on and keep
 *           a row of zeros for padding.
 * Shapes    [positions, d_model].
 * Accuracy  correctly rounded, or the float32 reference path.
 */
const pe_resource pe_sinusoidal = {
    PE_NAMED("sinusoidal", ""),
    .kind = PE_TABLE,
    .summary = "Sinusoidal positional encodings, one row per position.",
    .formula = PE_SINUSOIDAL_FORMULA,
    .labels = PE_LABELS({.axes = "positions, dimension", .value = "value"}),
    .source = PE_SINUSOIDAL_SOURCE,
    .param_sets = {PE_PARAMS(width_params), &pe_params_model, &pe_sinusoidal_params,
                   PE_PARAMS(padding_params), &pe_params_positions, &pe_params_output},
    .plan = plan_table,
};
