/* SPDX-License-Identifier: MIT */
/* frequency_rows.c - how frequencies go wrong: order, exponents, scaling; numbers that are read; types. */
#include <math.h>

#include "verify/mistakes/sequence.h"

#define TURN 6.283185307179586

/* ---- numbers that are read ---- */

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

/* ---- scaling ---- */

static bool is_scaled(pe_sequence *s)
{
    return pe_sequence_is_scaled(s);
}

static bool is_listed(pe_sequence *s)
{
    return s->scaling.listed;
}

static bool read_edge(pe_sequence *s)
{
    size_t i = 0;
    while (i < s->n && pe_sequence_is_near(s, i, s->plain[i]))
        i++;
    s->a = (double)i;
    s->b = 1 / s->least;
    return pe_sequence_is_scaled(s) && i > 0 && i < s->n;
}

/* The first pair of which scaling leaves no more than b; the first number of which it leaves is a. */
static bool read_claimed_edge(pe_sequence *s)
{
    size_t i = 0;
    while (i < s->n && pe_sequence_part(s, i) > s->b)
        i++;
    s->a = (double)i;
    s->b = 1 / s->least;
    return s->least < 1 && i > 0 && i < s->n && !s->scaling.listed;
}

/* s of the claimed base theta s^(d/(d - 2)); where it is no such base: the factor. a: the power to which
 * it was raised, and b: what was added to it. */
static bool read_grown_base(pe_sequence *s)
{
    const double n = (double)s->n, power = (n - 1) / n, theta = s->scaling.theta;
    const double base = pow(s->claimed[1], -n), scale = pow(base / theta, power);
    const double last = s->claimed[s->n - 1] * pow(base, power);
    const bool grown = scale > 1 + 1e-6 && fabs(last - 1) < 1e-6;
    const double by = s->a, more = s->b;
    s->b = grown ? scale : s->scaling.factor;
    s->a = theta * pow(s->b + more, by);
    return theta > 0 && s->b > 1 && (grown || by == 1);
}

/* ---- numbers of ladders, and types ---- */

/* Radians over the window, from which on a pair is seen to turn. */
#define LEAST_TURN 0.1

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

/* A product that goes on from pair to pair, rounded each time to the type that is row `value` of grains. */
static double op_of_running_product(const pe_sequence *s, size_t i)
{
    double w = 1;
    for (size_t k = 0; k < i; k++)
        w = pe_grain_round(&pe_grains[(size_t)s->by->fault.value], w * s->plain[1] / s->plain[0]);
    return w * pe_sequence_part(s, i);
}

/* ---- the rows ---- */

#define ROTARY_IN_EXPONENT "the exponents of the frequencies were 2i/rotary_dim, not 2i/head_dim"
#define ORDER              "keep the order of the pairs: pair i has the exponent 2i/d"
#define FACTORS_OF         "the factors of the pairs are shifted by one: pair i has that of pair "
#define ON_LADDER          .op = "a^(-i/n)"
#define EDGE(NAME, ...)    PE_ROW(NAME, .op = "plain*(i < a ? 1 : 1/b)", .solve = __VA_ARGS__)

/* Where the ramp of yarn begins and ends. */
#define AT(PAIRS, BETA, BASE)         "(" PAIRS "*ln(original/(2*pi*" BETA "))/ln(" BASE "))"
#define ENDS(HOW, X)                  "(truncate == 0 ? " X " : " HOW X ")"
#define LOW(PAIRS, BETA, BASE)        "max(" ENDS("floor", AT(PAIRS, BETA, BASE)) ", 0)"
#define HIGH(PAIRS, BETA, BASE, LAST) "min(" ENDS("ceil", AT(PAIRS, BETA, BASE)) ", " LAST ")"
#define LOW_CLAIMED                   LOW("n", "beta_fast", "theta")
#define HIGH_CLAIMED                  HIGH("n", "beta_slow", "theta", "2*n - 1")
#define RAMP(NAME, FROM, ...)                                                                      \
    PE_ROW(NAME, .op = "plain*(1 + (1/scale - 1)*" ALONG ")",                                      \
           .where = "rope_type.yarn && theta > 1 && scale > 1 && head_pairs > 0 && "               \
                    "(a != " LOW_CLAIMED " || b != " HIGH_CLAIMED ")",                             \
           .a = FROM, .b = __VA_ARGS__)
