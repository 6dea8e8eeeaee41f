/* SPDX-License-Identifier: MIT */
/* axis.c - scales and their ticks, in the arithmetic that IEEE 754 fixes: the same on every CPU. */
#include <math.h>
#include <stdio.h>

#include "formats/figure/figure.h"
#include "text/number.h"

/* Powers of ten beyond this one are written with an exponent. */
#define SHORT_DECADE 5

/* 10^k; exact up to 22. */
static double ten_to(int k)
{
    double power = 1;
    for (int i = 0; i < (k < 0 ? -k : k); i++)
        power *= 10;
    return power;
}

/* m * 10^k, the double nearest to the decimal where that has few digits. */
static double decimal(double m, int k)
{
    return k < 0 ? m / ten_to(k) : m * ten_to(k);
}

/* log10(x), x > 0, near enough for a place on paper; the libraries' own differ in the last bit.
 *     ln m = 2 artanh((m - 1) / (m + 1)) */
static double log_ten(double x)
{
    int e;
    const double m = frexp(x, &e), t = (m - 1) / (m + 1);
    double sum = 0, power = t;
    for (int n = 1; n < 48; n += 2) {
        sum += power / n;
        power *= t * t;
    }
    return (e * 0.693147180559945309 + 2 * sum) / 2.302585092994045684;
}

double pe_axis_at_log(const pe_axis *axis, double value)
{
    return (log_ten(value) - log_ten(axis->from)) / (log_ten(axis->to) - log_ten(axis->from));
}

/* The least m * 10^k with m of 1, 2, 5 that is not below x. */
static void round_step(double x, double *m, int *k)
{
    static const double steps[] = {1, 2, 5};
    *k = (int)floor(log_ten(x)) - 1;
    for (;; ++*k)
        for (size_t i = 0; i < 3; i++)
            if (decimal(steps[i], *k) >= x) {
                *m = steps[i];
                return;
            }
}

double pe_axis_round_up(double value)
{
    double m;
    int k;
    round_step(value, &m, &k);
    return decimal(m, k);
}

pe_axis pe_axis_around(double least, double most, bool log)
{
    double m;
    int k;
    if (log) {
        const double low = floor(log_ten(least) + 1e-9), high = ceil(log_ten(most) - 1e-9);
        return (pe_axis){decimal(1, (int)low), decimal(1, (int)(high > low ? high : low + 1)),
                         true};
    }
    if (least > 0 && least < most / 2)
        least = 0;
    if (most < 0 && most > least / 2)
        most = 0;
    if (most == least) {
        const double room = most == 0 ? 1 : fabs(most) / 2;
        least -= room;
        most += room;
    }
    round_step((most - least) / 10, &m, &k);
    return (pe_axis){decimal(m * floor(least / decimal(m, k) + 1e-9), k),
                     decimal(m * ceil(most / decimal(m, k) - 1e-9), k), false};
}

/* With the sign for minus in place of hyphens. */
static void put_digits(const char *digits, char out[PE_TICK_TEXT])
{
    for (size_t n = 0; *digits != '\0' && n + sizeof PE_MINUS < PE_TICK_TEXT; digits++)
        n += (size_t)snprintf(out + n, PE_TICK_TEXT - n, "%s",
                              *digits == '-' ? PE_MINUS : (char[]){*digits, '\0'});
}

void pe_axis_tick(double value, pe_tick *out)
{
    char digits[PE_NUMBER_TEXT_MAX + 1];
    out->value = value;
    digits[pe_number_print(PE_FLOAT64, value + 0.0, digits)] = '\0';
    put_digits(digits, out->text);
}

static size_t log_ticks(const pe_axis *axis, size_t wanted, pe_tick out[PE_TICKS_MAX])
{
    const int low = (int)floor(log_ten(axis->from) + 0.5),
              high = (int)floor(log_ten(axis->to) + 0.5);
    const int step = (high - low) / (int)wanted + 1;
    size_t n = 0;
    for (int k = low; k <= high && n < PE_TICKS_MAX; k += step) {
        char power[16];
        pe_axis_tick(decimal(1, k), &out[n]);
        snprintf(power, sizeof power, "1e%d", k);
        if (k > SHORT_DECADE || k < -SHORT_DECADE)
            put_digits(power, out[n].text);
        n++;
    }
    return n;
}

size_t pe_axis_ticks(const pe_axis *axis, size_t wanted, bool whole, pe_tick out[PE_TICKS_MAX])
{
    const double low = axis->from < axis->to ? axis->from : axis->to,
                 high = axis->from + axis->to - low;
    double m, first;
    size_t n = 0;
    int k;
    wanted = wanted < 2 ? 2 : wanted > PE_TICKS_MAX / 2 ? PE_TICKS_MAX / 2 : wanted;
    if (axis->log)
        return log_ticks(axis, wanted, out);
    if (high <= low) {
        pe_axis_tick(low, out);
        return 1;
    }
    round_step((high - low) / (double)wanted, &m, &k);
    if (whole && k < 0) {
        m = 1;
        k = 0;
    }
    const double slack = (high - low) * 1e-9;
    first = ceil((low - slack) / decimal(m, k));
    while (n < PE_TICKS_MAX && decimal((first + (double)n) * m, k) <= high + slack) {
        pe_axis_tick(decimal((first + (double)n) * m, k), &out[n]);
        n++;
    }
    return n;
}
