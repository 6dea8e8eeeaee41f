/* SPDX-License-Identifier: MIT */
/* plain_distances.c - the stage of distances: biases and indices that follow from query and key. */
#include "verify/plain/plain_distances.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- indices of distances ---- */

/* Where x is whole but for rounding, either neighbour is right: the upload's. */
static double end_of(const pe_buckets *f, double x, double got)
{
    const double low = f->ends(x - 1e-6), high = f->ends(x + 1e-6);
    return got == high ? high : got == low ? low : f->ends(x);
}

/* log(n / exact) / log(to / exact), times `parts` */
static double part_of(const pe_buckets *f, double n, double to, double parts)
{
    const double unit = f->whole ? 1 : f->exact;
    return log(n / unit) / log(to / unit) * parts;
}

static double t5_at(const pe_buckets *f, double d, double got)
{
    const double ahead = f->both && (d > 0 || (d == 0 && f->zero_ahead)) ? f->ahead : 0;
    const double n = f->both ? fabs(d) : fmax(-d, 0);
    if (n < f->exact)
        return ahead + n;
    const double x = part_of(f, n, f->max_distance, f->buckets - f->exact);
    return ahead + fmin(f->exact + end_of(f, x, got - ahead - f->exact), f->top);
}

static double deberta_at(const pe_buckets *f, double d, double got)
{
    const double n = fabs(d), index = got - f->plus;
    const double far = n <= f->exact
                           ? n
                           : f->exact + end_of(f, part_of(f, n, f->max_distance - 1, f->exact - 1),
                                               fabs(index) - f->exact);
    return fmax(f->low, fmin(f->high, copysign(far, -d) + f->plus));
}

double pe_distance_index(const pe_distance_stage *state, double d, double got)
{
    const pe_buckets *f = &state->f;
    return state->family == PE_OF_T5        ? t5_at(f, d, got)
           : state->family == PE_OF_DEBERTA ? deberta_at(f, d, got) + 0.0
                                            : f->sign * fmax(-f->left, fmin(f->right, d)) + f->plus;
}

static pe_buckets claimed_buckets(const pe_sequence *p, pe_index_family family)
{
    const double n = pe_slip_number(p, "num_buckets"), span = pe_slip_number(p, "att_span");
    const bool both = family == PE_OF_T5 && pe_values_bool(&p->of->claim->values, "bidirectional");
    const double each = both ? floor(n / 2) : n;
    const bool backwards = pe_slip_has(p, "distance", "query_less_key");
    return (pe_buckets){.left = pe_slip_number(p, "left_max"),
                        .right = pe_slip_number(p, "right_max"),
                        .sign = backwards ? -1 : 1,
                        .plus = family == PE_OF_SHAW
                                    ? pe_slip_number(p, backwards ? "right_max" : "left_max")
                                : isnan(span) ? 0
                                              : span,
                        .low = isnan(span) ? -HUGE_VAL : 0,
                        .high = isnan(span) ? HUGE_VAL : 2 * span - 1,
                        .exact = floor((family == PE_OF_DEBERTA ? n : each) / 2),
                        .buckets = each,
                        .max_distance = pe_slip_number(p, "max_distance"),
                        .ahead = both ? each : 0,
                        .top = each - 1,
                        .both = both,
                        .ends = family == PE_OF_DEBERTA ? ceil : floor};
}

/* ---- the stage ---- */

#define STAGE(OF) ((const pe_distance_stage *)((const pe_sequence *)(OF))->state)

/* Positions of the query and of the key of item i. */
static double query_of(const void *of, double i)
{
    return STAGE(of)->first + floor(i / (double)STAGE(of)->keys);
}

static double key_of(const void *of, double i)
{
    return fmod(i, (double)STAGE(of)->keys);
}

#define TERM(NAME, OF)                                                                             \
    {                                                                                              \
        .name = NAME, .offset = offsetof(pe_distance_stage, OF),                                   \
        .through = offsetof(pe_sequence, state)                                                    \
    }

static const pe_term terms[] = {{.name = "query", .at = query_of},
                                {.name = "key", .at = key_of},
                                TERM("queries", names.queries),
                                TERM("keys", names.keys),
                                TERM("past", first),
                                TERM("bias", names.bias),
                                TERM("causal", names.causal),
                                TERM("by_key", names.by_key),
                                {0}};

static bool find_family(const pe_sequence *p, pe_index_family *out)
{
    static const char *const names[] = {
        [PE_OF_BIAS] = "alibi/bias", [PE_OF_SHAW] = "shaw/indices", [PE_OF_T5] = "t5/buckets"};
    size_t f = 0;
    while (f < PE_LEN(names) && strcmp(pe_numbers_resource(p->of), names[f]) != 0)
        f++;
    *out =
        f == PE_OF_T5 && pe_slip_has(p, "variant", "deberta") ? PE_OF_DEBERTA : (pe_index_family)f;
    return f < PE_LEN(names);
}