#define RAMP_OF(NAME, PAIRS, BASE)                                                                 \
    RAMP(NAME, LOW(PAIRS, "beta_fast", BASE), HIGH(PAIRS, "beta_slow", BASE, "2*" PAIRS " - 1"))
#define ROUNDED_RAMP(LOW, HIGH, HOW)                                                               \
    RAMP(ramp_rounded, "max(" LOW AT("n", "beta_fast", "theta") ", 0)",                            \
         "min(" HIGH AT("n", "beta_slow", "theta") ", 2*n - 1)", .fault.rule = HOW)

#define ALONG           "min(max((i - a)/(b != a ? b - a : 1e-3), 0), 1)"
#define BASE(NAME, ...) PE_ROW(NAME, .solve = read_grown_base, ON_LADDER, __VA_ARGS__)
#define ENDS_OF_RAMP    "; the ramp goes from pair {a} to {b}"
#define MOST_HEADS      "1024"
#define POWER           "(ln(y[slow]/x)/ln(x[slow]/x))" /* which pair tells best */
#define TIMES           "(y[n - 1]/x[n - 1])"           /* others turn too far from row to row */
#define DIGIT           "10^floor(log10" TIMES ")"
#define SCALED          .solve = is_scaled, .faint = true
#define BANDED          "high > low && low > 0 && original > 0 && scale > 1"
#define NAIVE           .a = "theta*scale", .b = "scale", .where = "theta > 0 && scale > 1"
#define SMOOTH(KEPT)    "plain*(" KEPT " + (1 - " KEPT ")/scale)"
#define KEPT_BY_WAVE    "min(max((original/low - 2*pi/plain)/(original/low - original/high), 0), 1)"
#define TURNS           "(original*plain/(2*pi))"
#define KEPT_BY_FACTOR  "((" TURNS " - low)/(scale - low))"
#define KEPT            "((part - 1/scale)/(1 - 1/scale))"

#define DECIMALS(N) PE_ROW(inv_freq_decimals, .a = N, .op = "rint(x*10^a)/10^a", .subtle = true)
#define ROUNDED(RULE, OP)                                                                          \
    PE_ROW(inv_freq_rounded, .fault.rule = RULE, .op = "theta > 0 ? " OP "*part : none",           \
           .subtle = true)
#define ROUNDED_STEPS(TYPE, GRAIN)                                                                 \
    ROUNDED("the exponents 2i/d were rounded to " TYPE " before the power",                        \
            "1/theta^" TYPE "(i/n)"),                                                              \
        ROUNDED("the powers theta^(2i/d) were rounded to " TYPE " before 1 was divided by them",   \
                "1/" TYPE "(theta^(i/n))"),                                                        \
        ROUNDED("the powers theta^(2i/d) and frequencies (inv_freq) were rounded to " TYPE,        \
                TYPE "(1/" TYPE "(theta^(i/n)))"),                                                 \
        ROUNDED("frequencies (inv_freq) were computed in " TYPE                                    \
                ": exponents, powers and reciprocals were rounded",                                \
                TYPE "(1/" TYPE "(theta^" TYPE "(i/n)))"),                                         \
        ROUNDED("frequencies (inv_freq) were computed in " TYPE                                    \
                ": the base, exponents, powers and reciprocals were rounded",                      \
                TYPE "(1/" TYPE "(" TYPE "(theta)^" TYPE "(i/n)))"),                               \
        PE_ROW(inv_freq_rounded,                                                                   \
               .fault.rule =                                                                       \
                   "frequencies (inv_freq) are a running product that was rounded to " TYPE        \
                   " at each step",                                                                \
               .make = op_of_running_product, .fault.value = (GRAIN), .subtle = true)

