/* SPDX-License-Identifier: MIT */
/* position_rules.c - how positions go wrong: what is read off them, and what follows from it. */
#include "verify/position_rules.h"

#include <math.h>
#include <stdlib.h>

#include "verify/median.h"

#define PE_NOWHERE nan("")

/* ---- what several rules read ---- */

bool pe_position_is_near(double x, double y)
{
    return isfinite(y) && fabs(x - y) <= PE_POSITION_NEAR + 1e-6 * fabs(y);
}

/* The median of what `of` says of each row that has a position. */
static double median(const pe_reading *r, double (*of)(const pe_reading *r, size_t t))
{
    double *list = malloc((r->tokens + 1) * sizeof *list);
    size_t n = 0;
    for (size_t t = 0; t < r->tokens && list != NULL; t++) {
        const double x = of(r, t);
        if (isfinite(x))
            list[n++] = x;
    }
    const double middle = pe_median(list, n);
    free(list);
    return middle;
}

static double shift_at(const pe_reading *r, size_t t)
{
    return r->position[t] - r->claimed[t];
}

static double sum_at(const pe_reading *r, size_t t)
{
    return r->position[t] + r->claimed[t];
}

static double slope_at(const pe_reading *r, size_t t)
{
    const size_t half = r->tokens / 2;
    if (t + half >= r->tokens || half == 0)
        return PE_NOWHERE;
    return (r->position[t + half] - r->position[t]) / (r->claimed[t + half] - r->claimed[t]);
}

static double position_at(const pe_reading *r, size_t t)
{
    return r->position[t];
}

/* A number as a person would have chosen it. */
static double tidy(double x)
{
    const double whole = round(x), part = x != 0 ? 1 / round(1 / x) : 0;
    if (fabs(x - whole) < 2e-3 * fabs(x))
        return whole;
    return isfinite(part) && fabs(x - part) < 2e-3 * fabs(x) ? part : x;
}

bool pe_position_is_tidy(double x)
{
    for (int n = 1; n <= 12; n++) {
        const double near = n == 1 ? PE_POSITION_NEAR : n <= 4 ? 1e-2 : 1e-9;
        if (fabs(n * x - round(n * x)) <= near)
            return true;
    }
    return false;
}

/* ---- the rules ---- */

static double predict_same(const pe_cause *cause, double c)
{
    (void)cause;
    return c;
}

static double predict_none(const pe_cause *cause, double c)
{
    (void)cause;
    (void)c;
    return 0;
}

static bool read_shift(const pe_reading *r, pe_cause *out)
{
    const double shift = median(r, shift_at), quarter = round(4 * shift) / 4;
    out->a = quarter != 0 && fabs(shift - quarter) < 2e-3 ? quarter : tidy(shift);
    return isfinite(out->a) && fabs(out->a) > PE_POSITION_NEAR;
}

static bool read_one_more(const pe_reading *r, pe_cause *out)
{
    return read_shift(r, out) && out->a == 1;
}

static bool read_one_less(const pe_reading *r, pe_cause *out)
{
    return read_shift(r, out) && out->a == -1;
}

static double predict_shift(const pe_cause *cause, double c)
{
    return c + cause->a;
}

static double predict_negative(const pe_cause *cause, double c)
{
    (void)cause;
    return -c;
}

static bool read_mirror(const pe_reading *r, pe_cause *out)
{
    out->a = tidy(median(r, sum_at));
    return r->tokens > 1 && isfinite(out->a) &&
           fabs(out->a) > PE_POSITION_NEAR; /* one row is a shift */
}

static double predict_mirror(const pe_cause *cause, double c)
{
    return cause->a - c;
}

/* Negative positions near -c: (-1) (c + b). A reversal within the table would have a = c + c'. */
static bool read_inverse_shift(const pe_reading *r, pe_cause *out)
{
    if (!read_mirror(r, out))
        return false;
    out->b = -out->a;
    return fabs(out->a - r->claimed[0] - r->claimed[r->tokens - 1]) > PE_POSITION_NEAR;
}

