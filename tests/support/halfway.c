/* SPDX-License-Identifier: MIT */
/* halfway.c - frequency sets made to have a cosine near a midpoint of two neighbours of a type. */
#include "support/halfway.h"

#include <math.h>

static const int significant[] = {
    [PE_FLOAT32] = 24, [PE_FLOAT64] = 53, [PE_FLOAT16] = 11, [PE_BFLOAT16] = 8};

/* A position where the cosine is no less than 1/4, so that the amplitude is no more than 8. */
halfway halfway_random(random_source *random, pe_dtype dtype, int far)
{
    halfway h = {.bits = significant[dtype], .far = far};
    h.k = (uint64_t)1 << (h.bits - 1) | random_bits(random) >> (65 - h.bits);
    h.sign = far == 0 ? 0 : random_int(random, 0, 1) ? 1 : -1;
    do {
        h.scale = random_real(random, 0.001, 1);
        h.position = (double)random_int(random, 1, (int64_t)1 << random_int(random, 1, 40));
    } while (fabs(cos(h.position * h.scale)) < 0.25);
    return h;
}

void halfway_amplitude(const void *context, mpfr_ptr out)
{
    const halfway *h = context;
    mpfr_t value, off, angle;
    mpfr_inits2(mpfr_get_prec(out) + 400, value, off, angle, (mpfr_ptr)NULL);
    mpfr_set_ui(value, (unsigned long)h->k, MPFR_RNDN);
    mpfr_mul_2ui(value, value, 1, MPFR_RNDN);
    mpfr_add_ui(value, value, 1, MPFR_RNDN);
    mpfr_mul_2si(value, value, -h->bits, MPFR_RNDN);
    mpfr_mul_si(off, value, h->sign, MPFR_RNDN);
    mpfr_mul_2si(off, off, -h->far, MPFR_RNDN);
    mpfr_add(value, value, off, MPFR_RNDN);
    mpfr_set_d(angle, h->position, MPFR_RNDN);
    mpfr_mul_d(angle, angle, h->scale, MPFR_RNDN);
    mpfr_cos(angle, angle, MPFR_RNDN);
    mpfr_div(out, value, angle, MPFR_RNDN);
    mpfr_clears(value, off, angle, (mpfr_ptr)NULL);
}

double halfway_wanted(const halfway *h)
{
    const uint64_t up = h->sign > 0 || (h->sign == 0 && h->k % 2 == 1);
    return ldexp((double)(h->k + up), 1 - h->bits);
}

static void base_of(const void *context, mpfr_ptr out)
{
    (void)context;
    mpfr_set_ui(out, 1, MPFR_RNDN);
}

pe_wave_spec halfway_spec(const halfway *h, size_t n)
{
    return (pe_wave_spec){.n = n,
                          .num = 2,
                          .den = 2,
                          .position_scale = h->scale,
                          .base = base_of,
                          .amplitude = halfway_amplitude,
                          .formula = h,
                          .formula_bytes = sizeof *h};
}
