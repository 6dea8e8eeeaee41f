/* SPDX-License-Identifier: MIT */
/* fixed128.c - numbers of 128 significant bits with a proven error, and their sines and cosines. */
#include "exact/fixed128.h"

#include <assert.h>
#include <math.h>

#define TERMS 17

/*
 * (pi/2)^(2k+1) / (2k+1)! and (pi/2)^(2k) / (2k)!, times 2^127, rounded; {high, low} words. The
 * first term left out is below 2^-133 at x = 1/2.
 */
static const uint64_t sine_terms[TERMS][2] = {
    {0xc90fdaa22168c234U, 0xc4c6628b80dc1cd1U}, {0x52aef39896f94afaU, 0xaee397b895792413U},
    {0x0a335e33bad570e9U, 0x23f34224f03d1861U}, {0x009969667315ec2dU, 0xf32f70bfb232e0b1U},
    {0x000541e0d21fb9e0U, 0x6e41eb19177ab63dU}, {0x00001e3074fde887U, 0x1f623bc80ec28cd6U},
    {0x0000007a3d0d3406U, 0x358cca341592b893U}, {0x000000016fadb9f1U, 0x557439151a0ebd2dU},
    {0x000000000355d865U, 0x5f266b253f954144U}, {0x0000000000062901U, 0x0847e551c16d424cU},
    {0x0000000000000943U, 0xb8106a9677c6c49aU}, {0x000000000000000bU, 0x90afc3cf0d644ba6U},
    {0x0000000000000000U, 0x0c2ce2ca5d22b994U}, {0x0000000000000000U, 0x000af48d5624946dU},
    {0x0000000000000000U, 0x00000885a921712bU}, {0x0000000000000000U, 0x00000005c9c7e49cU},
    {0x0000000000000000U, 0x00000000037656bdU},
};
static const uint64_t cosine_terms[TERMS][2] = {
    {0x8000000000000000U, 0x0000000000000000U}, {0x9de9e64df22ef2d2U, 0x56e26cd9808c1ac7U},
    {0x20783e1036b58766U, 0xa6603c01f5db44a7U}, {0x02aba78fc797ff3fU, 0x8a9f5b7db2276b63U},
    {0x001e1f506891babaU, 0xf464e85b51fb497dU}, {0x0000d368f9510254U, 0x5d4d3db9bb12413dU},
    {0x000003f3a7146ec7U, 0x9851baf59ba14a1eU}, {0x0000000db7127a25U, 0x894796de1e0a0c24U},
    {0x000000002418c585U, 0xe5afe952e1972f72U}, {0x00000000004a8316U, 0x46be0c51215803b0U},
    {0x0000000000007bdbU, 0x8c235b470e3a0888U}, {0x00000000000000a9U, 0x5720907ef1351246U},
    {0x0000000000000000U, 0xc1c6c7a190bfff5dU}, {0x0000000000000000U, 0x00bc4eb315daa410U},
    {0x0000000000000000U, 0x00009d55c2dd611bU}, {0x0000000000000000U, 0x000000723b42a02bU},
    {0x0000000000000000U, 0x0000000048bc9b6bU},
};

static const pe_precision precisions[PE_DTYPES] = {
    [PE_FLOAT32] = {24, -149}, [PE_FLOAT64] = {53, -1074}, [PE_FLOAT16] = {11, -24},
    [PE_BFLOAT16] = {8, -133}, [PE_INT32] = {32, 0},
};

pe_precision pe_fixed128_precision(pe_dtype dtype)
{
    return precisions[dtype];
}

static pe_u128 join(uint64_t high, uint64_t low)
{
    return (pe_u128)high << 64 | low;
}

static int leading_zeros(pe_u128 x)
{
    const uint64_t high = (uint64_t)(x >> 64);
    return high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)x);
}

/* floor(a * b / 2^128) */
static pe_u128 mul_high(pe_u128 a, pe_u128 b)
{
    const uint64_t a1 = (uint64_t)(a >> 64), a0 = (uint64_t)a;
    const uint64_t b1 = (uint64_t)(b >> 64), b0 = (uint64_t)b;
    const pe_u128 left = (pe_u128)a1 * b0, right = (pe_u128)a0 * b1;
    const pe_u128 carry =
        (((pe_u128)a0 * b0) >> 64) + (uint64_t)left + (uint64_t)right; /* below 3 * 2^64 */
    return (pe_u128)a1 * b1 + (left >> 64) + (right >> 64) + (carry >> 64);
}