/* a (position) + b */
static bool read_line(const pe_reading *r, pe_cause *out)
{
    out->a = tidy(median(r, slope_at));
    if (!isfinite(out->a) || fabs(out->a) < 1e-4 || fabs(out->a - 1) < 1e-3)
        return false;
    size_t t = 0;
    while (t < r->tokens && !isfinite(r->position[t]))
        t++;
    out->b = t < r->tokens ? r->position[t] - out->a * r->claimed[t] : PE_NOWHERE;
    out->b = fabs(out->b - round(out->b)) < 2 * PE_POSITION_NEAR ? round(out->b) : out->b;
    return isfinite(out->b);
}

static bool read_multiple(const pe_reading *r, pe_cause *out)
{
    return read_line(r, out) && out->b == 0;
}

static bool read_doubled(const pe_reading *r, pe_cause *out)
{
    return read_multiple(r, out) && out->a == 2;
}

static double predict_line(const pe_cause *cause, double c)
{
    return cause->a * c + cause->b;
}

static bool read_constant(const pe_reading *r, pe_cause *out)
{
    out->a = median(r, position_at);
    return r->tokens > 1 && isfinite(out->a);
}

static double predict_constant(const pe_cause *cause, double c)
{
    (void)c;
    return cause->a;
}

/* Each a-th row begins anew at b. */
static bool read_restart(const pe_reading *r, pe_cause *out)
{
    for (size_t t = 1; t < r->tokens; t++)
        if (r->position[t] < r->position[t - 1] - PE_POSITION_NEAR) {
            out->a = r->claimed[t] - r->claimed[0];
            out->b = r->position[t] + 0.0; /* not -0 */
            return out->a > 0 && pe_position_is_near(out->b, round(out->b));
        }
    return false;
}

static double predict_restart(const pe_cause *cause, double c)
{
    return c - cause->first < cause->a ? c : cause->b + fmod(c - cause->first, cause->a);
}

/* The next row from t on that is not at its claimed position. */
static size_t next_other(const pe_reading *r, size_t t)
{
    while (t < r->tokens && pe_position_is_near(r->position[t], r->claimed[t]))
        t++;
    return t;
}

/* Two rows, those of positions a and b, hold each other's. */
static bool read_exchanged(const pe_reading *r, pe_cause *out)
{
    const size_t t = next_other(r, 0), u = next_other(r, t + 1);
    if (r->tokens < 4 || u >= r->tokens || next_other(r, u + 1) < r->tokens)
        return false;
    out->a = r->claimed[t];
    out->b = r->claimed[u];
    return out->a != out->b && pe_position_is_near(r->position[t], out->b) &&
           pe_position_is_near(r->position[u], out->a);
}

static double predict_exchanged(const pe_cause *cause, double c)
{
    return c == cause->a ? cause->b : c == cause->b ? cause->a : c;
}

/* One row, that of position a, holds b. */
static bool read_one_elsewhere(const pe_reading *r, pe_cause *out)
{
    const size_t t = next_other(r, 0);
    if (r->tokens < 6 || r->pairs < 8 || t >= r->tokens || next_other(r, t + 1) < r->tokens)
        return false;
    out->a = r->claimed[t];
    out->b = round(r->position[t]);
    return pe_position_is_near(r->position[t], out->b);
}

static double predict_one_elsewhere(const pe_cause *cause, double c)
{
    return c == cause->a ? cause->b : c;
}

/* Each row is at the sum of the claimed positions up to its own, which are consecutive. */
static bool read_sums(const pe_reading *r, pe_cause *out)
{
    for (size_t t = 1; t < r->tokens; t++)
        if (r->claimed[t] != r->claimed[t - 1] + 1)
            return false;
    out->a = out->first * (out->first - 1) / 2;
    return r->tokens > 3;
}

