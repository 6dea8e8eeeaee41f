/* SPDX-License-Identifier: MIT */
/* by_turns.c - kept and stretched, blended by turns over the original context. */
#include <math.h>

#include "encodings/rope/types/rope_types.h"
#include "base/power.h"

/* The blend subtracts: bits enough for low and high factors one ulp apart and any factor. */
enum { GUARD = 128 };

/* The relative error of doubles here is far below 2^-SURE. */
enum { SURE = 40 };

/* Most pairs turn more than `high` or less than `low` times: theta itself tells it, without a
 * power. `kept`: they turn more. Axes have frequencies of their own. */
static bool is_beside_blend(const pe_rope_formula *f, double low, double high, mpfr_srcptr theta,
                            bool *kept)
{
    const double turns =
        f->key[PE_ROPE_ORIGINAL] * mpfr_get_d(theta, MPFR_RNDN) / 6.283185307179586;
    const double off = ldexp(turns, -SURE);
    *kept = turns - off > high;
    return f->n_inv_freqs == 0 && low <= high && (*kept || turns + off < low);
}

void pe_rope_by_turns(const pe_rope_formula *f, double low, double high, size_t i, mpfr_ptr theta)
{
    mpfr_t s, rest;
    bool kept;
    if (is_beside_blend(f, low, high, theta, &kept)) {
        if (!kept)
            mpfr_div_d(theta, theta, f->key[PE_ROPE_FACTOR], MPFR_RNDN);
        return;
    }
    mpfr_inits2(mpfr_get_prec(theta) + GUARD, s, rest, (mpfr_ptr)0);
    /* turns = original * theta^(-2i/d) / (2 pi): how often pair i turns over the original
     * context */
    mpfr_set_d(s, f->theta, MPFR_RNDN);
    pe_power_raise(s, -2 * (double)i, f->dim);
    mpfr_mul_d(s, s, f->key[PE_ROPE_ORIGINAL], MPFR_RNDN);
    pe_power_pi(rest);
    mpfr_div(s, s, rest, MPFR_RNDN);
    mpfr_div_2ui(s, s, 1, MPFR_RNDN);
    mpfr_sub_d(s, s, low, MPFR_RNDN);
    mpfr_set_d(rest, high, MPFR_RNDN);
    mpfr_sub_d(rest, rest, low, MPFR_RNDN);
    mpfr_div(s, s, rest, MPFR_RNDN); /* +-infinity for the step */
    if (mpfr_sgn(s) < 0)
        mpfr_set_ui(s, 0, MPFR_RNDN);
    if (mpfr_cmp_ui(s, 1) > 0)
        mpfr_set_ui(s, 1, MPFR_RNDN);
    mpfr_ui_sub(rest, 1, s, MPFR_RNDN);
    mpfr_div_d(rest, rest, f->key[PE_ROPE_FACTOR], MPFR_RNDN);
    mpfr_add(s, s, rest, MPFR_RNDN);
    mpfr_mul(theta, theta, s, MPFR_RNDN);
    mpfr_clears(s, rest, (mpfr_ptr)0);
}
