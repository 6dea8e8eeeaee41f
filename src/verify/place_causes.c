/* SPDX-License-Identifier: MIT */
/* place_causes.c - plain numbers that stand at other places of the tensor, or without their
 * sign. */
#include "verify/place_causes.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "verify/findings.h"
#include "verify/row_causes.h"
#include "verify/scale_causes.h"

#define ELEMENT_WORK 2 /* units */

/* The claimed elements in other places. */
typedef struct places {
    const pe_numbers *of;
    const pe_shape *shape;
    const struct row *by;
    size_t axis, other;
} places;

/* One cause, for each axis, or each two of one size. */
typedef struct row {
    pe_fault fault; /* {a} and {b} are the axes */
    double (*at)(const places *p, size_t *index);
    bool of_two;
} row;

static size_t element_at(const places *p, const size_t *index)
{
    size_t e = 0;
    for (size_t d = 0; d < p->shape->ndim; d++)
        e = e * p->shape->dim[d] + index[d];
    return e;
}

static double claimed_at(const places *p, const size_t *index)
{
    return p->of->claimed[element_at(p, index)];
}

/* Of three axes and more, elements as the memory has them with axis 0 behind the others. */
static double first_last(const places *p, size_t *index)
{
    const size_t e = element_at(p, index), n = p->shape->dim[0];
    return p->axis == 0 && p->shape->ndim > 2
               ? p->of->claimed[e % n * (p->of->elements / n) + e / n]
               : nan("");
}

/* As the memory has it of a tensor with the two axes exchanged: of two of one size the element
 * across. */
static double exchanged(const places *p, size_t *index)
{
    size_t was[PE_MAX_DIMS], e = element_at(p, index);
    const pe_shape *shape = p->shape;
    for (size_t d = shape->ndim; d-- > 0;) {
        const size_t from = d == p->axis ? p->other : d == p->other ? p->axis : d;
        was[from] = e % shape->dim[from];
        e /= shape->dim[from];
    }
    return claimed_at(p, was);
}

static double reversed(const places *p, size_t *index)
{
    index[p->axis] = p->shape->dim[p->axis] - 1 - index[p->axis];
    return claimed_at(p, index);
}

/* The rows before the patches, which are no axis of their own. */
static double extra_last(const places *p, size_t *index)
{
    const pe_value *extra = pe_values_find(&p->of->claim->values, "extra_tokens");
    if (p->axis != 0 || extra == NULL || extra->integer == 0)
        return nan("");
    index[0] = (index[0] + (size_t)extra->integer) % p->shape->dim[0];
    return claimed_at(p, index);
}

static double rolled_on(const places *p, size_t *index)
{
    const size_t n = p->shape->dim[p->axis];
    index[p->axis] = (index[p->axis] + n - 1) % n;
    return claimed_at(p, index);
}

static double rolled_back(const places *p, size_t *index)
{
    index[p->axis] = (index[p->axis] + 1) % p->shape->dim[p->axis];
    return claimed_at(p, index);
}

static double halves_exchanged(const places *p, size_t *index)
{
    const size_t n = p->shape->dim[p->axis];
    index[p->axis] = (index[p->axis] + n / 2) % n;
    return n % 2 == 0 && n > 2 ? claimed_at(p, index) : nan("");
}

/* All elements, whatever the axis. */
static double absolute(const places *p, size_t *index)
{
    return p->axis == 0 ? fabs(claimed_at(p, index)) : nan("");
}

#define ORDER "keep the order along the axis that is claimed"

static const row rows[] = {
    {{"axes_transposed", "the tensor is transposed: axes {a} and {b} are exchanged",
      .remedy = "transpose the tensor: the order of axes is that of the claimed resource"},
     exchanged,
     true},
    {{"axes_transposed", "axis {a} stands last in memory: the tensor was reshaped, not permuted",
      .remedy = "permute the axes, and do not reshape (view) the memory"},
     first_last,
     false},
    {{"axis_reversed", "the order along axis {a} is reversed", .remedy = ORDER}, reversed, false},
    {{"extra_last",
      "the first rows (extra_tokens, such as the class token) stand at the end, behind the patches",
      .remedy = "put the rows of extra_tokens before those of the patches"},
     extra_last,
     false},
    {{"axis_rolled", "axis {a} is rolled: each place holds what belongs to the one before it",
      .remedy = ORDER},
     rolled_on,
     false},
    {{"axis_rolled", "axis {a} is rolled: each place holds what belongs to the one behind it",
      .remedy = ORDER},
     rolled_back,
     false},
    {{"halves_exchanged",
      "the halves of axis {a} are exchanged: it is rolled by half of its places", .remedy = ORDER},
     halves_exchanged,
     false},
    {{"sign_lost", "elements are absolute values: their sign is lost",
      .remedy = "keep the sign of the distance"},
     absolute,
     false},
};

