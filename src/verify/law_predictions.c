/* SPDX-License-Identifier: MIT */
/* law_predictions.c - the frequency of a pair by a law. */
#include "verify/law_predictions.h"

#include <math.h>

#define TURN 6.283185307179586
#define LN2  0.6931471805599453

/* ---- of ladders ---- */

/* w_i of a ladder that goes on beyond its ends. */
static double step_of(const pe_ladder *l, double i)
{
    const double *w = l->claimed;
    if (i >= 0 && i < (double)l->n)
        return w[(size_t)i];
    const double ratio = w[l->n - 1] / w[l->n - 2];
    return i < 0 ? w[0] / ratio : w[l->n - 1] * ratio;
}

double pe_predict_next_pair(const pe_ladder *l, size_t i)
{
    return step_of(l, (double)i + 1);
}

double pe_predict_previous_pair(const pe_ladder *l, size_t i)
{
    return step_of(l, (double)i - 1);
}

double pe_predict_half_step(const pe_ladder *l, size_t i)
{
    return sqrt(l->claimed[i] * step_of(l, (double)i + 1));
}

double pe_predict_reciprocal(const pe_ladder *l, size_t i)
{
    return 1 / l->claimed[i];
}

double pe_predict_wavelength(const pe_ladder *l, size_t i)
{
    return TURN / l->claimed[i];
}

double pe_predict_logarithm(const pe_ladder *l, size_t i)
{
    return l->span == 0 ? log(l->claimed[i]) : nan("");
}

/* Squares and roots are rounded correctly, powers nearly so. Pair 0 has the exponent 0. */
double pe_predict_raised(const pe_ladder *l, size_t i)
{
    const double first = l->claimed[0], w = l->claimed[i] / first;
    return first * (l->a == 2 ? w * w : l->a == 0.5 ? sqrt(w) : pow(w, l->a));
}

double pe_predict_of_base_e(const pe_ladder *l, size_t i)
{
    return exp(-(double)i / (double)l->n);
}

double pe_predict_power(const pe_ladder *l, size_t i)
{
    return pow(l->plain[i], l->a);
}

double pe_predict_one_more(const pe_ladder *l, size_t i)
{
    const double first = l->claimed[0], n = (double)l->n;
    return first * pow(l->claimed[i] / first, n / (n + 1));
}

double pe_predict_one_less(const pe_ladder *l, size_t i)
{
    const double first = l->claimed[0], n = (double)l->n;
    return first * pow(l->claimed[i] / first, n / (n - 1));
}

double pe_predict_reversed(const pe_ladder *l, size_t i)
{
    return l->claimed[l->n - 1 - i];
}

/* Even ones before odd ones; and back. */
double pe_predict_evens_first(const pe_ladder *l, size_t i)
{
    const size_t half = l->n / 2;
    return l->n % 2 == 0 ? l->claimed[i % half * 2 + i / half] : nan("");
}

double pe_predict_halves_in_turn(const pe_ladder *l, size_t i)
{
    return l->n % 2 == 0 ? l->claimed[i / 2 + i % 2 * (l->n / 2)] : nan("");
}

double pe_predict_exchanged(const pe_ladder *l, size_t i)
{
    return step_of(l, (double)(i ^ 1));
}

double pe_predict_halves_exchanged(const pe_ladder *l, size_t i)
{
    return l->claimed[(i + l->n / 2) % l->n];
}

double pe_predict_rolled_on(const pe_ladder *l, size_t i)
{
    return l->claimed[(i + l->n - 1) % l->n];
}

double pe_predict_rolled_back(const pe_ladder *l, size_t i)
{
    return l->claimed[(i + 1) % l->n];
}

double pe_predict_in_twos(const pe_ladder *l, size_t i)
{
    return l->claimed[i - i % 2];
}

double pe_predict_halved_index(const pe_ladder *l, size_t i)
{
    return l->claimed[i / 2];
}

double pe_predict_every_other(const pe_ladder *l, size_t i)
{
    return l->claimed[2 * i % l->n];
}

double pe_predict_half_again(const pe_ladder *l, size_t i)
{
    return l->claimed[i % ((l->n + 1) / 2)];
}

double pe_predict_times(const pe_ladder *l, size_t i)
{
    return l->claimed[i] * l->a;
}

double pe_predict_times_over(const pe_ladder *l, size_t i)
{
    return l->claimed[i] * l->a / l->b;
}

double pe_predict_all_of_one(const pe_ladder *l, size_t i)
{
    (void)i;
    return l->claimed[(size_t)l->a];
}

double pe_predict_harmonic(const pe_ladder *l, size_t i)
{
    return l->claimed[0] / (double)(1 + i);
}

double pe_predict_in_line(const pe_ladder *l, size_t i)
{
    const double n = (double)l->n - 1;
    return l->claimed[0] +
           ((l->theta > 0 ? 1 / l->theta : l->claimed[l->n - 1]) - l->claimed[0]) * (double)i / n;
}

double pe_predict_in_line_to_last(const pe_ladder *l, size_t i)
{
    const double *w = l->claimed;
    return w[0] + (w[l->n - 1] - w[0]) * (double)i / ((double)l->n - 1);
}

double pe_predict_not_below(const pe_ladder *l, size_t i)
{
    return fmax(l->claimed[i], l->a);
}

/* theta^(-i/n) */
static double rung(const pe_ladder *l, double theta, size_t i)
{
    return pow(theta, -(double)i / (double)l->n);
}

