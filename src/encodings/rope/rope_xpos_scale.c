/* SPDX-License-Identifier: MIT */
/* rope_xpos_scale.c - the powers by which xPos scales the pairs of a token. */
#include "encodings/rope/rope_xpos_scale.h"

#include <math.h>
#include <mpfr.h>

#include "base/yield.h"
#include "exact/round.h"
#include "exact/softmax.h"

/* e^-t of pe_softmax_exp is off by 2^-104, and t here by 2^-102 of at most 1.3: in units of 2^-128,
 * and some more. */
enum { PART_ERR = 28 };

/* Bits beyond those of the result. */
enum { GUARD = 64 };

/* Units of work that make the powers of a pair: its scale, and both of a level; measured. */
#define PAIR_WORK  96
#define LEVEL_WORK 8

pe_xpos_distance pe_rope_xpos_distance(double position, double center, bool negated)
{
    const double part = position - trunc(position); /* exact, as all here */
    pe_xpos_distance n = {trunc(position) - center, {part, 0}};
    if (negated)
        n = (pe_xpos_distance){-n.whole, {-part, 0}};
    return n.part.hi < 0 ? (pe_xpos_distance){n.whole - 1, pe_pair_sum(1, n.part.hi)} : n;
}

/* ---- exactly ---- */

typedef struct element {
    const pe_xpos_powers *of;
    const pe_xpos_distance *n;
} element;

/* zeta_i^(n / base) */
static void power(const pe_xpos_powers *of, size_t i, const pe_xpos_distance *n, mpfr_ptr out)
{
    mpfr_t zeta, exponent;
    mpfr_inits2(mpfr_get_prec(out) + GUARD, zeta, exponent, (mpfr_ptr)0);
    /* (10 i + 2 d) / (7 d): zeta_i with gamma = 2/5 as one fraction. */
    mpfr_set_d(zeta, 10 * (double)i + 2 * of->dim, MPFR_RNDN);
    mpfr_div_d(zeta, zeta, 7 * of->dim, MPFR_RNDN);
    mpfr_set_d(exponent, n->part.lo, MPFR_RNDN);
    mpfr_add_d(exponent, exponent, n->part.hi, MPFR_RNDN);
    mpfr_add_d(exponent, exponent, n->whole, MPFR_RNDN);
    mpfr_div_d(exponent, exponent, of->base, MPFR_RNDN);
    mpfr_pow(out, zeta, exponent, MPFR_RNDN);
    mpfr_clears(zeta, exponent, (mpfr_ptr)0);
}

static void eval(const void *context, size_t i, mpfr_ptr out)
{
    const element *e = context;
    power(e->of, i, e->n, out);
}

/* ---- by tables of powers ---- */

/* Where the powers of pair i begin. */
static size_t powers_at(const pe_xpos_powers *of, bool down, size_t i)
{
    return ((down ? of->pairs : 0) + i) * of->levels;
}

/*
 * Numbers of 192 bits, the least word first. From pair i + 1 to pair i, zeta falls by
 *
 *     ln((2i + 2 + 0.4 d) / (2i + 0.4 d)) = 2 atanh(x),   x = 5 / (10 i + 2 d + 5)
 *
 * and behind the last pair it is 1. A step is off by less than 2^10 units of 2^-191, and there are
 * at most 2^16 pairs: 2^-165 in all, and 2^-163 of a scale, which is at least 2/7. Each squaring
 * doubles that. There are 30 at most, so a pe_fixed128 is off by less than a unit.
 */
enum { WORDS = 3 };

/* a b / 2^192 */
static void multiply(mp_limb_t *out, const mp_limb_t *a, const mp_limb_t *b)
{
    mp_limb_t product[2 * WORDS];
    mpn_mul_n(product, a, b, WORDS);
    mpn_copyi(out, product + WORDS, WORDS);
}

/* x + x^3/3 + x^5/5 + ... */
static void atanh192(mp_limb_t *out, const mp_limb_t *x)
{
    mp_limb_t square[WORDS], power[WORDS], term[WORDS];
    multiply(square, x, x);
    mpn_copyi(power, x, WORDS);
    mpn_copyi(out, x, WORDS);
    for (mp_limb_t k = 3; !mpn_zero_p(power, WORDS); k += 2) {
        multiply(power, power, square);
        mpn_divrem_1(term, 0, power, WORDS, k);
        mpn_add_n(out, out, term, WORDS);
    }
}

