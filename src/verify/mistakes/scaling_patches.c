/* SPDX-License-Identifier: MIT */
/* scaling_patches.c - how frequencies are scaled otherwise: ramps, blends, factors and bases. */
#include <math.h>

#include "verify/mistakes/patches.h"

#define TURN 6.283185307179586
#define LN2  0.6931471805599453

/* How the ends of yarn's ramp were found. */
typedef enum ramp_way {
    RAMP_CLAIMED,
    RAMP_BETAS,    /* with the usual beta_fast and beta_slow: 32 and 1 */
    RAMP_BASE,     /* with a base of 10000 */
    RAMP_HEAD,     /* with head_dim in the place of rotary_dim */
    RAMP_PART,     /* with the part of rotary_dim that it is of head_dim */
    RAMP_HALF,     /* with d/2 in the place of d */
    RAMP_DOUBLE,   /* with 2d */
    RAMP_CHANNELS, /* and laid over channels, not pairs */
    RAMP_LAST,     /* not behind the last pair */
    RAMP_INWARD,   /* low rounded up, high down */
    RAMP_CUT,      /* both rounded down */
    RAMP_NEAREST,  /* both rounded to nearest */
} ramp_way;

/* To which power ntk and dynamic scaling raise s, the scale. */
typedef enum power_way {
    POWER_ONE,
    POWER_INVERTED, /* (d - 2)/d */
    POWER_HEAD,     /* that of head_dim */
    POWER_HALF,     /* that of d/2 */
    POWER_NOT_LESS, /* as claimed, but of s + factor - 1 */
} power_way;

static bool read_listed(pe_sequence *s)
{
    return s->scaling.listed;
}

static bool read_naive(pe_sequence *s)
{
    s->a = s->scaling.theta * s->scaling.factor;
    s->b = s->scaling.factor;
    return s->scaling.theta > 0 && s->scaling.factor > 1;
}

static bool read_edge(pe_sequence *s)
{
    size_t i = 0;
    while (i < s->n && pe_sequence_is_near(s, i, s->plain[i]))
        i++;
    s->a = (double)i;
    s->b = 1 / pe_sequence_least_part(s);
    return pe_sequence_is_scaled(s) && i > 0 && i < s->n;
}

/* The first pair of which scaling leaves no more than that. */
static bool read_claimed_edge(pe_sequence *s, double most)
{
    const double least = pe_sequence_least_part(s);
    size_t i = 0;
    while (i < s->n && pe_sequence_part(s, i) > most)
        i++;
    s->a = (double)i;
    s->b = 1 / least;
    return least < 1 && i > 0 && i < s->n && !s->scaling.listed;
}

static bool read_low_edge(pe_sequence *s)
{
    return read_claimed_edge(s, 1 - 1e-9);
}

static bool read_high_edge(pe_sequence *s)
{
    return read_claimed_edge(s, pe_sequence_least_part(s) * (1 + 1e-9));
}

static bool read_middle_edge(pe_sequence *s)
{
    return read_claimed_edge(s, (1 + pe_sequence_least_part(s)) / 2);
}

static bool read_exchanged(pe_sequence *s)
{
    return s->scaling.bands[1] > 0 && read_high_edge(s);
}

static double pairs_of(const pe_sequence *s, ramp_way way)
{
    const double n = (double)s->n;
    return way == RAMP_HEAD     ? s->scaling.head_pairs
           : way == RAMP_PART   ? n * n / s->scaling.head_pairs
           : way == RAMP_HALF   ? n / 2
           : way == RAMP_DOUBLE ? 2 * n
                                : n;
}

/* An end (0: low) as a whole number, where it is one. */
static double whole(const pe_sequence *s, ramp_way way, double end, size_t e)
{
    if (way == RAMP_NEAREST)
        return round(end);
    if (way == RAMP_INWARD || way == RAMP_CUT)
        return e == 0 && way == RAMP_INWARD ? ceil(end) : floor(end);
    return !s->scaling.truncate ? end : e == 0 ? floor(end) : ceil(end);
}

static double end_of(const pe_sequence *s, ramp_way way, size_t e)
{
    static const double betas[2] = {32, 1};
    const double n = (double)s->n, pairs = pairs_of(s, way);
    const double theta = way == RAMP_BASE ? 10000 : s->scaling.theta;
    const double turns = log(s->scaling.original / (TURN * betas[e]));
    const double at = way == RAMP_BETAS ? turns : s->scaling.ramp[e] / n;
    const double end = whole(s, way, pairs * at / log(theta), e);
    const double last = way == RAMP_LAST ? n - 1 : 2 * pairs - 1;
    return (e == 0 ? fmax(end, 0) : fmin(end, last)) / (way == RAMP_CHANNELS ? 2 : 1);
}

