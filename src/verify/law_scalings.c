/* SPDX-License-Identifier: MIT */
/* law_scalings.c - scalings that were computed in another way: ramps, blends and bases. */
#include "verify/law_scalings.h"

#include <math.h>

#define TURN 6.283185307179586

/* ---- yarn's ramp ---- */

static double pairs_of(const pe_ladder *l, pe_law_ramp way)
{
    const double n = (double)l->n;
    return way == PE_LAW_RAMP_HEAD     ? l->head_pairs
           : way == PE_LAW_RAMP_PART   ? n * n / l->head_pairs
           : way == PE_LAW_RAMP_HALF   ? n / 2
           : way == PE_LAW_RAMP_DOUBLE ? 2 * n
                                       : n;
}

/* An end (0: low) as a whole number, where it is one. */
static double whole(const pe_ladder *l, pe_law_ramp way, double end, size_t e)
{
    if (way == PE_LAW_RAMP_NEAREST)
        return round(end);
    if (way == PE_LAW_RAMP_INWARD || way == PE_LAW_RAMP_CUT)
        return e == 0 && way == PE_LAW_RAMP_INWARD ? ceil(end) : floor(end);
    return !l->truncate ? end : e == 0 ? floor(end) : ceil(end);
}

static double end_of(const pe_ladder *l, pe_law_ramp way, size_t e)
{
    static const double betas[2] = {32, 1};
    const double n = (double)l->n, pairs = pairs_of(l, way);
    const double theta = way == PE_LAW_RAMP_BASE ? 10000 : l->theta;
    const double turns = log(l->original / (TURN * betas[e]));
    const double at = way == PE_LAW_RAMP_BETAS ? turns : l->ramp[e] / n;
    const double end = whole(l, way, pairs * at / log(theta), e);
    const double last = way == PE_LAW_RAMP_LAST ? n - 1 : 2 * pairs - 1;
    return (e == 0 ? fmax(end, 0) : fmin(end, last)) / (way == PE_LAW_RAMP_CHANNELS ? 2 : 1);
}

bool pe_law_numbers_ramp(pe_ladder *l)
{
    const pe_law_ramp way = (pe_law_ramp)l->a;
    const bool is_head = way == PE_LAW_RAMP_DOUBLE && l->head_pairs == 2 * (double)l->n;
    if (!(l->ramp[1] > 0 && l->theta > 1 && l->factor > 1 && l->head_pairs > 0) || is_head)
        return false;
    l->a = end_of(l, way, 0);
    l->b = end_of(l, way, 1);
    return l->a != end_of(l, PE_LAW_RAMP_CLAIMED, 0) || l->b != end_of(l, PE_LAW_RAMP_CLAIMED, 1);
}

/* What is left of a frequency of which the part `kept` is not scaled. */
static double blend(const pe_ladder *l, double kept)
{
    return kept + (1 - kept) / l->factor;
}

double pe_predict_of_ramp(const pe_ladder *l, size_t i)
{
    const double along = ((double)i - l->a) / (l->b != l->a ? l->b - l->a : 1e-3);
    return l->plain[i] * blend(l, 1 - fmin(fmax(along, 0), 1));
}

/* ---- blends ---- */

bool pe_law_numbers_banded(pe_ladder *l)
{
    return l->bands[1] > l->bands[0] && l->bands[0] > 0 && l->original > 0 && l->factor > 1;
}

bool pe_law_numbers_blended(pe_ladder *l)
{
    return l->factor > 1 && (l->ramp[1] > 0 || pe_law_numbers_banded(l));
}

/* 1/w is kept/w + (1 - kept) factor/w. */
double pe_predict_of_mean_wavelength(const pe_ladder *l, size_t i)
{
    const double kept = (pe_ladder_part_of(l, i) - 1 / l->factor) / (1 - 1 / l->factor);
    return l->plain[i] / (kept + (1 - kept) * l->factor);
}

double pe_predict_of_smooth_wavelength(const pe_ladder *l, size_t i)
{
    const double fast = l->original / l->bands[1], slow = l->original / l->bands[0];
    const double kept = (slow - TURN / l->plain[i]) / (slow - fast);
    return l->plain[i] * blend(l, fmin(fmax(kept, 0), 1));
}

double pe_predict_of_smooth_factor(const pe_ladder *l, size_t i)
{
    const double turns = l->original * l->plain[i] / TURN;
    const bool between = turns >= l->bands[0] && turns <= l->bands[1];
    const double kept = (turns - l->bands[0]) / (l->factor - l->bands[0]);
    return between ? l->plain[i] * blend(l, kept) : l->claimed[i];
}

/* ---- bases that grow with a scale ---- */

/* s of the claimed base theta s^(d/(d - 2)); where it is no such base: the factor. */
static double scale_of(const pe_ladder *l)
{
    const double power = (double)(l->n - 1) / (double)l->n;
    const double base = pow(l->claimed[1], -(double)l->n), s = pow(base / l->theta, power);
    return s > 1 + 1e-6 && fabs(l->claimed[l->n - 1] * pow(base, power) - 1) < 1e-6 ? s : 0;
}

bool pe_law_numbers_grown_base(pe_ladder *l)
{
    const pe_law_power way = (pe_law_power)l->a;
    const double n = (double)l->n, h = l->head_pairs, grown = scale_of(l);
    const double power = way == PE_LAW_POWER_ONE        ? 1
                         : way == PE_LAW_POWER_INVERTED ? (n - 1) / n
                         : way == PE_LAW_POWER_HEAD     ? h / (h - 1)
                         : way == PE_LAW_POWER_HALF     ? n / (n - 2)
                                                        : n / (n - 1);
    l->b = grown > 0 ? grown : l->factor;
    l->a = l->theta * pow(l->b + (way == PE_LAW_POWER_NOT_LESS ? l->factor - 1 : 0), power);
    return l->theta > 0 && l->b > 1 && (grown > 0 || way == PE_LAW_POWER_ONE) &&
           (way != PE_LAW_POWER_HEAD || (h > 1 && h != n)) &&
           (way != PE_LAW_POWER_NOT_LESS || l->dynamic_length > 0);
}