double pe_predict_of_theta(const pe_ladder *l, size_t i)
{
    return rung(l, l->a, i);
}

/* The claimed scaling stays. */
double pe_predict_of_ratio(const pe_ladder *l, size_t i)
{
    return l->claimed[i] * rung(l, l->a / l->b, i);
}

double pe_predict_of_second_theta(const pe_ladder *l, size_t i)
{
    return rung(l, l->b, i);
}

double pe_predict_geometric(const pe_ladder *l, size_t i)
{
    return l->a * rung(l, l->b, i);
}

double pe_predict_of_scaled_theta(const pe_ladder *l, size_t i)
{
    return rung(l, l->theta * pow(l->factor, l->a), i);
}

double pe_predict_of_ntk_factor(const pe_ladder *l, size_t i)
{
    const double n = (double)l->n;
    return rung(l, l->theta * pow(l->a, n / (n - 1)), i);
}

double pe_predict_resting(const pe_ladder *l, size_t i)
{
    return (double)i >= l->a && (double)i <= l->b ? 0 : l->claimed[i];
}

/* ---- of roundings ---- */

/* To the type that is row `b` of the grains. */
static double rounded(const pe_ladder *l, double x)
{
    return pe_grain_round(&pe_grains[(size_t)l->b], x);
}

/* The same of a step, if `a` has its bit. */
static double step_rounded(const pe_ladder *l, unsigned step, double x)
{
    return ((unsigned)l->a & step) != 0 ? rounded(l, x) : x;
}

double pe_predict_to_decimals(const pe_ladder *l, size_t i)
{
    const double unit = pow(10, l->a);
    return nearbyint(l->claimed[i] * unit) / unit;
}

double pe_predict_of_rounded_steps(const pe_ladder *l, size_t i)
{
    const double theta = step_rounded(l, PE_LAW_STEP_BASE, l->theta);
    const double exponent = step_rounded(l, PE_LAW_STEP_EXPONENT, (double)i / (double)l->n);
    const double power = step_rounded(l, PE_LAW_STEP_POWER, pow(theta, exponent));
    return l->theta > 0
               ? step_rounded(l, PE_LAW_STEP_RECIPROCAL, 1 / power) * pe_ladder_part_of(l, i)
               : nan("");
}

double pe_predict_of_running_product(const pe_ladder *l, size_t i)
{
    double w = 1;
    for (size_t k = 0; k < i; k++)
        w = rounded(l, w * l->plain[1] / l->plain[0]);
    return w * pe_ladder_part_of(l, i);
}

/* ---- of scaled ladders ---- */

double pe_predict_unscaled(const pe_ladder *l, size_t i)
{
    return l->plain[i];
}

double pe_predict_scaled_up(const pe_ladder *l, size_t i)
{
    return l->plain[i] / pe_ladder_part_of(l, i);
}

double pe_predict_scaled_twice(const pe_ladder *l, size_t i)
{
    return l->claimed[i] * pe_ladder_part_of(l, i);
}

double pe_predict_parts_reversed(const pe_ladder *l, size_t i)
{
    return l->plain[i] * pe_ladder_part_of(l, l->n - 1 - i);
}

double pe_predict_next_part(const pe_ladder *l, size_t i)
{
    return l->plain[i] * pe_ladder_part_of(l, i + 1 < l->n ? i + 1 : l->a > 0 ? i : 0);
}

double pe_predict_previous_part(const pe_ladder *l, size_t i)
{
    return l->plain[i] * pe_ladder_part_of(l, i > 0 ? i - 1 : l->a > 0 ? i : l->n - 1);
}

/* Factors are exponentials of a list (lerope_alpha). */
double pe_predict_powers_of_two(const pe_ladder *l, size_t i)
{
    return l->plain[i] * pow(pe_ladder_part_of(l, i), LN2);
}

double pe_predict_without_exponential(const pe_ladder *l, size_t i)
{
    return l->plain[i] * (1 + log(pe_ladder_part_of(l, i)));
}

double pe_predict_ramp_inverted(const pe_ladder *l, size_t i)
{
    return l->plain[i] * (1 + pe_ladder_least_part(l) - pe_ladder_part_of(l, i));
}

/* Only the pairs between the bands are the other way round. */
double pe_predict_blend_inverted(const pe_ladder *l, size_t i)
{
    const double part = pe_ladder_part_of(l, i), least = pe_ladder_least_part(l);
    const bool between = part < 1 - 1e-6 && part > least + 1e-6;
    return l->plain[i] * (between ? 1 + least - part : part);
}

double pe_predict_of_edge(const pe_ladder *l, size_t i)
{
    return l->plain[i] * ((double)i < l->a ? 1 : 1 / l->b);
}

double pe_predict_of_rotated_part(const pe_ladder *l, size_t i)
{
    return (double)i < l->a ? pow(l->theta, -(double)i / l->a) : 0;
}

/* The ends of a ramp change a pair by less than what is told from no change. */
#define ENDS 3

double pe_predict_as_measured(const pe_ladder *l, size_t i)
{
    const double least = pe_ladder_least_part(l);
    if ((double)i < l->a - ENDS)
        return l->plain[i];
    return (double)i >= l->b + ENDS ? l->plain[i] * least : l->measured[i];
}

double pe_predict_ntk_too(const pe_ladder *l, size_t i)
{
    return l->claimed[i] * pow(l->factor, -(double)i / (double)(l->n - 1));
}

double pe_predict_linear_too(const pe_ladder *l, size_t i)
{
    return l->claimed[i] / l->factor;
}
