/* SPDX-License-Identifier: MIT */
/* frequency_rows.c - how frequencies go wrong: order, exponents, scaling; numbers that are read; types. */
#include <math.h>

#include "verify/mistakes/sequence.h"

/* ---- the rows ---- */

/* The length from which on the base of dynamic scaling grows; 0: it is another one. */
#define DYNAMIC      "(rope_type.dynamic ? max_position_embeddings : 0)"
#define CHANGED      "first(abs(part - 1) > 1e-9)"
#define SCALED       CHANGED " < n"
#define UNSCALED     CHANGED " == n"
#define NEARLY(X, Y) "abs(" X " - " Y ") <= (2e-6 + 4*roundoff)*" X

/* The pair whose frequency is nearest to the mean of all that are known. */
#define MEAN    "(sum(y)/sum(finite(y)))"
#define NEAREST "first(abs(x - " MEAN ") == least(abs(x - " MEAN ")))"
/* Pairs that rest, of those that are seen to turn; the slowest ones tell nothing. */
#define SEEN     "span == 0 || abs(x)*span > 0.1"
#define RESTS    "(abs(y) < abs(x)/50 && (" SEEN "))"
#define LAST     "most(" RESTS " ? i : -1)"
#define SLOW_END "(x[" LAST " + 1]*span <= 0.1 && span > 0)"

/* The slowest pair that is known to turn, by so many radians over the span; 0: there is none. It tells
 * exponents best. */
#define SLOWEST(TURN) "most(y > 0 && y*span >= " TURN " ? i : 0)"
#define SLOW          SLOWEST("(span > 0)")
/* A number of four digits where it may be one. Of frequencies that are told as such, the first one and the base. */
#define TIDY(X)                                                                                    \
    "(abs(digits(" X ", 4) - " X ") <= (2e-6 + 4*roundoff)*" X " ? digits(" X ", 4) : " X ")"
#define LEAD        "(span > 0 || (theta > 0) == 0 ? none : " TIDY("least(y[0])") ")"
#define BY_SLOWEST  "least((y[" SLOWEST("0") "]/y[0])^(-n/" SLOWEST("0") "))"
#define BASE_OF_ALL "(finite(" BY_SLOWEST ") && " BY_SLOWEST " > 1 ? " TIDY(BY_SLOWEST) " : none)"

#define ON_LADDER .op = "a^(-i/n)"
/* From pair a on, that which scaling leaves least of others. */
#define EDGE(NAME, FROM, WHERE)                                                                    \
    PE_ROW(NAME, .op = "plain*(i < a ? 1 : 1/b)", .a = "first(" FROM ")", .b = "1/least",          \
           .where = "a > 0 && a < n && " WHERE)
#define OF_BLEND "least < 1 && listed == 0"

/* Where the ramp of yarn begins and ends. */
#define AT(PAIRS, BETA, BASE)                                                                      \
    "(" PAIRS "*ln(original_max_position_embeddings/(2*pi*" BETA "))/ln(" BASE "))"
#define ENDS(HOW, X)                  "(truncate == 0 ? " X " : " HOW X ")"
#define LOW(PAIRS, BETA, BASE)        "max(" ENDS("floor", AT(PAIRS, BETA, BASE)) ", 0)"
#define HIGH(PAIRS, BETA, BASE, LAST) "min(" ENDS("ceil", AT(PAIRS, BETA, BASE)) ", " LAST ")"
#define LOW_CLAIMED                   LOW("n", "beta_fast", "theta")
#define HIGH_CLAIMED                  HIGH("n", "beta_slow", "theta", "2*n - 1")
#define RAMP(NAME, FROM, ...)                                                                      \
    PE_ROW(NAME, .op = "plain*(1 + (1/factor - 1)*" ALONG ")",                                     \
           .where = "rope_type.yarn && theta > 1 && factor > 1 && (head_dim/2) > 0 && "            \
                    "(a != " LOW_CLAIMED " || b != " HIGH_CLAIMED ")",                             \
           .a = FROM, .b = __VA_ARGS__)
#define RAMP_OF(NAME, PAIRS, BASE)                                                                 \
    RAMP(NAME, LOW(PAIRS, "beta_fast", BASE), HIGH(PAIRS, "beta_slow", BASE, "2*" PAIRS " - 1"))
