/* SPDX-License-Identifier: MIT */
/* ltx.c - frequencies that rise from pi / 2, the same ones for each axis. */
#include "base/power.h"
#include "encodings/rope/types/rope_types.h"

/* Bits beyond out's precision that intermediate results keep. */
enum { GUARD = 64 };

/* Pairs of one frequency follow each other. */
static void scale(const void *formula, size_t i, mpfr_ptr theta)
{
    const pe_rope_formula *f = formula;
    const size_t axes = (size_t)f->low, n = (size_t)f->dim / 2 / axes, j = i / axes;
    mpfr_t pi;
    mpfr_init2(pi, mpfr_get_prec(theta) + GUARD);
    mpfr_set_d(pi, f->theta, MPFR_RNDN);
    pe_power_raise(pi, (double)j, n > 1 ? (double)(n - 1) : 1);
    mpfr_set(theta, pi, MPFR_RNDN);
    pe_power_pi(pi);
    mpfr_mul(theta, theta, pi, MPFR_RNDN);
    mpfr_div_2ui(theta, theta, 1, MPFR_RNDN);
    mpfr_clear(pi);
}

static pe_status check(const pe_values *values, pe_rope_formula *formula, pe_problem *why)
{
    const pe_value *sections = pe_values_find(values, "mrope_section");
    const size_t axes = sections != NULL && sections->present ? sections->list_length : 1;
    formula->low = (double)axes;
    if ((size_t)formula->dim / 2 % axes == 0)
        return PE_OK;
    return pe_values_invalid(values, "mrope_section", why,
                             "each of the %zu axes must have as many of the %zu pairs with "
                             "rope_type ltx",
                             axes, (size_t)formula->dim / 2);
}

/**
 * theta_i = pi / 2 theta^(j / (n - 1)), j = floor(i / axes), n = pairs / axes.
 *
 * Source  huggingface/diffusers 0.42.1 (PyPI), models/transformers/transformer_ltx2.py,
 *         LTX2AudioVideoRotaryPosEmbed, with double_precision.
 */
const pe_rope_type pe_rope_ltx = {
    .name = "ltx",
    .exact_only = true,
    .check = check,
    .scale = scale,
};
