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
#define RADIANS            "take angles in radians: position times inv_freq"
#define POWERS             "take the exponents 2i/d: inv_freq = theta ** -(arange(0, d, 2) / d)"
#define ROTARY_IN_EXPONENT "the exponents of the frequencies were 2i/rotary_dim, not 2i/head_dim"
#define HEAD_DIM           "divide the exponents by head_dim, of which a part is rotated"
#define ORDER              "keep the order of the pairs: pair i has the exponent 2i/d"

static const pe_patch rows[] = {
    LAW(reciprocal_frequencies, "frequencies are the reciprocals: theta^(2i/d) for theta^(-2i/d)",
        "divide 1 by the power: inv_freq = 1 / theta^(2i/d)", .op = pe_op_reciprocal, .a = 1),
    LAW(wavelengths, "wavelengths stand in the place of frequencies: 2 pi theta^(2i/d)",
        "divide 2 pi by them", .op = pe_op_reciprocal, .a = TURN),
    LAW(log_frequencies, "logarithms of the frequencies stand in their place: no exp was taken",
        "take exp of them", .op = pe_op_logarithm, .operand = told),
    LAW(scaling_ignored,
        "the frequencies were not scaled: rope_scaling, freq_factors or lerope_alpha was ignored",
        "pass rope_scaling (rope_parameters, freq_factors, lerope_alpha) to the code that makes "
        "inv_freq",
        .operand = pe_operand_scaled, .faint = true, .op = op_unscaled),
    LAW(head_in_exponent, "the exponents of the frequencies were 2i/head_dim, not 2i/rotary_dim",
        "divide the exponents by rotary_dim, not by head_dim", .operand = read_head,
        .op = op_power),
    LAW(rotary_in_exponent, ROTARY_IN_EXPONENT, HEAD_DIM, .operand = read_rotary, .op = op_power),
    LAW(rotary_in_exponent, ROTARY_IN_EXPONENT ", as without rope_type proportional", HEAD_DIM,
        .operand = read_rotated_part, .op = op_of_rotated_part),
    LAW(exponent_doubled,
        "frequencies are squared: exponents are 4i/d, or the ladder was applied twice", POWERS,
        .op = pe_op_power, .a = 2),
    LAW(exponent_halved, "frequencies are the square roots: exponents are i/d, not 2i/d", POWERS,
        .op = pe_op_power, .a = 0.5),
    LAW(index_plus_one, "the ladder is shifted: pair i has the frequency of pair i + 1",
        "count pairs from 0", .op = pe_op_shifted, .a = 1, .but_one = true),
    LAW(index_minus_one, "the ladder is shifted: pair i has the frequency of pair i - 1",
        "count pairs from 0", .op = pe_op_shifted, .a = -1, .but_one = true),
    LAW(index_plus_half, "the ladder is shifted by half a pair: exponents are (2i + 1)/d, not 2i/d",
        POWERS, .op = pe_op_shifted, .a = 0.5),
    LAW(frequencies_reversed,
        "channels are reversed: the order of the frequencies is the other one, slowest first",
        ORDER, .op = pe_op_reversed),
    LAW(channels_exchanged, "even and odd channels (pairs) are exchanged in order", ORDER,
        .op = pe_op_neighbours),
    LAW(pairs_permuted,
        "the order of the pairs was permuted: frequencies of even pairs stand before those of odd "
        "ones",
        ORDER, .op = pe_op_evens_first),
    LAW(pairs_permuted,
        "the order of the pairs was permuted: frequencies of the two halves alternate, interleaved",
        ORDER, .op = pe_op_halves_in_turn),
    LAW(halves_exchanged,
        "the halves of the ladder are exchanged: the order of the pairs is rolled by half", ORDER,
        .op = pe_op_halves),
    LAW(ladder_rolled, "the order of the pairs is rolled by one: pair 0 has the last frequency",
        ORDER, .op = pe_op_rolled, .a = 1),
    LAW(ladder_rolled,
        "the order of the pairs is rolled by one, or shifted: the last pair has the frequency of "
        "pair 0",
        ORDER, .op = pe_op_rolled, .a = -1),
    LAW(integer_division,
        "each second pair repeats the frequency before it: exponents come from an integer division "
        "(i // 2)",
        POWERS, .op = pe_op_evens_twice),
    LAW(frequencies_repeated,
        "each frequency is repeated for two pairs, so that half of the ladder is missing",
        "repeat frequencies only where channels, not pairs, are counted (repeat_interleave)",
        .op = pe_op_each_twice),
    LAW(every_other_frequency,
        "pairs have every other frequency, repeated twice: exponents are 4i/d modulo 1", POWERS,
        .op = pe_op_every_other),
    LAW(half_ladder_repeated, "the first half of the ladder is repeated in the other pairs", POWERS,
        .op = pe_op_first_half_twice),
    LAW(width_in_exponent,
        "the exponents of the frequencies were 2i/{b}, as of all heads together (d_model), not "
        "2i/d",
        "divide the exponents by the channels of one head that are rotated",
        .operand = read_all_heads, .op = pe_op_power),
    LAW(log10_for_ln,
        "exponents are divided by ln 10: log10(base) was taken for the natural logarithm",
        "take the natural logarithm of the base", .op = pe_op_power, .a = 1 / LN10),
    LAW(log2_for_ln,
        "exponents are divided by ln 2: log2(base) was taken for the natural logarithm",
        "take the natural logarithm with exp, log2 with exp2", .op = pe_op_power, .a = 1 / LN2),
    LAW(ln_for_log2,
        "exponents are multiplied by ln 2: exp2 was taken of the natural logarithm of the base",
        "take the natural logarithm with exp, log2 with exp2", .op = pe_op_power, .a = LN2),
    LAW(base_e, "rope_theta (the base) was e: it was left out of the power, as exp(-2i/d)",
        "multiply the exponent by ln(theta)", .op = op_of_base_e),
    LAW(denominator_plus_two, "exponents are divided by d + 2, not by d",
        "divide the exponents by d", .op = op_one_more),
    LAW(denominator_minus_two,
        "exponents are divided by d - 2, not by d: the ladder reaches theta itself",
        "divide the exponents by d (freq_shift 0)", .op = op_one_less),
    LAW(angles_times_two_pi, "angles are multiplied by 2 pi", RADIANS, .op = pe_op_times,
        .a = TURN),
    LAW(angles_over_two_pi, "angles are divided by 2 pi: turns were taken for radians", RADIANS,
        .op = pe_op_ratio, .a = 1, .b = TURN),
    LAW(angles_in_degrees, "angles in degrees were taken for radians", RADIANS, .op = pe_op_ratio,
        .a = TURN, .b = 360),
    LAW(angles_in_degrees, "angles are in degrees, not in radians", RADIANS, .op = pe_op_ratio,
        .a = 360, .b = TURN),
    LAW(one_frequency, "all pairs have the frequency of pair {a}",
        "take a frequency of its own for each pair", .operand = read_one, .op = pe_op_one_item),
    LAW(ladder_linear,
        "frequencies are linear in i: the ladder is a straight line (linspace), no power", POWERS,
        .op = op_in_line),
    LAW(frequencies_linear,
        "frequencies are linear in i: the ladder is a straight line (linspace) from the first to "
        "the last one, no power",
        POWERS, .op = op_in_line_to_last),
    LAW(ladder_harmonic, "frequencies are 1/(1 + i): a series of fractions, no power of a base",
        POWERS, .op = op_harmonic),
    LAW(angles_multiplied, "positions, or all frequencies, were multiplied by {a}",
        "check the unit of the positions (seconds, milliseconds), and whether they are scaled "
        "twice",
        .operand = read_many, .op = pe_op_times),
};

const pe_patches pe_ladder_patches = {rows, PE_LEN(rows)};