#define ROUNDED_RAMP(NAME, LOW, HIGH)                                                              \
    RAMP(NAME, "max(" LOW AT("n", "beta_fast", "theta") ", 0)",                                    \
         "min(" HIGH AT("n", "beta_slow", "theta") ", 2*n - 1)")

#define ALONG "min(max((i - a)/(b != a ? b - a : 1e-3), 0), 1)"
/* s of the claimed base theta s^(d/(d - 2)); where it is no such base: the factor. It was raised to another
 * power, and something was added to it. */
#define GROWN_BY "((x[1]^-n/theta)^((n - 1)/n))"
#define IS_GROWN "(" GROWN_BY " > 1 + 1e-6 && abs(x[n - 1]*x[1]^-(n - 1) - 1) < 1e-6)"
#define GROWN    "(" IS_GROWN " ? " GROWN_BY " : factor)"
#define BASE(NAME, POWER, MORE)                                                                    \
    PE_ROW(NAME, ON_LADDER, .a = "theta*(" GROWN " + " MORE ")^(" POWER ")", .b = GROWN,           \
           .where = "theta > 0 && b > 1 && (" POWER " == 1 || " IS_GROWN ")")
/* What the measured base makes of theta; and the base that turns tell. */
#define BY_BASE    "((" BASE_OF_ALL "/theta)^((n - 1)/n))"
#define LENGTH     "(" DYNAMIC "*(" BY_BASE " + factor - 1)/factor)"
#define TURNED     "(theta*(y[" SLOW "]/x[" SLOW "])^(-n/" SLOW "))"
#define MOST_HEADS "1024"
#define POWER      "(ln(y[" SLOW "]/x)/ln(x[" SLOW "]/x))" /* which pair tells best */
#define TIMES      "(y[n - 1]/x[n - 1])"                   /* others turn too far from row to row */
#define DIGIT      "10^floor(log10" TIMES ")"
#define OF_SCALED  .where = SCALED, .faint = true
#define BANDED                                                                                     \
    "rope_type.llama3 && high_freq_factor > low_freq_factor && low_freq_factor > 0 && "            \
    "original_max_position_embeddings > 0 && factor > 1"
#define NAIVE        .a = "theta*factor", .b = "factor", .where = "theta > 0 && factor > 1"
#define SMOOTH(KEPT) "plain*(" KEPT " + (1 - " KEPT ")/factor)"
#define KEPT_BY_WAVE                                                                               \
    "min(max((original_max_position_embeddings/low_freq_factor - "                                 \
    "2*pi/plain)/(original_max_position_embeddings/low_freq_factor - "                             \
    "original_max_position_embeddings/high_freq_factor), 0), 1)"
#define TURNS          "(original_max_position_embeddings*plain/(2*pi))"
#define KEPT_BY_FACTOR "((" TURNS " - low_freq_factor)/(factor - low_freq_factor))"
#define KEPT           "((part - 1/factor)/(1 - 1/factor))"

#define DECIMALS(N)       PE_ROW(inv_freq_decimals, .a = N, .op = "rint(x*10^a)/10^a", .subtle = true)
#define ROUNDED(NAME, OP) PE_ROW(NAME, .op = "theta > 0 ? " OP "*part : none", .subtle = true)
#define ROUNDED_STEPS(NAME, TYPE)                                                                  \
    ROUNDED(NAME, "1/theta^" TYPE "(i/n)"), ROUNDED(NAME, "1/" TYPE "(theta^(i/n))"),              \
        ROUNDED(NAME, TYPE "(1/" TYPE "(theta^(i/n)))"),                                           \
        ROUNDED(NAME, TYPE "(1/" TYPE "(theta^" TYPE "(i/n)))"),                                   \
        ROUNDED(NAME, TYPE "(1/" TYPE "(" TYPE "(theta)^" TYPE "(i/n)))")

