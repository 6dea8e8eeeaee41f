/* SPDX-License-Identifier: MIT */
/* ladder_patches.c - how the order and the exponents of frequencies go wrong. */
#include <math.h>

#include "verify/mistakes/patches.h"

#define TURN 6.283185307179586
#define LN2  0.6931471805599453
#define LN10 2.302585092994046

/* More heads no model has. */
#define MOST_HEADS 1024

/* Only where they are told as such. */
static bool told(pe_sequence *s)
{
    return s->span == 0;
}

static bool read_head(pe_sequence *s)
{
    s->a = (double)s->n / s->scaling.head_pairs;
    return s->scaling.head_pairs > 0 && s->scaling.head_pairs != (double)s->n;
}

static bool read_rotary(pe_sequence *s)
{
    s->a = s->scaling.head_pairs / (double)s->n;
    return s->scaling.head_pairs > 0 && s->scaling.head_pairs != (double)s->n;
}

static bool read_all_heads(pe_sequence *s)
{
    const size_t i = s->span > 0 ? pe_sequence_slowest(s, 1) : pe_sequence_slowest(s, 0);
    const double heads =
        round(log(s->claimed[i] / s->claimed[0]) / log(s->measured[i] / s->claimed[0]));
    s->a = 1 / heads;
    s->b = 2 * heads * (double)s->n;
    return i > 0 && heads >= 3 && heads <= MOST_HEADS && s->b != 2 * s->scaling.head_pairs;
}

/* Of so large a number the slowest pair tells most: others turn too far from row to row. */
static bool read_many(pe_sequence *s)
{
    const double times = s->measured[s->n - 1] / s->claimed[s->n - 1];
    const double digit = pow(10, floor(log10(times)));
    s->a = digit * round(times / digit);
    const bool has_number =
        s->scaling.factor > 1 || !(s->scaling.theta > 0); /* which is told instead */
    return !has_number && s->held && s->span > 0 && times > 9.5 &&
           fabs(s->a - times) < 0.02 * times;
}

/* Of the pairs whose frequency the first known one may have, the nearest to the mean of all. */
static bool read_one(pe_sequence *s)
{
    double sum = 0, known = 0, least = HUGE_VAL;
    size_t first = s->n;
    for (size_t i = s->n; i-- > 0;)
        if (isfinite(s->measured[i])) {
            sum += s->measured[i];
            known++;
            first = i;
        }
    for (size_t k = 0; k < s->n && first < s->n; k++) {
        const double off = fabs(s->claimed[k] * known - sum);
        if (off >= least || !pe_sequence_is_near(s, first, s->claimed[k]))
            continue;
        least = off;
        s->a = (double)k;
    }
    return least < HUGE_VAL && (s->held || s->span == 0);
}

static bool read_rotated_part(pe_sequence *s)
{
    size_t turning = s->n;
    while (turning > 0 && s->claimed[turning - 1] == 0)
        turning--;
    s->a = (double)turning;
    return s->scaling.theta > 0 && turning > 1 && turning < s->n;
}

static double op_of_base_e(const pe_sequence *s, size_t i)
{
    return exp(-(double)i / (double)s->n);
}

static double op_power(const pe_sequence *s, size_t i)
{
    return pow(s->plain[i], s->a);
}

static double op_one_more(const pe_sequence *s, size_t i)
{
    const double first = s->claimed[0], n = (double)s->n;
    return first * pow(s->claimed[i] / first, n / (n + 1));
}

static double op_one_less(const pe_sequence *s, size_t i)
{
    const double first = s->claimed[0], n = (double)s->n;
    return first * pow(s->claimed[i] / first, n / (n - 1));
}

static double op_harmonic(const pe_sequence *s, size_t i)
{
    return s->claimed[0] / (double)(1 + i);
}

static double op_in_line(const pe_sequence *s, size_t i)
{
    const double n = (double)s->n - 1;
    return s->claimed[0] +
           ((s->scaling.theta > 0 ? 1 / s->scaling.theta : s->claimed[s->n - 1]) - s->claimed[0]) *
               (double)i / n;
}

static double op_in_line_to_last(const pe_sequence *s, size_t i)
{
    const double *w = s->claimed;
    return w[0] + (w[s->n - 1] - w[0]) * (double)i / ((double)s->n - 1);
}

static double op_unscaled(const pe_sequence *s, size_t i)
{
    return s->plain[i];
}

