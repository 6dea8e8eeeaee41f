/* SPDX-License-Identifier: MIT */
/* position_patches.c - how positions go wrong. */
#include <math.h>
#include <stdlib.h>

#include "verify/mistakes/patches.h"

#define NEAR 0.03 /* of a position: how well it is measured */

/* ---- operands ---- */

/* Is the measured position of item i that of item k? Is it its own? */
static bool is_as(const pe_sequence *s, size_t i, size_t k)
{
    return pe_sequence_is_near(s, i, s->measured[k]);
}

static bool is_claimed(const pe_sequence *s, size_t i)
{
    return pe_sequence_is_near(s, i, s->claimed[i]);
}

static bool is_whole(double x)
{
    return isfinite(x) && fabs(x - round(x)) <= NEAR + 1e-6 * fabs(x);
}

static double measured_at(const pe_sequence *s, size_t i)
{
    return s->measured[i];
}

static double shift_at(const pe_sequence *s, size_t i)
{
    return s->measured[i] - s->claimed[i];
}

static double sum_at(const pe_sequence *s, size_t i)
{
    return s->measured[i] + s->claimed[i];
}

static double slope_at(const pe_sequence *s, size_t i)
{
    const size_t half = s->n / 2, k = i + half;
    return k < s->n && half > 0
               ? (s->measured[k] - s->measured[i]) / (s->claimed[k] - s->claimed[i])
               : nan("");
}

static bool shift(pe_sequence *s)
{
    const double by = pe_sequence_median(s, shift_at), quarter = round(4 * by) / 4;
    s->a = quarter != 0 && fabs(by - quarter) < 2e-3 ? quarter : pe_sequence_tidy(by);
    return isfinite(s->a) && fabs(s->a) > NEAR;
}

static bool one_more(pe_sequence *s)
{
    return shift(s) && s->a == 1;
}

static bool one_less(pe_sequence *s)
{
    return shift(s) && s->a == -1;
}

/* One row is a shift. */
static bool sum(pe_sequence *s)
{
    s->a = pe_sequence_tidy(pe_sequence_median(s, sum_at));
    return s->n > 1 && isfinite(s->a) && fabs(s->a) > NEAR;
}

/* A reversal within the table would have the sum of its ends. */
static bool inverse_shift(pe_sequence *s)
{
    if (!sum(s))
        return false;
    s->b = -s->a;
    return fabs(s->a - s->claimed[0] - s->claimed[s->n - 1]) > NEAR;
}

static bool line(pe_sequence *s)
{
    size_t i = 0;
    s->a = pe_sequence_tidy(pe_sequence_median(s, slope_at));
    if (!isfinite(s->a) || fabs(s->a) < 1e-4 || fabs(s->a - 1) < 1e-3)
        return false;
    while (i + 1 < s->n && !isfinite(s->measured[i]))
        i++;
    s->b = s->measured[i] - s->a * s->claimed[i];
    s->b = fabs(s->b - round(s->b)) < 2 * NEAR ? round(s->b) : s->b;
    return isfinite(s->b);
}

static bool multiple(pe_sequence *s)
{
    return line(s) && s->b == 0;
}

static bool doubled(pe_sequence *s)
{
    return multiple(s) && s->a == 2;
}

static bool constant(pe_sequence *s)
{
    s->a = pe_sequence_median(s, measured_at);
    return s->n > 1 && isfinite(s->a);
}

/* The first item that is less than the one before; n: none is. */
static size_t first_drop(const pe_sequence *s)
{
    size_t i = 1;
    while (i < s->n && !(s->measured[i] < s->measured[i - 1] - NEAR))
        i++;
    return i;
}

static bool restart(pe_sequence *s)
{
    const size_t i = first_drop(s);
    if (i >= s->n)
        return false;
    s->a = s->claimed[i] - s->claimed[0];
    s->b = s->measured[i] + 0.0; /* not -0 */
    return s->a > 0 && is_whole(s->b);
}

