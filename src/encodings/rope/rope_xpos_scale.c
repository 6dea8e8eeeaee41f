/* SPDX-License-Identifier: MIT */
/* rope_xpos_scale.c - the powers by which xPos scales the pairs of a token. */
#include "encodings/rope/rope_xpos_scale.h"

#include <math.h>
#include <mpfr.h>

#include "base/turns.h"
#include "exact/round.h"
#include "exact/softmax.h"

/* e^-t of pe_softmax_exp is off by 2^-104, and t here by 2^-102 of at most 1.3: in units of 2^-128,
 * and some more. */
enum { PART_ERR = 28 };

/* Each squaring doubles the relative error: a bit for every level, and those of a pe_fixed128. */
enum { LADDER_BITS = 256, GUARD = 64 };

/* Units of work that make the powers of a pair, measured. */
#define PAIR_WORK 1024

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

/* (10 i + 2 d) / (7 d): zeta_i with gamma = 2/5 as one fraction. */
static void zeta_of(const pe_xpos_powers *of, size_t i, mpfr_ptr out)
{
    mpfr_set_d(out, 10 * (double)i + 2 * of->dim, MPFR_RNDN);
    mpfr_div_d(out, out, 7 * of->dim, MPFR_RNDN);
}

/* zeta_i^(n / base) */
static void power(const pe_xpos_powers *of, size_t i, const pe_xpos_distance *n, mpfr_ptr out)
{
    mpfr_t zeta, exponent;
    mpfr_inits2(mpfr_get_prec(out) + GUARD, zeta, exponent, (mpfr_ptr)0);
    zeta_of(of, i, zeta);
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

/* ---- by a ladder of powers ---- */

/* Where the powers of pair i begin. */
static size_t ladder(const pe_xpos_powers *of, bool down, size_t i)
{
    return ((down ? of->pairs : 0) + i) * of->levels;
}

/* x, x^2, x^4, ... */
static void climb(const pe_xpos_powers *of, mpfr_ptr x, pe_fixed128 *to)
{
    for (size_t level = 0; level < of->levels; level++) {
        to[level] = pe_fixed128_from_mpfr(x);
        mpfr_sqr(x, x, MPFR_RNDN);
    }
}

/* *up: scale_i(1) = e^-decline. */
static pe_pair decline_of(const pe_xpos_powers *of, size_t i, mpfr_ptr scratch, mpfr_ptr up)
{
    zeta_of(of, i, scratch);
    mpfr_log(scratch, scratch, MPFR_RNDN);
    mpfr_div_d(scratch, scratch, of->base, MPFR_RNDN);
    mpfr_exp(up, scratch, MPFR_RNDN);
    mpfr_neg(scratch, scratch, MPFR_RNDN);
    const double hi = mpfr_get_d(scratch, MPFR_RNDN);
    mpfr_sub_d(scratch, scratch, hi, MPFR_RNDN);
    return (pe_pair){hi, mpfr_get_d(scratch, MPFR_RNDN)};
}

static void make_powers(const void *formula, void *out)
{
    const pe_xpos_powers *of = formula;
    pe_pair *decline = (pe_pair *)((pe_fixed128 *)out + ladder(of, true, of->pairs));
    mpfr_t up, down;
    mpfr_inits2(LADDER_BITS, up, down, (mpfr_ptr)0);
    for (size_t i = 0; i < of->pairs; i++) {
        decline[i] = decline_of(of, i, down, up);
        mpfr_ui_div(down, 1, up, MPFR_RNDN);
        climb(of, up, (pe_fixed128 *)out + ladder(of, false, i));
        climb(of, down, (pe_fixed128 *)out + ladder(of, true, i));
        pe_turn_spend(PAIR_WORK);
    }
    mpfr_clears(up, down, (mpfr_ptr)0);
}

/* scale_i(part) = e^(-part decline_i) */
static pe_fixed128 part_power(const pe_xpos_scale *scale, size_t i, pe_pair part)
{
    pe_fixed128 result = pe_softmax_exp(pe_pair_mul(part, scale->decline[i]));
    result.err = PART_ERR;
    return result;
}

/* The product of the powers whose levels are the bits of |whole|, and that of the part; n is not
 * 0. */
static pe_fixed128 product(const pe_xpos_scale *scale, size_t i, const pe_xpos_distance *n)
{
    const pe_fixed128 *level = scale->power + ladder(&scale->formula, n->whole < 0, i);
    uint64_t bits = (uint64_t)fabs(n->whole);
    bool first = n->part.hi == 0;
    pe_fixed128 result = {0};
    if (!first)
        result = part_power(scale, i, n->part);
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
    const size_t powers = ladder(&formula, true, formula.pairs);
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

void pe_rope_xpos_scale_free(pe_xpos_scale *scale)
{
    pe_tables_numbers_unref(&scale->shared);
    *scale = (pe_xpos_scale){0};
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
