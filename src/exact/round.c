/* SPDX-License-Identifier: MIT */
/* round.c - correct rounding of anything that MPFR can evaluate: more bits until the result is
 * certain (Ziv's strategy). */
#include "exact/round.h"

#include <math.h>

#include "base/yield.h"
#include "exact/fixed128.h"

#define BITS_MIN 128
#define BITS_MAX 2048

/* Units of work of a value at some bits: microseconds. */
#define ROUND_WORK 256

/* x to the nearest value of dtype, ties to even, in one rounding; subnormals included. */
static double nearest(pe_dtype dtype, mpfr_srcptr x)
{
    if (!mpfr_regular_p(x))
        return mpfr_zero_p(x) ? 0 : mpfr_get_d(x, MPFR_RNDN);
    const pe_precision precision = pe_fixed128_precision(dtype);
    const long room = mpfr_get_exp(x) - precision.least; /* bits between x's first and last place */
    if (room < 0)
        return 0;
    if (room == 0) /* at least half of the least subnormal; just half is a tie, and zero is even */
        return mpfr_min_prec(x) == 1 ? 0 : copysign(ldexp(1, precision.least), mpfr_sgn(x));
    mpfr_t y;
    mpfr_init2(y, room < precision.bits ? room : precision.bits);
    mpfr_set(y, x, MPFR_RNDN);
    const double value = mpfr_get_d(y, MPFR_RNDN);
    mpfr_clear(y);
    return fabs(value) > pe_dtype_max(dtype) ? copysign((double)INFINITY, value) : value;
}

/* The interval that x lies in: x -+ |x| 2^(9 - p), for a relative error below 2^(8 - p). */
static void bracket(mpfr_srcptr x, mpfr_ptr below, mpfr_ptr above)
{
    mpfr_t err;
    mpfr_init2(err, 32);
    mpfr_mul_2si(err, x, 9 - (long)mpfr_get_prec(x), MPFR_RNDN);
    mpfr_set_prec(below, mpfr_get_prec(x) + 16);
    mpfr_set_prec(above, mpfr_get_prec(x) + 16);
    mpfr_sub(below, x, err, MPFR_RNDN);
    mpfr_add(above, x, err, MPFR_RNDN);
    mpfr_clear(err);
}

/* A value that all bits leave open is a tie or has fewer bits: the last bits are noise. */
static void drop_noise(mpfr_ptr x)
{
    mpfr_prec_round(x, BITS_MAX - 32, MPFR_RNDN);
}

double pe_exact_round(pe_dtype dtype, pe_exact_eval eval, const void *context, size_t index)
{
    mpfr_t x, below, above;
    mpfr_inits2(BITS_MIN, x, below, above, (mpfr_ptr)NULL);
    double result = 0;
    for (mpfr_prec_t bits = BITS_MIN; bits <= BITS_MAX; bits *= 2) {
        mpfr_set_prec(x, bits);
        eval(context, index, x);
        pe_yield_spend(ROUND_WORK);
        bracket(x, below, above);
        result = nearest(dtype, below);
        if (result == nearest(dtype, above))
            break;
        if (bits == BITS_MAX) {
            drop_noise(x);
            result = nearest(dtype, x);
        }
    }
    mpfr_clears(x, below, above, (mpfr_ptr)NULL);
    return result == 0 ? 0 : result; /* no -0 */
}

static void split(mpfr_srcptr x, double *hi, double *lo)
{
    mpfr_t rest;
    mpfr_init2(rest, mpfr_get_prec(x) + 64);
    *hi = nearest(PE_FLOAT64, x);
    mpfr_sub_d(rest, x, *hi, MPFR_RNDN);
    *lo = isfinite(*hi) ? nearest(PE_FLOAT64, rest) : 0;
    mpfr_clear(rest);
}

void pe_exact_pair(pe_exact_eval eval, const void *context, size_t index, double *hi, double *lo)
{
    mpfr_t x, below, above;
    mpfr_inits2(BITS_MIN, x, below, above, (mpfr_ptr)NULL);
    for (mpfr_prec_t bits = 2 * BITS_MIN; bits <= BITS_MAX; bits *= 2) {
        double hi2, lo2;
        mpfr_set_prec(x, bits);
        eval(context, index, x);
        bracket(x, below, above);
        split(below, hi, lo);
        split(above, &hi2, &lo2);
        if (*hi == hi2 && *lo == lo2)
            break;
        if (bits == BITS_MAX) {
            drop_noise(x);
            split(x, hi, lo);
        }
    }
    mpfr_clears(x, below, above, (mpfr_ptr)NULL);
}

typedef struct power {
    float x;
    double y;
} power;

static void eval_power(const void *context, size_t index PE_UNUSED, mpfr_ptr out)
{
    const power *p = context;
    mpfr_t y;
    mpfr_init2(y, 53);
    mpfr_set_d(y, p->y, MPFR_RNDN);
    mpfr_set_flt(out, p->x, MPFR_RNDN);
    mpfr_pow(out, out, y, MPFR_RNDN);
    mpfr_clear(y);
}

float pe_exact_powf_double(float x, double y)
{
    const power p = {x, y};
    return (float)pe_exact_round(PE_FLOAT32, eval_power, &p, 0);
}

float pe_exact_powf(float x, float y)
{
    return pe_exact_powf_double(x, (double)y);
}

static void eval_log(const void *context, size_t index PE_UNUSED, mpfr_ptr out)
{
    mpfr_t x;
    mpfr_init2(x, 53);
    mpfr_set_d(x, *(const double *)context, MPFR_RNDN);
    mpfr_log(out, x, MPFR_RNDN);
    mpfr_clear(x);
}

double pe_exact_log(double x)
{
    return x == 1 ? 0 : pe_exact_round(PE_FLOAT64, eval_log, &x, 0);
}
