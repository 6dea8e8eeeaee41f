/* SPDX-License-Identifier: MIT */
/* plain_distances.c - the stage of distances: biases and indices that follow from query and key. */
#include "verify/plain/plain_slips.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"

/* ---- numbers of the stage ---- */

typedef enum family { OF_BIAS, OF_SHAW, OF_T5, OF_DEBERTA, FAMILIES } family;

/*
 * What equations name. The index of d = key - query: of T5 n is |d| or, of one direction, max(-d, 0):
 * n < exact is bucket n, the last one is `top`, and behind the query `ahead` more. Of Shaw d is limited,
 * multiplied by `sign`, and `plus` added; DeBERTa takes -d, adds `plus` and limits the sum. whole: the
 * logarithm is that of the distance itself, not of its part of exact; rounding: of buckets down, up, to
 * the nearest; mask: of biases; past: positions before query 0.
 */
typedef struct names {
    double left, right, sign, plus, lowest, highest, exact, buckets, farthest, ahead, top, both;
    double zero_ahead, whole, rounding, mask, queries, keys, past, bias, deberta, causal, by_key;
} names;

#define NAMES                                                                                      \
    "left right sign plus lowest highest exact buckets farthest ahead top both zero_ahead whole "  \
    "rounding mask queries keys past bias deberta causal by_key"

typedef struct distances {
    family family;
    size_t keys;
    const pe_positions *listed; /* or NULL */
    names claimed, f;           /* f: with a mistake */
    double *numbers;            /* claimed: [queries][keys] */
    double loud;                /* the claimed distance where it is largest ... */
    size_t at;                  /* ... and where that is */
} distances;

static const names *names_of(const void *sequence)
{
    return &((const distances *)((const pe_sequence *)sequence)->state)->f;
}

/* Positions of the query and of the key of item i. */
static double query_of(const void *of, double i)
{
    return names_of(of)->past + floor(i / names_of(of)->keys);
}

static double key_of(const void *of, double i)
{
    return fmod(i, names_of(of)->keys);
}

static double index_of(const void *of, double i)
{
    const pe_sequence *p = of;
    return i < (double)p->n ? p->of->claimed[(size_t)i] : nan("");
}

static const pe_term terms[] = {{.name = "query", .at = query_of},
                                {.name = "key", .at = key_of},
                                {.name = "index", .at = index_of}, /* the claimed one */
                                PE_STATE_TERM(NAMES, distances, f),
                                {0}};

/* Each of "name = equation; name = equation" takes its number. */
static bool set_names(pe_sequence *p, const char *text)
{
    char name[16], equation[96];
    while (sscanf(text, "%15s = %95[^;]", name, equation) == 2) {
        double *number = pe_term_number(terms, name, p->state);
        *number = pe_equation_number(equation, terms, pe_sequence_terms, p->values, p);
        text += strcspn(text, ";");
        text += strspn(text, "; ");
    }
    return true;
}

/* ---- indices of distances ---- */

static double whole_of(const names *f, double x)
{
    return f->rounding == 0 ? floor(x) : f->rounding == 1 ? ceil(x) : nearbyint(x);
}

/* Where x is whole but for rounding, either neighbour is right: the upload's. */
static double end_of(const names *f, double x, double got)
{
    const double low = whole_of(f, x - 1e-6), high = whole_of(f, x + 1e-6);
    return got == high ? high : got == low ? low : whole_of(f, x);
}

/* log(n / exact) / log(to / exact), times `parts` */
static double part_of(const names *f, double n, double to, double parts)
{
    const double unit = f->whole != 0 ? 1 : f->exact;
    return log(n / unit) / log(to / unit) * parts;
}

static double t5_at(const names *f, double d, double got)
{
    const double ahead = f->both != 0 && (d > 0 || (d == 0 && f->zero_ahead != 0)) ? f->ahead : 0;
    const double n = f->both != 0 ? fabs(d) : fmax(-d, 0);
    if (n < f->exact)
        return ahead + n;
    const double x = part_of(f, n, f->farthest, f->buckets - f->exact);
    return ahead + fmin(f->exact + end_of(f, x, got - ahead - f->exact), f->top);
}

