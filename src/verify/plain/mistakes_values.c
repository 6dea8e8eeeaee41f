/* SPDX-License-Identifier: MIT */
/* mistakes_values.c - elements that are functions of the claimed ones, the same for all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/plain/plain_slips.h"

/* ---- the stage: elements themselves ---- */

/* element = a claimed + b, and sums of the row that was looked at last. */
typedef struct values {
    double a, b, error;
    size_t row;
    double mean, deviation, length, most;
} values;

static bool counts(const pe_numbers *of, size_t e)
{
    return isfinite(of->claimed[e]) && isfinite(of->got[e]);
}

/* Through the elements where the claim is least and greatest. */
static void read_line(const pe_numbers *of, values *out)
{
    const double *x = of->claimed, *y = of->got;
    size_t low = SIZE_MAX, high = SIZE_MAX;
    out->a = out->b = nan("");
    pe_numbers_spend(of, of->elements);
    for (size_t e = 0; e < of->elements; e++)
        if (counts(of, e)) {
            low = low == SIZE_MAX || x[e] < x[low] ? e : low;
            high = high == SIZE_MAX || x[e] > x[high] ? e : high;
        }
    if (low == high || !(x[high] > x[low]))
        return;
    const size_t small = fabs(x[high]) < fabs(x[low]) ? high : low;
    out->a = (y[high] - y[low]) / (x[high] - x[low]);
    out->b = y[small] - out->a * x[small];
}

static pe_status measure(pe_slip *p, pe_problem *why)
{
    values *state = calloc(1, sizeof *state);
    if (state == NULL)
        return pe_fail_memory(why);
    p->state = state;
    p->n = p->of->elements;
    read_line(p->of, state);
    return PE_OK;
}

static void release(pe_slip *p)
{
    free(p->state);
}

static void begin(pe_slip *p)
{
    values *state = p->state;
    state->error = 0;
    state->row = SIZE_MAX;
}

static double at(const pe_slip *p, size_t e, double claimed, double *error)
{
    const values *state = p->state;
    (void)claimed;
    const double x = p->by->op(p, e - p->first);
    *error = state->error;
    return x;
}

const pe_slip_stage pe_slip_values = {
    .measure = measure, .release = release, .begin = begin, .at = at};

/* ---- lines ---- */

/* By chance one number explains two or three elements of 16 bits. */
static bool is_told(const pe_slip *p)
{
    return p->of->lookup == NULL && p->of->elements >= 4 &&
           pe_numbers_change(p->of, p->of->claimed, 4);
}

static bool any(pe_slip *p)
{
    return p->of->lookup == NULL;
}

static bool solve_constant(pe_slip *p)
{
    p->a = p->of->got[0];
    return is_told(p) && !pe_slip_is_of(pe_numbers_resource(p->of), "alibi/slopes");
}

/* Widths of heads: multiples of 8 from 32 on. */
static bool is_head_dim(double x)
{
    return x >= 32 && x <= 512 && fmod(x, 8) == 0;
}

static bool solve_over_root(pe_slip *p)
{
    const values *state = p->state;
    p->a = round(1 / (state->a * state->a));
    return is_head_dim(p->a);
}

static bool solve_root(pe_slip *p)
{
    const values *state = p->state;
    p->a = p->gain = round(state->a * state->a);
    return is_head_dim(p->a);
}

static bool solve_width_root(pe_slip *p)
{
    p->a = p->gain = (double)p->columns;
    return true;
}

static double over_root(const pe_slip *p, size_t i)
{
    return p->claimed[i] / sqrt(p->a);
}

static double times_root(const pe_slip *p, size_t i)
{
    return p->claimed[i] * sqrt(p->a);
}

static bool solve_pairs(pe_slip *p)
{
    p->a = p->gain = pe_slip_number(p, "rotary_dim") / 2;
    return p->a > 1;
}

static bool solve_offset(pe_slip *p)
{
    const values *state = p->state;
    p->a = pe_numbers_tidy(state->b);
    return p->of->lookup == NULL && p->a != 0 && p->of->elements >= 4;
}

