/* SPDX-License-Identifier: MIT */
/* ladder.c - how measured frequencies came from claimed ones: laws. */
#include "verify/ladder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/geometry.h"

#define TURN 6.283185307179586
#define LN2  0.6931471805599453
#define LN10 2.302585092994046

/* Numbers that a law reads off the ladder. */
typedef struct numbers {
    double a, b;
} numbers;

typedef struct law {
    pe_fault fault; /* its sentence has the numbers as {a} and {b} */
    bool (*read)(const pe_ladder *l, numbers *out);
    double (*predict)(const pe_ladder *l, size_t i, numbers at);
    bool fitted;  /* the numbers are only read off */
    bool but_one; /* pairs move; the one at the end may be anything */
} law;

/* ---- what is near ---- */

bool pe_ladder_is_near(const pe_ladder *l, size_t i, double w)
{
    const double off = fabs(l->measured[i] - w);
    if (l->span == 0)
        return off <= (8e-6 + 1.01 * l->roundoff) * fabs(w) + (l->roundoff > 1e-4 ? 0x1p-24 : 0);
    const double turns = (l->measured[i] - w) * l->step / TURN;
    if (off <= 0.01 * fabs(w) + 0.05 / l->span)
        return true;
    return fabs(w * l->step) > TURN / 2 && fabs(turns - round(turns)) < 2e-3;
}

/* The pair that tells an exponent best: the slowest one that is known. */
static size_t telling_pair(const pe_ladder *l)
{
    size_t i = l->n - 1;
    while (i > 0 && !(l->measured[i] > 0 && fabs(l->measured[i]) * l->span >= 0))
        i--;
    return i;
}

static double part_of(const pe_ladder *l, size_t i)
{
    return l->claimed[i] / l->plain[i];
}

/* The smallest part that scaling leaves of a frequency. */
static double least_part(const pe_ladder *l)
{
    double least = 1;
    for (size_t i = 0; i < l->n; i++)
        least = fmin(least, part_of(l, i));
    return least;
}

static bool is_scaled(const pe_ladder *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (fabs(part_of(l, i) - 1) > 1e-9)
            return true;
    return false;
}

/* ---- reading ---- */

static bool read_nothing(const pe_ladder *l, numbers *out)
{
    (void)l;
    (void)out;
    return true;
}

static bool read_scaled(const pe_ladder *l, numbers *out)
{
    (void)out;
    return is_scaled(l);
}

static bool read_head(const pe_ladder *l, numbers *out)
{
    *out = (numbers){.a = (double)l->n / l->head_pairs};
    return l->head_pairs > 0 && l->head_pairs != (double)l->n;
}

static bool read_rotary(const pe_ladder *l, numbers *out)
{
    *out = (numbers){.a = l->head_pairs / (double)l->n};
    return l->head_pairs > 0 && l->head_pairs != (double)l->n;
}

/* All pairs turn by one multiple; only frequencies that are told as such are known so well. */
static bool read_multiple(const pe_ladder *l, numbers *out)
{
    const double times = l->measured[0] / l->claimed[0];
    *out = (numbers){times, 1 / times};
    return l->span == 0 && isfinite(times) && times > 0;
}

/* A number of four digits where it may be one. */
static double tidy(const pe_ladder *l, double x)
{
    const double digit = pow(10, floor(log10(x)) - 3), round_one = digit * round(x / digit);
    return fabs(round_one - x) <= (2e-6 + 4 * l->roundoff) * x ? round_one : x;
}

/* The measured ladder is a theta^(-i/n). */
static bool read_geometric(const pe_ladder *l, numbers *out)
{
    const size_t i = telling_pair(l);
    const double first = l->measured[0], last = l->measured[i] / first;
    const double theta = pow(last, -(double)l->n / (double)i);
    if (l->span > 0 || i == 0 || !(l->theta > 0) || !(isfinite(theta) && theta > 1))
        return false;
    *out = (numbers){tidy(l, first), tidy(l, theta)};
    return true;
}

static bool read_theta(const pe_ladder *l, numbers *out)
{
    if (!read_geometric(l, out) || out->a != 1)
        return false;
    *out = (numbers){out->b, l->theta};
    return true;
}

/* The length of which dynamic scaling makes the base that was measured. */
static bool read_length(const pe_ladder *l, numbers *out)
{
    const double n = (double)l->n;
    if (!(l->dynamic_length > 0) || !read_theta(l, out))
        return false;
    const double grown = pow(out->a / l->theta, (n - 1) / n);
    *out = (numbers){tidy(l, l->dynamic_length * (grown + l->factor - 1) / l->factor), out->a};
    return true;
}