static double op_of_rotated_part(const pe_sequence *s, size_t i)
{
    return (double)i < s->a ? pow(s->scaling.theta, -(double)i / s->a) : 0;
}

/* ---- the rows ---- */

#define LAW(...)           PE_PATCH(PE_AT_FREQUENCY, __VA_ARGS__)
#define ROTARY_IN_EXPONENT "the exponents of the frequencies were 2i/rotary_dim, not 2i/head_dim"
#define ORDER              "keep the order of the pairs: pair i has the exponent 2i/d"

static const pe_patch rows[] = {
    LAW(reciprocal_frequencies, .op = pe_op_reciprocal, .a = 1),
    LAW(wavelengths, .op = pe_op_reciprocal, .a = TURN),
    LAW(log_frequencies, .op = pe_op_logarithm, .operand = told),
    LAW(scaling_ignored,
        .fault.rule = "the frequencies were not scaled: rope_scaling, freq_factors or lerope_alpha "
                      "was ignored",
        .fault.remedy = "pass rope_scaling (rope_parameters, freq_factors, lerope_alpha) to the "
                        "code that makes "
                        "inv_freq",
        .operand = pe_operand_scaled, .faint = true, .op = op_unscaled),
    LAW(head_in_exponent, .operand = read_head, .op = op_power),
    LAW(rotary_in_exponent, .operand = read_rotary, .op = op_power),
    LAW(rotary_in_exponent, .fault.rule = ROTARY_IN_EXPONENT ", as without rope_type proportional",
        .operand = read_rotated_part, .op = op_of_rotated_part),
    LAW(exponent_doubled, .op = pe_op_power, .a = 2),
    LAW(exponent_halved, .op = pe_op_power, .a = 0.5),
    LAW(index_plus_one, .op = pe_op_shifted, .a = 1, .but_one = true),
    LAW(index_minus_one, .op = pe_op_shifted, .a = -1, .but_one = true),
    LAW(index_plus_half, .op = pe_op_shifted, .a = 0.5),
    LAW(frequencies_reversed, .op = pe_op_reversed),
    LAW(channels_exchanged, .fault.rule = "even and odd channels (pairs) are exchanged in order",
        .fault.remedy = ORDER, .op = pe_op_neighbours),
    LAW(pairs_permuted, .op = pe_op_evens_first),
    LAW(pairs_permuted,
        .fault.rule = "the order of the pairs was permuted: frequencies of the two halves "
                      "alternate, interleaved",
        .op = pe_op_halves_in_turn),
    LAW(halves_exchanged, .op = pe_op_halves),
    LAW(ladder_rolled, .op = pe_op_rolled, .a = 1),
    LAW(ladder_rolled,
        .fault.rule = "the order of the pairs is rolled by one, or shifted: the last pair has the "
                      "frequency of "
                      "pair 0",
        .op = pe_op_rolled, .a = -1),
    LAW(integer_division, .op = pe_op_evens_twice),
    LAW(frequencies_repeated, .op = pe_op_each_twice),
    LAW(every_other_frequency, .op = pe_op_every_other),
    LAW(half_ladder_repeated, .op = pe_op_first_half_twice),
    LAW(width_in_exponent, .operand = read_all_heads, .op = pe_op_power),
    LAW(log10_for_ln, .op = pe_op_power, .a = 1 / LN10),
    LAW(log2_for_ln, .op = pe_op_power, .a = 1 / LN2),
    LAW(ln_for_log2, .op = pe_op_power, .a = LN2),
    LAW(base_e, .op = op_of_base_e),
    LAW(denominator_plus_two, .op = op_one_more),
    LAW(denominator_minus_two, .op = op_one_less),
    LAW(angles_times_two_pi, .op = pe_op_times, .a = TURN),
    LAW(angles_over_two_pi, .op = pe_op_ratio, .a = 1, .b = TURN),
    LAW(angles_in_degrees, .op = pe_op_ratio, .a = TURN, .b = 360),
    LAW(angles_in_degrees, .fault.rule = "angles are in degrees, not in radians", .op = pe_op_ratio,
        .a = 360, .b = TURN),
    LAW(one_frequency, .operand = read_one, .op = pe_op_one_item),
    LAW(ladder_linear, .op = op_in_line),
    LAW(frequencies_linear, .op = op_in_line_to_last),
    LAW(ladder_harmonic, .op = op_harmonic),
    LAW(angles_multiplied, .operand = read_many, .op = pe_op_times),
};

const pe_patches pe_ladder_patches = {rows, PE_LEN(rows)};
