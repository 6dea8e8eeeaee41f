/* SPDX-License-Identifier: MIT */
/* rope_frequencies.c - the frequencies of a rotary embedding, scaled and compared. */
#include <stdlib.h>

#include "encodings/rope/rope.h"
#include "encodings/rope/rope_mrope.h"
#include "encodings/rope/rope_params.h"
#include "encodings/rope/rope_spectrum.h"

/* By whether the long divisors of longrope hold; of other types the first three. */
static const pe_spectrum_row rows[2][5] = {
    {{"inv_freq", PE_SPECTRUM_FREQUENCY, PE_SPECTRUM_SCALED},
     {"wavelength", PE_SPECTRUM_WAVELENGTH, PE_SPECTRUM_SCALED},
     {"stretch", PE_SPECTRUM_STRETCH, PE_SPECTRUM_SCALED},
     {"inv_freq_short", PE_SPECTRUM_FREQUENCY, PE_SPECTRUM_SCALED},
     {"inv_freq_long", PE_SPECTRUM_FREQUENCY, PE_SPECTRUM_OTHER}},
    {{"inv_freq", PE_SPECTRUM_FREQUENCY, PE_SPECTRUM_SCALED},
     {"wavelength", PE_SPECTRUM_WAVELENGTH, PE_SPECTRUM_SCALED},
     {"stretch", PE_SPECTRUM_STRETCH, PE_SPECTRUM_SCALED},
     {"inv_freq_short", PE_SPECTRUM_FREQUENCY, PE_SPECTRUM_OTHER},
     {"inv_freq_long", PE_SPECTRUM_FREQUENCY, PE_SPECTRUM_SCALED}},
};

static pe_status plan(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_rope rope, other;
    PE_TRY(pe_rope_plan(values, out, &rope, why));
    pe_plan_add_scalar(out, "attention_factor", pe_rope_wave_attention_factor(&rope));
    if (rope.formula->type->add_scalars != NULL)
        rope.formula->type->add_scalars(rope.formula, out);
    pe_rope_mrope_warn(&rope, out);
    pe_rope_warnings_add(&rope, NULL, out);
    PE_TRY(pe_rope_type_keys_other(values, &rope, &other, why));
    pe_plan_owns(out, other.formula, free);
    const bool two = other.formula != NULL;
    const pe_rope_spectrum spectrum = {.rope = &rope,
                                       .other = two ? &other : NULL,
                                       .dtype = pe_values_dtype(values),
                                       .rows = rows[two && pe_rope_beyond(rope.formula)],
                                       .n = two ? 5 : 3};
    return pe_rope_spectrum_plan(&spectrum, out, why);
}

/**
 * Shapes  inv_freq, wavelength, stretch: [rotary_dim/2]. longrope adds inv_freq_short and
 *         inv_freq_long, one of which is inv_freq. mrope_section adds pair_axis [rotary_dim/2],
 *         int32: the axis whose position rotates the pair.
 */
const pe_resource pe_rope_frequencies = {
    PE_NAMED("rope", "/frequencies"),
    .kind = PE_TABLE,
    .summary = "Rotary frequencies, their wavelengths, and the stretch by scaling.",
    .formula = "theta_i = rope_theta^(-2i/rotary_dim), scaled as rope_type says; "
               "wavelength_i = 2 pi / theta_i; stretch_i = unscaled theta_i / theta_i",
    .labels = PE_LABELS({"inv_freq", "pair", "inv_freq [radians per position]"},
                        {"wavelength", "pair", "wavelength [positions]"}, {.axes = "pair"}),
    .source = PE_ROPE_SOURCE,
    .param_sets = {&pe_rope_head_dim_params, &pe_params_model, PE_ROPE_SETS, &pe_params_output},
    .nested = "rope_parameters",
    .plan = plan,
};