static bool read_listed(const pe_ladder *l, numbers *out)
{
    *out = (numbers){0, 0};
    return l->listed;
}

static bool read_clamped(const pe_ladder *l, numbers *out)
{
    *out = (numbers){1, 1};
    return l->listed;
}

static bool read_exponent_of_factor(const pe_ladder *l, numbers *out)
{
    numbers theta;
    if (!(l->factor > 1) || l->dynamic_length > 0 || !read_theta(l, &theta) || !is_scaled(l))
        return false;
    *out = (numbers){log(theta.a / l->theta) / log(l->factor), 0};
    out->b = 2 * out->a / (out->a - 1);
    return out->a > 0.5 && out->a < 2;
}

static bool read_naive(const pe_ladder *l, numbers *out)
{
    *out = (numbers){l->theta * l->factor, l->factor};
    return l->theta > 0 && l->factor > 1;
}

static bool read_least(const pe_ladder *l, numbers *out)
{
    out->a = HUGE_VAL;
    for (size_t i = 0; i < l->n; i++)
        out->a = isfinite(l->measured[i]) ? fmin(out->a, l->measured[i]) : out->a;
    return l->span == 0 && out->a > 0 && pe_ladder_is_near(l, l->n - 2, out->a);
}

/* Pairs below a are as without scaling, the others wholly scaled. */
static bool read_edge(const pe_ladder *l, numbers *out)
{
    size_t i = 0;
    while (i < l->n && pe_ladder_is_near(l, i, l->plain[i]))
        i++;
    *out = (numbers){(double)i, 1 / least_part(l)};
    return is_scaled(l) && i > 0 && i < l->n;
}

/* Pairs up to a are not scaled, those from b on wholly; a band lies between. */
static bool read_bands(const pe_ladder *l, numbers *out)
{
    size_t first = 0, last = l->n;
    const double least = least_part(l);
    while (first < l->n && pe_ladder_is_near(l, first, l->plain[first]))
        first++;
    while (last > first && pe_ladder_is_near(l, last - 1, l->plain[last - 1] * least))
        last--;
    for (size_t i = first; i < last; i++)
        if (l->measured[i] > l->plain[i] * 1.01 || l->measured[i] < l->plain[i] * least * 0.99)
            return false;
    *out = (numbers){(double)first, (double)last};
    return is_scaled(l) && (first > 0 || last < l->n);
}

/* Pairs a to b do not turn. */
static bool read_rest(const pe_ladder *l, numbers *out)
{
    size_t first = l->n, last = 0;
    for (size_t i = 0; i < l->n; i++)
        if (fabs(l->measured[i]) < fabs(l->claimed[i]) / 50) {
            first = i < first ? i : first;
            last = i;
        }
    *out = (numbers){(double)first, (double)last};
    return first <= last && first < l->n;
}

/* ---- predicting ---- */

/* w_i of a ladder that goes on beyond its ends. */
static double step_of(const pe_ladder *l, double i)
{
    const double *w = l->claimed;
    if (i >= 0 && i < (double)l->n)
        return w[(size_t)i];
    const double ratio = w[l->n - 1] / w[l->n - 2];
    return i < 0 ? w[0] / ratio : w[l->n - 1] * ratio;
}

static double next_pair(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return step_of(l, (double)i + 1);
}

static double previous_pair(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return step_of(l, (double)i - 1);
}

static double half_step(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return sqrt(l->claimed[i] * step_of(l, (double)i + 1));
}

static double reciprocal(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return 1 / l->claimed[i];
}

static double squared(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->claimed[i] * l->claimed[i];
}

static double root(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return sqrt(l->claimed[i]);
}

static double by_log10(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return pow(l->claimed[i], 1 / LN10);
}

static double by_log2(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return pow(l->claimed[i], 1 / LN2);
}

static double by_exp2(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return pow(l->claimed[i], LN2);
}

static double of_base_e(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return exp(-(double)i / (double)l->n);
}

static double power(const pe_ladder *l, size_t i, numbers at)
{
    return pow(l->plain[i], at.a);
}

static double one_more(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return pow(l->claimed[i], (double)l->n / ((double)l->n + 1));
}

static double one_less(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return pow(l->claimed[i], (double)l->n / ((double)l->n - 1));
}