static bool modulo(pe_sequence *s)
{
    const size_t i = first_drop(s);
    if (i >= s->n)
        return false;
    s->a = (s->claimed[i] - s->measured[i]) - (s->claimed[i - 1] - s->measured[i - 1]);
    return s->a > 1 && is_whole(s->a);
}

/* Positions are kept in an integer of a bits, which may be negative (b > 0) and wraps. */
static bool overflow(pe_sequence *s)
{
    size_t i = 1;
    while (i < s->n && !(isfinite(s->measured[i]) && s->measured[i] < s->claimed[i] - 100))
        i++;
    if (i >= s->n)
        return false;
    s->a = round(log2(s->claimed[i] - s->measured[i]));
    s->b = s->measured[i] < 0 ? 1 : 0;
    return exp2(s->a) == s->claimed[i] - s->measured[i] && (s->a == 8 || s->a == 16 || s->a == 32);
}

static double wrapped(const pe_sequence *s, size_t i)
{
    const double wide = exp2(s->a), half = s->b > 0 ? wide / 2 : 0, x = s->claimed[i];
    return x - wide * floor((x + half) / wide);
}

/* The next item from i on that is not as claimed. */
static size_t next_other(const pe_sequence *s, size_t i)
{
    while (i < s->n && is_claimed(s, i))
        i++;
    return i;
}

static bool exchanged(pe_sequence *s)
{
    const size_t i = next_other(s, 0), k = next_other(s, i + 1);
    if (s->n < 4 || k >= s->n || next_other(s, k + 1) < s->n)
        return false;
    s->a = s->claimed[i];
    s->b = s->claimed[k];
    return s->a != s->b && pe_sequence_is_near(s, i, s->b) && pe_sequence_is_near(s, k, s->a);
}

static bool one_elsewhere(pe_sequence *s)
{
    const size_t i = next_other(s, 0);
    if (s->n < 6 || i >= s->n || next_other(s, i + 1) < s->n)
        return false;
    s->a = s->claimed[i];
    s->b = round(s->measured[i]);
    return is_whole(s->measured[i]);
}

/* The claimed ones are consecutive. */
static bool summed(pe_sequence *s)
{
    for (size_t i = 1; i < s->n; i++)
        if (s->claimed[i] != s->claimed[i - 1] + 1)
            return false;
    s->a = s->first * (s->first - 1) / 2;
    return s->n > 3;
}

static bool has_fractions(pe_sequence *s)
{
    size_t i = 0;
    while (i < s->n && s->claimed[i] == floor(s->claimed[i]))
        i++;
    return i < s->n;
}

static bool step(pe_sequence *s)
{
    const size_t i = next_other(s, 0);
    if (s->n < 4 || i == 0 || i >= s->n)
        return false;
    s->a = s->claimed[i];
    s->b = s->measured[i] - s->claimed[i];
    return is_whole(s->b);
}

/* From position a on they are those from b on, of the first rows again. */
static bool anew(pe_sequence *s)
{
    if (!step(s))
        return false;
    s->b += s->a;
    return fabs(s->b - s->claimed[0]) <= NEAR;
}

static double begun_anew(const pe_sequence *s, size_t i)
{
    const double x = s->claimed[i];
    return x < s->a ? x : x - s->a + s->b;
}

/* Chunks that begin elsewhere are no overlap. */
static bool steps(pe_sequence *s)
{
    if (!step(s))
        return false;
    s->a -= s->claimed[0];
    return s->a > 1 && fabs(s->b) <= 2;
}

static bool last(pe_sequence *s)
{
    s->a = s->n > 1 ? s->measured[s->n - 1] : nan("");
    return isfinite(s->a) && is_as(s, s->n - 2, s->n - 1);
}

static bool least(pe_sequence *s)
{
    s->a = s->n > 2 ? s->measured[0] : nan("");
    return s->a > s->claimed[0] + NEAR && is_as(s, 1, 0) && is_as(s, 2, 0);
}

