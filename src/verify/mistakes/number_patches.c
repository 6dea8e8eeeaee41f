/* SPDX-License-Identifier: MIT */
/* number_patches.c - numbers that are read off frequencies, and types that these passed through. */
#include <math.h>

#include "verify/mistakes/patches.h"

/* Radians over the window, from which on a pair is seen to turn. */
#define LEAST_TURN 0.1

/* The ends of a ramp change a pair by less than what is told from no change. */
#define ENDS 3

/* Steps of 1 / theta^(2i/d) that a narrow type rounds: a sum of them. */
enum { STEP_BASE = 1, STEP_EXPONENT = 2, STEP_POWER = 4, STEP_RECIPROCAL = 8 };

static bool read_multiple(pe_sequence *s)
{
    s->a = s->measured[0] / s->claimed[0];
    s->b = 1 / s->a;
    return s->span == 0 && isfinite(s->a) && s->a > 0;
}

/* A number of four digits where it may be one. */
static double tidy(const pe_sequence *s, double x)
{
    const double digit = pow(10, floor(log10(x)) - 3), round_one = digit * round(x / digit);
    return fabs(round_one - x) <= (2e-6 + 4 * s->roundoff) * x ? round_one : x;
}

static bool read_geometric(pe_sequence *s)
{
    const size_t i = pe_sequence_slowest(s, 0);
    const double first = s->measured[0], last = s->measured[i] / first;
    const double theta = pow(last, -(double)s->n / (double)i);
    if (s->span > 0 || i == 0 || !(s->scaling.theta > 0) || !(isfinite(theta) && theta > 1))
        return false;
    s->a = tidy(s, first);
    s->b = tidy(s, theta);
    return true;
}

static bool any_theta(pe_sequence *s)
{
    if (!read_geometric(s) || s->a != 1)
        return false;
    s->a = s->b;
    s->b = s->scaling.theta;
    return true;
}

static bool read_theta(pe_sequence *s)
{
    return !pe_sequence_is_scaled(s) && any_theta(s);
}

static bool read_unscaled_theta(pe_sequence *s)
{
    return pe_sequence_is_scaled(s) && any_theta(s);
}

static bool read_turned_theta(pe_sequence *s)
{
    const size_t i = pe_sequence_slowest(s, 1);
    if (!(s->span > 0) || i < 2 || !(s->scaling.theta > 1))
        return false;
    const double power = log(s->measured[i] / s->claimed[i]) * (double)s->n / (double)i;
    const double theta = s->scaling.theta * exp(-power), digit = pow(10, floor(log10(theta)));
    const double one = digit * round(theta / digit), two = digit / 10 * round(10 * theta / digit);
    s->a = fabs(one / theta - 1) < 0.03   ? one
           : fabs(two / theta - 1) < 0.01 ? two
                                          : digit / 1000 * round(1000 * theta / digit);
    s->b = s->scaling.theta;
    return isfinite(s->a) && s->a > 1 && fabs(s->a / s->b - 1) > 0.02;
}

static bool read_turned_multiple(pe_sequence *s)
{
    const size_t i = pe_sequence_slowest(s, 1);
    s->a = s->measured[i] / s->claimed[i];
    s->b = 1 / s->a;
    return s->span > 0 && i > 2 && fabs(s->a - 1) > 0.02 && isfinite(s->b);
}

static bool read_length(pe_sequence *s)
{
    const double n = (double)s->n;
    if (!(s->scaling.dynamic_length > 0) || !any_theta(s))
        return false;
    const double grown = pow(s->a / s->scaling.theta, (n - 1) / n);
    s->b = s->a;
    const double length =
        s->scaling.dynamic_length * (grown + s->scaling.factor - 1) / s->scaling.factor;
    s->a = round(length);
    return s->a > s->scaling.dynamic_length &&
           fabs(length - s->a) <= (2e-6 + 4 * s->roundoff) * length;
}

/* The base that ntk makes of theta by a factor. */
static double ntk_base(const pe_sequence *s, double factor)
{
    return s->scaling.theta * pow(factor, (double)s->n / (double)(s->n - 1));
}

static bool read_ntk_factor(pe_sequence *s)
{
    if (!(s->scaling.factor > 1) || !any_theta(s) ||
        fabs(s->claimed[1] * pow(ntk_base(s, s->scaling.factor), 1 / (double)s->n) - 1) > 1e-6)
        return false;
    const double factor = pow(s->a / s->scaling.theta, (double)(s->n - 1) / (double)s->n);
    s->a = round(2 * factor) / 2;
    s->b = s->scaling.factor;
    return s->a > 1 && fabs(factor - s->a) <= (2e-6 + 4 * s->roundoff) * factor;
}