static double reversed(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->claimed[l->n - 1 - i];
}

static double exchanged(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return step_of(l, (double)(i ^ 1));
}

static double halves_exchanged(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->claimed[(i + l->n / 2) % l->n];
}

static double rolled_on(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->claimed[(i + l->n - 1) % l->n];
}

static double rolled_back(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->claimed[(i + 1) % l->n];
}

static double in_twos(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->claimed[i - i % 2];
}

static double halved_index(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->claimed[i / 2];
}

static double every_other(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->claimed[2 * i % l->n];
}

static double half_again(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->claimed[i % ((l->n + 1) / 2)];
}

static double in_turns(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->claimed[i] * TURN;
}

static double in_radians(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->claimed[i] / TURN;
}

static double in_degrees(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->claimed[i] * TURN / 360;
}

static double to_degrees(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->claimed[i] * 360 / TURN;
}

static double all_first(const pe_ladder *l, size_t i, numbers at)
{
    (void)i;
    (void)at;
    return l->claimed[0];
}

static double in_line(const pe_ladder *l, size_t i, numbers at)
{
    const double n = (double)l->n - 1;
    (void)at;
    return l->claimed[0] +
           ((l->theta > 0 ? 1 / l->theta : l->claimed[l->n - 1]) - l->claimed[0]) * (double)i / n;
}

static double not_below(const pe_ladder *l, size_t i, numbers at)
{
    return fmax(l->claimed[i], at.a);
}

static double times(const pe_ladder *l, size_t i, numbers at)
{
    return l->claimed[i] * at.a;
}

static double of_theta(const pe_ladder *l, size_t i, numbers at)
{
    return pow(at.a, -(double)i / (double)l->n);
}

static double geometric(const pe_ladder *l, size_t i, numbers at)
{
    return at.a * pow(at.b, -(double)i / (double)l->n);
}

static double of_length(const pe_ladder *l, size_t i, numbers at)
{
    return pow(at.b, -(double)i / (double)l->n);
}

static double of_scaled_theta(const pe_ladder *l, size_t i, numbers at)
{
    return pow(l->theta * pow(l->factor, at.a), -(double)i / (double)l->n);
}

static double resting(const pe_ladder *l, size_t i, numbers at)
{
    return (double)i >= at.a && (double)i <= at.b ? 0 : l->claimed[i];
}

/* ---- predicting scaled ladders ---- */

static double unscaled(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->plain[i];
}

static double scaled_up(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->plain[i] / part_of(l, i);
}

static double scaled_twice(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->claimed[i] * part_of(l, i);
}

static double parts_reversed(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->plain[i] * part_of(l, l->n - 1 - i);
}

static double next_part(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->plain[i] * part_of(l, i + 1 < l->n ? i + 1 : at.a > 0 ? i : 0);
}

static double previous_part(const pe_ladder *l, size_t i, numbers at)
{
    return l->plain[i] * part_of(l, i > 0 ? i - 1 : at.a > 0 ? i : l->n - 1);
}

static double ramp_inverted(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->plain[i] * (1 + least_part(l) - part_of(l, i));
}

/* Only the pairs between the bands are the other way round. */
static double blend_inverted(const pe_ladder *l, size_t i, numbers at)
{
    const double part = part_of(l, i), least = least_part(l);
    const bool between = part < 1 - 1e-6 && part > least + 1e-6;
    (void)at;
    return l->plain[i] * (between ? 1 + least - part : part);
}

static double of_edge(const pe_ladder *l, size_t i, numbers at)
{
    return l->plain[i] * ((double)i < at.a ? 1 : 1 / at.b);
}

static double as_measured(const pe_ladder *l, size_t i, numbers at)
{
    const double least = least_part(l);
    if ((double)i < at.a)
        return l->plain[i];
    return (double)i >= at.b ? l->plain[i] * least : l->measured[i];
}

static double linear_too(const pe_ladder *l, size_t i, numbers at)
{
    (void)at;
    return l->claimed[i] / l->factor;
}

/* ---- the laws ---- */

#define LAW(NAME, READ, PREDICT, SENTENCE, REMEDY)                                                 \
    {                                                                                              \
        .fault = {.name = (NAME), .rule = (SENTENCE), .remedy = (REMEDY)}, .read = (READ),         \
        .predict = (PREDICT)                                                                       \
    }
