/* SPDX-License-Identifier: MIT */
/* truth.c - sines and cosines straight from their formula, in MPFR alone. */
#include "support/truth.h"

#include <stdbool.h>

#include "support/slow.h"

/* Angles stay below 2^84 turns (2^53 * 10^9), so that sines keep 300 bits after the point. */
#define ANGLE_MORE 208
/* What a value is right to, however the sine cancels. */
#define SURE_BITS 160

uint64_t truth_hard;

static const pe_dtype dtypes[] = {PE_FLOAT32, PE_FLOAT64, PE_FLOAT16, PE_BFLOAT16};

static void pair_init(truth_pair *pair, const truth_formula *formula, size_t i, mpfr_prec_t bits)
{
    pair->formula = formula;
    pair->i = i;
    mpfr_inits2(bits + ANGLE_MORE, pair->theta, pair->factor, (mpfr_ptr)NULL);
    formula->theta(formula->frequencies, i, pair->theta);
    if (formula->amplitude != NULL)
        formula->amplitude(formula->amplitudes, pair->factor);
}

void truth_pair_init(truth_pair *pair, const truth_formula *formula, size_t i)
{
    pair_init(pair, formula, i, TRUTH_BITS);
}

void truth_pair_clear(truth_pair *pair)
{
    mpfr_clears(pair->theta, pair->factor, (mpfr_ptr)NULL);
}

/* Sine and cosine, at their own precision. */
static void evaluate(const truth_pair *pair, double position, mpfr_t value[2])
{
    mpfr_t angle;
    mpfr_init2(angle, mpfr_get_prec(pair->theta));
    mpfr_mul_d(angle, pair->theta, position, MPFR_RNDN);
    mpfr_mul_d(angle, angle, pair->formula->scale, MPFR_RNDN);
    mpfr_sin_cos(value[0], value[1], angle, MPFR_RNDN);
    for (int k = 0; k < 2 && pair->formula->amplitude != NULL; k++)
        mpfr_mul(value[k], value[k], pair->factor, MPFR_RNDN);
    mpfr_clear(angle);
}

/* Rounded to dtype, if everything as near as 2^-SURE_BITS rounds to the same. */
static bool round_surely(pe_dtype dtype, mpfr_srcptr x, double *out)
{
    mpfr_t bound;
    mpfr_init2(bound, TRUTH_BITS);
    mpfr_mul_2si(bound, x, -SURE_BITS, MPFR_RNDN);
    mpfr_sub(bound, x, bound, MPFR_RNDN);
    const double low = slow_round(dtype, bound);
    *out = slow_round(dtype, x);
    mpfr_mul_2si(bound, x, -SURE_BITS, MPFR_RNDN);
    mpfr_add(bound, x, bound, MPFR_RNDN);
    const double high = slow_round(dtype, bound);
    mpfr_clear(bound);
    return low == high;
}

static double round_hard(const truth_pair *easy, pe_dtype dtype, double position, int cosine)
{
    mpfr_t value[2];
    truth_pair pair;
    truth_hard++;
    pair_init(&pair, easy->formula, easy->i, TRUTH_HARD_BITS);
    mpfr_inits2(TRUTH_HARD_BITS, value[0], value[1], (mpfr_ptr)NULL);
    evaluate(&pair, position, value);
    const double rounded = slow_round(dtype, value[cosine]);
    mpfr_clears(value[0], value[1], (mpfr_ptr)NULL);
    truth_pair_clear(&pair);
    return rounded;
}

void truth_at(const truth_pair *pair, double position, double value[2][PE_DTYPES])
{
    mpfr_t easy[2];
    mpfr_inits2(TRUTH_BITS, easy[0], easy[1], (mpfr_ptr)NULL);
    evaluate(pair, position, easy);
    for (int k = 0; k < 2; k++)
        for (size_t d = 0; d < PE_LEN(dtypes); d++)
            if (!round_surely(dtypes[d], easy[k], &value[k][dtypes[d]]))
                value[k][dtypes[d]] = round_hard(pair, dtypes[d], position, k);
    mpfr_clears(easy[0], easy[1], (mpfr_ptr)NULL);
}