static bool read_ramp(pe_sequence *s)
{
    const ramp_way way = (ramp_way)s->a;
    const bool is_head = way == RAMP_DOUBLE && s->scaling.head_pairs == 2 * (double)s->n;
    if (!(s->scaling.ramp[1] > 0 && s->scaling.theta > 1 && s->scaling.factor > 1 &&
          s->scaling.head_pairs > 0) ||
        is_head)
        return false;
    s->a = end_of(s, way, 0);
    s->b = end_of(s, way, 1);
    return s->a != end_of(s, RAMP_CLAIMED, 0) || s->b != end_of(s, RAMP_CLAIMED, 1);
}

/* What is left of a frequency of which the part `kept` is not scaled. */
static double blend(const pe_sequence *s, double kept)
{
    return kept + (1 - kept) / s->scaling.factor;
}

static double op_of_ramp(const pe_sequence *s, size_t i)
{
    const double along = ((double)i - s->a) / (s->b != s->a ? s->b - s->a : 1e-3);
    return s->plain[i] * blend(s, 1 - fmin(fmax(along, 0), 1));
}

static bool read_banded(pe_sequence *s)
{
    return s->scaling.bands[1] > s->scaling.bands[0] && s->scaling.bands[0] > 0 &&
           s->scaling.original > 0 && s->scaling.factor > 1;
}

static bool read_blended(pe_sequence *s)
{
    return s->scaling.factor > 1 && (s->scaling.ramp[1] > 0 || read_banded(s));
}

/* 1/w is kept/w + (1 - kept) factor/w. */
static double op_of_mean_wavelength(const pe_sequence *s, size_t i)
{
    const double kept =
        (pe_sequence_part(s, i) - 1 / s->scaling.factor) / (1 - 1 / s->scaling.factor);
    return s->plain[i] / (kept + (1 - kept) * s->scaling.factor);
}

static double op_of_smooth_wavelength(const pe_sequence *s, size_t i)
{
    const double fast = s->scaling.original / s->scaling.bands[1],
                 slow = s->scaling.original / s->scaling.bands[0];
    const double kept = (slow - TURN / s->plain[i]) / (slow - fast);
    return s->plain[i] * blend(s, fmin(fmax(kept, 0), 1));
}

static double op_of_smooth_factor(const pe_sequence *s, size_t i)
{
    const double turns = s->scaling.original * s->plain[i] / TURN;
    const bool between = turns >= s->scaling.bands[0] && turns <= s->scaling.bands[1];
    const double kept = (turns - s->scaling.bands[0]) / (s->scaling.factor - s->scaling.bands[0]);
    return between ? s->plain[i] * blend(s, kept) : s->claimed[i];
}

/* s of the claimed base theta s^(d/(d - 2)); where it is no such base: the factor. */
static double scale_of(const pe_sequence *s)
{
    const double power = (double)(s->n - 1) / (double)s->n;
    const double base = pow(s->claimed[1], -(double)s->n);
    const double scale = pow(base / s->scaling.theta, power);
    const double last = s->claimed[s->n - 1] * pow(base, power);
    return scale > 1 + 1e-6 && fabs(last - 1) < 1e-6 ? scale : 0;
}

static bool read_grown_base(pe_sequence *s)
{
    const power_way way = (power_way)s->a;
    const double n = (double)s->n, h = s->scaling.head_pairs, grown = scale_of(s);
    const double power = way == POWER_ONE        ? 1
                         : way == POWER_INVERTED ? (n - 1) / n
                         : way == POWER_HEAD     ? h / (h - 1)
                         : way == POWER_HALF     ? n / (n - 2)
                                                 : n / (n - 1);
    s->b = grown > 0 ? grown : s->scaling.factor;
    s->a =
        s->scaling.theta * pow(s->b + (way == POWER_NOT_LESS ? s->scaling.factor - 1 : 0), power);
    return s->scaling.theta > 0 && s->b > 1 && (grown > 0 || way == POWER_ONE) &&
           (way != POWER_HEAD || (h > 1 && h != n)) &&
           (way != POWER_NOT_LESS || s->scaling.dynamic_length > 0);
}

static double op_scaled_up(const pe_sequence *s, size_t i)
{
    return s->plain[i] / pe_sequence_part(s, i);
}

static double op_scaled_twice(const pe_sequence *s, size_t i)
{
    return s->claimed[i] * pe_sequence_part(s, i);
}

static double op_parts_reversed(const pe_sequence *s, size_t i)
{
    return s->plain[i] * pe_sequence_part(s, s->n - 1 - i);
}

static double op_next_part(const pe_sequence *s, size_t i)
{
    return s->plain[i] * pe_sequence_part(s, i + 1 < s->n ? i + 1 : s->a > 0 ? i : 0);
}

static double op_previous_part(const pe_sequence *s, size_t i)
{
    return s->plain[i] * pe_sequence_part(s, i > 0 ? i - 1 : s->a > 0 ? i : s->n - 1);
}

/* Factors are exponentials of a list (lerope_alpha). */
static double op_powers_of_two(const pe_sequence *s, size_t i)
{
    return s->plain[i] * pow(pe_sequence_part(s, i), LN2);
}

static double op_without_exponential(const pe_sequence *s, size_t i)
{
    return s->plain[i] * (1 + log(pe_sequence_part(s, i)));
}