static double predict_sums(const pe_cause *cause, double c)
{
    return c * (c + 1) / 2 - cause->a;
}

/* Positions are kept in an integer of a bits, which wraps. */
static bool read_overflow(const pe_reading *r, pe_cause *out)
{
    for (size_t t = 1; t < r->tokens; t++)
        if (isfinite(r->position[t]) && r->position[t] < r->claimed[t] - 100) {
            const double wide = r->claimed[t] - r->position[t];
            out->a = round(log2(wide));
            out->b = r->position[t] < 0 ? 1 : 0;
            return exp2(out->a) == wide && (out->a == 8 || out->a == 16 || out->a == 32);
        }
    return false;
}

static double predict_overflow(const pe_cause *cause, double c)
{
    const double wide = exp2(cause->a), half = cause->b > 0 ? wide / 2 : 0;
    return c + half - wide * floor((c + half) / wide) - half;
}

/* Some positions are fractions, which are lost. */
static bool read_fractions(const pe_reading *r, pe_cause *out)
{
    size_t t = 0;
    (void)out;
    while (t < r->tokens && r->claimed[t] == floor(r->claimed[t]))
        t++;
    return t < r->tokens;
}

static double predict_floor(const pe_cause *cause, double c)
{
    (void)cause;
    return trunc(c);
}

static double predict_round(const pe_cause *cause, double c)
{
    (void)cause;
    return nearbyint(c);
}

/* From position a on there are b more. */
static bool read_step(const pe_reading *r, pe_cause *out)
{
    size_t t = 1;
    if (r->tokens < 4 || !pe_position_is_near(r->position[0], r->claimed[0]))
        return false;
    while (t < r->tokens && pe_position_is_near(r->position[t], r->claimed[t]))
        t++;
    if (t == r->tokens || !isfinite(r->position[t]))
        return false;
    out->a = r->claimed[t];
    out->b = r->position[t] - r->claimed[t];
    return pe_position_is_near(out->b, round(out->b));
}

static double predict_step(const pe_cause *cause, double c)
{
    return c < cause->a ? c : c + cause->b;
}

/* From position a on they are those from b on: those of the first rows again. */
static bool read_anew(const pe_reading *r, pe_cause *out)
{
    if (!read_step(r, out))
        return false;
    out->b += out->a;
    return pe_position_is_near(out->b, r->claimed[0]);
}

static double predict_anew(const pe_cause *cause, double c)
{
    return c < cause->a ? c : c - cause->a + cause->b;
}

/* The same each a positions anew. */
static bool read_steps(const pe_reading *r, pe_cause *out)
{
    if (!read_step(r, out))
        return false;
    out->a -= r->claimed[0];
    return out->a > 1 && fabs(out->b) <= 2; /* chunks that begin elsewhere are no overlap */
}

static double predict_steps(const pe_cause *cause, double c)
{
    return c + cause->b * floor((c - cause->first) / cause->a);
}

static bool read_clamp(const pe_reading *r, pe_cause *out)
{
    out->a = r->tokens > 1 ? r->position[r->tokens - 1] : PE_NOWHERE;
    return isfinite(out->a) && pe_position_is_near(r->position[r->tokens - 2], out->a);
}

static double predict_clamp(const pe_cause *cause, double c)
{
    return fmin(c, cause->a);
}

static bool read_least(const pe_reading *r, pe_cause *out)
{
    out->a = r->tokens > 2 ? r->position[0] : PE_NOWHERE;
    return isfinite(out->a) && out->a > r->claimed[0] + PE_POSITION_NEAR &&
           pe_position_is_near(r->position[1], out->a) &&
           pe_position_is_near(r->position[2], out->a);
}

static double predict_least(const pe_cause *cause, double c)
{
    return fmax(c, cause->a);
}