/* Indices that run the other way; of the claim's own range nothing is added, unless `value` is 1. */
static bool solve_mirror(pe_slip *p)
{
    const values *state = p->state;
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (size_t e = 0; e < p->of->elements && p->of->roundoff == 0; e++) {
        least = fmin(least, p->of->claimed[e]);
        most = fmax(most, p->of->claimed[e]);
    }
    const bool added = p->a != 0;
    p->a = round(state->b);
    p->b = p->a - least - most;
    return any(p) && p->of->roundoff == 0 && p->a != 0 && (p->b != 0) == added;
}

static double mirrored(const pe_slip *p, size_t i)
{
    return p->a - p->claimed[i];
}

/* value: 1 for a number that a person would have chosen. */
static bool solve_times(pe_slip *p)
{
    const values *state = p->state;
    const bool none = fabs(state->b) <= 0x1p-8 * fabs(state->a);
    p->a = p->a != 0 ? pe_numbers_tidy(state->a) : state->a;
    p->gain = fabs(p->a);
    return is_told(p) && none && p->of->roundoff != 0 && p->a != 0 &&
           !pe_numbers_is_near(p->of, p->a, 1);
}

static bool solve_line(pe_slip *p)
{
    const values *state = p->state;
    const bool tidy = p->a != 0;
    p->a = tidy ? pe_numbers_tidy(state->a) : state->a;
    p->b = tidy ? pe_numbers_tidy(state->b) : state->b;
    p->gain = fabs(p->a);
    return is_told(p) && p->of->roundoff != 0 && p->a != 0 && p->a != 1 && p->b != 0;
}

static double line(const pe_slip *p, size_t i)
{
    return isfinite(p->claimed[i]) ? p->a * p->claimed[i] + p->b : p->claimed[i];
}

/* ---- whole rows ---- */

static void add_up(const pe_slip *p, size_t first, size_t n, values *out)
{
    double sum = 0, squares = 0;
    out->most = 0;
    for (size_t i = first; i < first + n; i++) {
        sum += p->claimed[i];
        squares += p->claimed[i] * p->claimed[i];
        out->most = fmax(out->most, fabs(p->claimed[i]));
    }
    out->mean = sum / (double)n;
    out->length = sqrt(squares);
    out->deviation = 0;
    for (size_t i = first; i < first + n; i++)
        out->deviation += (p->claimed[i] - out->mean) * (p->claimed[i] - out->mean);
    out->deviation = sqrt(out->deviation / (double)n);
    pe_numbers_spend(p->of, n);
}

/* Of the row of an element, or of all rows. */
static values *sums_of(const pe_slip *p, size_t i, bool all)
{
    values *state = p->state;
    const size_t row = all ? 0 : i / p->columns;
    if (row != state->row)
        add_up(p, row * p->columns, all ? p->n : p->columns, state);
    state->row = row;
    return state;
}

static bool has_rows(pe_slip *p)
{
    return any(p) && p->columns >= 4 && p->of->view->n_tensors == 1 && p->of->roundoff != 0;
}

/* value: the epsilon beside the variance. Rows of nearly one number tell nothing. */
static double normalized(const pe_slip *p, size_t i)
{
    values *of = sums_of(p, i, false);
    const double deviation = sqrt(of->deviation * of->deviation + p->by->fault.value);
    of->error = 4e-7 * of->most / deviation;
    return of->deviation > 1e-3 * of->most ? (p->claimed[i] - of->mean) / deviation : nan("");
}

static double of_length_one(const pe_slip *p, size_t i)
{
    values *of = sums_of(p, i, false);
    of->error = 1e-6;
    return p->claimed[i] / of->length;
}

/* Halves of a step are rounded to either side. and_value: 1 of all rows. */
static double quantized(const pe_slip *p, size_t i)
{
    values *of = sums_of(p, i, p->by->fault.and_value != 0);
    const double step = of->most / p->by->fault.value, steps = p->claimed[i] / step;
    const bool half = fabs(fabs(steps - trunc(steps)) - 0.5) < 1e-4;
    of->error = half ? step : 1e-6 * fabs(p->claimed[i]);
    return step * nearbyint(steps);
}

/* ---- the rows ---- */

#define BIASES "alibi/ t5/ swin/ shaw/"
#define MIRROR                                                                                     \
    "indices run in the opposite direction, {a} minus the claimed index: query - key was taken "   \
    "for key - query"
