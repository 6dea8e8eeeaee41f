/* SPDX-License-Identifier: MIT */
/* softmax.c - attention probabilities of scores, in 128-bit integers. */
#include "exact/softmax.h"

#include <assert.h>
#include <math.h>

#include "base/yield.h"

#define TERMS 31

/* For t above this, e^-t is less than 2^-1586. */
#define FARTHEST 1100

/* Fraction bits of t. */
#define FRACTION 116

/* 1/k! times 2^127, rounded: {high, low} words. The first term left out is below 2^-129 at ln 2. */
static const uint64_t terms[TERMS][2] = {
    {0x8000000000000000U, 0x0000000000000000U}, {0x8000000000000000U, 0x0000000000000000U},
    {0x4000000000000000U, 0x0000000000000000U}, {0x1555555555555555U, 0x5555555555555555U},
    {0x0555555555555555U, 0x5555555555555555U}, {0x0111111111111111U, 0x1111111111111111U},
    {0x002d82d82d82d82dU, 0x82d82d82d82d82d8U}, {0x0006806806806806U, 0x8068068068068068U},
    {0x0000d00d00d00d00U, 0xd00d00d00d00d00dU}, {0x0000171de3a556c7U, 0x338faac1c88e5001U},
    {0x0000024fc9f6ef13U, 0xeb8e5de02da7d4cdU}, {0x00000035cc8acfeaU, 0x89c71fce8fc97070U},
    {0x000000047bb63bfeU, 0x3625ed5136a61eb4U}, {0x000000005849184eU, 0xa1b425f28e0cc749U},
    {0x00000000064e5d2aU, 0x301f27482eb7c517U}, {0x00000000006b9fcfU, 0x9ccee07c476195acU},
    {0x000000000006b9fcU, 0xf9ccee07c476195bU}, {0x000000000000654bU, 0x1dc0c2b529ac9814U},
    {0x00000000000005a0U, 0x9e18ee5f65deec01U}, {0x000000000000004bU, 0xd26d1a05055c9328U},
    {0x0000000000000003U, 0xca8574804044a0f5U}, {0x0000000000000000U, 0x2e371dedb9eae318U},
    {0x0000000000000000U, 0x0219c72db6ff0a53U}, {0x0000000000000000U, 0x001761b41316381aU},
    {0x0000000000000000U, 0x0000f96780cb97acU}, {0x0000000000000000U, 0x000009f9e66e8b30U},
    {0x0000000000000000U, 0x000000623a17f1a9U}, {0x0000000000000000U, 0x00000003a356385cU},
    {0x0000000000000000U, 0x000000002143144cU}, {0x0000000000000000U, 0x0000000001259f99U},
    {0x0000000000000000U, 0x000000000009c996U},
};

/* ln(2) times 2^116, rounded. */
static const pe_u128 ln2 = (pe_u128)0x000b17217f7d1cf7U << 64 | 0x9abc9e3b39803f2fU;

/* x >= 0 times 2^116, cut off; x < 2^12. */
static pe_u128 fixed(double x)
{
    int exponent;
    const uint64_t m = (uint64_t)ldexp(frexp(x, &exponent), 53);
    const int shift = exponent - 53 + FRACTION;
    return shift >= 0 ? (pe_u128)m << shift : shift > -64 ? m >> -shift : 0;
}

pe_fixed128 pe_softmax_exp(pe_pair t)
{
    if (t.hi > FARTHEST)
        return (pe_fixed128){0};
    const pe_u128 whole = fixed(t.hi);
    const pe_u128 x = t.lo < 0 ? whole - fixed(-t.lo) : whole + fixed(t.lo);
    /* n = floor(t/ln(2)), or one less where that is close: r stays below 0.7 either way. */
    uint64_t n = (uint64_t)(t.hi * 0x1.71547652b82fep+0);
    if (n > 0 && n * ln2 > x)
        n--;
    const pe_u128 r = x - n * ln2; /* off by n/2 units: 2^-106 */
    /* Each step cuts off a unit, each term is off by half a unit, and the error before it shrinks by
     * r: 5 units in all. */
    const pe_u128 sum = pe_fixed128_series(terms, TERMS - 1, r << (128 - FRACTION));
    return pe_fixed128_normal(sum, 1 - (int)n, 0, false);
}