/* 1 - e^-x = x - x^2/2! + x^3/3! - ... */
static void fall(mp_limb_t *out, const mp_limb_t *x)
{
    mp_limb_t term[WORDS];
    mpn_copyi(term, x, WORDS);
    mpn_copyi(out, x, WORDS);
    for (mp_limb_t k = 2; !mpn_zero_p(term, WORDS); k++) {
        multiply(term, term, x);
        mpn_divrem_1(term, 0, term, WORDS, k);
        if (k % 2 == 0)
            mpn_sub_n(out, out, term, WORDS);
        else
            mpn_add_n(out, out, term, WORDS);
    }
}

/* m * 2^(exponent - 192), the top bit of m set. */
typedef struct power192 {
    mp_limb_t m[WORDS];
    int exponent;
} power192;

static pe_fixed128 rounded(const power192 *x)
{
    const pe_u128 m = (pe_u128)x->m[2] << 64 | x->m[1], up = m + (x->m[0] >> 63);
    return pe_fixed128_normal(up != 0 ? up : 1, x->exponent + (up != 0 ? 0 : 128), 0, false);
}

/* x, x^2, x^4, ... */
static void climb(const pe_xpos_powers *of, power192 x, pe_fixed128 *to)
{
    for (size_t level = 0; level < of->levels; level++) {
        mp_limb_t square[2 * WORDS];
        to[level] = rounded(&x);
        mpn_sqr(square, x.m, WORDS);
        const unsigned clear = square[2 * WORDS - 1] >> 63 == 0;
        if (clear)
            mpn_lshift(square + WORDS - 1, square + WORDS - 1, WORDS + 1, 1);
        mpn_copyi(x.m, square + WORDS, WORDS);
        x.exponent = 2 * x.exponent - (int)clear;
    }
}

/* Both tables of a pair whose scale is in units of 2^-191. */
static void make_tables(const pe_xpos_powers *of, const mp_limb_t *scale, size_t i,
                        pe_fixed128 *out)
{
    static const mp_limb_t ones[2 * WORDS] = {~0UL, ~0UL, ~0UL, ~0UL, ~0UL, ~0UL >> 1};
    const int zeros = __builtin_clzl(scale[WORDS - 1]);
    power192 up = {.exponent = 1 - zeros}, down = {.exponent = zeros};
    mp_limb_t quotient[WORDS + 1], rest[WORDS];
    if (zeros == 0)
        mpn_copyi(up.m, scale, WORDS);
    else
        mpn_lshift(up.m, scale, WORDS, (unsigned)zeros);
    mpn_tdiv_qr(quotient, rest, 0, ones, 2 * WORDS, up.m, WORDS);
    mpn_copyi(down.m, quotient, WORDS);
    climb(of, up, out + powers_at(of, false, i));
    climb(of, down, out + powers_at(of, true, i));
}

/* 1/base in units of 2^-191; base is at least 1. */
static void invert(double base, mp_limb_t *out)
{
    int exponent;
    const mp_limb_t m = (mp_limb_t)ldexp(frexp(base, &exponent), 53);
    const unsigned power = 191 + 53 - (unsigned)exponent; /* 2^191 / base = 2^power / m */
    mp_limb_t of[WORDS + 1] = {0}, quotient[WORDS + 1];
    of[power / 64] = (mp_limb_t)1 << power % 64;
    mpn_divrem_1(quotient, 0, of, WORDS + 1, m);
    mpn_copyi(out, quotient, WORDS);
}

