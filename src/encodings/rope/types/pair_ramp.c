/* SPDX-License-Identifier: MIT */
/* pair_ramp.c - a ramp over the pairs, from those that turn often to those that turn rarely. */
#include "encodings/rope/types/pair_ramp.h"

#include <math.h>

/* out = d ln(original / (2 pi turns)) / (2 ln theta): the pair that turns so often over it. */
static void correction_dim(const pe_rope_formula *f, double turns, mpfr_ptr out)
{
    mpfr_t log_base;
    mpfr_init2(log_base, mpfr_get_prec(out));
    mpfr_const_pi(out, MPFR_RNDN);
    mpfr_mul_2ui(out, out, 1, MPFR_RNDN);
    mpfr_mul_d(out, out, turns, MPFR_RNDN);
    mpfr_d_div(out, f->key[PE_ROPE_ORIGINAL], out, MPFR_RNDN);
    mpfr_log(out, out, MPFR_RNDN);
    mpfr_mul_d(out, out, f->dim, MPFR_RNDN);
    mpfr_set_d(log_base, f->theta, MPFR_RNDN);
    mpfr_log(log_base, log_base, MPFR_RNDN);
    mpfr_mul_2ui(log_base, log_base, 1, MPFR_RNDN);
    mpfr_div(out, out, log_base, MPFR_RNDN);
    mpfr_clear(log_base);
}

/* pi keeps either end from being an integer, so their floor and ceiling are decided. */
void pe_rope_pair_ramp_ends(const pe_rope_formula *formula, const pe_rope_pair_ramp *ramp,
                            mpfr_ptr low, mpfr_ptr high)
{
    correction_dim(formula, ramp->fast, low);
    correction_dim(formula, ramp->slow, high);
    if (ramp->whole) {
        mpfr_floor(low, low);
        mpfr_ceil(high, high);
    }
    if (mpfr_sgn(low) < 0)
        mpfr_set_ui(low, 0, MPFR_RNDN);
    if (mpfr_cmp_d(high, formula->dim - 1) > 0)
        mpfr_set_d(high, formula->dim - 1, MPFR_RNDN);
}

void pe_rope_pair_ramp_at(size_t i, mpfr_srcptr low, mpfr_srcptr high, mpfr_ptr out)
{
    mpfr_ui_sub(out, i, low, MPFR_RNDN);
    if (mpfr_equal_p(low, high)) {
        mpfr_mul_ui(out, out, 1000, MPFR_RNDN);
    } else {
        mpfr_t span;
        mpfr_init2(span, mpfr_get_prec(out));
        mpfr_sub(span, high, low, MPFR_RNDN);
        mpfr_div(out, out, span, MPFR_RNDN);
        mpfr_clear(span);
    }
    if (mpfr_sgn(out) < 0)
        mpfr_set_ui(out, 0, MPFR_RNDN);
    if (mpfr_cmp_ui(out, 1) > 0)
        mpfr_set_ui(out, 1, MPFR_RNDN);
}

float pe_rope_pair_ramp32(size_t i, double low, double high)
{
    const double end = low == high ? high + 0.001 : high;
    const float above = (float)i - (float)low, span = (float)(end - low);
    return fminf(fmaxf(above / span, 0.0F), 1.0F);
}

pe_status pe_rope_pair_ramp_check(const pe_values *values, const pe_rope_formula *formula,
                                  pe_problem *why)
{
    if (formula->theta > 1)
        return PE_OK;
    return pe_values_invalid(values, "rope_theta", why,
                             "rope_theta must be above 1 with rope_type %s, got %.17g",
                             formula->type->name, formula->theta);
}
