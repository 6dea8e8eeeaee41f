/* SPDX-License-Identifier: MIT */
/* scale_causes.c - plain numbers that are the claimed ones times a number, and one more added. */
#include "verify/scale_causes.h"

#include <math.h>
#include <string.h>

#include "base/turns.h"
#include "verify/lookup.h"

#define ELEMENT_WORK 1 /* units */

/* By chance one number explains two or three elements of 16 bits. */
#define LEAST_ELEMENTS 4

/* element = a claimed + b */
typedef struct line {
    double a, b;
} line;

/* One cause: the line that it makes, given the one that was read. False: it makes none such. */
typedef struct row {
    pe_fault fault; /* {a} and {b} are those that `make` leaves in said */
    bool (*make)(const pe_numbers *plain, const struct row *of, line *at, line *said);
    /* FITTED: nothing but numbers. BESIDE: of slopes slope_rules.h tells it, beside the same ones. */
    enum { NAMED, FITTED, BESIDE } kind;
} row;

/* ---- what rows make ---- */

/* Are they added to scores? */
static bool are_biases(const pe_numbers *plain)
{
    const pe_resource *resource = plain->view->claim->resource;
    return strcmp(resource->encoding, "alibi") == 0 || pe_lookup_is(resource);
}

static bool has_slopes(const pe_numbers *plain)
{
    const char *name = plain->view->claim->resource->name;
    return strcmp(name, "alibi/bias") == 0 || strcmp(name, "alibi/slopes") == 0;
}

/* a is the row's number, and nothing is added. */
static bool make_times(const pe_numbers *plain, const row *of, line *at, line *said)
{
    (void)said;
    if (of->fault.text != NULL && strcmp(of->fault.text, plain->view->claim->resource->name) != 0)
        return false;
    *at = (line){of->fault.value, 0};
    return true;
}

/* Widths of heads: multiples of 8 from 32 on. */
static bool is_head_dim(double x)
{
    return x >= 32 && x <= 512 && fmod(x, 8) == 0;
}

static bool make_inverse_root(const pe_numbers *plain, const row *of, line *at, line *said)
{
    (void)of;
    said->a = round(1 / (at->a * at->a));
    *at = (line){1 / sqrt(said->a), 0};
    return are_biases(plain) && is_head_dim(said->a);
}

static bool make_root(const pe_numbers *plain, const row *of, line *at, line *said)
{
    (void)of;
    const pe_value *heads = pe_values_find(&plain->claim->values, "heads");
    said->a = round(at->a * at->a);
    *at = (line){sqrt(said->a), 0};
    /* slopes of other heads are a power of two times those of the claimed ones */
    return are_biases(plain) && is_head_dim(said->a) && (heads == NULL || !heads->present);
}

/* Embeddings are multiplied by the root of their width. */
static bool make_width_root(const pe_numbers *plain, const row *of, line *at, line *said)
{
    (void)of;
    const pe_shape *shape = &plain->view->claim->uploads[0].array.shape;
    said->a = (double)shape->dim[shape->ndim - 1];
    *at = (line){sqrt(said->a), 0};
    return strcmp(plain->view->claim->resource->name, "learned") == 0;
}

/* A mean over the pairs that was not divided. */
static bool make_sum(const pe_numbers *plain, const row *of, line *at, line *said)
{
    (void)of;
    if (strcmp(plain->view->claim->resource->name, "rope/decay") != 0)
        return false;
    const int64_t pairs = pe_values_int(&plain->claim->values, "rotary_dim") / 2;
    said->a = (double)pairs;
    *at = (line){said->a, 0};
    return true;
}

static bool make_sum_of(const pe_numbers *plain, const row *of, line *at, line *said)
{
    (void)of;
    *at = (line){1, pe_numbers_tidy(at->b)};
    said->a = at->b;
    return at->b != 0 && plain->elements >= LEAST_ELEMENTS;
}

static bool make_constant(const pe_numbers *plain, const row *of, line *at, line *said)
{
    (void)of;
    *at = (line){0, plain->got[0]};
    said->a = at->b;
    return plain->elements >= LEAST_ELEMENTS && pe_numbers_change(plain, plain->claimed, 4) &&
           strcmp(plain->view->claim->resource->name, "alibi/slopes") != 0;
}