/* How many items from i on are as item i. */
static size_t equal_from(const pe_sequence *s, size_t i)
{
    size_t k = i + 1;
    while (k < s->n && is_as(s, k, i))
        k++;
    return k - i;
}

static bool multiples(pe_sequence *s)
{
    const size_t k = equal_from(s, 0);
    s->a = k < s->n ? s->measured[k] - s->measured[0] : 0;
    return k > 1 && s->a > 1 && is_whole(s->a);
}

static bool has_remainder(const pe_sequence *s)
{
    size_t i = 0;
    while (i < s->n && is_whole(s->claimed[i] / s->a))
        i++;
    return i < s->n;
}

/* The simplest number by which all are whole parts of the claimed ones. */
static bool divided(pe_sequence *s)
{
    double low = 1, high = HUGE_VAL;
    for (size_t i = 0; i < s->n; i++) {
        const double whole = round(s->measured[i]);
        if (!is_whole(s->measured[i]) || whole < 0 || s->claimed[i] < 0)
            return false;
        low = fmax(low, s->claimed[i] / (whole + 1));
        high = whole > 0 ? fmin(high, s->claimed[i] / whole) : high;
    }
    for (int parts = 1; parts <= 12 && high < HUGE_VAL; parts++) {
        s->a = floor(high * parts + 1e-9) / parts;
        if (s->a > low && s->a > 1)
            return has_remainder(s);
    }
    return false;
}

static bool groups(pe_sequence *s)
{
    size_t i = 1;
    while (i < s->n && !is_as(s, i, i - 1))
        i++;
    if (i == s->n)
        return false;
    s->a = s->claimed[i - 1];
    s->b = (double)equal_from(s, i - 1);
    return (double)i - 1 + s->b < (double)s->n;
}

/* The last of the equal ones may be the first that counts. */
static bool padding(pe_sequence *s)
{
    const size_t k = equal_from(s, 0);
    s->a = s->measured[0];
    const bool counts = k < s->n && pe_sequence_is_near(s, k, s->a + 1) && is_claimed(s, 0);
    s->b = (double)(k - counts);
    return k > 1 && k < s->n && isfinite(s->a);
}

static bool repeat(pe_sequence *s)
{
    const size_t k = equal_from(s, 0);
    s->a = (double)k;
    return k > 1 && k < s->n;
}

/* ---- the rows ---- */

#define ROW(...) PE_PATCH(PE_AT_POSITION | PE_AT_DISTANCE, __VA_ARGS__)

#define ORDER_REMEDY "send rows in the order of the claimed positions"

