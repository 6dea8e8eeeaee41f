/* SPDX-License-Identifier: MIT */
/* element.c - frequencies and single elements straight from the formula, at any precision. */
#include "exact/wave_set.h"

#include <math.h>

#include "base/power.h"

/* The error of the ratio costs less than 24 bits. */
#define POWER_BITS 128

/* base^(-i num / den), or a power of the ratio of i's sequence. */
static void eval_power(const pe_wave_spec *spec, size_t i, mpfr_ptr out)
{
    const size_t first = spec->sequence != NULL ? spec->sequence(spec->formula, i, NULL) : 0;
    mpfr_set_ui(out, 1, MPFR_RNDN);
    if (i == first || (spec->sequence == NULL && spec->num == 0))
        return;
    if (spec->sequence != NULL) {
        mpfr_t ratio;
        mpfr_init2(ratio, mpfr_get_prec(out) + POWER_BITS);
        (void)spec->sequence(spec->formula, i, ratio);
        mpfr_pow_ui(out, ratio, i - first, MPFR_RNDN);
        mpfr_clear(ratio);
    } else {
        spec->base(spec->formula, out);
        pe_power_raise(out, -spec->num * (double)i, spec->den);
    }
}

/* The lowest bit of a set's fixed point is 2^-192. It was reached by products, at more bits, and
 * rounded: off by less than 2^-192 altogether. */
#define FIXED_BITS 192

/* theta_i from the fixed point of the set, in place of a power: false where that has fewer bits
 * than are asked for. */
static bool theta_by_turns(const pe_wave *wave, size_t i, mpfr_ptr out)
{
    const mpfr_prec_t bits = mpfr_get_prec(out);
    const uint64_t *word = wave->turns[i].word;
    mpfr_t x, turn;
    if (wave->unfit)
        return false;
    mpfr_inits2(bits + 32, x, turn, (mpfr_ptr)NULL);
    mpfr_set_ui(x, word[3], MPFR_RNDN);
    for (int k = 2; k >= 0; k--) {
        mpfr_mul_2ui(x, x, 64, MPFR_RNDN);
        mpfr_add_ui(x, x, word[k], MPFR_RNDN);
    }
    /* relative error: below 2^(1 - EXP(x)), and four roundings more */
    const bool enough = mpfr_regular_p(x) && mpfr_get_exp(x) > bits;
    if (enough) {
        pe_power_pi(turn);
        mpfr_mul_2si(turn, turn, 1 - FIXED_BITS, MPFR_RNDN);
        mpfr_mul(x, x, turn, MPFR_RNDN);
        mpfr_div_d(out, x, wave->spec.position_scale, MPFR_RNDN);
    }
    mpfr_clears(x, turn, (mpfr_ptr)NULL);
    return enough;
}

void pe_wave_theta(const pe_wave *wave, size_t i, mpfr_ptr out)
{
    const pe_wave_spec *spec = &wave->spec;
    if (spec->float32) {
        mpfr_set_flt(out, wave->inv[i], MPFR_RNDN);
        return;
    }
    if (theta_by_turns(wave, i, out))
        return;
    mpfr_t theta;
    mpfr_init2(theta, mpfr_get_prec(out) + 32);
    eval_power(spec, i, theta);
    if (spec->scale != NULL)
        spec->scale(spec->formula, i, theta);
    mpfr_set(out, theta, MPFR_RNDN);
    mpfr_clear(theta);
}

/* 2 pi, cut off after 128 bits. */
const pe_fixed128 pe_wave_two_pi = {.m = (pe_u128)0xc90fdaa22168c234U << 64 | 0xc4c6628b80dc1cd1U,
                                    .exponent = 3};

bool pe_wave_theta_is_zero(const pe_wave *wave, size_t i)
{
    if (wave->spec.float32)
        return wave->inv[i] == 0;
    const uint64_t *word = wave->turns[i].word;
    return !wave->unfit && (word[3] | word[2] | word[1] | word[0]) == 0;
}

pe_fixed128 pe_wave_theta_fixed(const pe_wave *wave, size_t i)
{
    if (wave->spec.float32)
        return pe_fixed128_from_double((double)wave->inv[i]);
    if (wave->unfit || wave->spec.position_scale != 1)
        return (pe_fixed128){0};
    const uint64_t *word = wave->turns[i].word;
    int top = 3;
    while (top > 0 && word[top] == 0)
        top--;
    /* The first 128 bits, with as many zeros before them as the upper word has, and more. */
    const int zeros = word[top] != 0 ? __builtin_clzll(word[top]) : 0;
    pe_u128 m = (pe_u128)word[top] << 64 | (top > 0 ? word[top - 1] : 0);
    if (zeros > 0)
        m = m << zeros | (top > 1 ? word[top - 2] >> (64 - zeros) : 0);
    /* Off by a unit of word[0], and by one of what is cut off. */
    const int bits = 64 * (top + 1) - zeros;
    const pe_fixed128 turns = {m, bits - FIXED_BITS, bits > 128 ? 1 : 129 - bits, false};
    return pe_fixed128_mul(&turns, &pe_wave_two_pi);
}