static bool read_exponent_of_factor(pe_sequence *s)
{
    if (!(s->scaling.factor > 1) || s->scaling.dynamic_length > 0 || !any_theta(s) ||
        !pe_sequence_is_scaled(s))
        return false;
    s->a = log(s->a / s->scaling.theta) / log(s->scaling.factor);
    s->b = 2 * s->a / (s->a - 1);
    return s->a > 1 && s->a < 2;
}

static bool read_least(pe_sequence *s)
{
    s->a = HUGE_VAL;
    for (size_t i = 0; i < s->n; i++)
        s->a = isfinite(s->measured[i]) ? fmin(s->a, s->measured[i]) : s->a;
    return s->span == 0 && s->a > 0 && pe_sequence_is_near(s, s->n - 2, s->a);
}

/* Does the part of the frequencies that scaling leaves fall in a line from pair `first` to `last`:
 * by pair, as that of yarn, or by frequency, as that of llama3? */
static bool falls_in_line(const pe_sequence *s, size_t first, size_t last, bool by_pair)
{
    const double least = pe_sequence_least_part(s);
    const double *x = s->plain, start = by_pair ? (double)first - 1 : x[first - 1];
    const double end = by_pair ? (double)last : x[last];
    for (size_t i = first; i < last; i++) {
        const double along = ((by_pair ? (double)i : x[i]) - start) / (end - start);
        const double slack = 1 / (double)(last - first + 1), part = s->measured[i] / x[i];
        if (isfinite(part) && fabs(part - 1 + along * (1 - least)) > slack)
            return false;
    }
    return true;
}

static bool read_bands(pe_sequence *s)
{
    size_t first = 0, last = s->n;
    const double least = pe_sequence_least_part(s);
    while (first < s->n && pe_sequence_is_near(s, first, s->plain[first]))
        first++;
    while (last > first && pe_sequence_is_near(s, last - 1, s->plain[last - 1] * least))
        last--;
    s->a = (double)first;
    s->b = (double)last;
    return pe_sequence_is_scaled(s) && first > 0 && last < s->n && last - first <= s->n / 2 &&
           (falls_in_line(s, first, last, true) || falls_in_line(s, first, last, false));
}

static bool read_rest(pe_sequence *s)
{
    size_t first = s->n, last = 0;
    for (size_t i = 0; i < s->n; i++)
        if (fabs(s->measured[i]) < fabs(s->claimed[i]) / 50 &&
            (s->span == 0 || fabs(s->claimed[i]) * s->span > LEAST_TURN)) {
            first = i < first ? i : first;
            last = i;
        }
    while (s->span > 0 && first <= last && last + 1 < s->n &&
           fabs(s->claimed[last + 1]) * s->span <= LEAST_TURN)
        last++; /* the slowest pairs tell nothing */
    s->a = (double)first;
    s->b = (double)last;
    return first <= last && (first > 0 || last + 1 < s->n);
}

static bool read_last_half(pe_sequence *s)
{
    s->a = floor((double)s->n / 2);
    s->b = (double)(s->n - 1);
    return true;
}

/* theta^(-i/n) */
static double rung(const pe_sequence *s, double theta, size_t i)
{
    return pow(theta, -(double)i / (double)s->n);
}

/* The claimed scaling stays. */
static double op_of_ratio(const pe_sequence *s, size_t i)
{
    return s->claimed[i] * rung(s, s->a / s->b, i);
}

static double op_of_second_theta(const pe_sequence *s, size_t i)
{
    return rung(s, s->b, i);
}

static double op_geometric(const pe_sequence *s, size_t i)
{
    return s->a * rung(s, s->b, i);
}

static double op_of_scaled_theta(const pe_sequence *s, size_t i)
{
    return rung(s, s->scaling.theta * pow(s->scaling.factor, s->a), i);
}

static double op_of_ntk_factor(const pe_sequence *s, size_t i)
{
    const double n = (double)s->n;
    return rung(s, s->scaling.theta * pow(s->a, n / (n - 1)), i);
}

/* To the type that is row `b` of the grains. */
static double rounded(const pe_sequence *s, double x)
{
    return pe_grain_round(&pe_grains[(size_t)s->b], x);
}

/* The same of a step, if `a` has its bit. */
static double step_rounded(const pe_sequence *s, unsigned step, double x)
{
    return ((unsigned)s->a & step) != 0 ? rounded(s, x) : x;
}