static double number_at(const void *context, size_t element, double claimed, double *error)
{
    const places *p = context;
    size_t index[PE_MAX_DIMS];
    (void)claimed;
    (void)error;
    for (size_t d = p->shape->ndim; d-- > 0; element /= p->shape->dim[d])
        index[d] = element % p->shape->dim[d];
    return p->by->at(p, index);
}

/* Are all elements so, times a number? */
static bool follows(const places *p, double times)
{
    const pe_numbers *plain = p->of;
    size_t e = 0;
    const double most = (times == 1 ? 2 : 4) * plain->roundoff + 0x1p-20;
    bool same = true, differs = false; /* what is as claimed explains nothing */
    for (; e < plain->elements && same; e++) {
        const double x = times * number_at(p, e, 0, NULL), got = plain->got[e];
        same = x == got || fabs(x - got) <= most * fabs(x) + plain->step;
        differs |= x != times * plain->claimed[e];
    }
    pe_numbers_spend(plain, ELEMENT_WORK * e);
    return same && differs;
}

/* The number where the elements are largest, which tells it best. */
static double read_times(const places *p)
{
    const pe_numbers *plain = p->of;
    size_t at = 0;
    for (size_t e = 1; e < plain->elements; e++)
        if (isfinite(plain->got[e]) && !(fabs(plain->got[e]) <= fabs(plain->got[at])))
            at = e;
    pe_numbers_spend(plain, plain->elements);
    return plain->got[at] / number_at(p, at, 0, NULL);
}

/* Lines through the numbers behind the cause. */
static pe_status try_scales(const places *p, const pe_numbers_cause *cause, pe_problem *why)
{
    pe_numbers plain = *p->of;
    double *made = malloc(plain.elements * sizeof *made);
    if (made == NULL)
        return pe_fail_memory(why);
    for (size_t e = 0; e < plain.elements; e++)
        made[e] = number_at(p, e, 0, NULL);
    plain.claimed = made;
    plain.before = cause;
    const pe_status status = pe_scale_causes_find(&plain, why);
    free(made);
    return status;
}

/* What an axis counts, as figures have it: the names are those of the last axes. */
static void say_axis(const places *p, size_t axis, pe_buffer *out)
{
    const pe_claim *claim = p->of->view->claim;
    const pe_labels *of = claim->resource->labels;
    while (of != NULL && of->tensor != NULL && strcmp(of->tensor, claim->uploads[0].name) != 0)
        of++;
    const char *at = of != NULL ? of->axes : NULL;
    size_t unnamed = p->shape->ndim;
    for (const char *name = at; name != NULL && unnamed > 0; name = strchr(name + 1, ','))
        unnamed--;
    for (size_t d = unnamed; d < axis && at != NULL; d++)
        at = strchr(at, ',') + 2;
    if (at != NULL && axis >= unnamed)
        pe_buffer_format(out, "; axis %zu: %.*s", axis, (int)strcspn(at, ","), at);
}

static pe_status try_axes(const places *p, bool alone, pe_problem *why)
{
    const double times = alone ? 1 : read_times(p);
    if (!isfinite(times) || (times == 1) != alone || !follows(p, times))
        return PE_OK;
    pe_fault fault = p->by->fault;
    pe_buffer rule = {0};
    pe_buffer_str(&rule, fault.rule);
    if (strstr(fault.rule, "{a}") != NULL)
        say_axis(p, p->axis, &rule);
    if (p->by->of_two)
        say_axis(p, p->other, &rule);
    fault.rule = pe_buffer_text(&rule);
    const pe_numbers_cause cause = {&fault, (double)p->axis, (double)p->other, false};
    const pe_status status =
        alone ? pe_numbers_try(p->of, &cause, 1, &(pe_numbers_law){number_at, p, 1}, why)
              : try_scales(p, &cause, why);
    pe_buffer_free(&rule);
    return status;
}

/* ---- on what elements depend ---- */

/* The places of a query and a key that have one number. */
typedef size_t group(size_t query, size_t key, size_t keys);

static size_t by_column(size_t query, size_t key, size_t keys)
{
    (void)query;
    (void)keys;
    return key;
}

static size_t by_row(size_t query, size_t key, size_t keys)
{
    (void)keys;
    (void)key;
    return query;
}

static size_t by_distance(size_t query, size_t key, size_t keys)
{
    return key < query ? query - key : key - query + 2 * keys;
}

static size_t by_size(size_t query, size_t key, size_t keys)
{
    (void)keys;
    return key < query ? query - key : key - query;
}

static const struct {
    pe_fault fault;
    group *of;
} dependences[] = {
    {{"by_key_alone", "elements depend on the key (the column) alone, not on key - query (form)",
      .remedy = "take the distance of key and query"},
     by_column},
    {{"by_query_alone", "elements depend on the query (the row) alone, not on key - query (form)",
      .remedy = "take the distance of key and query"},
     by_row},
    {{"distance_absolute",
      "elements depend on the absolute distance of key and query alone: its sign (direction) is "
      "lost",
      .remedy = "check the function of the distance, its clip and its sign"},
     by_size},
    {{"distance_function", "elements depend on key - query alone, but as another function of it",
      .remedy = "check the function of the distance where it begins to differ"},
     by_distance},
};