/* Positions are taken modulo a. */
static bool read_modulo(const pe_reading *r, pe_cause *out)
{
    for (size_t t = 1; t < r->tokens; t++)
        if (r->position[t] < r->position[t - 1] - PE_POSITION_NEAR) {
            out->a = (r->claimed[t] - r->position[t]) - (r->claimed[t - 1] - r->position[t - 1]);
            return out->a > 1 && pe_position_is_near(out->a, round(out->a));
        }
    return false;
}

static double predict_modulo(const pe_cause *cause, double c)
{
    return c - cause->a * floor(c / cause->a);
}

/* Whole multiples of a. */
static bool read_multiples(const pe_reading *r, pe_cause *out)
{
    size_t t = 1;
    while (t < r->tokens && pe_position_is_near(r->position[t], r->position[0]))
        t++;
    out->a = t < r->tokens ? r->position[t] - r->position[0] : 0;
    return t > 1 && out->a > 1 && pe_position_is_near(out->a, round(out->a));
}

static double predict_multiples(const pe_cause *cause, double c)
{
    return cause->a * floor(c / cause->a);
}

static bool has_fraction(const pe_reading *r, double parts)
{
    size_t t = 0;
    while (t < r->tokens &&
           pe_position_is_near(r->claimed[t] / parts, round(r->claimed[t] / parts)))
        t++;
    return t < r->tokens;
}

/* The simplest number that all positions are whole parts of the claimed ones by. */
static bool read_floored(const pe_reading *r, pe_cause *out)
{
    double low = 1, high = HUGE_VAL;
    for (size_t t = 0; t < r->tokens; t++) {
        const double whole = round(r->position[t]);
        if (!pe_position_is_near(r->position[t], whole) || whole < 0 || r->claimed[t] < 0)
            return false;
        low = fmax(low, r->claimed[t] / (whole + 1));
        high = whole > 0 ? fmin(high, r->claimed[t] / whole) : high;
    }
    for (int parts = 1; parts <= 12 && high < HUGE_VAL; parts++) {
        out->a = floor(high * parts + 1e-9) / parts;
        if (out->a > low && out->a > 1)
            return has_fraction(r, out->a);
    }
    return false;
}

static double predict_floored(const pe_cause *cause, double c)
{
    return floor(c / cause->a + 1e-9);
}

/* From position a on each stands in b rows. */
static bool read_groups(const pe_reading *r, pe_cause *out)
{
    size_t t = 1, end;
    while (t < r->tokens && !pe_position_is_near(r->position[t], r->position[t - 1]))
        t++;
    if (t == r->tokens)
        return false;
    for (end = t; end < r->tokens && pe_position_is_near(r->position[end], r->position[t]);)
        end++;
    out->a = r->claimed[t - 1];
    out->b = (double)(end - t + 1);
    return end < r->tokens;
}

static double predict_groups(const pe_cause *cause, double c)
{
    return c < cause->a ? c : cause->a + floor((c - cause->a) / cause->b);
}

/* b rows at position a come first; counting begins behind them. */
static bool read_padding(const pe_reading *r, pe_cause *out)
{
    size_t t = 1;
    while (t < r->tokens && pe_position_is_near(r->position[t], r->position[0]))
        t++;
    out->a = r->position[0];
    /* the last of the equal ones may be the first that counts */
    out->b = (double)t - (t < r->tokens && pe_position_is_near(r->position[t], out->a + 1) &&
                          pe_position_is_near(out->a, r->claimed[0]));
    return t > 1 && t < r->tokens && isfinite(out->a);
}

static double predict_padding(const pe_cause *cause, double c)
{
    return c - cause->first < cause->b ? cause->a : c - cause->b;
}

static bool read_repeat(const pe_reading *r, pe_cause *out)
{
    size_t t = 1;
    while (t < r->tokens && pe_position_is_near(r->position[t], r->position[0]))
        t++;
    out->a = (double)t;
    return t > 1 && t < r->tokens;
}

static double predict_repeat(const pe_cause *cause, double c)
{
    return cause->first + floor((c - cause->first) / cause->a);
}