#define FITTED(NAME, READ, PREDICT, SENTENCE, REMEDY)                                              \
    {                                                                                              \
        .fault = {.name = (NAME), .rule = (SENTENCE), .remedy = (REMEDY)}, .read = (READ),         \
        .predict = (PREDICT), .fitted = true                                                       \
    }
#define SHIFT(NAME, PREDICT, SENTENCE)                                                             \
    {                                                                                              \
        .fault = {.name = (NAME), .rule = (SENTENCE), .remedy = "count pairs from 0"},             \
        .read = read_nothing, .predict = (PREDICT), .but_one = true                                \
    }
#define RADIANS "take angles in radians: position times inv_freq"
#define POWERS  "take the exponents 2i/d: inv_freq = theta ** -(arange(0, d, 2) / d)"
#define ORDER   "keep the order of the pairs: pair i has the exponent 2i/d"

/* Those without numbers come first: they say more. */
static const law laws[] = {
    LAW("reciprocal_frequencies", read_nothing, reciprocal,
        "frequencies are the reciprocals: theta^(2i/d) for theta^(-2i/d)",
        "divide 1 by the power: inv_freq = 1 / theta^(2i/d)"),
    LAW("scaling_ignored", read_scaled, unscaled,
        "the frequencies were not scaled: rope_scaling or freq_factors was ignored",
        "pass rope_scaling (rope_parameters, freq_factors) to the code that makes inv_freq"),
    LAW("exponent_doubled", read_nothing, squared,
        "frequencies are squared: exponents are 4i/d, or the ladder was applied twice", POWERS),
    LAW("exponent_halved", read_nothing, root,
        "frequencies are the square roots: exponents are i/d, not 2i/d", POWERS),
    SHIFT("index_plus_one", next_pair,
          "the ladder is shifted: pair i has the frequency of pair i + 1"),
    SHIFT("index_minus_one", previous_pair,
          "the ladder is shifted: pair i has the frequency of pair i - 1"),
    LAW("index_plus_half", read_nothing, half_step,
        "the ladder is shifted by half a pair: exponents are (2i + 1)/d, not 2i/d", POWERS),
    LAW("frequencies_reversed", read_nothing, reversed,
        "channels are reversed: the order of the frequencies is the other one, slowest first",
        ORDER),
    LAW("channels_exchanged", read_nothing, exchanged,
        "even and odd channels (pairs) are exchanged in order", ORDER),
    LAW("halves_exchanged", read_nothing, halves_exchanged,
        "the halves of the ladder are exchanged: the order of the pairs is rolled by half", ORDER),
    LAW("ladder_rolled", read_nothing, rolled_on,
        "the order of the pairs is rolled by one: pair 0 has the last frequency", ORDER),
    LAW("ladder_rolled", read_nothing, rolled_back,
        "the order of the pairs is rolled by one, or shifted: the last pair has the frequency of "
        "pair 0",
        ORDER),
    LAW("integer_division", read_nothing, in_twos,
        "each second pair repeats the frequency before it: exponents come from an integer "
        "division (i // 2)",
        POWERS),
    LAW("frequencies_repeated", read_nothing, halved_index,
        "each frequency is repeated for two pairs, so that half of the ladder is missing",
        "repeat frequencies only where channels, not pairs, are counted (repeat_interleave)"),
    LAW("every_other_frequency", read_nothing, every_other,
        "pairs have every other frequency, repeated twice: exponents are 4i/d modulo 1", POWERS),
    LAW("half_ladder_repeated", read_nothing, half_again,
        "the first half of the ladder is repeated in the other pairs", POWERS),
    LAW("log10_for_ln", read_nothing, by_log10,
        "exponents are divided by ln 10: log10(base) was taken for the natural logarithm",
        "take the natural logarithm of the base"),
    LAW("log2_for_ln", read_nothing, by_log2,
        "exponents are divided by ln 2: log2(base) was taken for the natural logarithm",
        "take the natural logarithm with exp, log2 with exp2"),
    LAW("ln_for_log2", read_nothing, by_exp2,
        "exponents are multiplied by ln 2: exp2 was taken of the natural logarithm of the base",
        "take the natural logarithm with exp, log2 with exp2"),
    LAW("base_e", read_nothing, of_base_e,
        "rope_theta (the base) was e: it was left out of the power, as exp(-2i/d)",
        "multiply the exponent by ln(theta)"),
    LAW("head_in_exponent", read_head, power,
        "the exponents of the frequencies were 2i/head_dim, not 2i/rotary_dim",
        "divide the exponents by rotary_dim, not by head_dim"),
    LAW("rotary_in_exponent", read_rotary, power,
        "the exponents of the frequencies were 2i/rotary_dim, not 2i/head_dim",
        "divide the exponents by head_dim, of which a part is rotated"),
    LAW("denominator_plus_two", read_nothing, one_more, "exponents are divided by d + 2, not by d",
        "divide the exponents by d"),
    LAW("denominator_minus_two", read_nothing, one_less,
        "exponents are divided by d - 2, not by d: the ladder reaches theta itself",
        "divide the exponents by d (freq_shift 0)"),
    LAW("angles_times_two_pi", read_nothing, in_turns, "angles are multiplied by 2 pi", RADIANS),
    LAW("angles_over_two_pi", read_nothing, in_radians,
        "angles are divided by 2 pi: turns were taken for radians", RADIANS),
    LAW("angles_in_degrees", read_nothing, in_degrees, "angles in degrees were taken for radians",
        RADIANS),
    LAW("angles_in_degrees", read_nothing, to_degrees, "angles are in degrees, not in radians",
        RADIANS),
    LAW("one_frequency", read_nothing, all_first, "all pairs have the frequency of pair 0",
        "take a frequency of its own for each pair"),
    LAW("ladder_linear", read_nothing, in_line,
        "frequencies are linear in i: the ladder is a straight line (linspace), no power", POWERS),
    LAW("scaling_inverted", read_scaled, scaled_up,
        "frequencies were multiplied by the scaling, not divided by it: the factors are inverted",
        "divide the frequencies by factor (freq_factors, long_factor)"),
    LAW("scaling_twice", read_scaled, scaled_twice, "the scaling (factor) was applied twice",
        "scale the frequencies once: not in the configuration and in the code"),
    LAW("linear_as_well", read_naive, linear_too,
        "frequencies were divided by the factor on top of their scaling: linear scaling of {b} "
        "was applied as well",
        "scale the base or the positions, not both"),
    LAW("factors_reversed", read_listed, parts_reversed,
        "the factors of the pairs (long_factor, short_factor) are in reverse order", ORDER),
    LAW("factors_shifted", read_listed, next_part,
        "the factors of the pairs are shifted by one: pair i has that of pair i + 1", ORDER),
    LAW("factors_shifted", read_listed, previous_part,
        "the factors of the pairs are shifted by one: pair i has that of pair i - 1", ORDER),
    LAW("factors_shifted", read_clamped, next_part,
        "the factors of the pairs are shifted by one: pair i has that of pair i + 1", ORDER),
    LAW("factors_shifted", read_clamped, previous_part,
        "the factors of the pairs are shifted by one: pair i has that of pair i - 1", ORDER),
    LAW("ramp_inverted", read_scaled, ramp_inverted,
        "the ramp is inverted: fast pairs are scaled, slow ones are not (low and high exchanged)",
        "interpolate the slow pairs, extrapolate the fast ones"),
    LAW("blend_inverted", read_scaled, blend_inverted,
        "the blend (smooth factor) of the middle band is inverted",
        "weight the scaled frequency with 1 - smooth, the other with smooth"),
    LAW("blend_missing", read_edge, of_edge,
        "the blend of the middle band is missing: pairs below {a} are not scaled, all others are "
        "divided by {b}",
        "blend scaled and unscaled frequencies between the bands (smooth factor, ramp)"),
    LAW("theta_times_factor", read_naive, of_theta,
        "rope_theta was multiplied by the factor itself, without the exponent d/(d - 2) of ntk: "
        "the "
        "base was {a}",
        "raise the factor to d/(d - 2) before it multiplies the base"),
    LAW("pairs_rest", read_rest, resting,
        "pairs {a} to {b} do not turn: their frequencies are zero",
        "make frequencies for all pairs"),
    FITTED("base_scaled", read_exponent_of_factor, of_scaled_theta,
           "rope_theta was scaled by the {a}-th power of the ntk factor: that of a dimension d of "
           "{b} in d/(d - 2)",
           "raise the factor to d/(d - 2), where d is the rotated dimension"),
    FITTED("seq_len", read_length, of_length,
           "dynamic scaling was made for another length: seq_len was {a}, the base {b}",
           "pass the length of the sequence; do not keep inv_freq of another prompt"),
    FITTED("rope_theta", read_theta, of_theta, "rope_theta (the base) was {a}, not {b}",
           "set rope_theta as claimed"),
    FITTED("frequencies_scaled", read_multiple, times,
           "all frequencies are {a} times the claimed ones, as linear scaling by a factor of {b}",
           "check the scaling: factor, rope_scaling, units of positions"),
    FITTED("base_and_scale", read_geometric, geometric,
           "rope_theta (the base) was {b}, and all frequencies were multiplied by {a}, as linear "
           "scaling does it",
           "scale the base (ntk) or the positions (linear), not both"),
    LAW("frequencies_clipped", read_least, not_below, "frequencies are clipped: none is below {a}",
        "do not clamp inv_freq"),
    FITTED("bands_moved", read_bands, as_measured,
           "the bands of the scaling are elsewhere: pairs below {a} are not scaled, those from {b} "
           "on wholly; the ramp between has other edges (beta_fast, beta_slow, low_freq_factor, "
           "high_freq_factor, original_max_position_embeddings)",
           "check the parameters of the bands and the original length"),
};