/* A sum of weights, whole * 2 + part * 2^-127. */
typedef struct total {
    uint64_t whole;
    pe_u128 part;
} total;

static void add(total *sum, const pe_fixed128 *weight)
{
    const int shift = 1 - weight->exponent; /* not negative: weights are at most 1 */
    if (shift >= 128)
        return;
    const pe_u128 part = sum->part + (weight->m >> shift);
    sum->whole += part < sum->part;
    sum->part = part;
}

/* 1/sum, within 2^-126 relative. */
static pe_fixed128 inverse(const total *sum)
{
    const int zeros = sum->whole != 0 ? __builtin_clzll(sum->whole) : 64;
    const pe_u128 whole = zeros < 64 ? (pe_u128)(sum->whole << zeros) << 64 : 0;
    const pe_fixed128 x =
        pe_fixed128_normal(whole | sum->part >> (64 - zeros), 65 - zeros, 0, false);
    const pe_fixed128 one = pe_fixed128_from_double(1);
    return pe_fixed128_div(&one, &x);
}

/* The nearest value, as if m were exact. Within a unit of m of a midpoint it is the lower one. */
static double nearest(pe_fixed128 x, pe_dtype dtype)
{
    double value;
    if (x.m == 0)
        return 0;
    x.err = 0;
    if (pe_fixed128_round(&x, dtype, &value))
        return value;
    x.m -= 4;
    const bool decided = pe_fixed128_round(&x, dtype, &value);
    assert(decided);
    (void)decided;
    return value;
}

static pe_pair largest(const pe_pair *score, size_t n)
{
    size_t at = 0;
    for (size_t j = 1; j < n; j++)
        if (score[j].hi > score[at].hi ||
            (score[j].hi == score[at].hi && score[j].lo > score[at].lo))
            at = j;
    return score[at];
}

/* Each e^score, in units of the largest. Returns 1/sum; nothing where all scores are masked. */
static pe_fixed128 weigh(const pe_pair *score, size_t n, pe_fixed128 *weight)
{
    total sum = {0, 0};
    const pe_pair most = largest(score, n);
    for (size_t j = 0; j < n; j++) {
        weight[j] = (pe_fixed128){0};
        if (isinf(score[j].hi))
            continue;
        pe_yield_look(PE_SOFTMAX_WORK);
        weight[j] = pe_softmax_exp(pe_pair_add(most, (pe_pair){-score[j].hi, -score[j].lo}));
        if (weight[j].m != 0)
            add(&sum, &weight[j]);
    }
    if (isinf(most.hi))
        return (pe_fixed128){0};
    return inverse(&sum);
}

void pe_softmax(const pe_pair *score, size_t n, pe_dtype dtype, pe_fixed128 *weight, void *out)
{
    const pe_fixed128 share = weigh(score, n, weight);
    const size_t bytes = pe_dtype_bytes(dtype);
    for (size_t j = 0; j < n; j++) {
        const pe_fixed128 probability = pe_fixed128_mul(&weight[j], &share);
        pe_dtype_store(dtype, nearest(probability, dtype), (unsigned char *)out + j * bytes);
    }
}

void pe_softmax_pairs(const pe_pair *score, size_t n, pe_fixed128 *weight, pe_pair *out)
{
    const pe_fixed128 share = weigh(score, n, weight);
    for (size_t j = 0; j < n; j++) {
        const pe_fixed128 probability = pe_fixed128_mul(&weight[j], &share);
        const pe_pair cut = pe_fixed128_pair(&probability);
        out[j] = pe_pair_sum(cut.hi, cut.lo);
    }
}