static double deberta_at(const names *f, double d, double got)
{
    const double n = fabs(d), index = got - f->plus;
    const double far = n <= f->exact
                           ? n
                           : f->exact + end_of(f, part_of(f, n, f->farthest - 1, f->exact - 1),
                                               fabs(index) - f->exact);
    return fmax(f->lowest, fmin(f->highest, copysign(far, -d) + f->plus));
}

/* Where it lies on an edge but for rounding, that of the upload: `got`. */
static double index_at(const distances *s, double d, double got)
{
    const names *f = &s->f;
    return s->family == OF_T5        ? t5_at(f, d, got)
           : s->family == OF_DEBERTA ? deberta_at(f, d, got) + 0.0
                                     : f->sign * fmax(-f->left, fmin(f->right, d)) + f->plus;
}

/* ---- the stage ---- */

/* A distance of the claim, of any query and key. */
#define OF(QUERY, KEY)                                                                             \
    "bias == 0 ? (" KEY ") - (" QUERY ") : by_key ? -(" KEY ") : causal && (" KEY ") > (" QUERY    \
    ") ? none : abs((" QUERY ") - (" KEY "))"

static const struct {
    const char *resource, *claimed;
} families[FAMILIES] = {
    [OF_BIAS] = {"alibi/bias", "bias = 1; causal = form.causal; by_key = form.key; "
                               "mask = finite(mask_value) ? mask_value : -inf"},
    [OF_SHAW] = {"shaw/indices",
                 "left = left_max; right = right_max; "
                 "sign = distance.query_less_key ? -1 : 1; plus = sign < 0 ? right : left"},
    [OF_T5] = {"t5/buckets",
               "both = bidirectional; buckets = both ? floor(num_buckets/2) : num_buckets; "
               "exact = floor(buckets/2); ahead = both*buckets; top = buckets - 1; "
               "farthest = max_distance"},
    [OF_DEBERTA] = {"t5/buckets",
                    "deberta = 1; buckets = num_buckets; exact = floor(buckets/2); "
                    "top = buckets - 1; farthest = max_distance; rounding = 1; "
                    "plus = finite(att_span) ? att_span : 0; lowest = plus > 0 ? 0 : -inf; "
                    "highest = plus > 0 ? 2*plus - 1 : inf"}};

static family family_of(const pe_sequence *p)
{
    size_t f = 0;
    while (strcmp(p->of->resource, families[f].resource) != 0)
        f++;
    return f == OF_T5 && pe_slip_has(p, "variant", "deberta") ? OF_DEBERTA : (family)f;
}

static void set_sizes(pe_sequence *p, distances *s)
{
    const pe_value *listed = pe_values_find(p->values, "distances");
    const pe_shape *shape = &p->of->view->claim->uploads[0].array.shape;
    s->listed = listed != NULL && listed->present ? &listed->positions : NULL;
    s->keys = s->listed != NULL      ? p->of->elements
              : s->family == OF_BIAS ? shape->dim[shape->ndim - 1]
                                     : (size_t)pe_values_int(p->values, "key_length");
    const size_t queries = s->listed != NULL      ? 1
                           : s->family == OF_BIAS ? shape->dim[shape->ndim - 2]
                                                  : p->of->elements / s->keys;
    p->n = queries * s->keys;
    s->f.queries = (double)queries;
    s->f.keys = (double)s->keys;
    (void)set_names(p, families[s->family].claimed);
    if (s->listed == NULL && s->f.by_key == 0)
        (void)set_names(p, "past = key_length - query_length");
    s->claimed = s->f;
}

static void find_loudest(distances *s, const double *claimed, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fabs(claimed[i]) > fabs(s->loud)) {
            s->loud = claimed[i];
            s->at = i;
        }
}

/* Of a number by an equation, in units. */
#define NUMBER_WORK 8

/* Measured are elements: of biases those of head 0. Behind a mistake of distances, what that has made is
 * claimed. */
