/* SPDX-License-Identifier: MIT */
/* power.c - powers by roots, which Newton's steps find from a double; pi from memory. */
#include "base/power.h"

#include <math.h>
#include <stdbool.h>

/* Bits beyond those of the result, which a power of at most NUM_MAX takes. */
#define GUARD   64
#define NUM_MAX 0x1p20
#define DEN_MAX 0x1p16

/*
 * y = x^(-1/n). A step is y += y d, d = (1 - x y^n) / n, and leaves a relative error of
 * (n + 1)/2 d^2, beside what is rounded: one unit of the last place of y, and less of d. False
 * where no double is near.
 */
static bool inverse_root(mpfr_srcptr x, unsigned long n, mpfr_ptr y)
{
    const mpfr_exp_t enough = -(mpfr_get_prec(y) + 16) / 2;
    mpfr_t d;
    mpfr_set_d(y, pow(mpfr_get_d(x, MPFR_RNDN), -1 / (double)n), MPFR_RNDN);
    bool near = mpfr_regular_p(y), more = near;
    mpfr_init2(d, mpfr_get_prec(y));
    while (more) {
        mpfr_pow_ui(d, y, n, MPFR_RNDN);
        mpfr_mul(d, d, x, MPFR_RNDN);
        mpfr_ui_sub(d, 1, d, MPFR_RNDN);
        mpfr_div_ui(d, d, n, MPFR_RNDN);
        near = mpfr_zero_p(d) || mpfr_get_exp(d) < -40;
        more = near && mpfr_regular_p(d) && mpfr_get_exp(d) > enough;
        mpfr_fma(y, y, d, y, MPFR_RNDN);
    }
    mpfr_clear(d);
    return near;
}

void pe_power_raise(mpfr_ptr x, double num, double den)
{
    mpfr_t y;
    mpfr_init2(y, mpfr_get_prec(x) + GUARD);
    const double times = trunc(fabs(num)), root = trunc(den);
    if (times == fabs(num) && times <= NUM_MAX && root == den && root <= DEN_MAX &&
        inverse_root(x, (unsigned long)root, y)) {
        mpfr_pow_ui(y, y, (unsigned long)times, MPFR_RNDN);
        if (num > 0)
            mpfr_ui_div(x, 1, y, MPFR_RNDN);
        else
            mpfr_set(x, y, MPFR_RNDN);
    } else {
        mpfr_set_d(y, num, MPFR_RNDN);
        mpfr_div_d(y, y, den, MPFR_RNDN);
        mpfr_pow(x, x, y, MPFR_RNDN);
    }
    mpfr_clear(y);
}

void pe_power_pi(mpfr_ptr out)
{
    static const char digits[] =
        "3.243f6a8885a308d313198a2e03707344a4093822299f31d0082efa98ec4e6c89"
        "452821e638d01377be5466cf34e90c6cc0ac29b7c97c50dd3f84d5b5b5470917";
    if (mpfr_get_prec(out) > 500)
        mpfr_const_pi(out, MPFR_RNDN);
    else
        mpfr_set_str(out, digits, 16, MPFR_RNDN);
}
