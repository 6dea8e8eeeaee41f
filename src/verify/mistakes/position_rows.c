/* SPDX-License-Identifier: MIT */
/* position_rows.c - how positions go wrong. */
#include "verify/mistakes/sequence.h"

/* ---- what rows name of the measured positions, y: NEAR is how well they are known ---- */

#define NEAR(X, Y) "abs(" X " - (" Y ")) <= 0.03 + 1e-6*abs(" Y ")"
#define WHOLE(X)   NEAR(X, "rint(" X ")")
/* The first item that is not as claimed, the last one, and how many there are. */
#define MOVED "(abs(y - x) <= 0.03 + 1e-6*abs(x) ? 0 : 1)"
#define OTHER "first(" MOVED ")"
#define FINAL "most(" MOVED " ? i : 0)"
/* The first item that is less than the one before; how many are as the first one; the first that is as
 * the one before. */
#define DROP   "first(y < y[i - 1] - 0.03)"
#define EQUAL  "first(abs(y - y[0]) <= 0.03 + 1e-6*abs(y[0]) ? 0 : 1)"
#define REPEAT "first(" NEAR("y", "y[i - 1]") ")"
#define KNOWN  "first(finite(y))"
/* The first item that is far before its claim, in an integer of few bits that wraps; how far. */
#define WRAP    "first(y < x - 100)"
#define WRAPPED "(x[" WRAP "] - y[" WRAP "])"

#define MORE          "median(y - x)"
#define SUM           .a = "neat(median(y + x))", .b = "-a"
#define STEP(FURTHER) .where = "n > 3 && a > x && " WHOLE("y[" OTHER "] - a") FURTHER
/* Over half of the rows; rounded, as it is where it may be. */
#define SLOPE "neat(median((y[i + floor(n/2)] - y)/(x[i + floor(n/2)] - x)))"
#define REST  "(y[" KNOWN "] - a*x[" KNOWN "])"
#define LINE                                                                                       \
    .a = SLOPE, .b = "abs(" REST " - round(" REST ")) < 0.06 ? round(" REST ") : " REST,           \
    .op = "a*x + b"
#define IS_LINE "finite(a + b) && abs(a) >= 1e-4 && abs(a - 1) >= 1e-3"
/* Whole parts of x by a: a is more than LEAST, at most MOST, a multiple of 1/PARTS. */
#define LEAST  "most(x/(round(y) + 1))"
#define MOST   "least(round(y) > 0 ? x/round(y) : none)"
#define A_PART "floor(" MOST "*i + 1e-9)/i"
#define PARTS  "first(i > 0 && i <= 12 && " A_PART " > max(" LEAST ", 1))"

/* ---- the rows ---- */