static double op_ramp_inverted(const pe_sequence *s, size_t i)
{
    return s->plain[i] * (1 + pe_sequence_least_part(s) - pe_sequence_part(s, i));
}

/* Only the pairs between the bands are the other way round. */
static double op_blend_inverted(const pe_sequence *s, size_t i)
{
    const double part = pe_sequence_part(s, i), least = pe_sequence_least_part(s);
    const bool between = part < 1 - 1e-6 && part > least + 1e-6;
    return s->plain[i] * (between ? 1 + least - part : part);
}

static double op_of_edge(const pe_sequence *s, size_t i)
{
    return s->plain[i] * ((double)i < s->a ? 1 : 1 / s->b);
}

static double op_ntk_too(const pe_sequence *s, size_t i)
{
    return s->claimed[i] * pow(s->scaling.factor, -(double)i / (double)(s->n - 1));
}

static double op_linear_too(const pe_sequence *s, size_t i)
{
    return s->claimed[i] / s->scaling.factor;
}

/* ---- the rows ---- */

#define LAW(...)         PE_PATCH(PE_AT_FREQUENCY, __VA_ARGS__)
#define FACTORS_OF       "the factors of the pairs are shifted by one: pair i has that of pair "
#define EDGE(NAME, READ) LAW(NAME, .operand = (READ), .op = op_of_edge)
#define RAMP(NAME, ...)  LAW(NAME, .operand = read_ramp, .op = op_of_ramp, .a = __VA_ARGS__)
#define BASE(NAME, POWER)                                                                          \
    LAW(NAME, .operand = read_grown_base, .op = pe_op_progression, .a = (POWER))
#define ROUNDED_ENDS(HOW) .fault.rule = HOW "; the ramp goes from pair {a} to {b}"

static const pe_patch rows[] = {
    LAW(scaling_inverted, .operand = pe_operand_scaled, .faint = true, .op = op_scaled_up),
    LAW(scaling_twice, .operand = pe_operand_scaled, .faint = true, .op = op_scaled_twice),
    LAW(ntk_as_well, .operand = read_naive, .op = op_ntk_too),
    LAW(linear_as_well, .operand = read_naive, .op = op_linear_too),
    LAW(factors_reversed, .operand = read_listed, .op = op_parts_reversed),
    LAW(lerope_base, .operand = read_listed, .op = op_powers_of_two),
    LAW(lerope_linear, .operand = read_listed, .op = op_without_exponential),
    LAW(factors_shifted, .operand = read_listed, .op = op_next_part),
    LAW(factors_shifted, .fault.rule = FACTORS_OF "i - 1", .operand = read_listed,
        .op = op_previous_part),
    LAW(factors_shifted, .operand = read_listed, .op = op_next_part, .a = 1),
    LAW(factors_shifted, .fault.rule = FACTORS_OF "i - 1", .operand = read_listed,
        .op = op_previous_part, .a = 1),
    LAW(ramp_inverted, .operand = pe_operand_scaled, .faint = true, .op = op_ramp_inverted),
    LAW(blend_inverted, .operand = pe_operand_scaled, .faint = true, .op = op_blend_inverted),
    EDGE(blend_missing, read_low_edge),
    EDGE(blend_missing, read_high_edge),
    EDGE(blend_missing, read_middle_edge),
    EDGE(blend_missing, read_edge),
    EDGE(factors_exchanged, read_exchanged),
    RAMP(betas_default, RAMP_BETAS),
    RAMP(ramp_of_other_base, RAMP_BASE),
    RAMP(ramp_of_head_dim, RAMP_HEAD),
    RAMP(ramp_of_part, RAMP_PART),
    RAMP(ramp_of_half_dim, RAMP_HALF),
    RAMP(ramp_of_double_dim, RAMP_DOUBLE),
    RAMP(ramp_over_channels, RAMP_CHANNELS),
    RAMP(ramp_clamped, RAMP_LAST),
    RAMP(ramp_rounded, RAMP_INWARD),
    RAMP(ramp_rounded, RAMP_CUT,
         ROUNDED_ENDS("both ends of the ramp (low, high) were rounded down: high is no ceil")),
    RAMP(ramp_rounded, RAMP_NEAREST,
         ROUNDED_ENDS("both ends of the ramp (low, high) were rounded to nearest")),
    LAW(wavelengths_blended, .operand = read_blended, .op = op_of_mean_wavelength),
    LAW(smooth_of_wavelength, .operand = read_banded, .op = op_of_smooth_wavelength),
    LAW(smooth_of_factor, .operand = read_banded, .op = op_of_smooth_factor),
    BASE(theta_times_factor, POWER_ONE),
    BASE(exponent_of_factor_inverted, POWER_INVERTED),
    BASE(exponent_of_head_dim, POWER_HEAD),
    BASE(exponent_of_half_dim, POWER_HALF),
    BASE(dynamic_not_less, POWER_NOT_LESS),
};

const pe_patches pe_scaling_patches = {rows, PE_LEN(rows)};