static bool follows(const pe_ladder *l, const law *of, numbers at)
{
    size_t good = 0, known = 0, telling = 0;
    for (size_t i = 0; i < l->n; i++) {
        const double w = of->predict(l, i, at);
        if (!isfinite(l->measured[i]) || !isfinite(w))
            continue;
        known++;
        good += pe_ladder_is_near(l, i, w);
        telling += pe_ladder_is_near(l, i, w) && !pe_ladder_is_near(l, i, l->claimed[i]);
    }
    if (l->span == 0)
        return good + (of->but_one && l->n > 8) >= l->n && telling > 0;
    return known * 5 >= l->n * 4 && good * 20 >= known * 19 && telling >= 2;
}

static double put_of(const pe_ladder *l, const law *of, size_t i, numbers at)
{
    const double w = of->predict(l, i, at);
    return of->but_one && l->span == 0 && !pe_ladder_is_near(l, i, w) ? l->measured[i] : w;
}

bool pe_ladder_next(const pe_ladder *l, size_t *k, pe_guess *guess)
{
    numbers at = {0, 0};
    if (l->n < 4 || guess->n_faults == PE_FAULTS_MAX)
        return false;
    for (; *k < PE_LEN(laws); (*k)++) {
        const law *of = &laws[*k];
        if (!of->read(l, &at) || !follows(l, of, at))
            continue;
        for (size_t i = 0; i < l->n; i++)
            l->put[i] = put_of(l, of, i, at);
        guess->distortion.ladder = l->put;
        guess->distortion.values_inexact = true;
        guess->fitted |= of->fitted;
        pe_guess_say(guess, &of->fault, of->fault.remedy);
        pe_guess_format(guess, of->fault.rule, at.a, at.b);
        (*k)++;
        return true;
    }
    return false;
}