static const pe_slip rows[] = {
    {.op = "x"},
    PE_ROW(position_plus_one, .op = "x + 1"),
    PE_ROW(position_minus_one, .op = "x - 1"),
    PE_ROW(bfloat16_positions, .op = "bfloat16(x)"),
    PE_ROW(bfloat16_positions_cut, .op = "cut(x)"),
    PE_ROW(float16_positions, .op = "float16(x)"),
    PE_ROW(not_rotated, .op = "0", .fault.vectors_only = true),
    PE_ROW(rotated_twice, .op = "2*x", .fault.vectors_only = true),
    PE_ROW(positions_truncated, .op = "trunc(x)"),
    PE_ROW(positions_rounded, .op = "rint(x)"),
    PE_ROW(positions_zero, .op = "0"),
    PE_ROW(inverse, .op = "-x"),
    PE_ROW(position_overflow, .a = "log2(round(" WRAPPED "))", .b = "y[" WRAP "] < 0",
           .where = "a == 8 || a == 16 || a == 32", .op = "(x + b*2^(a - 1)) % 2^a - b*2^(a - 1)"),
    PE_ROW(inverse_shifted, SUM, /* a reversal within the table would have the sum of its ends */
           .where = "n > 1 && abs(a) > 0.03 && abs(a - x - x[n - 1]) > 0.03", .op = "a - x"),
    PE_ROW(positions_reversed, SUM, .where = "n > 1 && abs(a) > 0.03", .op = "a - x"),
    PE_ROW(positions_exchanged, .a = "x[" OTHER "]", .b = "x[" FINAL "]",
           .where = "n > 3 && a != b && sum(" MOVED
                    ") == 2 && " NEAR("y[" OTHER "]", "b") " && " NEAR("y[" FINAL "]", "a"),
           .op = "x == a ? b : x == b ? a : x"),
    PE_ROW(position_elsewhere, .a = "x[" OTHER "]", .b = "rint(y[" OTHER "])",
           .where = "n > 5 && sum(" MOVED ") == 1 && " WHOLE("y[" OTHER "]"),
           .op = "x == a ? b : x"),
    PE_ROW(positions_summed, .a = "first*(first - 1)/2", /* of consecutive ones */
           .where = "n > 3 && first(i > 0 && x != x[i - 1] + 1) == n", .op = "x*(x + 1)/2 - a"),
    PE_ROW(positions_constant, .a = "median(y)", .where = "n > 1", .op = "a"),
    PE_ROW(positions_clamped, .a = "y[n - 1]", .where = "n > 1 && " NEAR("y[n - 2]", "a"),
           .op = "min(x, a)"),
    PE_ROW(positions_clamped_below, .a = "y",
           .where = "n > 2 && a > x + 0.03 && " NEAR("y[1]", "a") " && " NEAR("y[2]", "a"),
           .op = "max(x, a)"),
    PE_ROW(positions_restart, .a = "x[" OTHER "]", .b = "y[" OTHER "]",
           STEP(" && abs(b - x) <= 0.03"), .op = "x < a ? x : x - a + b"),
    PE_ROW(positions_restart_each, .a = "x[" DROP "] - x", .b = "y[" DROP "] + 0", /* not -0 */
           .where = "a > 0 && " WHOLE("b"), .op = "x - first < a ? x : b + (x - first) % a"),
    PE_ROW(positions_modulo, .a = "x[" DROP "] - y[" DROP "] - (x[" DROP " - 1] - y[" DROP " - 1])",
           .where = "a > 1 && " WHOLE("a"), .op = "x % a"),
    PE_ROW(position_padding, .a = "y", /* the last of the equal ones may be the first that counts */
           .b = EQUAL " - (" NEAR("y[" EQUAL "]", "a + 1") " && " NEAR("y", "x") ")",
           .where = EQUAL " > 1 && " EQUAL " < n", .op = "x - first < b ? a : x - b"),
    PE_ROW(positions_repeated, .a = EQUAL, .where = "a > 1 && a < n",
           .op = "first + floor((x - first)/a)"),
    PE_ROW(positions_multiples, .a = "y[" EQUAL "] - y",
           .where = EQUAL " > 1 && a > 1 && " WHOLE("a"), .op = "a*floor(x/a)"),
    PE_ROW(positions_floored, .a = "floor(" MOST "*" PARTS " + 1e-9)/" PARTS,
           .where = "finite(a) && " PARTS " < n && least(x) >= 0 && least(y) > -0.5 && "
                    "first(" WHOLE("y") " ? 0 : 1) == n && first(" WHOLE("x/a") " ? 0 : 1) < n",
           .op = "floor(x/a + 1e-9)"),
    PE_ROW(positions_grouped, .a = "x[" REPEAT " - 1]",
           .b = "first(i >= " REPEAT " && y > y[" REPEAT "] + 0.03) - " REPEAT " + 1",
           .where = REPEAT " - 1 + b < n", .op = "x < a ? x : a + floor((x - a)/b)"),
    PE_ROW(position_step, .a = "x[" OTHER "]", .b = "y[" OTHER "] - a", STEP(""),
           .op = "x < a ? x : x + b"),
    PE_ROW(position_steps, .a = "x[" OTHER "] - x", .b = "y[" OTHER "] - x[" OTHER "]",
           .where =
               "n > 3 && a > 1 && abs(b) <= 2 && " WHOLE("b"), /* a chunk elsewhere is no overlap */
           .op = "x + b*floor((x - first)/a)"),
    PE_ROW(position_offset,
           .a = "abs(4*" MORE " - round(4*" MORE ")) < 8e-3 ? round(4*" MORE ")/4 : " MORE,
           .where = "abs(a) > 0.03", .op = "x + a"),
    PE_ROW(position_scaled, LINE, .where = IS_LINE " && b == 0", .fitted = true,
           .multiplies = true),
    PE_ROW(position_line, LINE, .where = IS_LINE, .fitted = true, .is_line = true),
};

const pe_slips pe_mistakes_of_positions = {rows, PE_LEN(rows)};

/* ---- lists ---- */

const pe_slip pe_positions_other = PE_ROW(positions_other, .fitted = true);
/* Whole numbers are others where their sines have another sum. */
const pe_slip pe_positions_permuted =
    PE_ROW(positions_permuted,
           .where = "sum(finite(y)) == n && abs(sum(sin(rint(y))) - sum(sin(x))) < 1e-6");
const pe_slip pe_positions_run_on =
    PE_ROW(positions_run_on, .where = "n > 1 && first(" NEAR("y", "y[0] + i") " ? 0 : 1) == n");

const pe_slip *pe_positions_list_of(const pe_sequence *positions)
{
    pe_sequence s = *positions;
    return pe_sequence_read(&s, &pe_positions_run_on)     ? &pe_positions_run_on
           : pe_sequence_read(&s, &pe_positions_permuted) ? &pe_positions_permuted
                                                          : &pe_positions_other;
}