#define TIMES(NAME, OF, ...)                                                                       \
    PE_SLIP(NAME, &pe_slip_values, OF, NULL, any, pe_slip_times, .fault.value = __VA_ARGS__)

static const pe_plain_mistake rows[] = {
    PE_SLIP(elements_constant, &pe_slip_values, .solve = solve_constant, .op = pe_slip_constant),
    PE_SLIP(bias_scaled_by_head_dim, &pe_slip_values, BIASES, .solve = solve_over_root,
            .op = over_root),
    PE_SLIP(bias_scaled_by_head_dim, &pe_slip_values, BIASES, .solve = solve_root, .op = times_root,
            .fault.rule = "every bias was multiplied by sqrt({a}), a scale of head_dim"),
    PE_SLIP(embedding_scale, &pe_slip_values, "learned", .solve = solve_width_root,
            .op = times_root),
    TIMES(log2_scale, NULL, 1.4426950408889634),
    TIMES(log2_scale, NULL, 0.6931471805599453,
          .fault.rule = "every element was multiplied by ln(2): logarithms are of another base",
          .fault.remedy = "take the logarithm of the claimed base"),
    TIMES(two_pi, NULL, 0.15915494309189535),
    TIMES(log8_missing, "swin/coordinates", 3),
    TIMES(
        log8_missing, "swin/coordinates", 2.0794415416798357,
        .fault.rule =
            "natural logarithms were not divided by ln(8): every element is 2.079 times too large",
        .fault.remedy = "divide by ln(8)"),
    PE_SLIP(sum_for_mean, &pe_slip_values, "rope/decay", .solve = solve_pairs, .op = pe_slip_times),
    TIMES(doubled, NULL, 2),
    TIMES(halved, NULL, 0.5),
    TIMES(sign_reversed, NULL, -1),
    PE_SLIP(sign_lost, &pe_slip_values, .solve = any, .op = pe_slip_absolute),
    PE_SLIP(index_mirrored, &pe_slip_values, .solve = solve_mirror, .op = mirrored),
    PE_SLIP(index_mirrored, &pe_slip_values, .solve = solve_mirror, .op = mirrored,
            .fault.rule = MIRROR ", and an offset of {b} was added",
            .fault.remedy =
                "take the sign of the distance as the formula has it; add what the formula adds",
            .fault.value = 1),
    PE_SLIP(offset, &pe_slip_values, .solve = solve_offset, .op = pe_slip_plus,
            .fault.rule = "an offset of {a} was added to every element",
            .fault.remedy = "leave the offset out"),
    PE_SLIP(rows_normalized, &pe_slip_values, .solve = has_rows, .op = normalized),
    PE_SLIP(
        rows_normalized, &pe_slip_values, .solve = has_rows, .op = normalized,
        .fault.rule =
            "each row was normalized to mean 0 and variance 1 (LayerNorm, with an epsilon of 1e-5)",
        .fault.value = 1e-5),
    PE_SLIP(rows_normalized, &pe_slip_values, .solve = has_rows, .op = of_length_one,
            .fault.rule = "each row was normalized to length 1 (L2)"),
    PE_SLIP(quantized, &pe_slip_values, .solve = has_rows, .op = quantized, .fault.value = 127,
            .fault.and_value = 1),
    PE_SLIP(quantized, &pe_slip_values, .solve = has_rows, .op = quantized,
            .fault.rule =
                "elements were quantized to int8: they are whole multiples of max/127, row by row",
            .fault.value = 127),
    PE_SLIP(scaled, &pe_slip_values, .solve = solve_times, .op = pe_slip_times, .fault.value = 1,
            .fault.fitted = true),
    PE_SLIP(scaled, &pe_slip_values, .solve = solve_times, .op = pe_slip_times,
            .fault.fitted = true),
    PE_SLIP(scaled, &pe_slip_values, .solve = solve_line, .op = line,
            .fault.rule = "every element is {a} times the claimed one, plus an offset of {b}",
            .fault.value = 1, .fault.fitted = true),
    PE_SLIP(scaled, &pe_slip_values, .solve = solve_line, .op = line,
            .fault.rule = "every element is {a} times the claimed one, plus an offset of {b}",
            .fault.fitted = true),
};
const pe_plain_mistakes pe_mistakes_of_values = {rows, PE_LEN(rows)};