/* ---- life ---- */

/* A number of the guess's values; 0: it has none. */
static double number_of(const pe_guess *guess, const char *name)
{
    const pe_value *value = pe_values_find(&guess->values, name);
    if (value == NULL || !value->present)
        return 0;
    return value->param->kind == PE_KIND_INT ? (double)value->integer : value->real;
}

pe_status pe_ladder_make(const pe_guess *guess, pe_ladder *l, pe_problem *why)
{
    l->plain = calloc(2 * l->n + 1, sizeof *l->plain);
    if (l->plain == NULL)
        return pe_fail_memory(why);
    l->put = l->plain + l->n;
    /* Of axes with frequencies of their own there is no one progression. */
    if (!pe_values_present(&guess->values, "axes_dims"))
        l->theta = number_of(guess, "rope_theta");
    l->factor = number_of(guess, "factor");
    if (strcmp(pe_geometry_choice_text(&guess->values, "rope_type"), "dynamic") == 0)
        l->dynamic_length = number_of(guess, "max_position_embeddings");
    l->listed = strcmp(pe_geometry_choice_text(&guess->values, "rope_type"), "longrope") == 0 ||
                pe_values_present(&guess->values, "freq_factors");
    l->head_pairs = number_of(guess, "head_dim") / 2;
    for (size_t i = 0; i < l->n; i++)
        l->plain[i] = l->theta > 0 ? pow(l->theta, -(double)i / (double)l->n) : l->claimed[i];
    return PE_OK;
}

void pe_ladder_free(pe_ladder *ladder)
{
    free(ladder->plain);
    *ladder = (pe_ladder){0};
}