static void make_powers(const void *formula, void *out)
{
    const pe_xpos_powers *of = formula;
    pe_pair *decline = (pe_pair *)((pe_fixed128 *)out + powers_at(of, true, of->pairs));
    mp_limb_t inverse[WORDS], x[WORDS + 1], half[WORDS], lost[WORDS];
    mp_limb_t sum[WORDS] = {0}, scale[WORDS] = {0, 0, (mp_limb_t)1 << 63}; /* of 2^-191 */
    const mp_limb_t five = 5;
    invert(of->base, inverse);
    for (size_t i = of->pairs; i-- > 0;) {
        mpn_divrem_1(x, WORDS, &five, 1, 10 * i + 2 * (mp_limb_t)of->dim + 5);
        atanh192(half, x);
        multiply(half, half, inverse);
        mpn_lshift(half, half, WORDS, 1); /* half of the step's decline, of 2^-192 */
        mpn_add_n(sum, sum, half, WORDS);
        fall(lost, half);
        for (int twice = 0; twice < 2; twice++) {
            multiply(x, scale, lost);
            mpn_sub_n(scale, scale, x, WORDS);
        }
        const pe_fixed128 total =
            pe_fixed128_normal((pe_u128)sum[2] << 64 | sum[1], 1, 0, false); /* scale = e^-total */
        const pe_pair cut = pe_fixed128_pair(&total);
        decline[i] = pe_pair_sum(cut.hi, cut.lo);
        make_tables(of, scale, i, out);
        pe_yield_spend(PAIR_WORK + LEVEL_WORK * of->levels);
    }
}

/* The product of the powers whose levels are the bits of |whole|, and that of the part; n is not
 * 0. */
static pe_fixed128 product(const pe_xpos_scale *scale, size_t i, const pe_xpos_distance *n)
{
    const pe_fixed128 *level = scale->power + powers_at(&scale->formula, n->whole < 0, i);
    uint64_t bits = (uint64_t)fabs(n->whole);
    bool first = n->part.hi == 0;
    pe_fixed128 result = {0};
    if (!first) { /* scale_i(part) = e^(-part decline_i) */
        result = pe_softmax_exp(pe_pair_mul(n->part, scale->decline[i]));
        result.err = PART_ERR;
    }
    for (; bits != 0; bits >>= 1, level++) {
        if ((bits & 1) == 0)
            continue;
        result = first ? *level : pe_fixed128_mul(&result, level);
        first = false;
    }
    return result;
}

pe_status pe_rope_xpos_scale_make(const pe_rope *rope, double base, double most, pe_xpos_scale *out,
                                  pe_problem *why)
{
    const double dim = rope->formula->dim;
    pe_xpos_powers formula = {(uint64_t)dim / 2, 1, dim, base};
    while (ldexp(1, (int)formula.levels) <= most)
        formula.levels++;
    const size_t powers = powers_at(&formula, true, formula.pairs);
    const pe_numbers_spec spec = {.bytes = powers * sizeof *out->power +
                                           formula.pairs * sizeof *out->decline,
                                  .make = make_powers,
                                  .formula = &formula,
                                  .formula_bytes = sizeof formula};
    pe_shared_numbers shared;
    PE_TRY(pe_tables_numbers(rope->tables, &spec, &shared, why));
    const pe_fixed128 *power = shared.data;
    *out = (pe_xpos_scale){formula, shared, power, (const pe_pair *)(power + powers)};
    return PE_OK;
}

static bool is_center(const pe_xpos_distance *n)
{
    return n->whole == 0 && n->part.hi == 0;
}

void pe_rope_xpos_scale_pair(const pe_xpos_scale *scale, size_t i, const pe_xpos_distance *n,
                             double *hi, double *lo)
{
    const element e = {&scale->formula, n};
    *hi = 1;
    *lo = 0;
    if (is_center(n))
        return;
    const pe_fixed128 x = product(scale, i, n);
    if (x.err > 60) {
        pe_exact_pair(eval, &e, i, hi, lo);
        return;
    }
    const pe_pair pair = pe_fixed128_pair(&x);
    *hi = pair.hi;
    *lo = pair.lo;
}

double pe_rope_xpos_scale_round(const pe_xpos_scale *scale, size_t i, const pe_xpos_distance *n,
                                pe_dtype dtype)
{
    const element e = {&scale->formula, n};
    double result;
    if (is_center(n))
        return 1;
    const pe_fixed128 x = product(scale, i, n);
    if (pe_fixed128_round(&x, dtype, &result))
        return result;
    return pe_exact_round(dtype, eval, &e, i);
}
