/* SPDX-License-Identifier: MIT */
/* phase.c - frequencies and phases as fixed-point fractions of a turn. */
#include "exact/phase.h"

#include <math.h>

bool pe_phase_from_mpfr(mpfr_srcptr turns, pe_turns *out)
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

/* |position| as m / 2^shift, m < 2^53; and e with |position| < 2^e, where that is above 1. */
typedef struct factor {
    uint64_t m;
    int shift, exponent;
} factor;

static factor factor_of(double position)
{
    const double magnitude = fabs(position);
    factor f = {(uint64_t)magnitude, 0, 0};
    const double fraction = frexp(magnitude, &f.exponent);
    if (magnitude != trunc(magnitude)) {
        f.m = (uint64_t)ldexp(fraction, 53);
        f.shift = 53 - f.exponent;
    }
    f.exponent = f.exponent > 0 ? f.exponent : 0;
    return f;
}

static void phase_of(const pe_turns *turns, factor by, bool negative,
                     uint64_t phase[PE_PHASE_WORDS])
{
    uint64_t product[5];
    multiply(turns, by.m, product);
    shift_right(product, by.shift, phase);
    if (negative)
        negate(phase);
}

int pe_phase_at(const pe_turns *turns, double position, uint64_t phase[PE_PHASE_WORDS])
{
    const factor by = factor_of(position);
    phase_of(turns, by, position < 0, phase);
    /* One unit of turns makes |position| < 2^exponent units, and the shift cuts off one. */
    return by.exponent + 1;
}

/* Words 1 and 2 of (m * turns) >> shift, shift < 64. */
static pe_u128 upper_words(const pe_turns *turns, uint64_t m, int shift)
{
    const uint64_t *t = turns->word;
    const pe_u128 w1 = (pe_u128)t[1] * m + (uint64_t)((pe_u128)t[0] * m >> 64);
    const pe_u128 w2 = (pe_u128)t[2] * m + (uint64_t)(w1 >> 64);
    const uint64_t w3 = t[3] * m + (uint64_t)(w2 >> 64);
    const uint64_t lo = (uint64_t)((w2 << 64 | (uint64_t)w1) >> shift);
    const uint64_t hi = (uint64_t)(((pe_u128)w3 << 64 | (uint64_t)w2) >> shift);
    return (pe_u128)hi << 64 | lo;
}

void pe_phases_at(const pe_turns *turns, size_t n, double position, uint64_t *hi, uint64_t *lo)
{
    const factor by = factor_of(position);
    const bool usual = by.shift < 64;                    /* no fraction below 2^-11 */
    const pe_u128 flip = position < 0 ? ~(pe_u128)0 : 0; /* -x is ~x but for the last place */
    for (size_t i = 0; usual && i < n; i++) {
        const pe_u128 phase = upper_words(&turns[i], by.m, by.shift) ^ flip;
        hi[i] = (uint64_t)(phase >> 64);
        lo[i] = (uint64_t)phase;
    }
    for (size_t i = 0; !usual && i < n; i++) {
        uint64_t phase[PE_PHASE_WORDS];
        phase_of(&turns[i], by, position < 0, phase);
        hi[i] = phase[2];
        lo[i] = phase[1];
    }
}
