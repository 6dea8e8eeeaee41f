/* SPDX-License-Identifier: MIT */
/* frequency_patches.c - how frequencies go wrong. */
#include <math.h>

#include "verify/mistakes/patches.h"

#define TURN 6.283185307179586
#define LN2  0.6931471805599453
#define LN10 2.302585092994046

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

/* Steps of 1 / theta^(2i/d) that a narrow type rounds: a sum of them. */
enum { STEP_BASE = 1, STEP_EXPONENT = 2, STEP_POWER = 4, STEP_RECIPROCAL = 8 };

/* Radians over the window, from which on a pair is seen to turn. */
#define LEAST_TURN 0.1

/* Only where they are told as such. */
static bool told(pe_sequence *s)
{
    return s->span == 0;
}

static bool read_scaled(pe_sequence *s)
{
    return pe_sequence_is_scaled(s);
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

static bool read_multiple(pe_sequence *s)
{
    s->a = s->measured[0] / s->claimed[0];
    s->b = 1 / s->a;
    return s->span == 0 && isfinite(s->a) && s->a > 0;
}

/* The pair that tells an exponent best: the slowest one that is known. */
static size_t telling_pair(const pe_sequence *s)
{
    size_t i = s->n - 1;
    while (i > 0 && !(s->measured[i] > 0 && fabs(s->measured[i]) * s->span >= 0))
        i--;
    return i;
}

/* A number of four digits where it may be one. */
static double tidy(const pe_sequence *s, double x)
{
    const double digit = pow(10, floor(log10(x)) - 3), round_one = digit * round(x / digit);
    return fabs(round_one - x) <= (2e-6 + 4 * s->roundoff) * x ? round_one : x;
}

static bool read_geometric(pe_sequence *s)
{
    const size_t i = telling_pair(s);
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

/* The slowest pair that has turned well. */
static size_t turned_pair(const pe_sequence *s)
{
    size_t i = s->n - 1;
    while (i > 0 && !(s->measured[i] * s->span > 1))
        i--;
    return i;
}

/* More heads no model has. */
#define MOST_HEADS 1024

static bool read_all_heads(pe_sequence *s)
{
    const size_t i = s->span > 0 ? turned_pair(s) : telling_pair(s);
    const double heads =
        round(log(s->claimed[i] / s->claimed[0]) / log(s->measured[i] / s->claimed[0]));
    s->a = 1 / heads;
    s->b = 2 * heads * (double)s->n;
    return i > 0 && heads >= 3 && heads <= MOST_HEADS && s->b != 2 * s->scaling.head_pairs;
}

static bool read_turned_theta(pe_sequence *s)
{
    const size_t i = turned_pair(s);
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
    const size_t i = turned_pair(s);
    s->a = s->measured[i] / s->claimed[i];
    s->b = 1 / s->a;
    return s->span > 0 && i > 2 && fabs(s->a - 1) > 0.02 && isfinite(s->b);
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

static bool read_listed(pe_sequence *s)
{
    return s->scaling.listed;
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

static bool read_naive(pe_sequence *s)
{
    s->a = s->scaling.theta * s->scaling.factor;
    s->b = s->scaling.factor;
    return s->scaling.theta > 0 && s->scaling.factor > 1;
}

static bool read_least(pe_sequence *s)
{
    s->a = HUGE_VAL;
    for (size_t i = 0; i < s->n; i++)
        s->a = isfinite(s->measured[i]) ? fmin(s->a, s->measured[i]) : s->a;
    return s->span == 0 && s->a > 0 && pe_sequence_is_near(s, s->n - 2, s->a);
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

static bool read_rotated_part(pe_sequence *s)
{
    size_t turning = s->n;
    while (turning > 0 && s->claimed[turning - 1] == 0)
        turning--;
    s->a = (double)turning;
    return s->scaling.theta > 0 && turning > 1 && turning < s->n;
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

/* ---- yarn's ramp ---- */

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

/* ---- blends ---- */

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

/* ---- bases that grow with a scale ---- */

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

/* theta^(-i/n) */
static double rung(const pe_sequence *s, double theta, size_t i)
{
    return pow(theta, -(double)i / (double)s->n);
}

static double op_of_theta(const pe_sequence *s, size_t i)
{
    return rung(s, s->a, i);
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

/* ---- of roundings ---- */

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

/* ---- of scaled ladders ---- */

static double op_unscaled(const pe_sequence *s, size_t i)
{
    return s->plain[i];
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

static double op_of_rotated_part(const pe_sequence *s, size_t i)
{
    return (double)i < s->a ? pow(s->scaling.theta, -(double)i / s->a) : 0;
}

/* The ends of a ramp change a pair by less than what is told from no change. */
#define ENDS 3

static double op_as_measured(const pe_sequence *s, size_t i)
{
    const double least = pe_sequence_least_part(s);
    if ((double)i < s->a - ENDS)
        return s->plain[i];
    return (double)i >= s->b + ENDS ? s->plain[i] * least : s->measured[i];
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

#define LAW(...)           PE_PATCH(PE_AT_FREQUENCY, __VA_ARGS__)
#define RADIANS            "take angles in radians: position times inv_freq"
#define POWERS             "take the exponents 2i/d: inv_freq = theta ** -(arange(0, d, 2) / d)"
#define FACTORS_OF         "the factors of the pairs are shifted by one: pair i has that of pair "
#define ROTARY_IN_EXPONENT "the exponents of the frequencies were 2i/rotary_dim, not 2i/head_dim"
#define HEAD_DIM           "divide the exponents by head_dim, of which a part is rotated"
#define BLEND_MISSING(READ)                                                                        \
    LAW("blend_missing",                                                                           \
        "the blend of the middle band is missing: pairs below {a} are not scaled, all others are " \
        "divided by {b}",                                                                          \
        "blend scaled and unscaled frequencies between the bands (smooth factor, ramp)",           \
        .operand = (READ), .op = op_of_edge)
#define PAIRS_REST(READ)                                                                           \
    LAW("pairs_rest", "pairs {a} to {b} do not turn: their frequencies are zero",                  \
        "make frequencies for all pairs", .operand = (READ), .op = pe_op_zero_between,             \
        .may_be_one = (READ) == read_rest)
#define RAMP(NAME, RULE, REMEDY, WAY)                                                              \
    LAW(NAME, RULE "; the ramp goes from pair {a} to {b}", REMEDY, .operand = read_ramp,           \
        .op = op_of_ramp, .a = (WAY))
#define ENDS_OF    "the ends of the ramp (low, high) were found with "
#define PASS_DIM   "pass rotary_dim (dim, the number of rotated channels) to find_correction_range"
#define ROUND_ENDS "round low down and high up: floor(low), ceil(high)"
#define SMOOTH                                                                                     \
    "take smooth = (original length/wavelength - low_freq_factor)/(high_freq_factor - "            \
    "low_freq_factor)"
#define BASE(NAME, RULE, REMEDY, POWER)                                                            \
    LAW(NAME, RULE, REMEDY, .operand = read_grown_base, .op = op_of_theta, .a = (POWER))
#define ORDER "keep the order of the pairs: pair i has the exponent 2i/d"

#define KEEP_WIDE "make inv_freq in float32 or wider, and keep it so"
#define DECIMALS(N)                                                                                \
    LAW("inv_freq_decimals", "frequencies (inv_freq) were rounded to {a} decimals", KEEP_WIDE,     \
        .op = pe_op_decimals, .a = (N), .subtle = true)
#define STEPS(RULE, GRAIN, ...)                                                                    \
    LAW("inv_freq_rounded", RULE, KEEP_WIDE, .op = op_of_rounded_steps, .a = (__VA_ARGS__),        \
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
        LAW("inv_freq_rounded",                                                                    \
            "frequencies (inv_freq) are a running product that was rounded to " TYPE               \
            " at each step",                                                                       \
            KEEP_WIDE, .op = op_of_running_product, .b = (GRAIN), .subtle = true)

static const pe_patch rows[] = {
    LAW("reciprocal_frequencies", "frequencies are the reciprocals: theta^(2i/d) for theta^(-2i/d)",
        "divide 1 by the power: inv_freq = 1 / theta^(2i/d)", .op = pe_op_reciprocal, .a = 1),
    LAW("wavelengths", "wavelengths stand in the place of frequencies: 2 pi theta^(2i/d)",
        "divide 2 pi by them", .op = pe_op_reciprocal, .a = TURN),
    LAW("log_frequencies", "logarithms of the frequencies stand in their place: no exp was taken",
        "take exp of them", .op = pe_op_logarithm, .operand = told),
    LAW("scaling_ignored",
        "the frequencies were not scaled: rope_scaling, freq_factors or lerope_alpha was ignored",
        "pass rope_scaling (rope_parameters, freq_factors, lerope_alpha) to the code that makes "
        "inv_freq",
        .operand = read_scaled, .faint = true, .op = op_unscaled),
    LAW("head_in_exponent", "the exponents of the frequencies were 2i/head_dim, not 2i/rotary_dim",
        "divide the exponents by rotary_dim, not by head_dim", .operand = read_head,
        .op = op_power),
    LAW("rotary_in_exponent", ROTARY_IN_EXPONENT, HEAD_DIM, .operand = read_rotary, .op = op_power),
    LAW("rotary_in_exponent", ROTARY_IN_EXPONENT ", as without rope_type proportional", HEAD_DIM,
        .operand = read_rotated_part, .op = op_of_rotated_part),
    LAW("exponent_doubled",
        "frequencies are squared: exponents are 4i/d, or the ladder was applied twice", POWERS,
        .op = pe_op_power, .a = 2),
    LAW("exponent_halved", "frequencies are the square roots: exponents are i/d, not 2i/d", POWERS,
        .op = pe_op_power, .a = 0.5),
    LAW("index_plus_one", "the ladder is shifted: pair i has the frequency of pair i + 1",
        "count pairs from 0", .op = pe_op_shifted, .a = 1, .but_one = true),
    LAW("index_minus_one", "the ladder is shifted: pair i has the frequency of pair i - 1",
        "count pairs from 0", .op = pe_op_shifted, .a = -1, .but_one = true),
    LAW("index_plus_half",
        "the ladder is shifted by half a pair: exponents are (2i + 1)/d, not 2i/d", POWERS,
        .op = pe_op_shifted, .a = 0.5),
    LAW("frequencies_reversed",
        "channels are reversed: the order of the frequencies is the other one, slowest first",
        ORDER, .op = pe_op_reversed),
    LAW("channels_exchanged", "even and odd channels (pairs) are exchanged in order", ORDER,
        .op = pe_op_neighbours),
    LAW("pairs_permuted",
        "the order of the pairs was permuted: frequencies of even pairs stand before those of odd "
        "ones",
        ORDER, .op = pe_op_evens_first),
    LAW("pairs_permuted",
        "the order of the pairs was permuted: frequencies of the two halves alternate, interleaved",
        ORDER, .op = pe_op_halves_in_turn),
    LAW("halves_exchanged",
        "the halves of the ladder are exchanged: the order of the pairs is rolled by half", ORDER,
        .op = pe_op_halves),
    LAW("ladder_rolled", "the order of the pairs is rolled by one: pair 0 has the last frequency",
        ORDER, .op = pe_op_rolled, .a = 1),
    LAW("ladder_rolled",
        "the order of the pairs is rolled by one, or shifted: the last pair has the frequency of "
        "pair 0",
        ORDER, .op = pe_op_rolled, .a = -1),
    LAW("integer_division",
        "each second pair repeats the frequency before it: exponents come from an integer division "
        "(i // 2)",
        POWERS, .op = pe_op_evens_twice),
    LAW("frequencies_repeated",
        "each frequency is repeated for two pairs, so that half of the ladder is missing",
        "repeat frequencies only where channels, not pairs, are counted (repeat_interleave)",
        .op = pe_op_each_twice),
    LAW("every_other_frequency",
        "pairs have every other frequency, repeated twice: exponents are 4i/d modulo 1", POWERS,
        .op = pe_op_every_other),
    LAW("half_ladder_repeated", "the first half of the ladder is repeated in the other pairs",
        POWERS, .op = pe_op_first_half_twice),
    LAW("width_in_exponent",
        "the exponents of the frequencies were 2i/{b}, as of all heads together (d_model), not "
        "2i/d",
        "divide the exponents by the channels of one head that are rotated",
        .operand = read_all_heads, .op = pe_op_power),
    LAW("log10_for_ln",
        "exponents are divided by ln 10: log10(base) was taken for the natural logarithm",
        "take the natural logarithm of the base", .op = pe_op_power, .a = 1 / LN10),
    LAW("log2_for_ln",
        "exponents are divided by ln 2: log2(base) was taken for the natural logarithm",
        "take the natural logarithm with exp, log2 with exp2", .op = pe_op_power, .a = 1 / LN2),
    LAW("ln_for_log2",
        "exponents are multiplied by ln 2: exp2 was taken of the natural logarithm of the base",
        "take the natural logarithm with exp, log2 with exp2", .op = pe_op_power, .a = LN2),
    LAW("base_e", "rope_theta (the base) was e: it was left out of the power, as exp(-2i/d)",
        "multiply the exponent by ln(theta)", .op = op_of_base_e),
    LAW("denominator_plus_two", "exponents are divided by d + 2, not by d",
        "divide the exponents by d", .op = op_one_more),
    LAW("denominator_minus_two",
        "exponents are divided by d - 2, not by d: the ladder reaches theta itself",
        "divide the exponents by d (freq_shift 0)", .op = op_one_less),
    LAW("angles_times_two_pi", "angles are multiplied by 2 pi", RADIANS, .op = pe_op_times,
        .a = TURN),
    LAW("angles_over_two_pi", "angles are divided by 2 pi: turns were taken for radians", RADIANS,
        .op = pe_op_ratio, .a = 1, .b = TURN),
    LAW("angles_in_degrees", "angles in degrees were taken for radians", RADIANS, .op = pe_op_ratio,
        .a = TURN, .b = 360),
    LAW("angles_in_degrees", "angles are in degrees, not in radians", RADIANS, .op = pe_op_ratio,
        .a = 360, .b = TURN),
    LAW("one_frequency", "all pairs have the frequency of pair {a}",
        "take a frequency of its own for each pair", .operand = read_one, .op = pe_op_one_item),
    LAW("ladder_linear",
        "frequencies are linear in i: the ladder is a straight line (linspace), no power", POWERS,
        .op = op_in_line),
    LAW("frequencies_linear",
        "frequencies are linear in i: the ladder is a straight line (linspace) from the first to "
        "the last one, no power",
        POWERS, .op = op_in_line_to_last),
    LAW("ladder_harmonic", "frequencies are 1/(1 + i): a series of fractions, no power of a base",
        POWERS, .op = op_harmonic),
    LAW("angles_multiplied", "positions, or all frequencies, were multiplied by {a}",
        "check the unit of the positions (seconds, milliseconds), and whether they are scaled "
        "twice",
        .operand = read_many, .op = pe_op_times),
    LAW("scaling_inverted",
        "frequencies were multiplied by the scaling, not divided by it: the factors are inverted",
        "divide the frequencies by factor (freq_factors, long_factor)", .operand = read_scaled,
        .faint = true, .op = op_scaled_up),
    LAW("scaling_twice", "the scaling (factor) was applied twice",
        "scale the frequencies once: not in the configuration and in the code",
        .operand = read_scaled, .faint = true, .op = op_scaled_twice),
    LAW("ntk_as_well",
        "the base was scaled as well, as ntk does it by the factor of {b}: both scalings were "
        "applied",
        "scale the base or the positions, not both", .operand = read_naive, .op = op_ntk_too),
    LAW("linear_as_well",
        "frequencies were divided by the factor on top of their scaling: linear scaling of {b} was "
        "applied as well",
        "scale the base or the positions, not both", .operand = read_naive, .op = op_linear_too),
    LAW("factors_reversed",
        "the factors of the pairs (long_factor, short_factor) are in reverse order", ORDER,
        .operand = read_listed, .op = op_parts_reversed),
    LAW("lerope_base", "the factors are powers of 2, not of e: exp2 was taken of lerope_alpha",
        "take exp of lerope_alpha", .operand = read_listed, .op = op_powers_of_two),
    LAW("lerope_linear", "frequencies were multiplied by 1 + lerope_alpha: no exp was taken of it",
        "take exp of lerope_alpha", .operand = read_listed, .op = op_without_exponential),
    LAW("factors_shifted", FACTORS_OF "i + 1", ORDER, .operand = read_listed, .op = op_next_part),
    LAW("factors_shifted", FACTORS_OF "i - 1", ORDER, .operand = read_listed,
        .op = op_previous_part),
    LAW("factors_shifted", FACTORS_OF "i + 1", ORDER, .operand = read_listed, .op = op_next_part,
        .a = 1),
    LAW("factors_shifted", FACTORS_OF "i - 1", ORDER, .operand = read_listed,
        .op = op_previous_part, .a = 1),
    LAW("ramp_inverted",
        "the ramp is inverted: fast pairs are scaled, slow ones are not (low and high, or "
        "beta_fast "
        "and beta_slow, exchanged)",
        "interpolate the slow pairs, extrapolate the fast ones", .operand = read_scaled,
        .faint = true, .op = op_ramp_inverted),
    LAW("blend_inverted", "the blend (smooth factor) of the middle band is inverted",
        "weight the scaled frequency with 1 - smooth, the other with smooth",
        .operand = read_scaled, .faint = true, .op = op_blend_inverted),
    BLEND_MISSING(read_low_edge),
    BLEND_MISSING(read_high_edge),
    BLEND_MISSING(read_middle_edge),
    BLEND_MISSING(read_edge),
    LAW("factors_exchanged",
        "low_freq_factor and high_freq_factor were exchanged: pairs below {a} are not scaled, all "
        "others are divided by {b}",
        "exchange low_freq_factor and high_freq_factor", .operand = read_exchanged,
        .op = op_of_edge),
    RAMP("betas_default", "beta_fast and beta_slow were 32 and 1, the defaults, not as claimed",
         "pass beta_fast and beta_slow to find_correction_range", RAMP_BETAS),
    RAMP("ramp_of_other_base", ENDS_OF "a base of 10000, not with rope_theta",
         "pass rope_theta (base) to find_correction_range", RAMP_BASE),
    RAMP("ramp_of_head_dim", ENDS_OF "head_dim, not with rotary_dim", PASS_DIM, RAMP_HEAD),
    RAMP("ramp_of_part", ENDS_OF "rotary_dim times partial_rotary_factor: the part was taken twice",
         PASS_DIM, RAMP_PART),
    RAMP("ramp_of_half_dim", ENDS_OF "d/2, the number of pairs, not with d channels", PASS_DIM,
         RAMP_HALF),
    RAMP("ramp_of_double_dim", ENDS_OF "2d, not with d channels", PASS_DIM, RAMP_DOUBLE),
    RAMP("ramp_over_channels",
         "the ramp was laid over channels, 0, 2, ... of d, not over pairs, 0, 1, ... of d/2",
         "lay the ramp over arange(d/2)", RAMP_CHANNELS),
    RAMP("ramp_clamped", "the end of the ramp (high) was clamped to d/2 - 1, not to d - 1",
         "clamp the end of the ramp to d - 1", RAMP_LAST),
    RAMP("ramp_rounded", "the ends of the ramp were rounded inward: low by ceil, high by floor",
         ROUND_ENDS, RAMP_INWARD),
    RAMP("ramp_rounded", "both ends of the ramp (low, high) were rounded down: high is no ceil",
         ROUND_ENDS, RAMP_CUT),
    RAMP("ramp_rounded", "both ends of the ramp (low, high) were rounded to nearest", ROUND_ENDS,
         RAMP_NEAREST),
    LAW("wavelengths_blended",
        "wavelengths were blended between the bands, not frequencies: their reciprocals are others",
        "interpolate frequencies: (1 - smooth) w / factor + smooth w", .operand = read_blended,
        .op = op_of_mean_wavelength),
    LAW("smooth_of_wavelength",
        "the blend (smooth) was linear in the wavelength, not in its reciprocal", SMOOTH,
        .operand = read_banded, .op = op_of_smooth_wavelength),
    LAW("smooth_of_factor",
        "the blend (smooth) was computed with factor in the place of high_freq_factor", SMOOTH,
        .operand = read_banded, .op = op_of_smooth_factor),
    BASE("theta_times_factor",
         "rope_theta was multiplied by the factor itself, without the exponent d/(d - 2) of ntk: "
         "the base was {a}",
         "raise the factor to d/(d - 2) before it multiplies the base", POWER_ONE),
    BASE("exponent_of_factor_inverted",
         "the factor was raised to (d - 2)/d, not to d/(d - 2), before it multiplied rope_theta: "
         "the base was {a}",
         "raise the factor to d/(d - 2) before it multiplies the base", POWER_INVERTED),
    BASE("exponent_of_head_dim",
         "the factor was raised to d/(d - 2) with d = head_dim, not rotary_dim: the base was {a}",
         "take rotary_dim (head_dim * partial_rotary_factor) in d/(d - 2)", POWER_HEAD),
    BASE("exponent_of_half_dim",
         "the factor was raised to d/(d - 2) with half of d, the number of pairs, for d: the base "
         "was {a}",
         "take the rotated channels, not the pairs, for d in d/(d - 2)", POWER_HALF),
    BASE("dynamic_not_less",
         "dynamic scaling: the base grew with f s/L, without - (f - 1): factor - 1 was not taken "
         "off; the base was {a}",
         "scale the base by (f s/L - (f - 1))^(d/(d - 2)), s = seq_len", POWER_NOT_LESS),
    PAIRS_REST(read_rest),
    PAIRS_REST(read_last_half),
    LAW("ntk_factor", "the factor of ntk was {a}, not {b}", "set factor as claimed",
        .operand = read_ntk_factor, .op = op_of_ntk_factor, .fitted = true),
    LAW("base_scaled",
        "rope_theta was scaled by the {a}-th power of the ntk factor: that of a dimension d of {b} "
        "in d/(d - 2)",
        "raise the factor to d/(d - 2), where d is the rotated dimension",
        .operand = read_exponent_of_factor, .op = op_of_scaled_theta, .fitted = true),
    LAW("seq_len", "dynamic scaling was made for another length: seq_len was {a}, the base {b}",
        "pass the length of the sequence; do not keep inv_freq of another prompt",
        .operand = read_length, .op = op_of_second_theta, .fitted = true),
    LAW("scaling_ignored",
        "frequencies are those of a rope_theta (base) of {a} without any scaling, not of {b} with "
        "the claimed one",
        "set rope_theta as claimed, and pass rope_scaling (rope_parameters, freq_factors)",
        .operand = read_unscaled_theta, .op = op_of_theta, .fitted = true),
    LAW("rope_theta", "rope_theta (the base) was {a}, not {b}", "set rope_theta as claimed",
        .operand = read_theta, .op = op_of_theta, .fitted = true),
    LAW("base_about", "rope_theta (the base) was about {a}, not {b}", "set rope_theta as claimed",
        .operand = read_turned_theta, .op = op_of_ratio, .fitted = true),
    LAW("frequencies_scaled",
        "all frequencies are {a} times the claimed ones, as linear scaling by a factor of {b}",
        "check the scaling: factor, rope_scaling, units of positions", .operand = read_multiple,
        .op = pe_op_times, .fitted = true),
    LAW("base_and_scale",
        "rope_theta (the base) was {b}, and all frequencies were multiplied by {a}, as linear "
        "scaling does it",
        "scale the base (ntk) or the positions (linear), not both", .operand = read_geometric,
        .op = op_geometric, .fitted = true),
    ROUNDED("bfloat16", PE_GRAIN_BFLOAT16),
    ROUNDED("float16", PE_GRAIN_FLOAT16),
    DECIMALS(4),
    DECIMALS(5),
    DECIMALS(6),
    DECIMALS(7),
    LAW("frequencies_clipped", "frequencies are clipped: none is below {a}",
        "do not clamp inv_freq", .operand = read_least, .op = pe_op_at_least),
    LAW("bands_moved",
        "the bands of the scaling are elsewhere: pairs below {a} are not scaled, those from {b} on "
        "wholly; the ramp between has other edges (beta_fast, beta_slow, low_freq_factor, "
        "high_freq_factor, original_max_position_embeddings)",
        "check the parameters of the bands and the original length", .operand = read_bands,
        .op = op_as_measured, .fitted = true),
};
const pe_patches pe_frequency_patches = {rows, PE_LEN(rows)};

static const pe_patch rough[] = {
    {.op = pe_op_times, .operand = read_turned_multiple},
    {.op = op_of_ratio, .operand = read_turned_theta},
};

const pe_patches pe_rough_frequency_patches = {rough, PE_LEN(rough)};
