/* SPDX-License-Identifier: MIT */
/* by_turns.c - kept and stretched, blended by turns over the original context. */
#include "encodings/rope/types/by_turns.h"

/* The blend subtracts: bits enough for low and high factors one ulp apart and any factor. */
enum { GUARD = 128 };

/* turns = original * theta^(-2i/d) / (2 pi): how often pair i turns over the original context */
static void turns_of(const pe_rope_formula *f, size_t i, mpfr_ptr out)
{
    mpfr_t exponent;
    mpfr_init2(exponent, mpfr_get_prec(out));
    mpfr_set_d(exponent, -2 * (double)i, MPFR_RNDN);
    mpfr_div_d(exponent, exponent, f->dim, MPFR_RNDN);
    mpfr_set_d(out, f->theta, MPFR_RNDN);
    mpfr_pow(out, out, exponent, MPFR_RNDN);
    mpfr_mul_d(out, out, f->key[PE_ROPE_ORIGINAL], MPFR_RNDN);
    mpfr_const_pi(exponent, MPFR_RNDN);
    mpfr_div(out, out, exponent, MPFR_RNDN);
    mpfr_div_2ui(out, out, 1, MPFR_RNDN);
    mpfr_clear(exponent);
}

void pe_rope_by_turns(const pe_rope_formula *f, double low, double high, size_t i, mpfr_ptr theta)
{
    mpfr_t s, rest;
    mpfr_inits2(mpfr_get_prec(theta) + GUARD, s, rest, (mpfr_ptr)0);
    turns_of(f, i, s);
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
