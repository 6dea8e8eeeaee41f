/* SPDX-License-Identifier: MIT */
/* rope_scaled_base.c - what stretching a context does to the base and to each frequency. */
#include <stdlib.h>

#include "encodings/rope/rope_spectrum.h"
#include "encodings/rope/rope_params.h"
#include "exact/round.h"

/* b*s, for comparison: only the first pair keeps its frequency. */
static void product_base(const void *formula, mpfr_ptr out)
{
    const pe_rope_formula *f = formula;
    mpfr_set_d(out, f->theta, MPFR_RNDN);
    mpfr_mul_d(out, out, f->key[PE_ROPE_FACTOR], MPFR_RNDN);
}

static const pe_rope_type product = {.name = "linear", .base = product_base};

static const char *const method_names[] = {"ntk", "dynamic", "linear", NULL};
static const pe_rope_type *const methods[] = {&pe_rope_ntk, &pe_rope_dynamic, &product};

static const pe_param method_params[] = {
    PE_ROPE_FACTOR_ROW(true, NULL),
    PE_PARAM("method", CHOICE, .choices = method_names,
             .help = "The scaled base. ntk: b*s^(d/(d-2)). dynamic: the same, where s grows with "
                     "seq_len. linear: b*s.",
             .example = "ntk"),
};

static const pe_spectrum_row tensors[] = {
    {"inv_freq", PE_SPECTRUM_FREQUENCY, PE_SPECTRUM_UNSCALED},
    {"scaled_inv_freq", PE_SPECTRUM_FREQUENCY, PE_SPECTRUM_SCALED},
    {"wavelength", PE_SPECTRUM_WAVELENGTH, PE_SPECTRUM_UNSCALED},
    {"scaled_wavelength", PE_SPECTRUM_WAVELENGTH, PE_SPECTRUM_SCALED},
    {"stretch", PE_SPECTRUM_STRETCH, PE_SPECTRUM_SCALED},
};

static pe_status check(const pe_values *values, const pe_rope_type *method, pe_problem *why)
{
    static const char *const needed[] = {"seq_len", "max_position_embeddings"};
    pe_status status = PE_OK;
    pe_problem mistake;
    const int64_t dim = pe_values_int(values, "head_dim");
    const bool dynamic = method == &pe_rope_dynamic;
    if (dim % 2 != 0)
        status = pe_fail(why, PE_INVALID_PARAMETER, "head_dim", "head_dim must be even, got %lld",
                         (long long)dim);
    else if (dim < (int64_t)method->min_dim)
        status = pe_fail(why, PE_INVALID_PARAMETER, "method",
                         "method %s needs a head_dim of at least %u: %s", method->name,
                         method->min_dim, method->min_dim_is);
    if (!dynamic && pe_values_given(values, "seq_len"))
        return PE_ALSO(status, pe_fail(&mistake, PE_INVALID_PARAMETER, "seq_len",
                                       "seq_len is not read by method %s", method->name));
    for (size_t i = 0; dynamic && i < PE_LEN(needed); i++)
        if (!pe_values_present(values, needed[i]))
            status = PE_ALSO(status, pe_fail(&mistake, PE_MISSING_PARAMETER, needed[i],
                                             "method dynamic needs %s", needed[i]));
    return status;
}

static pe_status plan(pe_values *values, pe_plan *out, pe_problem *why)
{
    const pe_rope_type *method = methods[pe_values_choice(values, "method")];
    PE_TRY(check(values, method, why));
    const size_t dim = pe_values_size(values, "head_dim");
    pe_rope rope = {.head_dim = dim, .rotary_dim = dim, .pairs = dim / 2, .tables = out->tables};
    rope.formula = pe_rope_formula_make(method, pe_values_real(values, "rope_theta"), dim, 0,
                                        &rope.formula_bytes);
    if (rope.formula == NULL)
        return pe_fail_memory(why);
    pe_plan_owns(out, rope.formula, free);
    rope.formula->key[PE_ROPE_FACTOR] = pe_values_real(values, "factor");
    if (method == &pe_rope_dynamic) {
        rope.formula->key[PE_ROPE_SEQ_LEN] = (double)pe_values_int(values, "seq_len");
        rope.formula->key[PE_ROPE_MAX_POSITIONS] =
            (double)pe_values_int(values, "max_position_embeddings");
    }
    pe_plan_add_scalar(out, "base", rope.formula->theta);
    pe_plan_add_scalar(out, "scaled_base", pe_rope_wave_base(&rope));
    const pe_rope_spectrum spectrum = {
        .rope = &rope, .dtype = pe_values_dtype(values), .rows = tensors, .n = PE_LEN(tensors)};
    return pe_rope_spectrum_plan(&spectrum, out, why);
}

/** dynamic: as _compute_dynamic_ntk_parameters in huggingface/transformers at b4b5244c does it.
 * Shapes  all [head_dim/2]. */
const pe_resource pe_rope_scaled_base = {
    PE_NAMED("rope", "/scaled-base"),
    .kind = PE_TABLE,
    .summary = "The base for a stretched context, and every frequency before and after.",
    .formula = "scaled_base = b * s^(d/(d-2)); dynamic: s = factor*seq_len/max_position_embeddings "
               "- (factor - 1); linear: b * s",
    .labels =
        PE_LABELS({"inv_freq", "pair", "inv_freq [radians per position]"},
                  {"scaled_inv_freq", "pair", "scaled_inv_freq [radians per position]"},
                  {"wavelength", "pair", "wavelength [positions]"},
                  {"scaled_wavelength", "pair", "scaled_wavelength [positions]"}, {.axes = "pair"}),
    .source = "NTK-aware scaled RoPE: bloc97, 2023; dynamic: emozilla, 2023",
    .param_sets = {&pe_rope_head_dim_params, &pe_params_model, &pe_rope_theta_params,
                   PE_PARAMS(method_params), &pe_rope_length_params, &pe_params_output_exact},
    .nested = "rope_parameters",
    .plan = plan,
};
