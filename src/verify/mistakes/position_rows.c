/* SPDX-License-Identifier: MIT */
/* position_rows.c - how positions go wrong. */
#include <math.h>
#include <stdlib.h>

#include "verify/mistakes/sequence.h"

#define NEAR 0.03 /* of a position: how well it is measured */

/* ---- what rows name of the measured positions ---- */

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

static double sum_of(const void *of, double i PE_UNUSED)
{
    return pe_sequence_tidy(pe_sequence_median(of, "y + x"));
}

/* The first item that is less than the one before; n: none is. */
static double drop_of(const void *of, double from PE_UNUSED)
{
    const pe_sequence *s = of;
    size_t i = 1;
    while (i < s->n && !(s->measured[i] < s->measured[i - 1] - NEAR))
        i++;
    return (double)i;
}

/* The first item that is not as claimed, and the last one; n: all are. How many there are. */
static double other_of(const void *of, double from PE_UNUSED)
{
    const pe_sequence *s = of;
    size_t i = 0;
    while (i < s->n && is_claimed(s, i))
        i++;
    return (double)i;
}

static double final_of(const void *of, double from PE_UNUSED)
{
    const pe_sequence *s = of;
    size_t i = s->n;
    while (i > 0 && is_claimed(s, i - 1))
        i--;
    return i > 0 ? (double)(i - 1) : (double)s->n;
}

static double others_of(const void *of, double from PE_UNUSED)
{
    const pe_sequence *s = of;
    size_t others = 0;
    for (size_t i = 0; i < s->n; i++)
        others += !is_claimed(s, i);
    return (double)others;
}

/* How many items from i on are as item i. */
static size_t equal_from(const pe_sequence *s, size_t i)
{
    size_t k = i + 1;
    while (k < s->n && is_as(s, k, i))
        k++;
    return k - i;
}

static double equal_of(const void *of, double from PE_UNUSED)
{
    return (double)equal_from(of, 0);
}

const pe_term pe_position_terms[] = {{.name = "sum", .at = sum_of},
                                     {.name = "drop", .at = drop_of},
                                     {.name = "other", .at = other_of},
                                     {.name = "final", .at = final_of},
                                     {.name = "others", .at = others_of},
                                     {.name = "equal", .at = equal_of},
                                     {0}};

/* ---- numbers that no equation says ---- */

static bool shift(pe_sequence *s)
{
    const double by = pe_sequence_median(s, "y - x"), quarter = round(4 * by) / 4;
    s->a = quarter != 0 && fabs(by - quarter) < 2e-3 ? quarter : pe_sequence_tidy(by);
    return isfinite(s->a) && fabs(s->a) > NEAR;
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

/* ---- the rows ---- */

#define WHOLE(X)   "abs(" X " - rint(" X ")) <= 0.03 + 1e-6*abs(" X ")"
#define IS(X, Y)   "abs(" X " - (" Y ")) <= 0.03 + 1e-6*abs(" Y ")"
#define SUM        .a = "sum", .b = "-a"
#define STEP(MORE) .where = "n > 3 && other > 0 && " WHOLE("y[other] - x[other]") MORE

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
    PE_ROW(inverse_shifted, SUM, /* a reversal within the table would have the sum of its ends */
           .where = "n > 1 && abs(a) > 0.03 && abs(a - x - x[n - 1]) > 0.03", .op = "a - x"),
    PE_ROW(positions_reversed, SUM, .where = "n > 1 && abs(a) > 0.03", .op = "a - x"),
    PE_ROW(positions_exchanged, .a = "x[other]", .b = "x[final]",
           .where =
               "n > 3 && others == 2 && a != b && " IS("y[other]", "b") " && " IS("y[final]", "a"),
           .op = "x == a ? b : x == b ? a : x"),
    PE_ROW(position_elsewhere, .a = "x[other]", .b = "rint(y[other])",
           .where = "n > 5 && others == 1 && " WHOLE("y[other]"), .op = "x == a ? b : x"),
    PE_ROW(positions_summed, .solve = summed, .op = "x*(x + 1)/2 - a"),
    PE_ROW(positions_constant, .solve = constant, .op = "a"),
    PE_ROW(positions_clamped, .a = "y[n - 1]", .where = "n > 1 && " IS("y[n - 2]", "a"),
           .op = "min(x, a)"),
    PE_ROW(positions_clamped,
           .fault.rule = "positions were clamped at {a} from below: no row is before it",
           .fault.remedy = "do not clip positions, or claim those of padding", .a = "y",
           .where = "n > 2 && a > x + 0.03 && " IS("y[1]", "a") " && " IS("y[2]", "a"),
           .op = "max(x, a)"),
    PE_ROW(positions_restart, .a = "x[other]", .b = "y[other]", STEP(" && abs(b - x) <= 0.03"),
           .op = "x < a ? x : x - a + b"),
    PE_ROW(positions_restart, .fault.rule = "positions begin anew each {a} rows, at {b}",
           .a = "x[drop] - x", .b = "y[drop] + 0", /* not -0 */
           .where = "drop < n && a > 0 && " WHOLE("b"),
           .op = "x - first < a ? x : b + (x - first) % a"),
    PE_ROW(positions_modulo, .a = "x[drop] - y[drop] - (x[drop - 1] - y[drop - 1])",
           .where = "drop < n && a > 1 && " WHOLE("a"), .op = "x % a"),
    PE_ROW(position_padding, .a = "y", /* the last of the equal ones may be the first that counts */
           .b = "equal - (" IS("y[equal]", "a + 1") " && " IS("y", "x") ")",
           .where = "equal > 1 && equal < n && finite(a)", .op = "x - first < b ? a : x - b"),
    PE_ROW(positions_repeated, .a = "equal", .where = "equal > 1 && equal < n",
           .op = "first + floor((x - first)/a)"),
    PE_ROW(positions_multiples, .a = "y[equal] - y", .where = "equal > 1 && a > 1 && " WHOLE("a"),
           .op = "a*floor(x/a)"),
    PE_ROW(positions_floored, .solve = divided, .op = "floor(x/a + 1e-9)"),
    PE_ROW(positions_grouped, .solve = groups, .op = "x < a ? x : a + floor((x - a)/b)"),
    PE_ROW(position_step, .a = "x[other]", .b = "y[other] - a", STEP(""),
           .op = "x < a ? x : x + b"),
    PE_ROW(position_steps, .a = "x[other] - x", .b = "y[other] - x[other]",
           STEP(" && a > 1 && abs(b) <= 2"), /* chunks that begin elsewhere are no overlap */
           .op = "x + b*floor((x - first)/a)"),
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
