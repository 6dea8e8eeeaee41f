/* SPDX-License-Identifier: MIT */
/* pair_ramp.c - a ramp over the pairs, from those that turn often to those that turn rarely. */
#include <math.h>

#include "encodings/rope/types/rope_types.h"

/* out = d ln(original / (2 pi turns)) / (2 ln theta): the pair that turns so often over it. */
static void correction_dim(const pe_rope_formula *f, double turns, mpfr_srcptr log_theta,
                           mpfr_ptr out)
{
    mpfr_const_pi(out, MPFR_RNDN);
    mpfr_mul_2ui(out, out, 1, MPFR_RNDN);
    mpfr_mul_d(out, out, turns, MPFR_RNDN);
    mpfr_d_div(out, f->key[PE_ROPE_ORIGINAL], out, MPFR_RNDN);
    mpfr_log(out, out, MPFR_RNDN);
    mpfr_mul_d(out, out, f->dim / 2, MPFR_RNDN);
    mpfr_div(out, out, log_theta, MPFR_RNDN);
}

/* pi keeps either end from being an integer, so their floor and ceiling are decided. */
void pe_rope_pair_ramp_ends(const pe_rope_formula *formula, const pe_rope_pair_ramp *ramp,
                            mpfr_ptr low, mpfr_ptr high)
{
    mpfr_t log_theta;
    mpfr_init2(log_theta, mpfr_get_prec(low));
    mpfr_set_d(log_theta, formula->theta, MPFR_RNDN);
    mpfr_log(log_theta, log_theta, MPFR_RNDN);
    correction_dim(formula, ramp->fast, log_theta, low);
    correction_dim(formula, ramp->slow, log_theta, high);
    mpfr_clear(log_theta);
    if (ramp->whole) {
        mpfr_floor(low, low);
        mpfr_ceil(high, high);
    }
    if (mpfr_sgn(low) < 0)
        mpfr_set_ui(low, 0, MPFR_RNDN);
    if (mpfr_cmp_d(high, formula->dim - 1) > 0)
        mpfr_set_d(high, formula->dim - 1, MPFR_RNDN);
}

/* More than an end is off that was computed in float64. */
#define SURE 1e-4

/* An end in float64, if it is surely between the same integers as the exact one. */
static bool end64(const pe_rope_formula *f, double turns, double *out)
{
    static const double two_pi = 6.283185307179586;
    const double log_theta = log(f->theta);
    *out = f->dim / 2 * log(f->key[PE_ROPE_ORIGINAL] / (two_pi * turns)) / log_theta;
    return log_theta > 1e-6 && fabs(*out) < 0x1p32 && fabs(*out - round(*out)) > SURE;
}

void pe_rope_pair_ramp_round(const pe_rope_formula *formula, const pe_rope_pair_ramp *ramp,
                             double *low, double *high)
{
    mpfr_t from, to;
    if (ramp->whole && end64(formula, ramp->fast, low) && end64(formula, ramp->slow, high)) {
        *low = fmax(floor(*low), 0);
        *high = fmin(ceil(*high), formula->dim - 1) + 0.0;
        return;
    }
    mpfr_inits2(256, from, to, (mpfr_ptr)0);
    pe_rope_pair_ramp_ends(formula, ramp, from, to);
    *low = mpfr_get_d(from, MPFR_RNDN) + 0.0;
    *high = mpfr_get_d(to, MPFR_RNDN) + 0.0;
    mpfr_clears(from, to, (mpfr_ptr)0);
}

bool pe_rope_pair_ramp_is_beside(size_t i, double low, double high, mpfr_ptr out)
{
    const double pair = (double)i;
    if (low > high || (pair > low - SURE && pair < high + SURE))
        return false;
    mpfr_set_ui(out, pair > high, MPFR_RNDN);
    return true;
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
