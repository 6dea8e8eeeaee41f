/* SPDX-License-Identifier: MIT */
/* changed_values.c - plain numbers with two mistakes: a change of a value, and what is behind
 * it. */
#include "verify/changed_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/faults.h"
#include "verify/formula_causes.h"
#include "verify/place_causes.h"
#include "verify/row_causes.h"
#include "verify/scale_causes.h"
#include "verify/value_faults.h"

/* Numbers that are made of all changes together: some tens of milliseconds. */
#define NUMBERS_MAX 98304
/* A change comes nearer where so much of the errors is left. */
#define NEARER 0.75

static double distance(const pe_numbers *plain)
{
    double sum = 0;
    for (size_t e = 0; e < plain->elements; e++)
        if (isfinite(plain->got[e]) && isfinite(plain->claimed[e]))
            sum += fabs(plain->got[e] - plain->claimed[e]);
    pe_numbers_spend(plain, plain->elements);
    return sum;
}

/* The claim's own errors are those of the first to be beaten. */
static pe_status begin(const pe_numbers *plain, pe_problem *why)
{
    pe_changed *changed = plain->search->changed;
    for (size_t k = 0; k < PE_LEN(changed->distance); k++)
        changed->distance[k] = NEARER * distance(plain);
    changed->claimed = malloc(plain->elements * sizeof(double));
    if (changed->claimed == NULL)
        return pe_fail_memory(why);
    memcpy(changed->claimed, plain->claimed, plain->elements * sizeof(double));
    return PE_OK;
}

static void keep_nearest(const pe_numbers *plain)
{
    pe_changed *changed = plain->search->changed;
    const pe_fault *last = plain->claim->faults[plain->claim->n_faults - 1];
    const double left = distance(plain);
    const size_t k = changed->distance[0] <= changed->distance[1] ? 1 : 0; /* the farther one */
    if (left < changed->distance[k] && left != changed->distance[1 - k]) {
        changed->distance[k] = left;
        changed->fault[k] = *last;
    }
}

/* ---- places that alone have the change ---- */

/* Along the first axis. */
typedef struct some {
    const pe_numbers *of;
    const double *claimed;
    size_t each; /* elements of a place */
} some;

static bool holds(const some *at, const double *numbers, size_t place)
{
    bool same = true;
    for (size_t e = place * at->each; e < (place + 1) * at->each && same; e++)
        same = pe_numbers_is_near(at->of, at->of->got[e], numbers[e]);
    return same;
}

static double at_some(const void *context, size_t element, double claimed, double *error)
{
    const some *at = context;
    (void)error;
    return holds(at, at->claimed, element / at->each) ? at->claimed[element] : claimed;
}

/* Is each place as claimed or as changed? The changed ones, where that are some. */
static bool tell_some(const some *at, size_t places, pe_buffer *out)
{
    size_t changed = 0;
    for (size_t p = 0; p < places; p++) {
        if (holds(at, at->claimed, p))
            continue;
        if (!holds(at, at->of->claimed, p))
            return false;
        pe_buffer_format(out, "%s%zu", changed++ == 0 ? "places along axis 0 that are so: " : ", ",
                         p);
    }
    pe_buffer_str(out, "; the others are as claimed");
    return changed > 0 && changed < places;
}

static pe_status try_some(const pe_numbers *plain, pe_problem *why)
{
    enum { MOST = 16 }; /* places that are told */
    pe_buffer rule = {0};
    pe_status status = PE_OK;
    const size_t places = plain->view->claim->uploads[0].array.shape.dim[0];
    const some at = {plain, plain->search->changed->claimed, plain->elements / places};
    if (places < 2 || places > MOST || at.each < 4)
        return PE_OK;
    if (tell_some(&at, places, &rule)) {
        const pe_fault fault = {.name = "some_places",
                                .rule = pe_buffer_text(&rule),
                                .remedy = "do the same for each head, item or row"};
        const pe_numbers_cause cause = {.fault = &fault};
        status = pe_numbers_try(plain, &cause, 1, &(pe_numbers_law){at_some, &at, 1}, why);
    }
    pe_buffer_free(&rule);
    return status;
}

/* ---- what is behind a change ---- */

/* Causes that look at few elements of what they do not explain. */
static pe_reader *const readers[] = {pe_scale_causes_find, pe_formula_causes_find,
                                     pe_place_causes_find, pe_row_causes_places, try_some};

static pe_status read_behind(const pe_numbers *plain, pe_problem *why)
{
    pe_status status = PE_OK;
    const double *claimed = plain->search->changed->claimed;
    if (memcmp(claimed, plain->claimed, plain->elements * sizeof *claimed) == 0)
        return PE_OK; /* no change of these numbers */
    keep_nearest(plain);
    for (size_t r = 0; r < PE_LEN(readers) && status == PE_OK; r++)
        if (!pe_attempts_found(plain->search) && (r < 2 || plain->view->n_tensors == 1))
            status = readers[r](plain, why);
    return status;
}

static pe_status try_behind(pe_search *s, pe_guess *guess, pe_problem *why)
{
    /* of numbers along one axis each has a position of its own, and costs more */
    pe_changed *changed = s->changed;
    changed->made += s->view->elements * (s->view->claim->uploads[0].array.shape.ndim == 1 ? 4 : 1);
    return changed->made > NUMBERS_MAX || changed->claimed == NULL || pe_attempts_found(s)
               ? PE_OK
               : pe_explain_with(s, guess, read_behind, why);
}

/* Roundings are known by their few bits. */
static pe_status with_each_fault(pe_search *s, const pe_guess *from, pe_try *next, pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t f = 0; f < pe_faults_n && status == PE_OK && pe_attempts_go_on(s); f++)
        if (!pe_faults_is_rounding(&pe_faults[f]))
            status = pe_attempts_with_fault(s, from, &pe_faults[f], next, why);
    return status;
}

static pe_status try_second(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const pe_status status = pe_attempts_each_value(s, guess, pe_attempts_try, why);
    return status == PE_OK ? with_each_fault(s, guess, pe_attempts_try, why) : status;
}

pe_status pe_changed_values_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_changed changed = {0};
    if (s->view->elements > NUMBERS_MAX / 8 || s->view->width_differs)
        return PE_OK;
    s->changed = &changed;
    pe_status status = pe_explain_with(s, guess, begin, why);
    if (status == PE_OK)
        status = with_each_fault(s, guess, try_behind, why);
    if (status == PE_OK)
        status = pe_attempts_each_value(s, guess, try_behind, why);
    for (size_t k = 0; k < PE_LEN(changed.fault) && status == PE_OK && pe_attempts_go_on(s); k++)
        if (changed.fault[k].name != NULL && changed.made <= NUMBERS_MAX)
            status = pe_attempts_with_fault(s, guess, &changed.fault[k], try_second, why);
    free(changed.claimed);
    s->changed = NULL;
    return status;
}