static double rounded(pe_dtype to, double x)
{
    unsigned char element[8];
    pe_dtype_store(to, x, element);
    return pe_dtype_load(to, element);
}

static double predict_bfloat16(const pe_cause *cause, double c)
{
    (void)cause;
    return rounded(PE_BFLOAT16, c);
}

static double predict_float16(const pe_cause *cause, double c)
{
    (void)cause;
    return rounded(PE_FLOAT16, c);
}

/* Its low bits are dropped. */
static double predict_cut(const pe_cause *cause, double c)
{
    int exponent;
    (void)cause;
    (void)frexp(c, &exponent);
    const double unit = ldexp(1, exponent - 8);
    return unit * trunc(c / unit);
}

/* Named rules come before those that give numbers. */
#define RULE(NAME, SENTENCE, REMEDY, READ, PREDICT)                                                \
    {                                                                                              \
        .fault = {.name = (NAME), .rule = (SENTENCE)}, .remedy = (REMEDY), .read = (READ),         \
        .predict = (PREDICT)                                                                       \
    }
#define FITTED(NAME, SENTENCE, REMEDY, READ, PREDICT, KIND)                                        \
    {                                                                                              \
        .fault = {.name = (NAME), .rule = (SENTENCE)}, .remedy = (REMEDY), .read = (READ),         \
        .predict = (PREDICT), .kind = (KIND), .fitted = true                                       \
    }
#define VECTORS(NAME, SENTENCE, REMEDY, READ, PREDICT)                                             \
    {                                                                                              \
        .fault = {.name = (NAME), .rule = (SENTENCE)}, .remedy = (REMEDY), .read = (READ),         \
        .predict = (PREDICT), .vectors_only = true                                                 \
    }

