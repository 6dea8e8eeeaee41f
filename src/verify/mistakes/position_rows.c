/* SPDX-License-Identifier: MIT */
/* position_rows.c - how positions go wrong. */
#include <math.h>
#include <stdlib.h>

#include "verify/mistakes/sequence.h"

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

static bool shift(pe_sequence *s)
{
    const double by = pe_sequence_median(s, "y - x"), quarter = round(4 * by) / 4;
    s->a = quarter != 0 && fabs(by - quarter) < 2e-3 ? quarter : pe_sequence_tidy(by);
    return isfinite(s->a) && fabs(s->a) > NEAR;
}

/* One row is a shift. */
static bool sum(pe_sequence *s)
{
    s->a = pe_sequence_tidy(pe_sequence_median(s, "y + x"));
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
    s->a =
        pe_sequence_tidy(pe_sequence_median(s, "(y[i + floor(n/2)] - y)/(x[i + floor(n/2)] - x)"));
    if (!isfinite(s->a) || fabs(s->a) < 1e-4 || fabs(s->a - 1) < 1e-3)
        return false;
    while (i + 1 < s->n && !isfinite(s->measured[i]))
        i++;
    s->b = s->measured[i] - s->a * s->claimed[i];
    s->b = fabs(s->b - round(s->b)) < 2 * NEAR ? round(s->b) : s->b;
    return isfinite(s->b);
}

static bool constant(pe_sequence *s)
{
    s->a = pe_sequence_median(s, "y");
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

#define ORDER_REMEDY "send rows in the order of the claimed positions"

static const pe_slip rows[] = {
    {.op = "x"},
    PE_ROW(position_plus_one, .solve = shift, .where = "a == 1", .op = "x + a"),
    PE_ROW(position_minus_one, .solve = shift, .where = "a == -1", .op = "x + a"),
    PE_ROW(bfloat16_positions, .op = "bfloat16(x)"),
    PE_ROW(bfloat16_positions,
           .fault.rule = "positions were cut to bfloat16, not rounded; or, if all are multiples of "
                         "one number, a division cut their fraction off (floor)",
           .op = "cut(x)"),
    PE_ROW(float16_positions, .op = "float16(x)"),
    PE_ROW(not_rotated, .op = "0", .fault.vectors_only = true),
    PE_ROW(rotated_twice, .solve = line, .where = "a == 2 && b == 0", .op = "a*x",
           .fault.vectors_only = true),
    PE_ROW(positions_truncated, .solve = has_fractions, .op = "trunc(x)"),
    PE_ROW(positions_rounded, .solve = has_fractions, .op = "rint(x)"),
    PE_ROW(positions_zero, .op = "0"),
    PE_ROW(inverse, .op = "-x"),
    PE_ROW(position_overflow, .solve = overflow, .op = "(x + b*2^(a - 1)) % 2^a - b*2^(a - 1)"),
    PE_ROW(inverse_shifted, .solve = inverse_shift, .op = "a - x"),
    PE_ROW(positions_reversed, .solve = sum, .op = "a - x"),
    PE_ROW(positions_exchanged, .solve = exchanged, .op = "x == a ? b : x == b ? a : x"),
    PE_ROW(position_elsewhere, .solve = one_elsewhere, .op = "x == a ? b : x"),
    PE_ROW(positions_summed, .solve = summed, .op = "x*(x + 1)/2 - a"),
    PE_ROW(positions_constant, .solve = constant, .op = "a"),
    PE_ROW(positions_clamped, .solve = last, .op = "min(x, a)"),
    PE_ROW(positions_clamped,
           .fault.rule = "positions were clamped at {a} from below: no row is before it",
           .fault.remedy = "do not clip positions, or claim those of padding", .solve = least,
           .op = "max(x, a)"),
    PE_ROW(positions_restart, .solve = anew, .op = "x < a ? x : x - a + b"),
    PE_ROW(positions_restart, .fault.rule = "positions begin anew each {a} rows, at {b}",
           .solve = restart, .op = "x - first < a ? x : b + (x - first) % a"),
    PE_ROW(positions_modulo, .solve = modulo, .op = "x % a"),
    PE_ROW(position_padding, .solve = padding, .op = "x - first < b ? a : x - b"),
    PE_ROW(positions_repeated, .solve = repeat, .op = "first + floor((x - first)/a)"),
    PE_ROW(positions_multiples, .solve = multiples, .op = "a*floor(x/a)"),
    PE_ROW(positions_floored, .solve = divided, .op = "floor(x/a + 1e-9)"),
    PE_ROW(positions_grouped, .solve = groups, .op = "x < a ? x : a + floor((x - a)/b)"),
    PE_ROW(position_step, .solve = step, .op = "x < a ? x : x + b"),
    PE_ROW(position_steps, .solve = steps, .op = "x + b*floor((x - first)/a)"),
    PE_ROW(position_offset, .solve = shift, .op = "x + a"),
    PE_ROW(position_scaled, .solve = line, .where = "b == 0", .op = "a*x", .fitted = true,
           .multiplies = true),
    PE_ROW(position_line, .solve = line, .op = "a*x + b", .fitted = true, .is_line = true),
};

const pe_slips pe_mistakes_of_positions = {rows, PE_LEN(rows)};

/* ---- lists ---- */

const pe_slip pe_positions_other = {
    .fault = {.name = PE_NAME(positions_other),
              .rule = "rows are at other positions than claimed: see measured.positions",
              .remedy = ORDER_REMEDY},
    .fitted = true};

const pe_slip pe_positions_permuted = {
    .fault = {.name = PE_NAME(positions_permuted),
              .rule = "rows are in another order than claimed: see measured.positions",
              .remedy = ORDER_REMEDY}};

const pe_slip pe_positions_run_on = {
    .fault = {.name = PE_NAME(positions_run_on),
              .rule = "positions run on as if all rows were one sequence: they do not restart with "
                      "segments",
              .remedy = "restart the positions of each segment (packed sequences, batches)"}};

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

const pe_slip *pe_positions_list_of(const pe_sequence *positions)
{
    return runs_on(positions)       ? &pe_positions_run_on
           : is_permuted(positions) ? &pe_positions_permuted
                                    : &pe_positions_other;
}
