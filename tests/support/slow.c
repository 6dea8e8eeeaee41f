/* SPDX-License-Identifier: MIT */
/* slow.c - an independent model of the encodings, straight from the formulas in MPFR. */
#include "support/slow.h"

#include <string.h>

/* MPFR's own rounding to a type of that precision and least exponent. */
static double round_small(int precision, long emin, long emax, mpfr_srcptr x)
{
    const mpfr_exp_t saved_min = mpfr_get_emin(), saved_max = mpfr_get_emax();
    mpfr_t y;
    mpfr_init2(y, precision);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    int ternary = mpfr_set(y, x, MPFR_RNDN);
    ternary = mpfr_check_range(y, ternary, MPFR_RNDN);
    mpfr_subnormalize(y, ternary, MPFR_RNDN);
    const double result = mpfr_get_d(y, MPFR_RNDN);
    mpfr_set_emin(saved_min);
    mpfr_set_emax(saved_max);
    mpfr_clear(y);
    return result + 0.0;
}

double slow_round(pe_dtype dtype, mpfr_srcptr x)
{
    /* {precision, emin, emax} of the types, MPFR counting significands in [1/2, 1). */
    static const struct {
        int precision;
        long emin, emax;
    } types[] = {[PE_FLOAT32] = {24, -148, 128},
                 [PE_FLOAT64] = {53, -1073, 1024},
                 [PE_FLOAT16] = {11, -23, 16},
                 [PE_BFLOAT16] = {8, -132, 128}};
    /* A rational number halfway between two of the type comes out of powers and quotients some last
     * bits beside it, on either side. Without its last 96 bits it is halfway again; an irrational
     * one is not met so near. */
    const mpfr_prec_t bits = mpfr_get_prec(x);
    mpfr_t settled;
    mpfr_init2(settled, bits > 192 ? bits - 96 : bits);
    mpfr_set(settled, x, MPFR_RNDN);
    const double rounded =
        round_small(types[dtype].precision, types[dtype].emin, types[dtype].emax, settled);
    mpfr_clear(settled);
    return rounded;
}

void slow_frequency(double base, size_t i, double den, mpfr_ptr out)
{
    mpfr_t exponent;
    if (i == 0) {
        mpfr_set_ui(out, 1, MPFR_RNDN);
        return;
    }
    mpfr_init2(exponent, SLOW_BITS);
    mpfr_set_d(exponent, -(double)i, MPFR_RNDN);
    mpfr_div_d(exponent, exponent, den, MPFR_RNDN);
    mpfr_set_d(out, base, MPFR_RNDN);
    mpfr_pow(out, out, exponent, MPFR_RNDN);
    mpfr_clear(exponent);
}

/* out = theta * stretch^(d/(d-2)), stretch = factor (ntk) or factor*L/M - (factor - 1) (dynamic, L
 * > M). */
static void scaled_base(const slow_rope *rope, mpfr_ptr out)
{
    const bool dynamic = strcmp(rope->type, "dynamic") == 0;
    mpfr_t stretch, exponent;
    mpfr_inits2(SLOW_BITS, stretch, exponent, (mpfr_ptr)NULL);
    mpfr_set_d(stretch, rope->factor, MPFR_RNDN);
    if (dynamic) {
        mpfr_mul_d(stretch, stretch, rope->seq_len, MPFR_RNDN);
        mpfr_div_d(stretch, stretch, rope->max_position_embeddings, MPFR_RNDN);
        mpfr_sub_d(stretch, stretch, rope->factor, MPFR_RNDN);
        mpfr_add_ui(stretch, stretch, 1, MPFR_RNDN);
    }
    mpfr_set_d(exponent, rope->dim, MPFR_RNDN);
    mpfr_div_d(exponent, exponent, rope->dim - 2, MPFR_RNDN);
    mpfr_pow(out, stretch, exponent, MPFR_RNDN);
    mpfr_mul_d(out, out, rope->theta, MPFR_RNDN);
    mpfr_clears(stretch, exponent, (mpfr_ptr)NULL);
}

void slow_rope_frequency(const slow_rope *rope, size_t i, mpfr_ptr out)
{
    const bool dynamic = strcmp(rope->type, "dynamic") == 0;
    mpfr_t base, exponent;
    mpfr_inits2(SLOW_BITS, base, exponent, (mpfr_ptr)NULL);
    mpfr_set_d(base, rope->theta, MPFR_RNDN);
    if (strcmp(rope->type, "ntk") == 0 ||
        (dynamic && rope->seq_len > rope->max_position_embeddings))
        scaled_base(rope, base);
    mpfr_set_d(exponent, -2 * (double)i, MPFR_RNDN);
    mpfr_div_d(exponent, exponent, rope->dim, MPFR_RNDN);
    mpfr_pow(out, base, exponent, MPFR_RNDN);
    if (strcmp(rope->type, "linear") == 0)
        mpfr_div_d(out, out, rope->factor, MPFR_RNDN);
    mpfr_clears(base, exponent, (mpfr_ptr)NULL);
}

double slow_wave(mpfr_srcptr frequency, double position, bool cosine, pe_dtype dtype)
{
    mpfr_t angle;
    mpfr_init2(angle, SLOW_BITS);
    mpfr_mul_d(angle, frequency, position, MPFR_RNDN);
    if (cosine)
        mpfr_cos(angle, angle, MPFR_RNDN);
    else
        mpfr_sin(angle, angle, MPFR_RNDN);
    const double result = slow_round(dtype, angle);
    mpfr_clear(angle);
    return result;
}