pe_u128 pe_fixed128_series(const uint64_t terms[][2], int last, pe_u128 z)
{
    pe_u128 sum = join(terms[last][0], terms[last][1]);
    for (int k = last - 1; k >= 0; k--)
        sum = join(terms[k][0], terms[k][1]) - mul_high(z, sum);
    return sum;
}

/*
 * Terms and result times 2^127, z <= 1/4. Each step shrinks the error before it by 4; z is off by at
 * most 2 units, which t_1 < 1.3 turns into less than 2, and the terms by 1/2: 5 units in all. Terms
 * that a small z makes less than 1/4 unit are left out.
 */
static pe_u128 series(const uint64_t terms[TERMS][2], pe_u128 z)
{
    const int enough = z == 0 ? 0 : 130 / leading_zeros(z), most = TERMS - 1;
    return pe_fixed128_series(terms, enough < most ? enough : most, z);
}

pe_fixed128 pe_fixed128_normal(pe_u128 m, int exponent, int err, bool negative)
{
    if (m == 0)
        return (pe_fixed128){0};
    const int zeros = leading_zeros(m);
    return (pe_fixed128){m << zeros, exponent - zeros, err, negative};
}

pe_pair pe_fixed128_pair(const pe_fixed128 *x)
{
    const uint64_t low = (uint64_t)(x->m >> 22) & (((uint64_t)1 << 53) - 1);
    return (pe_pair){ldexp((double)(uint64_t)(x->m >> 75), x->exponent - 53),
                     ldexp((double)low, x->exponent - 106)};
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* The phase is *quadrant + x quarter turns, |x| <= 1/2. Returns x with its error. */
static pe_fixed128 reduce(const uint64_t phase[PE_PHASE_WORDS], int err, unsigned *quadrant)
{
    *quadrant = (unsigned)((phase[2] + (1ULL << 61)) >> 62);
    uint64_t top = phase[2] - ((uint64_t)*quadrant << 62);
    pe_u128 low = join(phase[1], phase[0]);
    const bool negative = top >> 63;
    if (negative) {
        top = ~top + (low == 0);
        low = -low;
    }
    /* Magnitude top:low * 2^-190 quarter turns; keep 128 bits from the first one on. */
    const int zeros = top ? __builtin_clzll(top) : low ? 64 + leading_zeros(low) : 192;
    if (zeros == 192)
        return (pe_fixed128){0};
    const pe_u128 high = join(top, (uint64_t)(low >> 64));
    const uint64_t rest = (uint64_t)low;
    const pe_u128 m = zeros == 0    ? high
                      : zeros < 64  ? high << zeros | rest >> (64 - zeros)
                      : zeros < 128 ? low << (zeros - 64)
                                    : (pe_u128)rest << (zeros - 64);
    return (pe_fixed128){m, 2 - zeros, larger(err + zeros - 64, 0) + 1, negative};
}

/* sin(pi/2 x) = x * series. The relative error is below 2^-122 plus that of x. */
static pe_fixed128 sine_of(const pe_fixed128 *x, pe_u128 z)
{
    if (x->m == 0)
        return (pe_fixed128){0};
    return pe_fixed128_normal(mul_high(x->m, series(sine_terms, z)), x->exponent + 1,
                              larger(x->err + 2, 7) + 1, x->negative);
}

/* cos(pi/2 x), between 0.7 and 1. The absolute error of x counts, not the relative one. */
static pe_fixed128 cosine_of(const pe_fixed128 *x, pe_u128 z)
{
    const pe_u128 sum = series(cosine_terms, z);
    return pe_fixed128_normal(sum, 1, larger(x->m ? x->err + x->exponent + 2 : 0, 7) + 1, false);
}

void pe_fixed128_sincos(const uint64_t phase[PE_PHASE_WORDS], int err, pe_fixed128 *sine,
                        pe_fixed128 *cosine)
{
    unsigned quadrant;
    const pe_fixed128 x = reduce(phase, err, &quadrant);
    const int shift = -x.exponent; /* not negative: |x| <= 1/2 */
    const pe_u128 fixed = shift >= 0 && shift < 128 ? x.m >> shift : 0;
    const pe_u128 z = mul_high(fixed, fixed);
    const pe_fixed128 s = sine_of(&x, z), c = cosine_of(&x, z);
    *sine = quadrant & 1 ? c : s;
    *cosine = quadrant & 1 ? s : c;
    sine->negative ^= quadrant >= 2;
    cosine->negative ^= quadrant == 1 || quadrant == 2;
}

/* Relative errors add up; in units of the product they at most double. One more unit is cut off. */
pe_fixed128 pe_fixed128_mul(const pe_fixed128 *x, const pe_fixed128 *y)
{
    if (x->m == 0 || y->m == 0)
        return (pe_fixed128){0};
    return pe_fixed128_normal(mul_high(x->m, y->m), x->exponent + y->exponent,
                              larger(x->err, y->err) + 3, x->negative != y->negative);
}

static_assert(sizeof(mp_limb_t) == 8, "two limbs are 128 bits");

/* Relative errors add up: a unit of the last place of x or y is at most two of the quotient's, and one
 * more is cut off. */
pe_fixed128 pe_fixed128_div(const pe_fixed128 *x, const pe_fixed128 *y)
{
    if (x->m == 0 || y->m == 0)
        return (pe_fixed128){0};
    const mp_limb_t of[4] = {0, 0, (mp_limb_t)x->m, (mp_limb_t)(x->m >> 64)};
    const mp_limb_t by[2] = {(mp_limb_t)y->m, (mp_limb_t)(y->m >> 64)};
    mp_limb_t q[3], rest[2];
    mpn_tdiv_qr(q, rest, 0, of, 4, by, 2);
    const int more = q[2] != 0; /* 2^127 <= m < 2^128 of both: the quotient has 128 or 129 bits */
    const pe_u128 m = join(q[1], q[0]) >> more | (pe_u128)more << 127;
    return (pe_fixed128){m, x->exponent - y->exponent + more, larger(x->err, y->err) + 3,
                         x->negative != y->negative};
}

pe_fixed128 pe_fixed128_from_double(double x)
{
    int exponent;
    const double part = frexp(fabs(x), &exponent);
    return pe_fixed128_normal((pe_u128)(uint64_t)ldexp(part, 53), exponent + 75, 0, x < 0);
}

pe_fixed128 pe_fixed128_from_mpfr(mpfr_srcptr x)
{
    assert(mpfr_regular_p(x));
    mpfr_t m;
    mpfr_init2(m, 128);
    mpfr_set(m, x, MPFR_RNDN);
    const mp_limb_t *word = mpfr_custom_get_significand(m);
    const pe_fixed128 result = {join(word[1], word[0]), (int)mpfr_get_exp(m), 0,
                                mpfr_signbit(x) != 0};
    mpfr_clear(m);
    return result;
}

/* n * 2^exponent for n <= 2^53; overflow of the dtype is an infinity, zero has no sign. */
static double assemble(pe_dtype dtype, uint64_t n, int exponent, bool negative)
{
    double value = ldexp((double)n, exponent);
    if (value > pe_dtype_max(dtype))
        value = (double)INFINITY;
    return negative && n != 0 ? -value : value;
}

bool pe_fixed128_round(const pe_fixed128 *x, pe_dtype dtype, double *out)
{
    const pe_precision precision = precisions[dtype];
    const pe_u128 err = (pe_u128)1 << (x->err < 127 ? x->err : 127);
    if (x->m == 0 || x->err >= 100)
        return false;
    /* The last place kept; below it lie `drop` bits of m. */
    const int last = larger(x->exponent - precision.bits, precision.least);
    const int kept = x->exponent - last;
    if (kept < 0) {
        /* x is below half of the last place, unless its error reaches up to that. */
        *out = 0;
        return kept < -1 || -x->m > err;
    }
    const int drop = 128 - kept;
    const pe_u128 half = (pe_u128)1 << (drop - 1);
    const pe_u128 low = drop < 128 ? x->m & (((pe_u128)1 << drop) - 1) : x->m;
    const pe_u128 distance = low > half ? low - half : half - low;
    if (distance <= err)
        return false;
    const uint64_t n = (drop < 128 ? (uint64_t)(x->m >> drop) : 0) + (low > half);
    *out = assemble(dtype, n, last, x->negative);
    return true;
}
