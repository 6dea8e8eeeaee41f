/* SPDX-License-Identifier: MIT */
/* ops.c - what mistakes make of the numbers of a stage. */
#include "verify/mistakes/ops.h"

#include <math.h>

/* ---- of one number ---- */

double pe_op_same(const pe_sequence *s, size_t i)
{
    return s->claimed[i];
}

double pe_op_constant(const pe_sequence *s, size_t i)
{
    (void)i;
    return s->a;
}

double pe_op_add(const pe_sequence *s, size_t i)
{
    return s->claimed[i] + s->a;
}

double pe_op_mirror(const pe_sequence *s, size_t i)
{
    return s->a - s->claimed[i];
}

double pe_op_negative(const pe_sequence *s, size_t i)
{
    return -s->claimed[i];
}

double pe_op_times(const pe_sequence *s, size_t i)
{
    return s->claimed[i] * s->a;
}

double pe_op_line(const pe_sequence *s, size_t i)
{
    return s->claimed[i] * s->a + s->b;
}

double pe_op_ratio(const pe_sequence *s, size_t i)
{
    return s->claimed[i] * s->a / s->b;
}

double pe_op_reciprocal(const pe_sequence *s, size_t i)
{
    return s->a / s->claimed[i];
}

double pe_op_logarithm(const pe_sequence *s, size_t i)
{
    return log(s->claimed[i]);
}

/* Squares and roots are rounded correctly, powers nearly so. */
double pe_op_power(const pe_sequence *s, size_t i)
{
    const double first = s->claimed[0], x = s->claimed[i] / first;
    return first * (s->a == 2 ? x * x : s->a == 0.5 ? sqrt(x) : pow(x, s->a));
}

double pe_op_at_most(const pe_sequence *s, size_t i)
{
    return fmin(s->claimed[i], s->a);
}

double pe_op_at_least(const pe_sequence *s, size_t i)
{
    return fmax(s->claimed[i], s->a);
}

double pe_op_modulo(const pe_sequence *s, size_t i)
{
    const double x = s->claimed[i];
    return x - s->a * floor((x + s->b) / s->a);
}

double pe_op_multiple(const pe_sequence *s, size_t i)
{
    return s->a * floor(s->claimed[i] / s->a);
}

double pe_op_divided(const pe_sequence *s, size_t i)
{
    return floor(s->claimed[i] / s->a + 1e-9);
}

double pe_op_truncated(const pe_sequence *s, size_t i)
{
    return trunc(s->claimed[i]);
}

double pe_op_rounded(const pe_sequence *s, size_t i)
{
    return nearbyint(s->claimed[i]);
}

double pe_op_decimals(const pe_sequence *s, size_t i)
{
    const double unit = pow(10, s->a);
    return nearbyint(s->claimed[i] * unit) / unit;
}

double pe_op_of_type(const pe_sequence *s, size_t i)
{
    return pe_grain_round(&pe_grains[(size_t)s->a], s->claimed[i]);
}

double pe_op_cut(const pe_sequence *s, size_t i)
{
    int exponent;
    (void)frexp(s->claimed[i], &exponent);
    const double unit = ldexp(1, exponent - 8);
    return unit * trunc(s->claimed[i] / unit);
}

double pe_op_exchanged(const pe_sequence *s, size_t i)
{
    const double x = s->claimed[i];
    return x == s->a ? s->b : x == s->b ? s->a : x;
}

double pe_op_one_elsewhere(const pe_sequence *s, size_t i)
{
    return s->claimed[i] == s->a ? s->b : s->claimed[i];
}

/* ---- of runs ---- */

double pe_op_step(const pe_sequence *s, size_t i)
{
    const double x = s->claimed[i];
    return x < s->a ? x : x + s->b;
}

double pe_op_steps(const pe_sequence *s, size_t i)
{
    const double x = s->claimed[i];
    return x + s->b * floor((x - s->first) / s->a);
}

double pe_op_restart(const pe_sequence *s, size_t i)
{
    const double x = s->claimed[i], along = x - s->first;
    return along < s->a ? x : s->b + fmod(along, s->a);
}

double pe_op_groups(const pe_sequence *s, size_t i)
{
    const double x = s->claimed[i];
    return x < s->a ? x : s->a + floor((x - s->a) / s->b);
}

double pe_op_repeat(const pe_sequence *s, size_t i)
{
    return s->first + floor((s->claimed[i] - s->first) / s->a);
}

double pe_op_padding(const pe_sequence *s, size_t i)
{
    const double x = s->claimed[i];
    return x - s->first < s->b ? s->a : x - s->b;
}

double pe_op_summed(const pe_sequence *s, size_t i)
{
    const double x = s->claimed[i];
    return x * (x + 1) / 2 - s->a;
}

/* ---- of other items ---- */

double pe_op_reversed(const pe_sequence *s, size_t i)
{
    return s->claimed[s->n - 1 - i];
}

double pe_op_rolled(const pe_sequence *s, size_t i)
{
    const double at = (double)i - s->a, n = (double)s->n;
    return s->claimed[(size_t)(at - n * floor(at / n))];
}

/* Item i; beyond its ends the sequence goes on by its last ratio. */
static double item_at(const pe_sequence *s, double i)
{
    const double *x = s->claimed;
    if (i >= 0 && i < (double)s->n)
        return x[(size_t)i];
    const double ratio = x[s->n - 1] / x[s->n - 2];
    return i < 0 ? x[0] / ratio : x[s->n - 1] * ratio;
}

/* By a half: the geometric mean of two. */
double pe_op_shifted(const pe_sequence *s, size_t i)
{
    return s->a == 0.5 ? sqrt(s->claimed[i] * item_at(s, (double)i + 1))
                       : item_at(s, (double)i + s->a);
}

double pe_op_neighbours(const pe_sequence *s, size_t i)
{
    return item_at(s, (double)(i ^ 1));
}

double pe_op_halves(const pe_sequence *s, size_t i)
{
    return s->claimed[(i + s->n / 2) % s->n];
}

double pe_op_evens_first(const pe_sequence *s, size_t i)
{
    const size_t half = s->n / 2;
    return s->n % 2 == 0 ? s->claimed[i % half * 2 + i / half] : nan("");
}

double pe_op_halves_in_turn(const pe_sequence *s, size_t i)
{
    return s->n % 2 == 0 ? s->claimed[i / 2 + i % 2 * (s->n / 2)] : nan("");
}

double pe_op_evens_twice(const pe_sequence *s, size_t i)
{
    return s->claimed[i - i % 2];
}

double pe_op_each_twice(const pe_sequence *s, size_t i)
{
    return s->claimed[i / 2];
}

double pe_op_every_other(const pe_sequence *s, size_t i)
{
    return s->claimed[2 * i % s->n];
}

double pe_op_first_half_twice(const pe_sequence *s, size_t i)
{
    return s->claimed[i % ((s->n + 1) / 2)];
}

double pe_op_one_item(const pe_sequence *s, size_t i)
{
    (void)i;
    return s->claimed[(size_t)s->a];
}

double pe_op_zero_between(const pe_sequence *s, size_t i)
{
    return (double)i >= s->a && (double)i <= s->b ? 0 : s->claimed[i];
}

double pe_op_progression(const pe_sequence *s, size_t i)
{
    return pow(s->a, -(double)i / (double)s->n);
}

bool pe_operand_scaled(pe_sequence *s)
{
    return pe_sequence_is_scaled(s);
}
