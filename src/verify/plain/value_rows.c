/* SPDX-License-Identifier: MIT */
/* value_rows.c - elements that are functions of the claimed ones, the same for all. */
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

static pe_status measure(pe_sequence *p, pe_problem *why)
{
    values *state = calloc(1, sizeof *state);
    if (state == NULL)
        return pe_fail_memory(why);
    p->state = state;
    p->n = p->of->elements;
    read_line(p->of, state);
    return PE_OK;
}

static void release(pe_sequence *p)
{
    free(p->state);
}

static void begin(pe_sequence *p)
{
    values *state = p->state;
    state->error = 0;
    state->row = SIZE_MAX;
}

static double at(const pe_sequence *p, size_t e, double claimed PE_UNUSED, double *error)
{
    const values *state = p->state;
    const double x = pe_sequence_at(p, e - p->from);
    *error = state->error;
    return x;
}

/* By chance one number explains two or three elements of 16 bits. */
static bool is_told(const pe_sequence *p)
{
    return p->of->lookup == NULL && p->of->elements >= 4 &&
           pe_numbers_change(p->of, p->of->claimed, 4);
}

static double slope_of(const void *of, double i PE_UNUSED)
{
    const values *state = ((const pe_sequence *)of)->state;
    return state->a;
}

static double is_looked_up(const void *of, double i PE_UNUSED)
{
    return ((const pe_sequence *)of)->of->lookup != NULL;
}

/* The position of the row that an element is in. */
static double position_of(const void *of, double i)
{
    const pe_sequence *p = of;
    const pe_value *value = pe_values_find(p->values, "positions");
    const size_t row = (size_t)i / p->columns;
    return value != NULL && value->present && row < value->positions.count
               ? pe_positions_at(&value->positions, row)
               : nan("");
}

static const pe_term terms[] = {{.name = "slope", .at = slope_of},
                                {.name = "looked_up", .at = is_looked_up},
                                {.name = "position", .at = position_of},
                                {0}};

const pe_slip_stage pe_slip_values = {
    .terms = terms, .measure = measure, .release = release, .begin = begin, .at = at};

/* ---- lines ---- */

static bool solve_constant(pe_sequence *p)
{
    p->a = p->of->got[0];
    return is_told(p) && !pe_slip_is_of(pe_numbers_resource(p->of), "alibi/slopes");
}

static bool solve_offset(pe_sequence *p)
{
    const values *state = p->state;
    p->a = pe_numbers_tidy(state->b);
    return p->of->lookup == NULL && p->a != 0 && p->of->elements >= 4;
}

/* Indices that run the other way; of the claim's own range nothing is added, unless `value` is 1. */
static bool solve_mirror(pe_sequence *p)
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
    return p->of->lookup == NULL && p->of->roundoff == 0 && p->a != 0 && (p->b != 0) == added;
}

/* value: 1 for a number that a person would have chosen. */
static bool solve_times(pe_sequence *p)
{
    const values *state = p->state;
    const bool none = fabs(state->b) <= 0x1p-8 * fabs(state->a);
    p->a = p->a != 0 ? pe_numbers_tidy(state->a) : state->a;
    p->gain = fabs(p->a);
    return is_told(p) && none && p->of->roundoff != 0 && p->a != 0 &&
           !pe_numbers_is_near(p->of, p->a, 1);
}

static bool solve_line(pe_sequence *p)
{
    const values *state = p->state;
    const bool tidy = p->a != 0;
    p->a = tidy ? pe_numbers_tidy(state->a) : state->a;
    p->b = tidy ? pe_numbers_tidy(state->b) : state->b;
    p->gain = fabs(p->a);
    return is_told(p) && p->of->roundoff != 0 && p->a != 0 && p->a != 1 && p->b != 0;
}

/* ---- whole rows ---- */

static void add_up(const pe_sequence *p, size_t first, size_t n, values *out)
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
static values *sums_of(const pe_sequence *p, size_t i, bool all)
{
    values *state = p->state;
    const size_t row = all ? 0 : i / p->columns;
    if (row != state->row)
        add_up(p, row * p->columns, all ? p->n : p->columns, state);
    state->row = row;
    return state;
}

static bool has_rows(pe_sequence *p)
{
    return p->of->lookup == NULL && p->columns >= 4 && p->of->view->n_tensors == 1 &&
           p->of->roundoff != 0;
}

/* value: the epsilon beside the variance. Rows of nearly one number tell nothing. */
static double normalized(const pe_sequence *p, size_t i)
{
    values *of = sums_of(p, i, false);
    const double deviation = sqrt(of->deviation * of->deviation + p->by->fault.value);
    of->error = 4e-7 * of->most / deviation;
    return of->deviation > 1e-3 * of->most ? (p->claimed[i] - of->mean) / deviation : nan("");
}

static double of_length_one(const pe_sequence *p, size_t i)
{
    values *of = sums_of(p, i, false);
    of->error = 1e-6;
    return p->claimed[i] / of->length;
}

/* Halves of a step are rounded to either side. and_value: 1 of all rows. */
static double quantized(const pe_sequence *p, size_t i)
{
    values *of = sums_of(p, i, p->by->fault.and_value != 0);
    const double step = of->most / p->by->fault.value, steps = p->claimed[i] / step;
    const bool half = fabs(fabs(steps - trunc(steps)) - 0.5) < 1e-4;
    of->error = half ? step : 1e-6 * fabs(p->claimed[i]);
    return step * nearbyint(steps);
}

