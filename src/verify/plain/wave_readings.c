/* SPDX-License-Identifier: MIT */
/* wave_readings.c - numbers by which a table of sines and cosines differs, read off its waves. */
#include "verify/plain/wave_row.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define TURN 6.283185307179586

bool pe_wave_is_within(const pe_wave_table *t, pe_wave_scope where)
{
    return where == PE_WAVE_ANYWHERE ||
           (where == PE_WAVE_IN_GRIDS && t->height > 1 && t->width > 1) ||
           (where == PE_WAVE_IN_TENSORS && t->tensors && t->pairs % 2 == 0) ||
           (where == PE_WAVE_CENTRED && t->centred) || (where == PE_WAVE_BACKWARD && !t->forward);
}

/* How many frequencies a ladder has; patches whose axes differ in the fastest one share it. */
size_t pe_wave_ladder(const pe_wave_table *t)
{
    const size_t half = t->pairs / 2;
    const bool shared = !t->centred && t->tensors && half > 0 &&
                        fabs(t->frequency[0] / t->frequency[half] - 1) > 1e-9;
    return t->tensors && !shared ? half : t->pairs / t->blocks;
}

/* The pair whose turns are told best: its claimed frequency is nearest to 1/8. */
static size_t best_pair(const pe_wave_table *t)
{
    size_t best = 0;
    for (size_t i = 0; i < t->pairs; i++)
        if (fabs(log(8 * t->frequency[i])) < fabs(log(8 * t->frequency[best])))
            best = i;
    return best;
}

/* Coordinates are a (x + b), read off the pair whose turns are told best. value: b is 0. */
bool pe_wave_linear(const pe_wave_row *of, pe_wave_change *c)
{
    const pe_wave_table *t = c->of;
    const size_t best = best_pair(t);
    const double w = t->frequency[best], k = c->times * pe_wave_step(c, best) / w;
    const bool coarse = t->of->roundoff > 0x1p-12;
    c->times = c->a = coarse ? pe_numbers_tidy(k) : pe_numbers_tidy(k * 840) / 840;
    const double by = pe_wave_start(c, best) / (w * c->a) - t->first[t->axis[best]];
    c->shift = c->b = round(by * 840) / 840;
    return isfinite(c->a) && isfinite(c->b) && c->a != 0 && (c->a != 1 || c->b != round(c->b)) &&
           t->forward && (c->b == 0) == (of->value != 0);
}

/* At the row from which on rows differ from each other. */
bool pe_wave_clamp(const pe_wave_row *of, pe_wave_change *c)
{
    const pe_wave_table *t = c->of;
    size_t r = 1;
    (void)of;
    while (r < t->rows && fabs(pe_wave_turn(c, t->of->got, r, 0)) <= 4 * t->of->roundoff)
        r++;
    c->clamp = HUGE_VAL;
    c->a = c->clamp = fabs(pe_wave_coordinate(c, r - 1, PE_ACROSS));
    return r > 1 && r < t->rows && !t->forward && c->a != t->clamp;
}

/* The coordinate of the first row on an axis: slow pairs tell how many turns faster ones have
 * made, up to the one that is told best. */
static double read_start(const pe_wave_change *c, size_t axis, size_t best)
{
    const pe_wave_table *t = c->of;
    double at = 0, known = 0;
    for (size_t i = t->pairs; i-- > 0;) {
        const double unit = t->unit[axis];
        const double w = unit * pow(t->frequency[i] / unit, c->power);
        if (t->axis[i] != axis || !(w > known) || t->frequency[i] > t->frequency[best])
            continue;
        const double angle = pe_wave_start(c, i);
        at = (angle + TURN * round((at * w - angle) / TURN)) / w;
        known = w;
    }
    return at;
}

bool pe_wave_shift(const pe_wave_row *of, pe_wave_change *c)
{
    const pe_wave_table *t = c->of;
    const size_t best = best_pair(t), axis = t->axis[best];
    (void)of;
    c->a = c->shift = round(read_start(c, axis, best) / c->times - t->first[axis]);
    return isfinite(c->a) && fabs(c->a) > 1;
}

bool pe_wave_hold(const pe_wave_row *of, pe_wave_change *c)
{
    const pe_wave_table *t = c->of;
    const size_t best = best_pair(t);
    (void)of;
    c->a = c->held = round(read_start(c, t->axis[best], best));
    return isfinite(c->a) && t->height == 1 &&
           fabs(pe_wave_turn(c, t->of->got, 1, best)) <= 8 * t->of->roundoff + 0x1p-20;
}

/* The power of all frequencies. */
static double read_power(const pe_wave_change *c)
{
    const pe_wave_table *t = c->of;
    const size_t best = best_pair(t);
    const double unit = t->unit[t->axis[best]];
    return log(fabs(pe_wave_step(c, best)) / unit) / log(t->frequency[best] / unit);
}

/* Of n frequencies exponents are i/(n - 1) in timing signals, else i/n. */
bool pe_wave_denominator(const pe_wave_row *of, pe_wave_change *c)
{
    const double n = (double)pe_wave_ladder(c->of);
    const bool timing = strcmp(c->of->of->view->claim->resource->name, "sinusoidal/timing") == 0;
    c->b = timing ? n - 1 : n;
    c->a = c->b + of->value;
    c->power *= c->b / c->a;
    return c->b > 0 && c->a > 0;
}

static const char *base_name(const pe_wave_table *t)
{
    static const char *const names[] = {"rope_theta", "base"};
    for (size_t n = 0; n < PE_LEN(names); n++)
        if (pe_values_find(&t->of->claim->values, names[n]) != NULL)
            return names[n];
    return NULL;
}

/* w = base^-e for all e: another base is a power of w. value: a base below 100, which few take. */
bool pe_wave_base(const pe_wave_row *of, pe_wave_change *c)
{
    const char *name = base_name(c->of);
    if (name == NULL || !pe_values_present(&c->of->of->claim->values, name))
        return false;
    c->b = pe_values_real(&c->of->of->claim->values, name);
    const double read = pow(c->b, read_power(c) / c->power);
    const double digits = pow(10, floor(log10(read)) - 1);
    c->a = round(read / digits) * digits;
    c->power *= log(c->a) / log(c->b);
    return isfinite(c->power) && c->power > 0 && c->a != c->b && (c->a < 100) == (of->value != 0);
}