/* Indices that run the other way, and what is added then, so that they are no longer those of the
 * claim. A row with a value is for what is added. */
static bool make_mirror(const pe_numbers *plain, const row *of, line *at, line *said)
{
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (size_t e = 0; e < plain->elements && plain->roundoff == 0; e++) {
        least = fmin(least, plain->claimed[e]);
        most = fmax(most, plain->claimed[e]);
    }
    *at = (line){-1, round(at->b)};
    *said = (line){at->b, at->b - least - most};
    return plain->roundoff == 0 && at->b != 0 && (said->b != 0) == (of->fault.value != 0);
}

static double chosen(const row *of, double x)
{
    return of->fault.value != 0 ? pe_numbers_tidy(x) : x;
}

/* A row with a value takes the number that a person would have chosen. */
static bool make_multiple(const pe_numbers *plain, const row *of, line *at, line *said)
{
    const bool none = fabs(at->b) <= 0x1p-8 * fabs(at->a);
    *said = *at = (line){chosen(of, at->a), 0};
    return none && plain->roundoff != 0 && at->a != 0 && !pe_numbers_is_near(plain, at->a, 1) &&
           pe_numbers_change(plain, plain->claimed, 4);
}

static bool make_any(const pe_numbers *plain, const row *of, line *at, line *said)
{
    *said = *at = (line){chosen(of, at->a), chosen(of, at->b)};
    return at->b != 0 && plain->roundoff != 0 && at->a != 0 && at->a != 1 &&
           pe_numbers_change(plain, plain->claimed, 4);
}

/* ---- the rows ---- */

#define CHECK_SCALE "check the factors that the numbers are multiplied by"

static const row rows[] = {
    {{"elements_constant", "every element is {a}, at whatever position",
      .remedy = "apply the encoding to each position"},
     make_constant,
     NAMED},
    {{"bias_scaled_by_head_dim",
      "every bias was divided by sqrt({a}), as scores are by sqrt(head_dim)",
      .remedy = "add the bias after the scores have been scaled by 1/sqrt(head_dim)"},
     make_inverse_root,
     NAMED},
    {{"bias_scaled_by_head_dim", "every bias was multiplied by sqrt({a}), a scale of head_dim",
      .remedy = "add the bias as it is where the scores have been scaled by 1/sqrt(head_dim)"},
     make_root,
     NAMED},
    {{"embedding_scale",
      "every element was multiplied by sqrt({a}), the root of the width: the scale of embeddings",
      .remedy = "scale the embeddings of tokens, not those of positions"},
     make_width_root,
     NAMED},
    {{"log2_scale", "every element was multiplied by log2(e), for an exponential of base 2",
      .value = 1.4426950408889634, .remedy = "multiply by log2(e) in the kernel alone"},
     make_times,
     NAMED},
    {{"log2_scale", "every element was multiplied by ln(2): logarithms are of another base",
      .value = 0.6931471805599453, .remedy = "take the logarithm of the claimed base"},
     make_times,
     NAMED},
    {{"two_pi", "every element was divided by 2 pi: wavelengths were taken as 1/frequency",
      .value = 0.15915494309189535, .remedy = "take 2 pi / frequency for the wavelength"},
     make_times,
     NAMED},
    {{"log8_missing", "logarithms were not divided by log2(8): every element is 3 times too large",
      .text = "swin/coordinates", .value = 3, .remedy = "divide by log2(8)"},
     make_times,
     NAMED},
    {{"log8_missing",
      "natural logarithms were not divided by ln(8): every element is 2.079 times too large",
      .text = "swin/coordinates", .value = 2.0794415416798357, .remedy = "divide by ln(8)"},
     make_times,
     NAMED},
    {{"sum_for_mean", "the sum over the {a} pairs was taken, not their mean",
      .remedy = "divide by the number of pairs, rotary_dim/2"},
     make_sum,
     NAMED},
    {{"doubled", "every element is doubled: it was added twice, or scaled by 2", .value = 2,
      .remedy = "add it once, and do not scale it"},
     make_times,
     BESIDE},
    {{"halved", "every element is half of the claimed one: it was scaled by 1/2", .value = 0.5,
      .remedy = CHECK_SCALE},
     make_times,
     BESIDE},
    {{"index_mirrored",
      "indices run in the opposite direction, {a} minus the claimed index: query - key was taken "
      "for key - query",
      .remedy = "take the sign of the distance as the formula has it, or transpose"},
     make_mirror,
     NAMED},
    {{"index_mirrored",
      "indices run in the opposite direction, {a} minus the claimed index: query - key was taken "
      "for key - query, and an offset of {b} was added",
      .value = 1,
      .remedy = "take the sign of the distance as the formula has it; add what the formula adds"},
     make_mirror,
     NAMED},
    {{"offset", "an offset of {a} was added to every element", .remedy = "leave the offset out"},
     make_sum_of,
     NAMED},
    {{"sign_reversed", "the sign of every element is the opposite one", .value = -1,
      .remedy = "keep the sign of the formula"},
     make_times,
     NAMED},
    {{"scaled", "every element is {a} times the claimed one", .value = 1, .remedy = CHECK_SCALE},
     make_multiple,
     FITTED},
    {{"scaled", "every element is {a} times the claimed one", .remedy = CHECK_SCALE},
     make_multiple,
     FITTED},
    {{"scaled", "every element is {a} times the claimed one, plus an offset of {b}", .value = 1,
      .remedy = CHECK_SCALE},
     make_any,
     FITTED},
    {{"scaled", "every element is {a} times the claimed one, plus an offset of {b}",
      .remedy = CHECK_SCALE},
     make_any,
     FITTED},
};