static pe_status measure(pe_sequence *p, pe_problem *why)
{
    static const pe_slip none = {.op = OF("query", "key")};
    const pe_sequence *first = p->of->first;
    distances *s = p->state;
    s->family = family_of(p);
    set_sizes(p, s);
    p->owned = s->numbers = calloc(p->n, sizeof *s->numbers);
    if (s->numbers == NULL)
        return pe_fail_memory(why);
    p->claimed = s->numbers;
    p->measured = p->of->got;
    const bool read = pe_sequence_read(p, &none);
    for (size_t i = 0; i < p->n && read && !pe_yield_must_end(); i++, pe_yield_look(NUMBER_WORK))
        s->numbers[i] = s->listed != NULL ? pe_positions_at(s->listed, i) : pe_sequence_at(p, i);
    find_loudest(s, p->claimed, p->n);
    if (first != NULL && first->by->stage == &pe_slip_distances) {
        for (size_t i = 0; i < p->n && !pe_yield_must_end(); i++, pe_yield_look(NUMBER_WORK))
            s->numbers[i] = pe_sequence_at(first, i);
        s->claimed = ((const distances *)first->state)->f;
    }
    pe_numbers_spend(p->of, 4 * p->n);
    return PE_OK;
}

static void begin(pe_sequence *p)
{
    distances *s = p->state;
    s->f = s->claimed;
}

static double at(const pe_sequence *p, size_t e, double claimed PE_UNUSED, double *error PE_UNUSED)
{
    const distances *s = p->state;
    const size_t i = e % p->n;
    const double d = pe_sequence_at(p, i);
    if (s->family != OF_BIAS)
        return index_at(s, d, p->of->got[e]);
    const double unit = p->of->claimed[e - i + s->at] / s->loud;
    return isnan(d) ? s->f.mask : unit * d + 0.0;
}

/* Of indices by key - query, as the last query has them and then the first one. */
static void tell(const pe_sequence *p)
{
    enum { MOST = 32 };
    const distances *s = p->state;
    const double *got = p->measured;
    double edges[MOST], range[2] = {HUGE_VAL, -HUGE_VAL};
    size_t n = 0;
    const size_t queries = p->n / s->keys;
    if (s->family == OF_BIAS)
        return;
    for (size_t i = 0; i < p->n; i++) {
        range[0] = fmin(range[0], got[i]);
        range[1] = fmax(range[1], got[i]);
    }
    for (size_t k = 1; k < s->keys + queries - 1 && n < MOST; k++) {
        const size_t i =
            k < s->keys ? p->n - s->keys + k : (s->keys + queries - 1 - k) * s->keys - 1;
        if (got[i] != got[k < s->keys ? i - 1 : i + s->keys])
            edges[n++] = p->claimed[i];
    }
    pe_numbers_list(p->of, "index_range", range, 2);
    pe_numbers_list(p->of, "index_edges", edges, n);
}

const pe_slip_stage pe_slip_distances = {.of = "alibi/bias shaw/indices t5/buckets",
                                         .state = sizeof(distances),
                                         .terms = terms,
                                         .measure = measure,
                                         .begin = begin,
                                         .tell = tell,
                                         .at = at};

/* ---- numbers of rows ---- */

static bool set_also(pe_sequence *p)
{
    return set_names(p, p->by->also);
}

/* ---- the rows ---- */

#define ANY    &pe_slip_distances, NULL, NULL
#define BIAS   &pe_slip_distances, "alibi/bias", NULL
#define SHAW   &pe_slip_distances, "shaw/indices", NULL
#define BUCKET &pe_slip_distances, "t5/buckets", NULL
#define INDEX  &pe_slip_distances, "shaw/indices t5/buckets", NULL
#define CAUSAL BIAS, .where = "causal"

/* Biases: where distances are least and greatest; the largest in units of the smallest but 0; the last
 * query, its row, and the nearest key before it (or its own) of which something is true. */
#define NEAR       "first(x == least(x))"
#define FAR        "first(x == most(x))"
#define LOUD       "(x == x && finite(y) && y != 0 ? abs(y) : none)"
#define REACH      "round(most(" LOUD ")/least(" LOUD "))"
#define LAST       "(past + queries - 1)"
#define NEAREST(E) "most(query == " LAST " && key <= query && " E " ? key : none)"
#define ZEROS      LAST " - " NEAREST("y != 0")
#define MASKED     "first(x != x)"