/* Is each number of a slice that of the first of its group? */
static bool depends(const pe_numbers *plain, const double *numbers, size_t queries, size_t keys,
                    group *of)
{
    const size_t past = keys > queries ? keys - queries : 0;
    const size_t all = queries * keys, groups = 3 * (past + queries) + 1;
    size_t *first = malloc(groups * sizeof *first);
    bool same = first != NULL;
    for (size_t e = 0; e < plain->elements && same; e++) {
        if (e % all == 0)
            for (size_t g = 0; g < groups; g++)
                first[g] = SIZE_MAX;
        const size_t query = past + e % all / keys;
        size_t *at = &first[of(query, e % keys, past + queries)];
        *at = *at == SIZE_MAX ? e : *at;
        const double x = numbers[*at], y = numbers[e];
        same = x == y || (isfinite(x) && fabs(x - y) <= (4 * plain->roundoff + 0x1p-20) * fabs(x));
    }
    pe_numbers_spend(plain, plain->elements);
    free(first);
    return same;
}

/* Of the elements of the first slice that are not as claimed, the one whose key is nearest to its
 * query. */
static void say_nearest(const pe_numbers *plain, size_t queries, size_t keys, pe_buffer *out)
{
    double nearest = HUGE_VAL;
    size_t at = 0;
    for (size_t e = 0; e < queries * keys; e++) {
        const size_t at_row = e / keys;
        const double key = (double)(e % keys), query = (double)(at_row + keys) - (double)queries;
        if (fabs(key - query) < fabs(nearest) &&
            !pe_numbers_is_near(plain, plain->got[e], plain->claimed[e])) {
            nearest = key - query;
            at = e;
        }
    }
    if (isfinite(nearest))
        pe_buffer_format(out,
                         "; nearest to the query it is key - query = %.9g that has %.9g, not %.9g",
                         nearest, plain->got[at], plain->claimed[at]);
}

static pe_status tell_dependence(const pe_numbers *plain, const pe_fault *fault, size_t queries,
                                 size_t keys, pe_problem *why)
{
    pe_buffer rule = {0};
    pe_buffer_str(&rule, fault->rule);
    say_nearest(plain, queries, keys, &rule);
    const pe_told told = {fault, pe_buffer_text(&rule), .fitted = true};
    const pe_status status = pe_findings_tell(plain->search->report, plain->claim, &told, why,
                                              "all %zu elements are so", plain->elements);
    pe_buffer_free(&rule);
    return status;
}

/* Rows [first, end): what the upload depends on, where the claim does not, or where nothing else is
 * known. */
static pe_status find_dependence(const pe_numbers *plain, size_t first, size_t end, pe_problem *why)
{
    const pe_shape *shape = &plain->view->claim->uploads[0].array.shape;
    const size_t queries = shape->ndim > 1 ? shape->dim[shape->ndim - 2] : 0;
    const size_t keys = shape->dim[shape->ndim - 1];
    if (queries <= 3 || keys <= 3 || !pe_numbers_goes_on(plain))
        return PE_OK;
    for (size_t d = first; d < end; d++)
        if (depends(plain, plain->got, queries, keys, dependences[d].of) &&
            (dependences[d].of == by_distance ||
             !depends(plain, plain->claimed, queries, keys, dependences[d].of)) &&
            depends(plain, plain->claimed, queries, keys, by_distance))
            return tell_dependence(plain, &dependences[d].fault, queries, keys, why);
    return PE_OK;
}

/* Each row along each axis, or each two. */
static pe_status find(const pe_numbers *plain, bool alone, pe_problem *why)
{
    const pe_shape *shape = &plain->view->claim->uploads[0].array.shape;
    pe_status status = PE_OK;
    for (size_t r = 0; r < PE_LEN(rows); r++)
        for (size_t a = 0; a < shape->ndim; a++)
            for (size_t b = a + 1; b <= (rows[r].of_two ? shape->ndim - 1 : a + 1); b++) {
                const places p = {plain, shape, &rows[r], a, b};
                if (status != PE_OK || !pe_numbers_goes_on(plain) ||
                    pe_attempts_found(plain->search))
                    continue;
                status = try_axes(&p, alone, why);
            }
    return status;
}

pe_status pe_place_causes_find(const pe_numbers *plain, pe_problem *why)
{
    const pe_status status = find(plain, true, why);
    return status == PE_OK ? find(plain, false, why) : status;
}

pe_status pe_place_causes_depend(const pe_numbers *plain, pe_problem *why)
{
    pe_status status = find_dependence(plain, 0, PE_LEN(dependences) - 1, why);
    return status == PE_OK && !pe_attempts_found(plain->search) ? pe_row_causes_places(plain, why)
                                                                : status;
}

/* The last row, of which least is known. */
pe_status pe_place_causes_distance(const pe_numbers *plain, pe_problem *why)
{
    return find_dependence(plain, PE_LEN(dependences) - 1, PE_LEN(dependences), why);
}