/* The logit that was to be moved. */
static double unskewed(const pe_sequence *p, size_t i)
{
    const pe_array *from = &pe_values_find(p->values, "logits")->tensor;
    const size_t bytes = pe_dtype_bytes(from->dtype);
    return i < from->elements ? pe_dtype_load(from->dtype, (const char *)from->data + i * bytes)
                              : nan("");
}

/* ---- the rows ---- */

#define BIASES "alibi/ t5/ swin/ shaw/"
#define MIRROR                                                                                     \
    "indices run in the opposite direction, {a} minus the claimed index: query - key was taken "   \
    "for key - query"
#define ANY           .where = "looked_up == 0"
#define ELEMENTS      &pe_slip_values
#define TIMES         .op = "finite(x) ? a*x : x", .multiplies = true
#define BY(NAME, ...) PE_SLIP(NAME, ELEMENTS, ANY, TIMES, .fault.value = __VA_ARGS__)
#define HEAD_DIM      .where = "a >= 32 && a <= 512 && a % 8 == 0" /* widths of heads */
#define ROWS          ELEMENTS, .solve = has_rows
#define LINE          ELEMENTS, .solve = solve_line, .op = "finite(x) ? a*x + b : x"

static const pe_slip rows[] = {
    PE_SLIP(elements_constant, ELEMENTS, .solve = solve_constant, .op = "a"),
    PE_SLIP(skew_missing, ELEMENTS, "relative/skew", .make = unskewed),
    PE_SLIP(bias_scaled_by_head_dim, &pe_slip_values, BIASES, .a = "round(1/slope^2)", HEAD_DIM,
            .op = "x/sqrt(a)"),
    PE_SLIP(bias_scaled_by_head_dim, &pe_slip_values, BIASES, .a = "round(slope^2)", HEAD_DIM,
            .op = "x*sqrt(a)", .multiplies = true,
            .fault.rule = "every bias was multiplied by sqrt({a}), a scale of head_dim"),
    PE_SLIP(embedding_scale, &pe_slip_values, "learned", .a = "columns", .op = "x*sqrt(a)",
            .multiplies = true),
    BY(log2_scale, 1.4426950408889634),
    BY(log2_scale, 0.6931471805599453,
       .fault.rule = "every element was multiplied by ln(2): logarithms are of another base",
       .fault.remedy = "take the logarithm of the claimed base"),
    BY(two_pi, 0.15915494309189535),
    BY(log8_missing, 3, .of = "swin/coordinates"),
    BY(log8_missing, 2.0794415416798357, .of = "swin/coordinates",
       .fault.rule =
           "natural logarithms were not divided by ln(8): every element is 2.079 times too large",
       .fault.remedy = "divide by ln(8)"),
    PE_SLIP(sum_for_mean, &pe_slip_values, "rope/decay", .a = "rotary_dim/2", .where = "a > 1",
            TIMES),
    BY(doubled, 2),
    BY(halved, 0.5),
    BY(sign_reversed, -1),
    PE_SLIP(sign_lost, ELEMENTS, ANY, .op = "abs(x)"),
    PE_SLIP(index_mirrored, ELEMENTS, .solve = solve_mirror, .op = "a - x"),
    PE_SLIP(index_mirrored, ELEMENTS, .solve = solve_mirror, .op = "a - x",
            .fault.rule = MIRROR ", and an offset of {b} was added",
            .fault.remedy =
                "take the sign of the distance as the formula has it; add what the formula adds",
            .fault.value = 1),
    PE_SLIP(offset, ELEMENTS, .solve = solve_offset, .op = "x + a",
            .fault.rule = "an offset of {a} was added to every element",
            .fault.remedy = "leave the offset out"),
    PE_SLIP(rows_normalized, ROWS, .make = normalized),
    PE_SLIP(
        rows_normalized, ROWS, .make = normalized,
        .fault.rule =
            "each row was normalized to mean 0 and variance 1 (LayerNorm, with an epsilon of 1e-5)",
        .fault.value = 1e-5),
    PE_SLIP(rows_normalized, ROWS, .make = of_length_one,
            .fault.rule = "each row was normalized to length 1 (L2)"),
    PE_SLIP(quantized, ROWS, .make = quantized, .fault.value = 127, .fault.and_value = 1),
    PE_SLIP(quantized, ROWS, .make = quantized,
            .fault.rule =
                "elements were quantized to int8: they are whole multiples of max/127, row by row",
            .fault.value = 127),
    PE_SLIP(scaled, ELEMENTS, .solve = solve_times, TIMES, .fault.value = 1, .fault.fitted = true),
    PE_SLIP(scaled, ELEMENTS, .solve = solve_times, TIMES, .fault.fitted = true),
    PE_SLIP(scaled, LINE,
            .fault.rule = "every element is {a} times the claimed one, plus an offset of {b}",
            .fault.value = 1, .fault.fitted = true),
    PE_SLIP(scaled, LINE,
            .fault.rule = "every element is {a} times the claimed one, plus an offset of {b}",
            .fault.fitted = true),
};
const pe_slips pe_mistakes_of_values = {rows, PE_LEN(rows)};