const pe_position_rule pe_position_rules[] = {
    RULE("", NULL, NULL, NULL, predict_same),
    RULE("position_plus_one", "positions were one too large",
         "count positions from 0: take arange(n), not arange(1, n + 1)", read_one_more,
         predict_shift),
    RULE("position_minus_one", "positions were one too small",
         "do not take 1 off the positions; the first token's is the first of the claim",
         read_one_less, predict_shift),
    RULE("bfloat16_positions", "positions were rounded to bfloat16",
         "keep positions in float32 or integers until the angle has been made", NULL,
         predict_bfloat16),
    RULE("bfloat16_positions",
         "positions were cut to bfloat16, not rounded; or, if all are multiples of one number, a "
         "division cut their fraction off (floor)",
         "keep positions in float32 or integers until the angle has been made", NULL, predict_cut),
    RULE("float16_positions", "positions were rounded to float16",
         "keep positions in float32 or integers until the angle has been made", NULL,
         predict_float16),
    VECTORS("not_rotated", "vectors were not rotated", "apply the rotation", NULL, predict_none),
    VECTORS("rotated_twice", "vectors were rotated twice", "apply the rotation once", read_doubled,
            predict_line),
    RULE("positions_truncated", "fractions of positions were cut off: positions were made integers",
         "keep positions in float32 until the angle has been made", read_fractions, predict_floor),
    RULE("positions_rounded", "positions were rounded to whole numbers: fractions were lost",
         "keep positions in float32 until the angle has been made", read_fractions, predict_round),
    RULE("positions_zero", "every row is that of position 0: positions were left out",
         "pass the positions", NULL, predict_none),
    RULE("inverse", "the rotation was the inverse one: angles were negative",
         "take the sine's sign as in x cos(a) + rotate(x) sin(a)", NULL, predict_negative),
    RULE("position_overflow", "positions were kept in an integer of {a} bits, which overflowed",
         "keep positions in int64", read_overflow, predict_overflow),
    RULE(
        "inverse_shifted",
        "the rotation was the inverse one: angles were negative; positions were larger by {b}",
        "take the sine's sign as in x cos(a) + rotate(x) sin(a), and check the offset of positions",
        read_inverse_shift, predict_mirror),
    RULE("positions_reversed", "rows are in reverse order: row p holds position {a} - p",
         "do not reverse the positions", read_mirror, predict_mirror),
    RULE("positions_exchanged", "the rows of positions {a} and {b} are exchanged",
         "send rows in the order of the claimed positions", read_exchanged, predict_exchanged),
    RULE("position_elsewhere", "the row of position {a} is at position {b}",
         "look at the position of that row, and at what wrote it last", read_one_elsewhere,
         predict_one_elsewhere),
    RULE("positions_summed",
         "positions were added up: each row is at the sum of the positions up to its own (cumsum)",
         "take cumsum of the mask, not of the positions", read_sums, predict_sums),
    RULE("positions_constant", "every row is that of position {a}",
         "pass each row its own position", read_constant, predict_constant),
    RULE("positions_clamped", "positions were clamped at {a}",
         "make the table as long as the positions reach", read_clamp, predict_clamp),
    RULE("positions_clamped", "positions were clamped at {a} from below: no row is before it",
         "do not clip positions, or claim those of padding", read_least, predict_least),
    RULE("positions_restart", "from position {a} on, positions begin anew, at {b}",
         "do not count positions anew in each chunk or sequence; or send the positions that are "
         "meant",
         read_anew, predict_anew),
    RULE("positions_restart", "positions begin anew each {a} rows, at {b}",
         "do not count positions anew in each chunk or sequence; or send the positions that are "
         "meant",
         read_restart, predict_restart),
    RULE("positions_modulo", "positions wrap: they are taken modulo {a}, and restart from 0",
         "index a ring buffer or a sliding window by position modulo its length, but rotate by the "
         "position itself",
         read_modulo, predict_modulo),
    RULE("position_padding",
         "rows of padding count: position {a} stands in the first {b} rows, and "
         "counting begins behind them",
         "take position ids from the claim, not from the attention mask", read_padding,
         predict_padding),
    RULE("positions_repeated", "each position stands in {a} rows",
         "do not repeat positions; check the division of the index", read_repeat, predict_repeat),
    RULE("positions_multiples",
         "positions are whole multiples of {a}: a division cut their fraction off (floor)",
         "divide positions in floating-point numbers", read_multiples, predict_multiples),
    RULE("positions_floored",
         "positions were divided by {a} and rounded down to whole numbers (floor)",
         "do not divide positions, or keep their fractions", read_floored, predict_floored),
    RULE("positions_grouped",
         "from position {a} on each position is repeated in {b} rows: positions are halved, or "
         "grouped by a division",
         "do not divide positions (self-extend), or claim that", read_groups, predict_groups),
    RULE("position_step",
         "from position {a} on, rows are off by {b}: rows are missing there, or stand there twice",
         "look at the rows there: chunks that overlap or leave some out, or a row inserted twice",
         read_step, predict_step),
    RULE("position_steps",
         "after each {a} rows, positions are off by {b} more: chunks overlap, or leave rows out",
         "begin each chunk where the one before ended", read_steps, predict_steps),
    RULE("position_offset", "positions were larger by {a}",
         "check the offset of the cache: past_key_values length, padding_idx + 1, start_pos",
         read_shift, predict_shift),
    FITTED(
        "position_scaled", "positions were multiplied by {a}",
        "check linear scaling (missing, applied twice, or of another factor) and the step of the "
        "positions; a negative number is the other sign of the sine",
        read_multiple, predict_line, PE_POSITIONS_MULTIPLIED),
    FITTED("position_line", "positions were multiplied by {a}, and {b} was added",
           "check linear scaling (missing, applied twice, or of another factor), the step and the "
           "offset of the positions; a negative number is the other sign of the sine",
           read_line, predict_line, PE_POSITIONS_ON_A_LINE),
};

const size_t pe_n_position_rules = PE_LEN(pe_position_rules);