/* ---- reading ---- */

/* Masks and what else is not finite are no part of the line. */
static bool counts(const pe_numbers *plain, size_t e)
{
    return isfinite(plain->claimed[e]) && isfinite(plain->got[e]);
}

/* Through the elements where the claim is least and greatest. False: it is the same everywhere. */
static bool read_line(const pe_numbers *plain, line *out)
{
    const double *x = plain->claimed, *y = plain->got;
    size_t low = SIZE_MAX, high = SIZE_MAX;
    for (size_t e = 0; e < plain->elements; e++) {
        pe_turn_spend(ELEMENT_WORK);
        if (!counts(plain, e))
            continue;
        low = low == SIZE_MAX || x[e] < x[low] ? e : low;
        high = high == SIZE_MAX || x[e] > x[high] ? e : high;
    }
    if (low == high || !(x[high] > x[low]))
        return false;
    out->a = (y[high] - y[low]) / (x[high] - x[low]);
    out->b = fabs(x[high]) < fabs(x[low]) ? y[high] - out->a * x[high] : y[low] - out->a * x[low];
    return isfinite(out->a) && isfinite(out->b);
}

static bool follows(const pe_numbers *plain, const line *at)
{
    pe_numbers_spend(plain, plain->elements);
    for (size_t e = 0; e < plain->elements; e++) {
        pe_turn_spend(ELEMENT_WORK);
        const double x = at->a * plain->claimed[e], most = fabs(x) + fabs(at->b);
        if (plain->got[e] == plain->claimed[e] && !isfinite(plain->got[e]))
            continue;
        if (!counts(plain, e) || !(fabs(plain->got[e] - x - at->b) <=
                                   (4 * plain->roundoff + 0x1p-16) * most + plain->step))
            return false;
    }
    return true;
}

static double at_line(const void *context, size_t element, double claimed, double *error)
{
    (void)error;
    const line *at = context;
    (void)element;
    return isfinite(claimed) ? at->a * claimed + at->b : claimed;
}

pe_status pe_scale_causes_find(const pe_numbers *plain, pe_problem *why)
{
    line read;
    pe_status status = PE_OK;
    bool named = false;
    if (plain->lookup != NULL || !read_line(plain, &read))
        return PE_OK;
    for (size_t r = 0; r < PE_LEN(rows) && status == PE_OK && pe_numbers_goes_on(plain); r++) {
        line at = read, said = {0, 0};
        if ((rows[r].kind == FITTED && named) || !rows[r].make(plain, &rows[r], &at, &said) ||
            !follows(plain, &at))
            continue;
        named = true;
        if (rows[r].kind == BESIDE && has_slopes(plain))
            continue;
        const pe_numbers_cause cause = {&rows[r].fault, said.a, said.b, rows[r].kind == FITTED};
        status = pe_numbers_try(plain, &cause, 1, &(pe_numbers_law){at_line, &at, fabs(at.a)}, why);
    }
    return status;
}