float pe_wave_angle32(const pe_wave *wave, double position, size_t i)
{
    const float angle = (float)position * wave->inv[i];
    return (float)wave->spec.position_scale * angle;
}

/* position * position_scale * theta_i at out's precision; exact for a float32 set. */
static void eval_angle(const pe_element *element, mpfr_ptr out)
{
    const pe_wave *wave = element->wave;
    if (wave->spec.float32) {
        mpfr_set_flt(out, pe_wave_angle32(wave, element->position, element->i), MPFR_RNDN);
        return;
    }
    pe_wave_theta(wave, element->i, out);
    mpfr_mul_d(out, out, wave->spec.position_scale, MPFR_RNDN);
    mpfr_mul_d(out, out, element->position, MPFR_RNDN);
}

/* sin or cos of the angle, computed with `bits`, at the precision of out. Returns how many bits are
 * enough: the absolute error of the angle counts relative to the result, which may be small. */
static mpfr_prec_t eval_at(const pe_element *element, mpfr_prec_t bits, mpfr_ptr out)
{
    mpfr_t angle;
    mpfr_init2(angle, bits);
    eval_angle(element, angle);
    if (element->cosine)
        mpfr_cos(out, angle, MPFR_RNDN);
    else
        mpfr_sin(out, angle, MPFR_RNDN);
    mpfr_prec_t enough = 0;
    if (mpfr_regular_p(angle) && mpfr_regular_p(out))
        enough = mpfr_get_prec(out) + mpfr_get_exp(angle) - mpfr_get_exp(out) + 12;
    mpfr_clear(angle);
    return enough;
}

/* A result that so many more bits do not tell from zero is zero: the angle is a whole number of
 * quarter turns, which formulas with pi have. Others are far above 2^-1024 of their angle. */
#define ZERO_BITS 1024

/* The same of the angle, which takes no sine of so many bits: what it has beside the nearest whole
 * number of quarter turns. */
static bool is_quarter(const pe_element *element, mpfr_prec_t bits)
{
    mpfr_t angle, quarter, whole;
    mpfr_inits2(bits, angle, quarter, whole, (mpfr_ptr)NULL);
    eval_angle(element, angle);
    mpfr_const_pi(quarter, MPFR_RNDN);
    mpfr_div_2ui(quarter, quarter, 1, MPFR_RNDN);
    mpfr_div(whole, angle, quarter, MPFR_RNDN);
    mpfr_rint(whole, whole, MPFR_RNDN);
    bool zero = !mpfr_zero_p(whole);
    mpfr_mul(quarter, quarter, whole, MPFR_RNDN);
    mpfr_sub(quarter, angle, quarter, MPFR_RNDN);
    zero = zero &&
           (!mpfr_regular_p(quarter) || mpfr_get_exp(quarter) <= mpfr_get_exp(angle) - ZERO_BITS);
    mpfr_clears(angle, quarter, whole, (mpfr_ptr)NULL);
    return zero;
}

void pe_element_eval(const void *context, size_t index PE_UNUSED, mpfr_ptr out)
{
    const pe_element *element = context;
    const pe_wave_spec *spec = &element->wave->spec;
    mpfr_t x;
    mpfr_init2(x, mpfr_get_prec(out) + 16);
    mpfr_prec_t bits = mpfr_get_prec(out) + 64, enough = eval_at(element, bits, x);
    const mpfr_prec_t most = bits + ZERO_BITS;
    if (enough > bits && mpfr_get_exp(x) < -64 && is_quarter(element, most))
        enough = most;
    for (; enough > bits && enough < most; enough = eval_at(element, bits, x))
        bits = 2 * enough;
    if (enough >= most)
        mpfr_set_ui(x, 0, MPFR_RNDN);
    if (spec->amplitude != NULL && !element->bare) {
        mpfr_t amplitude;
        mpfr_init2(amplitude, mpfr_get_prec(x));
        spec->amplitude(spec->formula, amplitude);
        mpfr_mul(x, x, amplitude, MPFR_RNDN);
        mpfr_clear(amplitude);
    }
    mpfr_set(out, x, MPFR_RNDN);
    mpfr_clear(x);
}