static void set_sizes(const pe_sequence *p, pe_distance_stage *s)
{
    const pe_values *values = &p->of->claim->values;
    const pe_value *listed = pe_values_find(values, "distances");
    const pe_shape *shape = &p->of->view->claim->uploads[0].array.shape;
    s->listed = listed != NULL && listed->present ? &listed->positions : NULL;
    s->by_key = pe_slip_has(p, "form", "key");
    s->causal = pe_slip_has(p, "form", "causal");
    s->keys = s->listed != NULL         ? p->of->elements
              : s->family == PE_OF_BIAS ? shape->dim[shape->ndim - 1]
                                        : (size_t)pe_values_int(values, "key_length");
    s->queries = s->listed != NULL         ? 1
                 : s->family == PE_OF_BIAS ? shape->dim[shape->ndim - 2]
                                           : p->of->elements / s->keys;
    s->names.queries = (double)s->queries;
    s->names.keys = (double)s->keys;
    s->names.bias = s->family == PE_OF_BIAS;
    s->names.causal = s->causal;
    s->names.by_key = s->by_key;
    if (s->listed == NULL && !s->by_key)
        s->first = pe_slip_number(p, "key_length") - pe_slip_number(p, "query_length");
    s->claimed_mask =
        isnan(pe_slip_number(p, "mask_value")) ? -HUGE_VAL : pe_slip_number(p, "mask_value");
}

static void find_loudest(pe_distance_stage *s, const double *claimed)
{
    for (size_t i = 0; i < s->queries * s->keys; i++)
        if (fabs(claimed[i]) > fabs(s->loud)) {
            s->loud = claimed[i];
            s->at = i;
        }
}

/* Behind a mistake of distances, what that has made is claimed. */
static void take_first(const pe_sequence *first, pe_distance_stage *s, size_t n)
{
    const pe_distance_stage *made = first->state;
    for (size_t i = 0; i < n; i++)
        s->numbers[i] = pe_sequence_at(first, i);
    s->claimed = made->f;
    s->claimed_mask = made->mask;
}

static pe_status measure(pe_sequence *p, pe_problem *why)
{
    pe_index_family family;
    if (!find_family(p, &family))
        return PE_OK;
    pe_distance_stage *s = calloc(1, sizeof *s);
    p->state = s;
    if (s == NULL)
        return pe_fail_memory(why);
    s->family = family;
    set_sizes(p, s);
    p->n = s->queries * s->keys;
    s->numbers = malloc(p->n * sizeof *s->numbers);
    if (s->numbers == NULL)
        return pe_fail_memory(why);
    p->claimed = s->numbers;
    p->terms = terms;
    static const pe_slip none = {.op = PE_DISTANCE("query", "key")};
    const bool read = pe_sequence_read(p, &none);
    for (size_t i = 0; i < p->n && read; i++)
        s->numbers[i] = s->listed != NULL ? pe_positions_at(s->listed, i) : pe_sequence_at(p, i);
    if (family == PE_OF_BIAS)
        find_loudest(s, p->claimed);
    else
        s->claimed = claimed_buckets(p, family);
    if (p->of->first != NULL && p->of->first->by->stage == &pe_slip_distances)
        take_first(p->of->first, s, p->n);
    pe_numbers_spend(p->of, 4 * p->n);
    return PE_OK;
}

static void release(pe_sequence *p)
{
    pe_distance_stage *s = p->state;
    if (s != NULL)
        free(s->numbers);
    free(s);
}

static void begin(pe_sequence *p)
{
    pe_distance_stage *s = p->state;
    s->f = s->claimed;
    s->mask = s->claimed_mask;
}

static double at(const pe_sequence *p, size_t e, double claimed PE_UNUSED, double *error PE_UNUSED)
{
    const pe_distance_stage *s = p->state;
    const size_t i = e % p->n;
    const double d = pe_sequence_at(p, i);
    if (s->family != PE_OF_BIAS)
        return pe_distance_index(s, d, p->of->got[e]);
    const double unit = p->of->claimed[e - i + s->at] / s->loud;
    return isnan(d) ? s->mask : unit * d + 0.0;
}

/* Of indices by key - query, as the last query has them and then the first one. */
static void tell(const pe_sequence *p)
{
    enum { MOST = 32 };
    const pe_distance_stage *s = p->state;
    double edges[MOST], range[2] = {HUGE_VAL, -HUGE_VAL};
    size_t n = 0;
    for (size_t i = 0; i < p->n && s->family != PE_OF_BIAS; i++) {
        range[0] = fmin(range[0], p->of->got[i]);
        range[1] = fmax(range[1], p->of->got[i]);
    }
    for (size_t k = 1; k < s->keys + s->queries - 1 && n < MOST && s->family != PE_OF_BIAS; k++) {
        const size_t i =
            k < s->keys ? p->n - s->keys + k : (s->keys + s->queries - 1 - k) * s->keys - 1;
        const size_t before = k < s->keys ? i - 1 : i + s->keys;
        if (p->of->got[i] != p->of->got[before])
            edges[n++] = p->claimed[i];
    }
    if (s->family != PE_OF_BIAS) {
        pe_numbers_list(p->of, "index_range", range, 2);
        pe_numbers_list(p->of, "index_edges", edges, n);
    }
}

const pe_slip_stage pe_slip_distances = {
    .terms = terms, .measure = measure, .release = release, .begin = begin, .tell = tell, .at = at};

bool pe_distance_is_bias(const pe_sequence *p)
{
    return ((const pe_distance_stage *)p->state)->family == PE_OF_BIAS;
}