/* Indices. */
#define SET(OF) .solve = set_also, .also = OF
#define BOTH    BUCKET, .where = "both"
#define EXACT(A)                                                                                   \
    BUCKET, .a = A, .b = "exact", SET("exact = a"),                                                \
            .where = "deberta == 0 && a >= 1 && a < buckets && a < farthest"
#define NUMBER(NAME, ...)                                                                          \
    {                                                                                              \
        {.rule = NAME " was {a}, not {b}", .param = (NAME), .remedy = "set " NAME " as claimed"},  \
            .stage = BUCKET, __VA_ARGS__                                                           \
    }
#define BUCKETS(A)                                                                                 \
    NUMBER("num_buckets", .a = A, .b = "num_buckets",                                              \
           SET("buckets = both ? floor(a/2) : a; ahead = both*buckets; "                           \
               "exact = floor((deberta ? a : buckets)/2); top = buckets - 1"),                     \
           .where = "exact >= 1")
#define MAX_DISTANCE(N)                                                                            \
    NUMBER("max_distance", .a = #N, .b = "farthest", SET("farthest = a"), .where = "a > exact")
#define CLIP(BY)                                                                                   \
    SHAW, .a = "left" BY, .b = "left", SET("left = a; right = right" BY),                          \
          .where = "left >= 0 && right >= 0"

/* The key before the query, and the one behind it; the farthest key at which an index changes. */
#define BESIDE  "first(x == -1 && x[i + 2] == 1)"
#define CHANGES "key > 0 && (query == past || query == " LAST ") && y != y[i - 1]"

static const pe_slip rows[] = {
    PE_SLIP(bias_form, CAUSAL, .op = "x == x ? -key : none"),
    PE_SLIP(by_query_alone, BIAS, .op = "x == x ? query : none"),
    PE_SLIP(mask_missing, CAUSAL, .op = "query - key"),
    PE_SLIP(distance_signed, BIAS, .where = "causal == 0 && by_key == 0", .op = "query - key"),
    PE_SLIP(distance_opposite, BIAS, .op = "key - query"),
    PE_SLIP(bias_transposed, BIAS, .where = "queries == keys && queries > 1",
            .op = OF("key", "query")),
    PE_SLIP(queries_reversed, BIAS, .op = OF("2*past + queries - 1 - query", "key")),
    PE_SLIP(past_ignored, ANY, .a = "past", .where = "a > 0",
            .op = "bias == 0 ? key - query + a : x == x ? abs(query - a - key) : none"),
    PE_SLIP(queries_shifted, BIAS, .a = "key[first(y == 0)] - query[first(y == 0)]",
            .where = "by_key == 0 && first(y == 0) < n && a != 0", .op = OF("query + a", "key")),
    PE_SLIP(distance_shift_by, BIAS,
            .a = "round(y[" NEAR "]*(x[" FAR "] - x[" NEAR "])/(y[" FAR "] - y[" NEAR "]) - x[" NEAR
                 "])",
            .where = "finite(a) && a != 0", .op = "x + a"),
    PE_SLIP(distance_shift, BIAS, .a = ZEROS " - 1", .op = "x < a ? 0 : x - a",
            .where = "by_key == 0 && a > 0 && a < " LAST " && " LAST " < keys"),
    PE_SLIP(distance_clamped, BIAS, .a = REACH, .where = "a > 1 && a < keys",
            .op = "x > a ? a : x"),
    PE_SLIP(distance_wrapped, BIAS, .a = REACH " + 1", .where = "a > 1 && a < keys",
            .op = "x - a*trunc(x/a)"),
    PE_SLIP(bias_padding, BIAS, .a = "first(y != 0) - 1",
            .where = "by_key && a > 0 && a < keys - 1", .op = "min(a - key, 0)"),
    PE_SLIP(distance_squared, BIAS, .op = "x*abs(x)"),
    PE_SLIP(distance_root, BIAS, .op = "signed(sqrt(abs(x)), x)"),
    PE_SLIP(distance_logarithm, BIAS, .op = "signed(log1p(abs(x)), x)"),
    PE_SLIP(distance_overflow, BIAS, .where = "keys > 128", .op = "(x + 128) % 256 - 128",
            .fault.value = 8),
    PE_SLIP(distance_halved, BIAS, .a = ZEROS, .op = "floor(x/a)",
            .where = "by_key == 0 && a > 1 && a <= " LAST " && " LAST " < keys"),
    PE_SLIP(mask_window, BIAS, .a = LAST " - " NEAREST("key < query && y == y[n - keys]"),
            .b = "y[n - keys]",
            .where = "by_key == 0 && (finite(b) == 0 || b == mask) && a > 1 && a < " LAST,
            .op = "x < a ? x : none"),
    PE_SLIP(mask_strict, CAUSAL, .op = "key >= query ? none : query - key"),
    PE_SLIP(mask_late, CAUSAL, .op = "key >= query + 2 ? none : query - key"),
    PE_SLIP(mask_value, BIAS, .a = "y[" MASKED "]", .b = "mask", SET("mask = a"),
            .where = "causal && a == a && a != b"),
    /* indices */
    PE_SLIP(distance_sign, INDEX, .op = "-x"),
    PE_SLIP(distance_absolute, INDEX, .op = "-abs(x)"),
    PE_SLIP(distance_absolute_after, INDEX, .op = "abs(x)"),
    PE_SLIP(distance_shift_by, INDEX, .op = "x + a", .fault.value = 1),
    PE_SLIP(distance_shift_by, INDEX, .op = "x + a", .fault.value = -1),
    PE_SLIP(distance_clipped, INDEX, .a = "max(1, most(" CHANGES " ? (x > 0 ? x : 1 - x) : none))",
            .b = "most(index == index[first(x == -a)] ? abs(x) : none)",
            .where = "b < most(abs(x))", .op = "max(-a, min(a, x))"),
    PE_SLIP(bucket_direction, BUCKET, .where = "deberta == 0",
            SET("buckets = both ? 2*buckets : floor(buckets/2); both = 1 - both; "
                "ahead = both*buckets; exact = floor(buckets/2); top = buckets - 1")),
    BUCKETS("floor(num_buckets/2)"),
    BUCKETS("2*num_buckets"),
    MAX_DISTANCE(20),
    MAX_DISTANCE(64),
    MAX_DISTANCE(256),
    PE_SLIP(shaw_clip, SHAW, .a = "floor((most(y) - least(y))/2)", .b = "left",
            SET("left = a; right = a; plus = a"), .where = "a != b"),
    PE_SLIP(buckets_not_halved, BOTH, .a = "ahead",
            SET("exact = buckets; buckets = 2*buckets; top = buckets - 1")),
    PE_SLIP(bucket_rounding, BUCKET, SET("rounding = 2")),
    PE_SLIP(bucket_rounding_up, BUCKET, .where = "deberta == 0", SET("rounding = 1")),
    PE_SLIP(bucket_rounding_down, BUCKET, .where = "deberta", SET("rounding = 0")),
    PE_SLIP(bucket_logarithm, BUCKET, .where = "deberta == 0 && exact > 1", SET("whole = 1")),
    PE_SLIP(zero_ahead, BOTH, SET("zero_ahead = 1")),
    PE_SLIP(bucket_exact, EXACT("floor(buckets/4)")),
    PE_SLIP(bucket_exact_edge, EXACT("exact + 1")),
    PE_SLIP(bucket_exact_edge, EXACT("exact - 1")),
    PE_SLIP(bucket_linear, BUCKET, .a = "top", .where = "exact >= 1",
            SET("farthest = inf; exact = deberta ? inf : top")),
    PE_SLIP(index_unclipped, INDEX,
            SET("top = inf; left = inf; right = inf; lowest = -inf; highest = inf")),
    PE_SLIP(bucket_offset, BUCKET, .a = "y[" BESIDE " + 2] - y[" BESIDE "]", .b = "ahead",
            SET("ahead = a"), .where = "both && finite(a) && a != b"),
    PE_SLIP(shaw_clip_before, CLIP(" - 1")),
    PE_SLIP(shaw_clip_before, CLIP(" + 1")),
};
const pe_slips pe_mistakes_of_distances = {rows, PE_LEN(rows)};
