/* SPDX-License-Identifier: MIT */
/* sinusoidal.c - the table of sines and cosines of the Transformer paper, and its relatives. */
#include "encodings/sinusoidal.h"

#include <stdlib.h>

#include "encodings/registry.h"

static const pe_param params[] = {
    {.name = "d_model",
     .kind = PE_KIND_INT,
     .required = true,
     .by_model = true,
     .min = 1,
     .max = PE_SINUSOIDAL_WIDTH_MAX,
     .unit = "channels",
     .help = "Width of a row.",
     .example = "512"},
    PE_PARAM_MODEL,
    PE_SINUSOIDAL_BASE,
    PE_SINUSOIDAL_LAYOUT,
    PE_SINUSOIDAL_FREQ_SHIFT,
    PE_SINUSOIDAL_SCALE,
    PE_PARAM_POSITIONS,
    PE_PARAM_DTYPE,
    PE_PARAM_NUMERICS,
};

typedef struct table {
    pe_sinusoid sinusoid;
    pe_positions positions;
} table;

static void free_table(void *state)
{
    table *t = state;
    pe_sinusoid_free(&t->sinusoid);
    pe_positions_free(&t->positions);
    free(t);
}

static pe_status fill(const pe_plan *plan, size_t t, size_t first, size_t units, void *out,
                      pe_problem *why)
{
    const table *state = plan->state;
    return pe_sinusoid_rows(&state->sinusoid, &state->positions, first, units,
                            plan->tensors[t].dtype, out, why);
}

static pe_status plan_table(pe_values *values, struct pe_tables *tables, const pe_limits *limits,
                            pe_plan *out, pe_problem *why)
{
    const size_t width = (size_t)pe_values_int(values, "d_model");
    const pe_positions *positions = &pe_values_find(values, "positions")->positions;
    const pe_shape shape = {2, {positions->count, width}};
    pe_status status = pe_plan_add_tensor(
        out, limits, "table", (pe_dtype)pe_values_choice(values, "dtype"), &shape, width, why);
    if (status != PE_OK)
        return status;
    table *state = calloc(1, sizeof *state);
    if (state == NULL)
        return pe_fail_memory(why);
    const pe_sinusoid_spec spec = pe_sinusoid_read(values, width);
    status = pe_sinusoid_make(&spec, tables, &state->sinusoid, why);
    if (status == PE_OK)
        status = pe_positions_copy(positions, &state->positions, why);
    if (status != PE_OK) {
        free_table(state);
        return status;
    }
    out->state = state;
    out->free_state = free_table;
    out->fill = fill;
    return PE_OK;
}

/**
 * The table of any positions.
 *
 * Source    Vaswani et al. 2017, arXiv:1706.03762, section 3.5; freq_shift 1 is tensor2tensor,
 *           fairseq, M2M-100 and Whisper; with freq_shift and scale, diffusers' timesteps.
 *           fairseq and M2M-100 count tokens from padding_idx + 1 on and give padding a row of
 *           zeros: that is a rule about tokens, and no position's row is zero here.
 * Shapes    [positions, d_model].
 * Accuracy  correctly rounded, or the float32 reference path.
 * Errors    INVALID_PARAMETER: freq_shift leaves nothing to divide by.
 */
const pe_resource pe_sinusoidal = {
    .path = "/v1/sinusoidal",
    .encoding = "sinusoidal",
    .name = "sinusoidal",
    .kind = PE_TABLE,
    .summary = "Sinusoidal positional encodings, one row per position.",
    .formula = PE_SINUSOIDAL_FORMULA,
    .source = PE_SINUSOIDAL_SOURCE,
    .params = params,
    .n_params = PE_LEN(params),
    .plan = plan_table,
};