static const pe_slip rows[] = {
    PE_ROW(reciprocal_frequencies, .op = "1/x"),
    PE_ROW(wavelengths, .op = "2*pi/x"),
    PE_ROW(log_frequencies, .where = "span == 0", .op = "ln(x)"),
    PE_ROW(scaling_ignored,
           .fault.rule =
               "the frequencies were not scaled: rope_scaling, freq_factors or lerope_alpha "
               "was ignored",
           .fault.remedy = "pass rope_scaling (rope_parameters, freq_factors, lerope_alpha) to the "
                           "code that makes inv_freq",
           SCALED, .op = "plain"),
    PE_ROW(head_in_exponent, .where = "head_pairs > 0 && head_pairs != n",
           .op = "plain^(n/head_pairs)"),
    PE_ROW(rotary_in_exponent, .where = "head_pairs > 0 && head_pairs != n",
           .op = "plain^(head_pairs/n)"),
    PE_ROW(rotary_in_exponent,
           .fault.rule = ROTARY_IN_EXPONENT ", as without rope_type proportional",
           .solve = read_rotated_part, .op = "i < a ? theta^(-i/a) : 0"),
    PE_ROW(exponent_doubled, .op = "x[0]*(x/x[0])^2"),
    PE_ROW(exponent_halved, .op = "x[0]*(x/x[0])^0.5"),
    PE_ROW(index_plus_one, .op = "x[i + 1]", .but_one = true),
    PE_ROW(index_minus_one, .op = "x[i - 1]", .but_one = true),
    PE_ROW(index_plus_half, .op = "sqrt(x*x[i + 1])"),
    PE_ROW(frequencies_reversed, .op = "x[n - 1 - i]"),
    PE_ROW(channels_exchanged, .fault.rule = "even and odd channels (pairs) are exchanged in order",
           .fault.remedy = ORDER, .op = "x[i + 1 - 2*(i % 2)]"),
    PE_ROW(pairs_permuted, .where = "n % 2 == 0", .op = "x[i % (n/2)*2 + floor(i/(n/2))]"),
    PE_ROW(pairs_permuted,
           .fault.rule = "the order of the pairs was permuted: frequencies of the two halves "
                         "alternate, interleaved",
           .where = "n % 2 == 0", .op = "x[floor(i/2) + i % 2*(n/2)]"),
    PE_ROW(halves_exchanged, .op = "x[(i + floor(n/2)) % n]"),
    PE_ROW(ladder_rolled, .op = "x[(i - 1) % n]"),
    PE_ROW(ladder_rolled,
           .fault.rule = "the order of the pairs is rolled by one, or shifted: the last pair has "
                         "the frequency of pair 0",
           .op = "x[(i + 1) % n]"),
    PE_ROW(integer_division, .op = "x[i - i % 2]"),
    PE_ROW(frequencies_repeated, .op = "x[floor(i/2)]"),
    PE_ROW(every_other_frequency, .op = "x[2*i % n]"),
    PE_ROW(half_ladder_repeated, .op = "x[i % floor((n + 1)/2)]"),
    PE_ROW(width_in_exponent, .a = "1/round(1/" POWER ")", .b = "2*n*round(1/a)",
           .where = "slow > 0 && 1/a > 2.5 && 1/a < " MOST_HEADS " && b != 2*head_pairs",
           .op = "x[0]*(x/x[0])^a"),
    PE_ROW(width_in_exponent,
           .fault.rule = "exponents are divided by {b}, as those of another head_dim",
           .a = "n/(4*round(n/" POWER "/4))", .b = "2*round(n/a)",
           .where = "slow > 2 && b >= 32 && b <= 512 && a != 1", .op = "x[0]*(x/x[0])^a"),
    PE_ROW(log10_for_ln, .op = "x[0]*(x/x[0])^(1/ln(10))"),
    PE_ROW(log2_for_ln, .op = "x[0]*(x/x[0])^(1/ln(2))"),
    PE_ROW(ln_for_log2, .op = "x[0]*(x/x[0])^ln(2)"),
    PE_ROW(base_e, .op = "exp(-i/n)"),
    PE_ROW(denominator_plus_two, .op = "x[0]*(x/x[0])^(n/(n + 1))"),
    PE_ROW(denominator_minus_two, .op = "x[0]*(x/x[0])^(n/(n - 1))"),
    PE_ROW(angles_times_two_pi, .op = "x*2*pi"),
    PE_ROW(angles_over_two_pi, .op = "x/(2*pi)"),
    PE_ROW(angles_in_degrees, .op = "x*2*pi/360"),
    PE_ROW(angles_in_degrees, .fault.rule = "angles are in degrees, not in radians",
           .op = "x*360/(2*pi)"),
    PE_ROW(one_frequency, .solve = read_one, .op = "x[a]"),
    PE_ROW(ladder_linear, .op = "x[0] + ((theta > 0 ? 1/theta : x[n - 1]) - x[0])*i/(n - 1)"),
    PE_ROW(frequencies_linear, .op = "x[0] + (x[n - 1] - x[0])*i/(n - 1)"),
    PE_ROW(ladder_harmonic, .op = "x[0]/(1 + i)"),
    PE_ROW(angles_multiplied, .a = DIGIT "*round(" TIMES "/" DIGIT ")",
           .where = "scale <= 1 && theta > 0 && span > 0 && a > 9 && abs(a/" TIMES " - 1) < 0.02",
           .op = "a*x"),
    /* scaling */
    PE_ROW(scaling_inverted, SCALED, .op = "plain/part"),
    PE_ROW(scaling_twice, SCALED, .op = "x*part"),
    PE_ROW(ntk_as_well, NAIVE, .op = "x*scale^(-i/(n - 1))"),
    PE_ROW(linear_as_well, NAIVE, .op = "x/scale"),
    PE_ROW(factors_reversed, .solve = is_listed, .op = "plain*part[n - 1 - i]"),
    PE_ROW(lerope_base, .solve = is_listed, .op = "plain*part^ln(2)"),
    PE_ROW(lerope_linear, .solve = is_listed, .op = "plain*(1 + ln(part))"),
    PE_ROW(factors_shifted, .solve = is_listed, .op = "plain*part[(i + 1) % n]"),
    PE_ROW(factors_shifted, .fault.rule = FACTORS_OF "i - 1", .solve = is_listed,
           .op = "plain*part[(i - 1) % n]"),
    PE_ROW(factors_shifted, .solve = is_listed, .op = "plain*part[min(i + 1, n - 1)]"),
    PE_ROW(factors_shifted, .fault.rule = FACTORS_OF "i - 1", .solve = is_listed,
           .op = "plain*part[max(i - 1, 0)]"),
    PE_ROW(ramp_inverted, SCALED, .op = "plain*(1 + least - part)"),
    PE_ROW(blend_inverted, SCALED,
           .op = "plain*(part < 1 - 1e-6 && part > least + 1e-6 ? 1 + least - part : part)"),
    EDGE(blend_missing, read_claimed_edge, .b = "1 - 1e-9"),
    EDGE(blend_missing, read_claimed_edge, .b = "least*(1 + 1e-9)"),
    EDGE(blend_missing, read_claimed_edge, .b = "(1 + least)/2"),
    EDGE(blend_missing, read_edge),
    EDGE(factors_exchanged, read_claimed_edge, .b = "least*(1 + 1e-9)", .where = "high > 0"),
    RAMP(betas_default, LOW("n", "32", "theta"), HIGH("n", "1", "theta", "2*n - 1")),
    RAMP_OF(ramp_of_other_base, "n", "10000"),
    RAMP_OF(ramp_of_head_dim, "head_pairs", "theta"),
    RAMP_OF(ramp_of_part, "(n*n/head_pairs)", "theta"),
    RAMP_OF(ramp_of_half_dim, "(n/2)", "theta"),
    RAMP_OF(ramp_of_double_dim, "(head_pairs != 2*n ? 2*n : none)", "theta"),
    RAMP(ramp_over_channels, LOW_CLAIMED "/2", HIGH_CLAIMED "/2"),
    RAMP(ramp_clamped, LOW_CLAIMED, HIGH("n", "beta_slow", "theta", "n - 1")),
    ROUNDED_RAMP("ceil", "floor", NULL),
    ROUNDED_RAMP(
        "floor", "floor",
        "both ends of the ramp (low, high) were rounded down: high is no ceil" ENDS_OF_RAMP),
    ROUNDED_RAMP("round", "round",
                 "both ends of the ramp (low, high) were rounded to nearest" ENDS_OF_RAMP),
    PE_ROW(wavelengths_blended, .where = "scale > 1 && (rope_type.yarn || (" BANDED "))",
           .op = "plain/(" KEPT " + (1 - " KEPT ")*scale)"),
    PE_ROW(smooth_of_wavelength, .where = BANDED, .op = SMOOTH(KEPT_BY_WAVE)),
    PE_ROW(smooth_of_factor, .where = BANDED,
           .op = TURNS " >= low && " TURNS " <= high ? " SMOOTH(KEPT_BY_FACTOR) " : x"),
    BASE(theta_times_factor, .a = "1"),
    BASE(exponent_of_factor_inverted, .a = "(n - 1)/n"),
    BASE(exponent_of_head_dim,
         .a = "head_pairs > 1 && head_pairs != n ? head_pairs/(head_pairs - 1) : none"),
    BASE(exponent_of_half_dim, .a = "n/(n - 2)"),
    BASE(dynamic_not_less, .a = "n/(n - 1)", .b = "dynamic > 0 ? scale - 1 : none"),
    /* numbers that are read off, and types that frequencies passed through */
    PE_ROW(pairs_rest, .solve = read_rest, .op = "i >= a && i <= b ? 0 : x", .may_be_one = true),
    PE_ROW(pairs_rest, .a = "floor(n/2)", .b = "n - 1", .op = "i >= a ? 0 : x"),
    PE_ROW(ntk_factor, .solve = read_ntk_factor, .op = "(theta*a^(n/(n - 1)))^(-i/n)",
           .fitted = true),
    PE_ROW(base_scaled,
           .fault.remedy = "raise the factor to d/(d - 2), where d is the rotated dimension",
           .solve = read_exponent_of_factor, .op = "(theta*scale^a)^(-i/n)", .fitted = true),
    PE_ROW(seq_len, .solve = read_length, .op = "b^(-i/n)", .fitted = true),
    PE_ROW(scaling_ignored, .solve = read_unscaled_theta, ON_LADDER, .fitted = true),
    PE_ROW(rope_theta, .solve = read_theta, ON_LADDER, .fitted = true),
    PE_ROW(base_about, .solve = read_turned_theta, .op = "x*(a/b)^(-i/n)", .fitted = true),
    PE_ROW(frequencies_scaled, .a = "y/x", .b = "1/a", .where = "span == 0 && a > 0 && finite(a)",
           .op = "x*a", .fitted = true),
    PE_ROW(base_and_scale, .solve = read_geometric, .op = "a*b^(-i/n)", .fitted = true),
    ROUNDED_STEPS("bfloat16", PE_GRAIN_BFLOAT16),
    ROUNDED_STEPS("float16", PE_GRAIN_FLOAT16),
    DECIMALS("4"),
    DECIMALS("5"),
    DECIMALS("6"),
    DECIMALS("7"),
    PE_ROW(frequencies_clipped, .a = "min(y[n - 1], y[n - 2])",
           .where = "span == 0 && a > 0 && abs(y[n - 2]/a - 1) < 1e-3", .op = "max(x, a)"),
};

const pe_slips pe_mistakes_of_frequencies = {rows, PE_LEN(rows)};
