/* SPDX-License-Identifier: MIT */
/* rope_xpos_scale.c - the powers by which xPos scales the pairs of a token. */
#include "encodings/rope_xpos_scale.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

#include "exact/wave.h"

/* Squarings double the relative error: more bits than levels and those of a pe_wide. */
enum { LADDER_BITS = 256, GUARD = 64 };

/* ---- exactly ------------------------------------------------------------------------------------
 */

typedef struct element {
    const pe_xpos_scale *scale;
    double n;
} element;

/* ((10 i + 2 d) / (7 d))^(n / base): zeta_i with gamma = 2/5 as one fraction. */
static void power(const pe_xpos_scale *scale, size_t i, double n, mpfr_ptr out)
{
    mpfr_t zeta, exponent;
    mpfr_inits2(mpfr_get_prec(out) + GUARD, zeta, exponent, (mpfr_ptr)0);
    mpfr_set_d(zeta, 10 * (double)i + 2 * scale->dim, MPFR_RNDN);
    mpfr_div_d(zeta, zeta, 7 * scale->dim, MPFR_RNDN);
    mpfr_set_d(exponent, n, MPFR_RNDN);
    mpfr_div_d(exponent, exponent, scale->base, MPFR_RNDN);
    mpfr_pow(out, zeta, exponent, MPFR_RNDN);
    mpfr_clears(zeta, exponent, (mpfr_ptr)0);
}

static void eval(const void *context, size_t i, mpfr_ptr out)
{
    const element *e = context;
    power(e->scale, i, e->n, out);
}

/* ---- by a ladder of powers ----------------------------------------------------------------------
 */

static pe_wide *ladder(const pe_xpos_scale *scale, bool down, size_t i)
{
    return scale->power + ((down ? scale->pairs : 0) + i) * scale->levels;
}

static void climb(const pe_xpos_scale *scale, bool down, size_t i)
{
    pe_wide *to = ladder(scale, down, i);
    mpfr_t x;
    mpfr_init2(x, LADDER_BITS);
    power(scale, i, down ? -1 : 1, x);
    for (unsigned level = 0; level < scale->levels; level++) {
        to[level] = pe_wide_from_mpfr(x);
        mpfr_sqr(x, x, MPFR_RNDN);
    }
    mpfr_clear(x);
}

/* The product of the powers whose levels are the bits of |n| > 0. */
static pe_wide product(const pe_xpos_scale *scale, size_t i, double n)
{
    const pe_wide *level = ladder(scale, n < 0, i);
    uint64_t bits = (uint64_t)fabs(n);
    pe_wide result = {0};
    bool first = true;
    for (; bits != 0; bits >>= 1, level++) {
        if ((bits & 1) == 0)
            continue;
        result = first ? *level : pe_wide_mul(&result, level);
        first = false;
    }
    return result;
}

pe_status pe_xpos_scale_make(double dim, double base, double most, pe_xpos_scale *out,
                             pe_problem *why)
{
    pe_xpos_scale scale = {.pairs = (size_t)dim / 2, .dim = dim, .base = base, .levels = 1};
    while (ldexp(1, (int)scale.levels) <= most)
        scale.levels++;
    scale.power = calloc(2 * scale.pairs, scale.levels * sizeof *scale.power);
    if (scale.power == NULL)
        return pe_fail_memory(why);
    for (size_t i = 0; i < scale.pairs; i++) {
        climb(&scale, false, i);
        climb(&scale, true, i);
    }
    *out = scale;
    return PE_OK;
}

void pe_xpos_scale_free(pe_xpos_scale *scale)
{
    free(scale->power);
    *scale = (pe_xpos_scale){0};
}

void pe_xpos_scale_pair(const pe_xpos_scale *scale, size_t i, double n, double *hi, double *lo)
{
    const element e = {scale, n};
    *hi = 1;
    *lo = 0;
    if (n == 0)
        return;
    const pe_wide x = product(scale, i, n);
    if (x.err > 60) {
        pe_exact_pair(eval, &e, i, hi, lo);
        return;
    }
    *hi = ldexp((double)(uint64_t)(x.m >> 75), x.exponent - 53); /* both cut, hence exact */
    *lo = ldexp((double)((uint64_t)(x.m >> 22) & (((uint64_t)1 << 53) - 1)), x.exponent - 106);
}

double pe_xpos_scale_round(const pe_xpos_scale *scale, size_t i, double n, pe_dtype dtype)
{
    const element e = {scale, n};
    double result;
    if (n == 0)
        return 1;
    const pe_wide x = product(scale, i, n);
    if (pe_wide_round(&x, dtype, &result))
        return result;
    return pe_exact_round(dtype, eval, &e, i);
}
