/* SPDX-License-Identifier: MIT */
/* value_rows.c - elements that are functions of the claimed ones, the same for all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/plain/plain_slips.h"

/* ---- the stage: elements themselves ---- */

/* What equations name: element = slope claimed + base; and sums of the row that was looked at last. */
typedef struct values {
    double slope, base, told, whole, looked_up, slopes;
    double error;
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
    out->slope = out->base = nan("");
    pe_numbers_spend(of, of->elements);
    for (size_t e = 0; e < of->elements; e++)
        if (counts(of, e)) {
            low = low == SIZE_MAX || x[e] < x[low] ? e : low;
            high = high == SIZE_MAX || x[e] > x[high] ? e : high;
        }
    if (low == high || !(x[high] > x[low]))
        return;
    const size_t small = fabs(x[high]) < fabs(x[low]) ? high : low;
    out->slope = (y[high] - y[low]) / (x[high] - x[low]);
    out->base = y[small] - out->slope * x[small];
}

/* By chance one number explains two or three elements of 16 bits. */
static pe_status measure(pe_sequence *p, pe_problem *why PE_UNUSED)
{
    values *state = p->state;
    p->n = p->of->elements;
    read_line(p->of, state);
    state->looked_up = p->of->lookup != NULL;
    state->whole = p->of->roundoff == 0;
    state->slopes = strcmp(pe_numbers_resource(p->of), "alibi/slopes") == 0;
    state->told = p->of->lookup == NULL && p->n >= 4 && pe_numbers_change(p->of, p->of->claimed, 4);
    return PE_OK;
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

/* The logit that was to be moved. */
static double logit_of(const void *of, double i)
{
    const pe_array *from = &pe_values_find(((const pe_sequence *)of)->values, "logits")->tensor;
    return i < (double)from->elements ? pe_upload_number(from, (size_t)i) : nan("");
}

static const pe_term terms[] = {
    PE_STATE_TERM("slope base told whole looked_up slopes", values, slope),
    {.name = "position", .at = position_of},
    {.name = "logit", .at = logit_of},
    {0}};

const pe_slip_stage pe_slip_values = {
    .state = sizeof(values), .terms = terms, .measure = measure, .begin = begin, .at = at};

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
#define LINE(TIDY)                                                                                 \
    ELEMENTS, .a = TIDY "(slope)", .b = TIDY "(base)", .multiplies = true,                         \
              .where = "told && whole == 0 && a != 0 && a != 1 && b != 0",                         \
              .op = "finite(x) ? a*x + b : x", .fault.fitted = true,                               \
              .fault.rule = "every element is {a} times the claimed one, plus an offset of {b}"
#define SCALED(TIDY)                                                                               \
    ELEMENTS,                                                                                      \
        .a = TIDY "(slope)",                                                                       \
        .where =                                                                                   \
            "told && whole == 0 && a != 0 && abs(base) <= abs(slope)/256 && abs(a - 1) > 1e-5",    \
        TIMES, .fault.fitted = true
#define MIRROR_OF(WHERE)                                                                           \
    ELEMENTS, .a = "round(base)", .b = "a - least(x) - most(x)", .op = "a - x",                    \
              .where = "whole && looked_up == 0 && a != 0 && " WHERE

static const pe_slip rows[] = {
    PE_SLIP(elements_constant, ELEMENTS, .a = "y[0]", .where = "told && slopes == 0", .op = "a"),
    PE_SLIP(skew_missing, ELEMENTS, "relative/skew", .op = "logit"),
    PE_SLIP(bias_scaled_by_head_dim, &pe_slip_values, BIASES, .a = "round(1/slope^2)", HEAD_DIM,
            .op = "x/sqrt(a)"),
    PE_SLIP(bias_scaled_by_head_dim_times, &pe_slip_values, BIASES, .a = "round(slope^2)", HEAD_DIM,
            .op = "x*sqrt(a)", .multiplies = true),
    PE_SLIP(embedding_scale, &pe_slip_values, "learned", .a = "columns", .op = "x*sqrt(a)",
            .multiplies = true),
    BY(log2_scale, 1.4426950408889634),
    BY(log2_scale_ln2, 0.6931471805599453),
    BY(two_pi, 0.15915494309189535),
    BY(log8_missing, 3, .of = "swin/coordinates"),
    BY(log8_missing_natural, 2.0794415416798357, .of = "swin/coordinates"),
    PE_SLIP(sum_for_mean, &pe_slip_values, "rope/decay", .a = "rotary_dim/2", .where = "a > 1",
            TIMES),
    BY(doubled, 2),
    BY(halved, 0.5),
    BY(sign_reversed, -1),
    PE_SLIP(sign_lost, ELEMENTS, ANY, .op = "abs(x)"),
    PE_SLIP(index_mirrored, MIRROR_OF("b == 0")),
    PE_SLIP(index_mirrored, MIRROR_OF("b != 0"),
            .fault.rule = MIRROR ", and an offset of {b} was added",
            .fault.remedy =
                "take the sign of the distance as the formula has it; add what the formula adds"),
    PE_SLIP(offset_elements, ELEMENTS, .a = "tidy(base)",
            .where = "looked_up == 0 && a != 0 && n >= 4", .op = "x + a"),
    PE_SLIP(rows_normalized, ROWS, .make = normalized),
    PE_SLIP(rows_normalized_layer, ROWS, .make = normalized, .fault.value = 1e-5),
    PE_SLIP(rows_normalized_length, ROWS, .make = of_length_one),
    PE_SLIP(quantized, ROWS, .make = quantized, .fault.value = 127, .fault.and_value = 1),
    PE_SLIP(quantized_rows, ROWS, .make = quantized, .fault.value = 127),
    PE_SLIP(scaled, SCALED("tidy")),
    PE_SLIP(scaled, SCALED("")),
    PE_SLIP(scaled, LINE("tidy")),
    PE_SLIP(scaled, LINE("")),
};
const pe_slips pe_mistakes_of_values = {rows, PE_LEN(rows)};