static const pe_patch rows[] = {
    {.stages = PE_AT_POSITION | PE_AT_DISTANCE, .op = pe_op_same},
    ROW(position_plus_one, .op = pe_op_add, .operand = one_more),
    ROW(position_minus_one, .op = pe_op_add, .operand = one_less),
    ROW(bfloat16_positions, .op = pe_op_of_type, .a = PE_GRAIN_BFLOAT16),
    ROW(bfloat16_positions,
        .fault.rule = "positions were cut to bfloat16, not rounded; or, if all are multiples of "
                      "one number, a "
                      "division cut their fraction off (floor)",
        .op = pe_op_cut),
    ROW(float16_positions, .op = pe_op_of_type, .a = PE_GRAIN_FLOAT16),
    ROW(not_rotated, .op = pe_op_constant, .vectors_only = true),
    ROW(rotated_twice, .op = pe_op_line, .operand = doubled, .vectors_only = true),
    ROW(positions_truncated, .op = pe_op_truncated, .operand = has_fractions),
    ROW(positions_rounded, .op = pe_op_rounded, .operand = has_fractions),
    ROW(positions_zero, .op = pe_op_constant),
    ROW(inverse, .op = pe_op_negative),
    ROW(position_overflow, .op = wrapped, .operand = overflow),
    ROW(inverse_shifted, .op = pe_op_mirror, .operand = inverse_shift),
    ROW(positions_reversed, .op = pe_op_mirror, .operand = sum),
    ROW(positions_exchanged, .op = pe_op_exchanged, .operand = exchanged),
    ROW(position_elsewhere, .op = pe_op_one_elsewhere, .operand = one_elsewhere),
    ROW(positions_summed, .op = pe_op_summed, .operand = summed),
    ROW(positions_constant, .op = pe_op_constant, .operand = constant),
    ROW(positions_clamped, .op = pe_op_at_most, .operand = last),
    ROW(positions_clamped,
        .fault.rule = "positions were clamped at {a} from below: no row is before it",
        .fault.remedy = "do not clip positions, or claim those of padding", .op = pe_op_at_least,
        .operand = least),
    ROW(positions_restart, .op = begun_anew, .operand = anew),
    ROW(positions_restart, .fault.rule = "positions begin anew each {a} rows, at {b}",
        .op = pe_op_restart, .operand = restart),
    ROW(positions_modulo, .op = pe_op_modulo, .operand = modulo),
    ROW(position_padding, .op = pe_op_padding, .operand = padding),
    ROW(positions_repeated, .op = pe_op_repeat, .operand = repeat),
    ROW(positions_multiples, .op = pe_op_multiple, .operand = multiples),
    ROW(positions_floored, .op = pe_op_divided, .operand = divided),
    ROW(positions_grouped, .op = pe_op_groups, .operand = groups),
    ROW(position_step, .op = pe_op_step, .operand = step),
    ROW(position_steps, .op = pe_op_steps, .operand = steps),
    ROW(position_offset, .op = pe_op_add, .operand = shift),
    ROW(position_scaled, .op = pe_op_line, .operand = multiple, .fitted = true, .multiplies = true),
    ROW(position_line, .op = pe_op_line, .operand = line, .fitted = true, .is_line = true),
};

const pe_patches pe_position_patches = {rows, PE_LEN(rows)};

/* ---- lists ---- */

const pe_patch pe_positions_other = {
    .fault = {.name = PE_NAME(positions_other),
              .rule = "rows are at other positions than claimed: see measured.positions",
              .remedy = ORDER_REMEDY},
    .stages = PE_AT_POSITION,
    .fitted = true};

const pe_patch pe_positions_permuted = {
    .fault = {.name = PE_NAME(positions_permuted),
              .rule = "rows are in another order than claimed: see measured.positions",
              .remedy = ORDER_REMEDY},
    .stages = PE_AT_POSITION};

const pe_patch pe_positions_run_on = {
    .fault = {.name = PE_NAME(positions_run_on),
              .rule = "positions run on as if all rows were one sequence: they do not restart with "
                      "segments",
              .remedy = "restart the positions of each segment (packed sequences, batches)"},
    .stages = PE_AT_POSITION};

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_permuted(const pe_sequence *s)
{
    double *sorted = calloc(2 * s->n + 1, sizeof *sorted), *claimed = sorted + s->n;
    bool same = sorted != NULL;
    for (size_t i = 0; i < s->n && same; i++) {
        sorted[i] = s->measured[i];
        claimed[i] = s->claimed[i];
        same = isfinite(sorted[i]);
    }
    if (same) {
        qsort(sorted, s->n, sizeof *sorted, compare_numbers);
        qsort(claimed, s->n, sizeof *claimed, compare_numbers);
    }
    for (size_t i = 0; i < s->n && same; i++)
        same = fabs(sorted[i] - claimed[i]) <= NEAR + 1e-6 * fabs(claimed[i]);
    free(sorted);
    return same;
}

static bool runs_on(const pe_sequence *s)
{
    size_t i = 0;
    while (i < s->n && pe_sequence_is_near(s, i, s->measured[0] + (double)i))
        i++;
    return s->n > 1 && i == s->n;
}

const pe_patch *pe_patches_list_of(const pe_sequence *positions)
{
    return runs_on(positions)       ? &pe_positions_run_on
           : is_permuted(positions) ? &pe_positions_permuted
                                    : &pe_positions_other;
}
