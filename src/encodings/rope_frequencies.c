/* SPDX-License-Identifier: MIT */
/* rope_frequencies.c - the frequencies of a rotary embedding, scaled and compared. */
#include "encodings/rope_spectrum.h"
#include "encodings/rope_params.h"

static const pe_param params[] = {
    {PE_ROPE_PARAM_HEAD_DIM, .required = true},
    PE_ROPE_PARAMS,
    PE_PARAM_DTYPE,
    PE_PARAM_NUMERICS,
};

static const pe_spectrum_row tensors[] = {
    {"inv_freq", PE_SPECTRUM_FREQUENCY, true},
    {"wavelength", PE_SPECTRUM_WAVELENGTH, true},
    {"stretch", PE_SPECTRUM_STRETCH, true},
};

static pe_status plan(pe_values *values, pe_tables *tables, const pe_limits *limits, pe_plan *out,
                      pe_problem *why)
{
    pe_rope rope;
    pe_status status = pe_rope_read(values, &rope, why);
    if (status != PE_OK)
        return status;
    pe_plan_add_scalar(out, "attention_factor", pe_rope_attention_factor(&rope));
    if (rope.formula->type->facts != NULL)
        rope.formula->type->facts(rope.formula, out);
    pe_rope_mrope_warn(&rope, out);
    status = pe_rope_spectrum_plan(&rope, tables, (pe_dtype)pe_values_choice(values, "dtype"),
                                   tensors, PE_LEN(tensors), limits, out, why);
    pe_rope_free(&rope);
    return status;
}

/**
 * Source  theta_i: Su et al. 2021, arXiv:2104.09864, section 3.4.2, equation 15; types: see
 *         rope_types.c.
 * Shapes  inv_freq, wavelength, stretch: [rotary_dim/2]; with mrope_section pair_axis
 * [rotary_dim/2], int32: the axis whose position turns the pair.
 */
const pe_resource pe_rope_frequencies = {
    .path = "/v1/rope/frequencies",
    .encoding = "rope",
    .name = "rope/frequencies",
    .kind = PE_TABLE,
    .summary = "Rotary frequencies with their wavelengths, and how far scaling stretches them.",
    .formula = "theta_i = rope_theta^(-2i/rotary_dim), scaled as rope_type says; "
               "wavelength_i = 2 pi / theta_i; stretch_i = unscaled theta_i / theta_i",
    .source = PE_ROPE_SOURCE,
    .params = params,
    .n_params = PE_LEN(params),
    .nested = "rope_parameters",
    .plan = plan,
};
