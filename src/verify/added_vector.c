/* SPDX-License-Identifier: MIT */
/* added_vector.c - tables to each row of which the same vector was added. */
#include "verify/added_vector.h"

#include <math.h>
#include <stdlib.h>

#include "verify/findings.h"

#define LEAST_ROWS 8

#define LEAVE_OUT "send the table before anything is added to it: a bias, a token type embedding"
#define VECTOR                                                                                     \
    "the same vector was added to each row, such as a token type embedding: numbers from {a} to "  \
    "{b}"

static const pe_fault one_number = {.name = "offset",
                                    .rule = "the number {a} was added to every element",
                                    .remedy = LEAVE_OUT},
                      one_vector = {.name = "vector_added", .rule = VECTOR, .remedy = LEAVE_OUT};

/* Of the elements of a column: how far they are from what is claimed. */
typedef struct column {
    double sum, squares;
    double slack; /* of their squares */
} column;

static void add(column *to, double off, double slack)
{
    to->sum += off;
    to->squares += off * off;
    to->slack += slack * slack;
}

/* The vector, and the least and the greatest of its numbers. */
typedef struct vector {
    double *number; /* [n]; owned */
    size_t n, added;
    double low, high;
    double slack; /* of an element, in the column where it is most */
} vector;

/* Is one number added in each column, though not 0 in all? */
static bool read_vector(const column *columns, size_t n, size_t rows, vector *out)
{
    *out = (vector){calloc(n, sizeof *out->number), n, 0, HUGE_VAL, -HUGE_VAL, 0};
    for (size_t c = 0; c < n && out->number != NULL; c++) {
        const double mean = columns[c].sum / (double)rows, sum = mean * columns[c].sum;
        if (!(columns[c].squares - sum <= 4 * columns[c].slack)) /* not of NAN */
            return false;
        if (sum > 4 * columns[c].slack) {
            out->number[c] = mean;
            out->added++;
        }
        out->slack = fmax(out->slack, sqrt(columns[c].slack / (double)rows));
        out->low = fmin(out->low, out->number[c]);
        out->high = fmax(out->high, out->number[c]);
    }
    return out->number != NULL && out->added > 0;
}

/* Five digits: more are not measured. */
static double shown(double x)
{
    const double digit = pow(10, floor(log10(fabs(x))) - 4);
    return x != 0 ? digit * round(x / digit) : 0;
}

static bool is_one(const vector *of)
{
    return of->added == of->n && of->high - of->low <= 2 * of->slack;
}

/* ---- plain numbers ---- */

static double at_vector(const void *context, size_t element, double claimed, double *error)
{
    const vector *of = context;
    const double x = of->number[element % of->n];
    *error = of->slack + 4e-7 * (fabs(x) + fabs(claimed));
    return claimed + x;
}

pe_status pe_added_vector_find(const pe_numbers *plain, pe_problem *why)
{
    const pe_shape *shape = &plain->view->claim->uploads[0].array.shape;
    const size_t n = shape->ndim > 1 ? shape->dim[shape->ndim - 1] : 0;
    if (plain->roundoff == 0 || n < 4 || plain->elements < LEAST_ROWS * n ||
        !pe_numbers_goes_on(plain) || pe_attempts_found(plain->search))
        return PE_OK;
    vector of = {0};
    column *columns = calloc(n, sizeof *columns);
    pe_status status = columns == NULL ? pe_fail_memory(why) : PE_OK;
    for (size_t e = 0; e < plain->elements && columns != NULL; e++) {
        const double x = plain->claimed[e], off = plain->got[e] - x;
        add(&columns[e % n], off,
            (plain->roundoff + 0x1p-22) * (fabs(x) + fabs(off)) + plain->step);
    }
    pe_numbers_spend(plain, plain->elements);
    /* one number is told by scale_causes.h */
    if (columns != NULL && read_vector(columns, n, plain->elements / n, &of) && !is_one(&of)) {
        const pe_numbers_cause cause = {&one_vector, shown(of.low), shown(of.high), true};
        status = pe_numbers_try(plain, &cause, 1, &(pe_numbers_law){at_vector, &of, 1}, why);
    }
    free(of.number);
    free(columns);
    return status;
}

/* ---- pairs ---- */

/* Of pairs that turn too little in the rows any mistake is nearly a number that is added. */
static bool is_of_turning_pairs(const pe_beside *b, const vector *of)
{
    const double *first = b->angle, *last = b->angle + (b->rows - 1) * b->pairs;
    for (size_t c = 0; c < b->width; c++)
        if (of->number[c] != 0 && b->pair[c] < b->pairs &&
            fabs(last[b->pair[c]] - first[b->pair[c]]) > 1)
            return true;
    return false;
}

pe_status pe_added_vector_beside(pe_search *s, const pe_beside *b, pe_problem *why)
{
    if (b->view->rotated || b->rows < LEAST_ROWS || b->at.cos_n == 0 || b->at.sin_n == 0)
        return PE_OK;
    vector of = {0};
    column *columns = calloc(b->width, sizeof *columns);
    pe_status status = columns == NULL ? pe_fail_memory(why) : PE_OK;
    for (size_t e = 0; e < b->rows * b->width && columns != NULL; e++) {
        const double x = b->want[e], off = pe_beside_got(b, e / b->width, e % b->width) - x;
        add(&columns[e % b->width], off, b->slack[e] + pe_beside_rounding(b, fabs(x) + fabs(off)));
    }
    if (columns != NULL && read_vector(columns, b->width, b->rows, &of) &&
        is_of_turning_pairs(b, &of)) {
        const pe_fault *fault = is_one(&of) ? &one_number : &one_vector;
        const pe_told told = {.fault = fault,
                              .rule = fault->rule,
                              .a = shown(is_one(&of) ? (of.low + of.high) / 2 : of.low),
                              .b = shown(of.high),
                              .fitted = true};
        status = pe_findings_tell(s->report, b->guess, &told, why, "read off %zu rows", b->rows);
    }
    free(of.number);
    free(columns);
    return status;
}