static const pe_slip rows[] = {
    PE_ROW(reciprocal_frequencies, .op = "1/x"),
    PE_ROW(wavelengths, .op = "2*pi/x"),
    PE_ROW(log_frequencies, .where = "span == 0", .op = "ln(x)"),
    PE_ROW(scaling_ignored_all, OF_SCALED, .op = "plain"),
    PE_ROW(head_in_exponent, .where = "(head_dim/2) > 0 && (head_dim/2) != n",
           .op = "plain^(n/(head_dim/2))"),
    PE_ROW(rotary_in_exponent, .where = "(head_dim/2) > 0 && (head_dim/2) != n",
           .op = "plain^((head_dim/2)/n)"),
    PE_ROW(rotary_in_exponent_first, .a = "first(x == 0)", .where = "theta > 0 && a > 1 && a < n",
           .op = "i < a ? theta^(-i/a) : 0"),
    PE_ROW(partial_padded, .a = "first(abs(y) < 1e-9)", .b = "2*a",
           .where = "theta > 0 && a > 1 && a < n && " UNSCALED, .op = "i < a ? theta^(-i/a) : 0"),
    PE_ROW(exponent_doubled, .op = "x[0]*(x/x[0])^2"),
    PE_ROW(exponent_halved, .op = "x[0]*(x/x[0])^0.5"),
    PE_ROW(index_plus_one, .op = "x[i + 1]", .but_one = true),
    PE_ROW(index_minus_one, .op = "x[i - 1]", .but_one = true),
    PE_ROW(index_plus_half, .op = "sqrt(x*x[i + 1])"),
    PE_ROW(frequencies_reversed, .op = "x[n - 1 - i]"),
    PE_ROW(channels_exchanged_order, .op = "x[i + 1 - 2*(i % 2)]"),
    PE_ROW(pairs_permuted, .where = "n % 2 == 0", .op = "x[i % (n/2)*2 + floor(i/(n/2))]"),
    PE_ROW(pairs_permuted_halves, .where = "n % 2 == 0", .op = "x[floor(i/2) + i % 2*(n/2)]"),
    PE_ROW(halves_exchanged, .op = "x[(i + floor(n/2)) % n]"),
    PE_ROW(ladder_rolled, .op = "x[(i - 1) % n]"),
    PE_ROW(ladder_rolled_back, .op = "x[(i + 1) % n]"),
    PE_ROW(integer_division, .op = "x[i - i % 2]"),
    PE_ROW(frequencies_repeated, .op = "x[floor(i/2)]"),
    PE_ROW(every_other_frequency, .op = "x[2*i % n]"),
    PE_ROW(half_ladder_repeated, .op = "x[i % floor((n + 1)/2)]"),
    PE_ROW(width_in_exponent, .a = "1/round(1/" POWER ")", .b = "2*n*round(1/a)",
           .where = SLOW " > 0 && 1/a > 2.5 && 1/a < " MOST_HEADS " && b != 2*(head_dim/2)",
           .op = "x[0]*(x/x[0])^a"),
    PE_ROW(width_in_exponent_head, .a = "n/(4*round(n/" POWER "/4))", .b = "2*round(n/a)",
           .where = SLOW " > 2 && b >= 32 && b <= 512 && a != 1", .op = "x[0]*(x/x[0])^a"),
    PE_ROW(log10_for_ln, .op = "x[0]*(x/x[0])^(1/ln(10))"),
    PE_ROW(log2_for_ln, .op = "x[0]*(x/x[0])^(1/ln(2))"),
    PE_ROW(ln_for_log2, .op = "x[0]*(x/x[0])^ln(2)"),
    PE_ROW(base_e, .op = "exp(-i/n)"),
    PE_ROW(denominator_plus_two, .op = "x[0]*(x/x[0])^(n/(n + 1))"),
    PE_ROW(denominator_minus_two, .op = "x[0]*(x/x[0])^(n/(n - 1))"),
    PE_ROW(angles_times_two_pi, .op = "x*2*pi"),
    PE_ROW(angles_over_two_pi, .op = "x/(2*pi)"),
    PE_ROW(angles_in_degrees, .op = "x*2*pi/360"),
    PE_ROW(angles_in_degrees_sent, .op = "x*360/(2*pi)"),
    PE_ROW(one_frequency, .a = NEAREST, .where = "held || span == 0", .op = "x[a]"),
    PE_ROW(ladder_linear, .op = "x[0] + ((theta > 0 ? 1/theta : x[n - 1]) - x[0])*i/(n - 1)"),
    PE_ROW(frequencies_linear, .op = "x[0] + (x[n - 1] - x[0])*i/(n - 1)"),
    PE_ROW(ladder_harmonic, .op = "x[0]/(1 + i)"),
    PE_ROW(angles_multiplied, .a = DIGIT "*round(" TIMES "/" DIGIT ")",
           .where =
               "(factor > 1) == 0 && theta > 0 && span > 0 && a > 9 && abs(a/" TIMES " - 1) < 0.02",
           .op = "a*x"),
    /* scaling */
    PE_ROW(scaling_inverted, OF_SCALED, .op = "plain/part"),
    PE_ROW(scaling_twice, OF_SCALED, .op = "x*part"),
    PE_ROW(ntk_as_well, NAIVE, .op = "x*factor^(-i/(n - 1))"),
    PE_ROW(linear_as_well, NAIVE, .op = "x/factor"),
    PE_ROW(factors_reversed, .where = "listed", .op = "plain*part[n - 1 - i]"),
    PE_ROW(lerope_base, .where = "listed", .op = "plain*part^ln(2)"),
    PE_ROW(lerope_linear, .where = "listed", .op = "plain*(1 + ln(part))"),
    PE_ROW(factors_shifted, .where = "listed", .op = "plain*part[(i + 1) % n]"),
    PE_ROW(factors_shifted_back, .where = "listed", .op = "plain*part[(i - 1) % n]"),
    PE_ROW(factors_shifted, .where = "listed", .op = "plain*part[min(i + 1, n - 1)]"),
    PE_ROW(factors_shifted_back, .where = "listed", .op = "plain*part[max(i - 1, 0)]"),
    PE_ROW(ramp_inverted, OF_SCALED, .op = "plain*(1 + least - part)"),
    PE_ROW(blend_inverted, OF_SCALED,
           .op = "plain*(part < 1 - 1e-6 && part > least + 1e-6 ? 1 + least - part : part)"),
    EDGE(blend_missing, "part <= 1 - 1e-9", OF_BLEND),
    EDGE(blend_missing, "part <= least*(1 + 1e-9)", OF_BLEND),
    EDGE(blend_missing, "part <= (1 + least)/2", OF_BLEND),
    EDGE(blend_missing, "unscaled == 0", SCALED),
    EDGE(factors_exchanged, "part <= least*(1 + 1e-9)", OF_BLEND " && rope_type.llama3"),
    RAMP(betas_default, LOW("n", "32", "theta"), HIGH("n", "1", "theta", "2*n - 1")),
    RAMP_OF(ramp_of_other_base, "n", "10000"),
    RAMP_OF(ramp_of_head_dim, "(head_dim/2)", "theta"),
    RAMP_OF(ramp_of_part, "(n*n/(head_dim/2))", "theta"),
    RAMP_OF(ramp_of_half_dim, "(n/2)", "theta"),
    RAMP_OF(ramp_of_double_dim, "((head_dim/2) != 2*n ? 2*n : none)", "theta"),
    RAMP(ramp_over_channels, LOW_CLAIMED "/2", HIGH_CLAIMED "/2"),
    RAMP(ramp_clamped, LOW_CLAIMED, HIGH("n", "beta_slow", "theta", "n - 1")),
    ROUNDED_RAMP(ramp_rounded, "ceil", "floor"),
    ROUNDED_RAMP(ramp_rounded_down, "floor", "floor"),
    ROUNDED_RAMP(ramp_rounded_nearest, "round", "round"),
    PE_ROW(wavelengths_blended, .where = "factor > 1 && (rope_type.yarn || (" BANDED "))",
           .op = "plain/(" KEPT " + (1 - " KEPT ")*factor)"),
    PE_ROW(smooth_of_wavelength, .where = BANDED, .op = SMOOTH(KEPT_BY_WAVE)),
    PE_ROW(smooth_of_factor, .where = BANDED,
           .op = TURNS " >= low_freq_factor && " TURNS
                       " <= high_freq_factor ? " SMOOTH(KEPT_BY_FACTOR) " : x"),
    BASE(theta_times_factor, "1", "0"),
    BASE(exponent_of_factor_inverted, "(n - 1)/n", "0"),
    BASE(exponent_of_head_dim,
         "((head_dim/2) > 1 && (head_dim/2) != n ? (head_dim/2)/((head_dim/2) - 1) : none)", "0"),
    BASE(exponent_of_half_dim, "n/(n - 2)", "0"),
    BASE(dynamic_not_less, "n/(n - 1)", "(" DYNAMIC " > 0 ? factor - 1 : none)"),
    /* numbers that are read off, and types that frequencies passed through */
    PE_ROW(pairs_rest, .a = "first(" RESTS ")", .b = SLOW_END " ? n - 1 : " LAST,
           .where = "a <= b && (a > 0 || b + 1 < n)", .op = "i >= a && i <= b ? 0 : x",
           .may_be_one = true),
    PE_ROW(pairs_rest, .a = "floor(n/2)", .b = "n - 1", .op = "i >= a ? 0 : x"),
    PE_ROW(ntk_factor, .a = "round(2*" BY_BASE ")/2", .b = "factor",
           .where = "factor > 1 && " LEAD " == 1 && a > 1 && " NEARLY(
               BY_BASE, "a") " && "
                             "abs(x[1]*(theta*factor^(n/(n - 1)))^(1/n) - 1) <= 1e-6",
           .op = "(theta*a^(n/(n - 1)))^(-i/n)", .fitted = true),
    PE_ROW(base_scaled,
           .fault.remedy = "raise the factor to d/(d - 2), where d is the rotated dimension",
           .a = "ln(" BASE_OF_ALL "/theta)/ln(factor)", .b = "2*a/(a - 1)",
           .where = "factor > 1 && " LEAD " == 1 && " DYNAMIC " == 0 && a > 1 && a < 2 && " SCALED,
           .op = "(theta*factor^a)^(-i/n)", .fitted = true),
    PE_ROW(seq_len, .a = "round(" LENGTH ")", .b = BASE_OF_ALL,
           .where = LEAD " == 1 && " DYNAMIC " > 0 && a > " DYNAMIC " && " NEARLY(LENGTH, "a"),
           .op = "b^(-i/n)", .fitted = true),
    PE_ROW(scaling_ignored, .a = BASE_OF_ALL, .b = "theta", .where = LEAD " == 1 && " SCALED,
           ON_LADDER, .fitted = true),
    PE_ROW(rope_theta, .a = BASE_OF_ALL, .b = "theta", .where = LEAD " == 1 && " UNSCALED,
           ON_LADDER, .fitted = true),
    PE_ROW(base_about, .b = "theta",
           .a = "abs(digits(" TURNED ", 1)/" TURNED " - 1) < 0.03   ? digits(" TURNED ", 1) : "
                "abs(digits(" TURNED ", 2)/" TURNED " - 1) < 0.01 ? digits(" TURNED ", 2) : "
                "digits(" TURNED ", 4)",
           .where = "span > 0 && " SLOW " >= 2 && theta > 1 && a > 1 && abs(a/b - 1) > 0.02",
           .op = "x*(a/b)^(-i/n)", .fitted = true),
    PE_ROW(frequencies_scaled, .a = "y/x", .b = "1/a", .where = "span == 0 && a > 0 && finite(a)",
           .op = "x*a", .fitted = true),
    PE_ROW(base_and_scale, .a = LEAD, .b = BASE_OF_ALL, .op = "a*b^(-i/n)", .fitted = true),
    ROUNDED_STEPS(inv_freq_rounded, "bfloat16"),
    ROUNDED_STEPS(inv_freq_rounded_float16, "float16"),
    DECIMALS("4"),
    DECIMALS("5"),
    DECIMALS("6"),
    DECIMALS("7"),
    PE_ROW(frequencies_clipped, .a = "min(y[n - 1], y[n - 2])",
           .where = "span == 0 && a > 0 && abs(y[n - 2]/a - 1) < 1e-3", .op = "max(x, a)"),
};

const pe_slips pe_mistakes_of_frequencies = {rows, PE_LEN(rows)};
