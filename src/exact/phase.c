/* SPDX-License-Identifier: MIT */
/* phase.c - frequencies and phases as fixed-point fractions of a turn. */
#include "exact/phase.h"

#include <math.h>

#include "kernels/kernels.h"

/* The word of m whose lowest bit is `from`; m has zeros on either side. */
static uint64_t word_at(const uint64_t *m, long limbs, long from)
{
    const long k = from >> 6, bits = from & 63;
    const uint64_t low = k >= 0 && k < limbs ? m[k] : 0;
    const uint64_t high = k + 1 >= 0 && k + 1 < limbs ? m[k + 1] : 0;
    return bits != 0 ? low >> bits | high << (64 - bits) : low;
}

bool pe_phase_from_mpfr(mpfr_srcptr turns, pe_turns *out)
{
    *out = (pe_turns){{0}};
    if (mpfr_zero_p(turns))
        return true;
    if (!mpfr_number_p(turns) || mpfr_get_exp(turns) > 60)
        return false;
    const mp_limb_t *m = mpfr_custom_get_significand(turns);
    const long limbs = (mpfr_get_prec(turns) + 63) / 64;
    const long from = 64 * limbs - mpfr_get_exp(turns) - 192; /* the bit that is 2^-192 */
    uint64_t up = word_at(m, limbs, from - 1) & 1, any = 0;
    for (long k = 0; k < 4; k++) {
        out->word[k] = word_at(m, limbs, from + 64 * k) + up;
        up = up && out->word[k] == 0;
        any |= out->word[k];
    }
    return any != 0;
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

static void negate(uint64_t phase[PE_PHASE_WORDS])
{
    uint64_t carry = 1;
    for (int k = 0; k < PE_PHASE_WORDS; k++) {
        phase[k] = ~phase[k] + carry;
        carry = carry && phase[k] == 0;
    }
}

/* |position|, below 2^53 or whole and below 2^64, as m / 2^shift; and e with |position| < 2^e, where
 * that is above 1. */
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

int pe_phase_at(const pe_turns *turns, double position, uint64_t phase[PE_PHASE_WORDS])
{
    uint64_t product[5];
    const factor by = factor_of(position);
    multiply(turns, by.m, product);
    for (int k = 0; k < PE_PHASE_WORDS; k++)
        phase[k] = word_at(product, 5, by.shift + 64 * k);
    if (position < 0)
        negate(phase);
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

void pe_phases_pad(size_t n, uint64_t *hi, uint64_t *lo)
{
    for (size_t i = n; i < n + PE_PAD; i++)
        hi[i] = lo[i] = 0x1f3c5b7a98d6e4f2U;
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
        (void)pe_phase_at(&turns[i], position, phase);
        hi[i] = phase[2];
        lo[i] = phase[1];
    }
    pe_phases_pad(n, hi, lo);
}