static double op_of_rounded_steps(const pe_sequence *s, size_t i)
{
    const double theta = step_rounded(s, STEP_BASE, s->scaling.theta);
    const double exponent = step_rounded(s, STEP_EXPONENT, (double)i / (double)s->n);
    const double power = step_rounded(s, STEP_POWER, pow(theta, exponent));
    return s->scaling.theta > 0
               ? step_rounded(s, STEP_RECIPROCAL, 1 / power) * pe_sequence_part(s, i)
               : nan("");
}

static double op_of_running_product(const pe_sequence *s, size_t i)
{
    double w = 1;
    for (size_t k = 0; k < i; k++)
        w = rounded(s, w * s->plain[1] / s->plain[0]);
    return w * pe_sequence_part(s, i);
}

static double op_as_measured(const pe_sequence *s, size_t i)
{
    const double least = pe_sequence_least_part(s);
    if ((double)i < s->a - ENDS)
        return s->plain[i];
    return (double)i >= s->b + ENDS ? s->plain[i] * least : s->measured[i];
}

/* ---- the rows ---- */

#define LAW(...)    PE_PATCH(PE_AT_FREQUENCY, __VA_ARGS__)
#define DECIMALS(N) LAW(inv_freq_decimals, .op = pe_op_decimals, .a = (N), .subtle = true)
#define STEPS(RULE, GRAIN, ...)                                                                    \
    LAW(inv_freq_rounded, .fault.rule = RULE, .op = op_of_rounded_steps, .a = (__VA_ARGS__),       \
        .b = (GRAIN), .subtle = true)
#define ALL_STEPS (STEP_EXPONENT | STEP_POWER | STEP_RECIPROCAL)
#define ROUNDED(TYPE, GRAIN)                                                                       \
    STEPS("the exponents 2i/d were rounded to " TYPE " before the power", GRAIN, STEP_EXPONENT),   \
        STEPS("the powers theta^(2i/d) were rounded to " TYPE " before 1 was divided by them",     \
              GRAIN, STEP_POWER),                                                                  \
        STEPS("the powers theta^(2i/d) and frequencies (inv_freq) were rounded to " TYPE, GRAIN,   \
              STEP_POWER | STEP_RECIPROCAL),                                                       \
        STEPS("frequencies (inv_freq) were computed in " TYPE                                      \
              ": exponents, powers and reciprocals were rounded",                                  \
              GRAIN, ALL_STEPS),                                                                   \
        STEPS("frequencies (inv_freq) were computed in " TYPE                                      \
              ": the base, exponents, powers and reciprocals were rounded",                        \
              GRAIN, STEP_BASE | ALL_STEPS),                                                       \
        LAW(inv_freq_rounded,                                                                      \
            .fault.rule = "frequencies (inv_freq) are a running product that was rounded to " TYPE \
                          " at each step",                                                         \
            .op = op_of_running_product, .b = (GRAIN), .subtle = true)

static const pe_patch rows[] = {
    LAW(pairs_rest, .operand = read_rest, .op = pe_op_zero_between, .may_be_one = true),
    LAW(pairs_rest, .operand = read_last_half, .op = pe_op_zero_between),
    LAW(ntk_factor, .operand = read_ntk_factor, .op = op_of_ntk_factor, .fitted = true),
    LAW(base_scaled,
        .fault.remedy = "raise the factor to d/(d - 2), where d is the rotated dimension",
        .operand = read_exponent_of_factor, .op = op_of_scaled_theta, .fitted = true),
    LAW(seq_len, .operand = read_length, .op = op_of_second_theta, .fitted = true),
    LAW(scaling_ignored, .operand = read_unscaled_theta, .op = pe_op_progression, .fitted = true),
    LAW(rope_theta, .operand = read_theta, .op = pe_op_progression, .fitted = true),
    LAW(base_about, .operand = read_turned_theta, .op = op_of_ratio, .fitted = true),
    LAW(frequencies_scaled, .operand = read_multiple, .op = pe_op_times, .fitted = true),
    LAW(base_and_scale, .operand = read_geometric, .op = op_geometric, .fitted = true),
    ROUNDED("bfloat16", PE_GRAIN_BFLOAT16),
    ROUNDED("float16", PE_GRAIN_FLOAT16),
    DECIMALS(4),
    DECIMALS(5),
    DECIMALS(6),
    DECIMALS(7),
    LAW(frequencies_clipped, .operand = read_least, .op = pe_op_at_least),
    LAW(bands_moved, .operand = read_bands, .op = op_as_measured, .fitted = true),
};

const pe_patches pe_number_patches = {rows, PE_LEN(rows)};

static const pe_patch rough[] = {
    {.op = pe_op_times, .operand = read_turned_multiple},
    {.op = op_of_ratio, .operand = read_turned_theta},
};

const pe_patches pe_rough_frequency_patches = {rough, PE_LEN(rough)};
