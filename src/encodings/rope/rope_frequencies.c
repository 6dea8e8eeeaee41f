/* SPDX-License-Identifier: MIT */
/* rope_frequencies.c - the frequencies of a rotary embedding, scaled and compared. */
#include "encodings/rope/rope.h"
#include "encodings/rope/rope_mrope.h"
#include "encodings/rope/rope_params.h"
#include "encodings/rope/rope_spectrum.h"

#define INV_FREQ                                                                                   \
    {                                                                                              \
        "inv_freq", PE_SPECTRUM_FREQUENCY, PE_SPECTRUM_SCALED                                      \
    }
#define WAVELENGTH                                                                                 \
    {                                                                                              \
        "wavelength", PE_SPECTRUM_WAVELENGTH, PE_SPECTRUM_SCALED                                   \
    }
#define STRETCH                                                                                    \
    {                                                                                              \
        "stretch", PE_SPECTRUM_STRETCH, PE_SPECTRUM_SCALED                                         \
    }

static const pe_spectrum_row one_set[] = {INV_FREQ, WAVELENGTH, STRETCH};
/* Those of longrope, by whether the long divisors hold. */
static const pe_spectrum_row two_sets[][5] = {
    {INV_FREQ,
     WAVELENGTH,
     STRETCH,
     {"inv_freq_short", PE_SPECTRUM_FREQUENCY, PE_SPECTRUM_SCALED},
     {"inv_freq_long", PE_SPECTRUM_FREQUENCY, PE_SPECTRUM_OTHER}},
    {INV_FREQ,
     WAVELENGTH,
     STRETCH,
     {"inv_freq_short", PE_SPECTRUM_FREQUENCY, PE_SPECTRUM_OTHER},
     {"inv_freq_long", PE_SPECTRUM_FREQUENCY, PE_SPECTRUM_SCALED}},
};

static pe_status plan_spectrum(const pe_rope *rope, const pe_values *values, pe_plan *out,
                               pe_problem *why)
{
    pe_rope other;
    pe_rope_spectrum spectrum = {
        .rope = rope, .dtype = pe_values_dtype(values), .rows = one_set, .n = PE_LEN(one_set)};
    PE_TRY(pe_rope_type_keys_other(values, rope, &other, why));
    if (other.formula != NULL) {
        spectrum.other = &other;
        spectrum.rows = two_sets[pe_rope_beyond(rope->formula)];
        spectrum.n = PE_LEN(two_sets[0]);
    }
    pe_status status = pe_rope_spectrum_plan(&spectrum, out, why);
    pe_rope_free(&other);
    return status;
}

static pe_status plan(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_rope rope;
    PE_TRY(pe_rope_read(values, out->tables, &rope, why));
    pe_plan_add_scalar(out, "attention_factor", pe_rope_wave_attention_factor(&rope));
    if (rope.formula->type->add_scalars != NULL)
        rope.formula->type->add_scalars(rope.formula, out);
    pe_rope_mrope_warn(&rope, out);
    pe_rope_warnings_add(&rope, NULL, out);
    pe_status status = plan_spectrum(&rope, values, out, why);
    pe_rope_free(&rope);
    return status;
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
