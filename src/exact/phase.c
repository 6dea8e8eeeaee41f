/* SPDX-License-Identifier: MIT */
/* phase.c - frequencies and phases as fixed-point fractions of a turn. */
#include "exact/phase.h"

#include <math.h>
#include <string.h>

bool pe_turns_from_mpfr(mpfr_srcptr turns, pe_turns *out)
{
    pe_turns result = {{0}};
    *out = result;
    if (mpfr_zero_p(turns))
        return true;
    if (mpfr_get_exp(turns) > 60)
        return false;
    mpfr_t scaled;
    mpz_t z;
    mpfr_init2(scaled, mpfr_get_prec(turns));
    mpz_init(z);
    mpfr_mul_2ui(scaled, turns, 192, MPFR_RNDN);
    mpfr_get_z(z, scaled, MPFR_RNDN);
    const bool fits = mpz_sgn(z) > 0;
    if (fits)
        mpz_export(result.word, NULL, -1, sizeof result.word[0], 0, 0, z);
    mpz_clear(z);
    mpfr_clear(scaled);
    *out = result;
    return fits;
}

/* m * turns, five words. */
static void multiply(const pe_turns *turns, uint64_t m, uint64_t product[5])
{
    pe_u128 carry = 0;
    for (int k = 0; k < 4; k++) {
        carry += (pe_u128)turns->word[k] * m;
        product[k] = (uint64_t)carry;
        carry >>= 64;
    }
    product[4] = (uint64_t)carry;
}

/* Three words of product / 2^shift. */
static void shift_right(const uint64_t product[5], int shift, uint64_t phase[PE_PHASE_WORDS])
{
    const int words = shift / 64, bits = shift % 64;
    for (int k = 0; k < PE_PHASE_WORDS; k++) {
        const uint64_t low = k + words < 5 ? product[k + words] : 0;
        const uint64_t high = k + words + 1 < 5 ? product[k + words + 1] : 0;
        phase[k] = bits ? low >> bits | high << (64 - bits) : low;
    }
}

static void negate(uint64_t phase[PE_PHASE_WORDS])
{
    uint64_t carry = 1;
    for (int k = 0; k < PE_PHASE_WORDS; k++) {
        phase[k] = ~phase[k] + carry;
        carry = carry && phase[k] == 0;
    }
}

int pe_phase_at(const pe_turns *turns, double position, uint64_t phase[PE_PHASE_WORDS])
{
    const double magnitude = fabs(position);
    uint64_t product[5];
    int exponent = 0;
    if (magnitude == trunc(magnitude)) {
        multiply(turns, (uint64_t)magnitude, product);
        memcpy(phase, product, PE_PHASE_WORDS * sizeof phase[0]);
        (void)frexp(magnitude, &exponent);
    } else {
        /* m / 2^shift with m < 2^53 */
        const double fraction = frexp(magnitude, &exponent);
        multiply(turns, (uint64_t)ldexp(fraction, 53), product);
        shift_right(product, 53 - exponent, phase);
    }
    if (position < 0)
        negate(phase);
    /* One unit of turns makes |position| < 2^exponent units, and the shift cuts off one. */
    return (exponent > 0 ? exponent : 0) + 1;
}

void pe_phases_at(const pe_turns *turns, size_t n, double position, uint64_t *hi, uint64_t *lo)
{
    const double magnitude = fabs(position);
    const bool whole = magnitude == trunc(magnitude);
    const uint64_t m = whole ? (uint64_t)magnitude : 0;
    const pe_u128 flip = position < 0 ? ~(pe_u128)0 : 0; /* -x is ~x but for the last place */
    for (size_t i = 0; whole && i < n; i++) {
        const uint64_t *t = turns[i].word;
        const pe_u128 middle = (pe_u128)t[1] * m + (uint64_t)((pe_u128)t[0] * m >> 64);
        const pe_u128 sum = (middle + ((pe_u128)(t[2] * m) << 64)) ^ flip;
        hi[i] = (uint64_t)(sum >> 64);
        lo[i] = (uint64_t)sum;
    }
    for (size_t i = 0; !whole && i < n; i++) {
        uint64_t phase[PE_PHASE_WORDS];
        (void)pe_phase_at(&turns[i], position, phase);
        hi[i] = phase[2];
        lo[i] = phase[1];
    }
}
